package lifecycle

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
	"github.com/writbus/writ/cmd/writ/cli/client"
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
				return client.Usage("up: --tour and --no-tour exclude each other", "Give one of them.")
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
	dataDir, err := a.Env.DataDir()
	if err != nil {
		return client.Explain("up", err)
	}
	self, err := a.Programs(ctx)
	if err != nil {
		return client.Explain("up", err)
	}
	if s, at, err := a.Reach(ctx, client.RoleHook); err == nil {
		s.Close()
		if !at.Older(config.Version, config.Protocol) {
			return a.alreadyUp(ctx, f, self, at)
		}
		if !f.detach { // what replaces it runs below this process
			if _, err := a.stopDaemon(ctx); err != nil {
				return client.Explain("up: replace the daemon, Writ "+at.Version, err)
			}
		}
	} else if errors.Is(err, config.ErrNewerDaemon) {
		return client.Explain("up", err)
	}
	if f.detach {
		starting, cancel := a.Follow(ctx, dataDir)
		at, err := a.StartWith(starting, dataDir, self)
		cancel()
		if err != nil {
			return client.Explain("up", err)
		}
		if a.JSON {
			return a.PrintJSON(upReply{Endpoint: at})
		}
		a.Printf("The daemon runs in the background: process %d, %s. `writ down` stops it.\n", at.PID, at.URL)
		return a.tourIfWanted(ctx, f, self)
	}
	return a.foreground(ctx, f, self, dataDir)
}

func (a *app) alreadyUp(ctx context.Context, f upFlags, self string, at config.Endpoint) error {
	if a.JSON {
		return a.PrintJSON(upReply{Endpoint: at, Already: true})
	}
	a.Printf("The daemon already runs: process %d, %s.\n", at.PID, at.URL)
	if !f.tour {
		return nil
	}
	return a.tourIfWanted(ctx, f, self)
}

// foreground runs the daemon as a child until a signal, or until it ends.
func (a *app) foreground(ctx context.Context, f upFlags, self, dataDir string) error {
	binary, err := launch.Find(self, a.Env.Vars)
	if err != nil {
		return client.Explain("up", err)
	}
	child := exec.Command(binary)
	child.Env = launch.DaemonVars(a.Env.Vars, dataDir)
	child.Stdout, child.Stderr = a.Err, a.Err
	launch.Separate(child)
	if err := child.Start(); err != nil {
		return client.Explain("up: "+binary, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	at, err := a.awaitChild(ctx, dataDir, child.Process.Pid, ended)
	if err == nil && a.JSON {
		err = a.PrintJSON(upReply{Endpoint: at})
	} else if err == nil {
		err = a.tourIfWanted(ctx, f, self)
	}
	if err != nil {
		if stopped := a.stopChild(child, ended); ctx.Err() == nil {
			return errors.Join(err, stopped)
		}
		return nil //nolint:nilerr // it was interrupted, and what did not come of it is no fault
	}
	if ctx.Err() == nil {
		a.Note("The daemon runs (process %d, %s). Ctrl-C stops it.", at.PID, at.URL)
	}
	select {
	case err := <-ended:
		return childEnd(err)
	case <-ctx.Done():
		return a.stopChild(child, ended)
	}
}

func (a *app) awaitChild(ctx context.Context, dataDir string, pid int, ended chan error) (config.Endpoint, error) {
	ctx, cancel := a.Follow(ctx, dataDir)
	defer cancel()
	probe := a.LaunchOptions(dataDir, client.RoleHook, client.Service.Close).Probe
	for {
		at, err := config.ReadEndpoint(dataDir)
		if err == nil && at.PID == pid && probe(ctx, at) == nil {
			return at, nil
		}
		select {
		case err := <-ended:
			ended <- err
			return at, client.Refused("up", "the daemon ended at its start", "What it printed above says why.")
		case <-ctx.Done():
			return at, client.Refused("up", "the daemon did not become ready", "What it printed above says what it waits for.")
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
	return client.Refused("up", "the daemon did not stop in "+stopBudget.String()+" and was killed", "Nothing acknowledged is lost.")
}

func childEnd(err error) error {
	if err == nil {
		return nil
	}
	return client.Refused("up", "the daemon ended: "+err.Error(), "What it printed above says why.")
}

// tourIfWanted shows the tour when asked to, and by default to whoever sees
// Writ for the first time; then it says how to go on.
func (a *app) tourIfWanted(ctx context.Context, f upFlags, self string) error {
	if a.JSON {
		return nil
	}
	if f.tour || (!f.noTour && !f.detach && a.isFirstLook(ctx)) {
		if err := a.tour(ctx, self); ctx.Err() != nil {
			return nil // whoever leaves it has seen enough
		} else if err != nil {
			return err
		}
	}
	a.howToInstall(a.Out, self)
	return nil
}

// isFirstLook is true for `go run` in a checkout, and where no session was
// ever seen.
func (a *app) isFirstLook(ctx context.Context) bool {
	if _, inCheckout := launch.Checkout(a.Env.Dir); inCheckout && launch.Temporary(a.Env.Executable) {
		return true
	}
	s, _, err := a.Reach(ctx, client.RoleHook)
	if err != nil {
		return false
	}
	defer s.Close()
	list, err := client.Call[schemas.SessionList](ctx, s, schemas.SvcSessions, schemas.SessionQuery{Limit: 1})
	return err == nil && len(list.Sessions) == 0
}

func (a *app) howToInstall(w io.Writer, self string) {
	st := a.Env.Style(w)
	if self == "" { // a system without /proc does not say
		self = "writ"
	}
	fmt.Fprintf(w, "\nTo guard a project of your own:\n\n    %s\n\n", st.Bold("cd your-project && "+client.ShellWord(self)+" init"))
	fmt.Fprintf(w, "and `%s uninstall` takes it out again, without a trace.\n\n", filepath.Base(self))
}
