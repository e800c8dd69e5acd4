package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/schemas"
)

// upFlags are the flags of `writ up`.
type upFlags struct{ tour, noTour, detach bool }

type upReply struct {
	config.Endpoint
	Already bool `json:"already"` // it ran before
}

func (a *app) upCommand() *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Start the daemon, and show what Writ does",
		Long: `Starts the daemon and stays until Ctrl-C. Hooks start the daemon by themselves, so
this is for a first look, or to watch its log.

The first time it takes you through a short tour: a scratch project, guarded by
the real daemon, driven by the payloads a coding agent's hooks send. In a
checkout of Writ it builds both programs first.`,
		Example: `  writ up
  writ up --detach
  writ up --tour`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.tour && f.noTour {
				return usage("up: --tour and --no-tour exclude each other", "Give one of them.")
			}
			return a.up(cmd.Context(), f)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.tour, "tour", false, "show the guided tour")
	flags.BoolVar(&f.noTour, "no-tour", false, "do not show the guided tour")
	flags.BoolVar(&f.detach, "detach", false, "start the daemon in the background and return")
	return c
}

func (a *app) up(ctx context.Context, f upFlags) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	dataDir, err := a.env.dataDir()
	if err != nil {
		return explain("up", err)
	}
	self, err := a.programs(ctx)
	if err != nil {
		return explain("up", err)
	}
	if s, at, err := a.reach(ctx, roleHook); err == nil {
		s.Close()
		return a.alreadyUp(ctx, f, self, at)
	}
	if f.detach {
		ctx, cancel := context.WithTimeout(ctx, startBudget)
		defer cancel()
		at, err := a.startWith(ctx, dataDir, self)
		if err != nil {
			return explain("up", err)
		}
		if a.json {
			return a.printJSON(upReply{Endpoint: at})
		}
		a.printf("The daemon runs in the background: process %d, %s. `writ down` stops it.\n", at.PID, at.URL)
		return a.tourIfWanted(ctx, f, self)
	}
	return a.foreground(ctx, f, self, dataDir)
}

func (a *app) alreadyUp(ctx context.Context, f upFlags, self string, at config.Endpoint) error {
	if a.json {
		return a.printJSON(upReply{Endpoint: at, Already: true})
	}
	a.printf("The daemon already runs: process %d, %s.\n", at.PID, at.URL)
	if !f.tour {
		return nil
	}
	return a.tourIfWanted(ctx, f, self)
}

// programs returns the path of a writ that stays, with writd beside it or
// found otherwise. Inside a checkout that is a fresh build of both, when this
// program is a temporary one or no writd is found.
func (a *app) programs(ctx context.Context) (self string, err error) {
	checkout, inCheckout := launch.Checkout(a.env.Dir)
	_, findErr := launch.Find(a.env.Executable, a.env.Vars)
	temporary := launch.Temporary(a.env.Executable)
	if findErr == nil && !temporary {
		return a.env.Executable, nil
	}
	if !inCheckout {
		if findErr != nil {
			return "", findErr
		}
		return a.env.Executable, nil
	}
	into, err := launch.BinDir()
	if err != nil {
		return "", err
	}
	defer a.progress("Building writ and writd (the first time takes a minute or two)")()
	return launch.Build(ctx, checkout, into)
}

// withDaemon is the app of a program that has its daemon beside it, or found
// otherwise: itself, but where `go run` made it in a checkout.
func (a *app) withDaemon(ctx context.Context) (*app, error) {
	if !launch.Temporary(a.env.Executable) {
		return a, nil
	}
	self, err := a.programs(ctx)
	if err != nil {
		return nil, err
	}
	b := *a
	b.env.Executable = self
	return &b, nil
}

// progress says what takes long, and at a terminal for how long already. The
// returned function ends the line.
func (a *app) progress(what string) (done func()) {
	began := a.env.Now()
	if a.json || !isTerminal(a.err) {
		a.note("%s …", what)
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			fmt.Fprintf(a.err, "\r%s … %s ", what, a.env.Now().Sub(began).Truncate(time.Second))
			select {
			case <-stop:
				fmt.Fprintln(a.err)
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// startWith starts the daemon that lies beside the given writ.
func (a *app) startWith(ctx context.Context, dataDir, self string) (config.Endpoint, error) {
	b := *a
	b.env.Executable = self
	return b.start(ctx, dataDir)
}

// foreground runs the daemon as a child until a signal, or until it ends.
func (a *app) foreground(ctx context.Context, f upFlags, self, dataDir string) error {
	binary, err := launch.Find(self, a.env.Vars)
	if err != nil {
		return explain("up", err)
	}
	child := exec.Command(binary)
	child.Env = launch.DaemonVars(a.env.Vars, dataDir)
	child.Stdout, child.Stderr = a.err, a.err
	launch.Separate(child)
	if err := child.Start(); err != nil {
		return explain("up: "+binary, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	at, err := a.awaitChild(ctx, dataDir, child.Process.Pid, ended)
	if err != nil {
		return errors.Join(err, a.stopChild(child, ended))
	}
	if a.json {
		err = a.printJSON(upReply{Endpoint: at})
	} else {
		err = a.tourIfWanted(ctx, f, self)
	}
	if err != nil {
		return errors.Join(err, a.stopChild(child, ended))
	}
	a.note("The daemon runs (process %d, %s). Ctrl-C stops it.", at.PID, at.URL)
	select {
	case err := <-ended:
		return childEnd(err)
	case <-ctx.Done():
		return a.stopChild(child, ended)
	}
}

func (a *app) awaitChild(ctx context.Context, dataDir string, pid int, ended chan error) (config.Endpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	probe := a.launchOptions(dataDir, roleHook, Service.Close).Probe
	for {
		at, err := config.ReadEndpoint(dataDir)
		if err == nil && at.PID == pid && probe(ctx, at) == nil {
			return at, nil
		}
		select {
		case err := <-ended:
			ended <- err
			return at, refused("up", "the daemon ended at its start", "What it printed above says why.")
		case <-ctx.Done():
			return at, refused("up", "the daemon did not become ready", "What it printed above says what it waits for.")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stopChild asks the daemon to end in order, and ends it when it does not.
func (a *app) stopChild(child *exec.Cmd, ended chan error) error {
	if err := launch.Terminate(child.Process); errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	select {
	case err := <-ended:
		return childEnd(err)
	case <-time.After(stopBudget):
	}
	_ = child.Process.Kill()
	<-ended //nolint:errcheck // it was killed; how it ended says nothing more
	return refused("up", "the daemon did not stop in "+stopBudget.String()+" and was killed", "Nothing acknowledged is lost.")
}

func childEnd(err error) error {
	if err == nil {
		return nil
	}
	return refused("up", "the daemon ended: "+err.Error(), "What it printed above says why.")
}

// tourIfWanted shows the tour when asked to, and by default to whoever sees
// Writ for the first time; then it says how to go on.
func (a *app) tourIfWanted(ctx context.Context, f upFlags, self string) error {
	if a.json {
		return nil
	}
	if f.tour || (!f.noTour && !f.detach && a.isFirstLook(ctx)) {
		if err := a.tour(ctx, self); err != nil {
			return err
		}
	}
	a.howToInstall(a.out, self)
	return nil
}

// isFirstLook is true for `go run` in a checkout, and where no session was
// ever seen.
func (a *app) isFirstLook(ctx context.Context) bool {
	if _, inCheckout := launch.Checkout(a.env.Dir); inCheckout && launch.Temporary(a.env.Executable) {
		return true
	}
	s, _, err := a.reach(ctx, roleHook)
	if err != nil {
		return false
	}
	defer s.Close()
	list, err := call[schemas.SessionList](ctx, s, schemas.SvcSessions, schemas.SessionQuery{Limit: 1})
	return err == nil && len(list.Sessions) == 0
}

func (a *app) howToInstall(w io.Writer, self string) {
	st := a.env.style(w)
	fmt.Fprintf(w, "\nTo guard a project of your own:\n\n    %s\n\n", st.bold("cd your-project && "+shellWord(self)+" init"))
	fmt.Fprintf(w, "and `%s uninstall` takes it out again, without a trace.\n\n", filepath.Base(self))
}

// shellWord quotes a path for a person's shell where it needs it.
func shellWord(path string) string {
	for _, r := range path {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '/', r == '.', r == '-', r == '_', r == '~', r == '\\', r == ':':
		default:
			return `"` + path + `"`
		}
	}
	return path
}
