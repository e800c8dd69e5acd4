// Package launch finds, builds and starts the daemon.
//
// Guarantees: of any number of processes that start it at once, one does and
// all return when it answers; a started daemon outlives its starter; every
// wait ends with the caller's context.
//
// It does not speak to daemons: whether one answers is the caller's probe, and
// one that is older than what would be started is asked to end by the caller's
// Stop, before its successor starts.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/filelock"
	"github.com/writbus/writ/schemas/pause"
)

var (
	// ErrNoBinary is returned where writd is found nowhere.
	ErrNoBinary = errors.New("launch: writd is neither beside writ nor on the PATH")
	// ErrDied is returned when the started daemon ended before it answered; the
	// error carries what it said last.
	ErrDied = errors.New("launch: the daemon ended at its start")
	// ErrElsewhere is returned where another process holds the data folder and what
	// it announced cannot be reached: from another container, another machine.
	ErrElsewhere = errors.New("launch: another process holds the data folder")
	// ErrOldBinary is returned where both the daemon and the writd that would
	// replace it are older than this program understands.
	ErrOldBinary = errors.New("launch: writd is older than writ")
)

// HeldStatus is the exit status of a daemon that found another in its data folder.
const HeldStatus = 75

// poll is the pause between looks at a lock or an endpoint. A daemon takes
// tens of milliseconds to start, so this adds little to a hook's wait and
// costs little with twenty hooks waiting.
const poll = 10 * time.Millisecond

// mostSkipped bounds how many looks in a row go without asking an endpoint that
// did not answer before.
const mostSkipped = 7

// Options say which daemon to start, and how to see that it answers.
type Options struct {
	DataDir    string
	Executable string   // of this program; the daemon is looked for beside it
	Vars       []string // environment, in the form of os.Environ
	// Probe returns nil when the daemon announced at the endpoint answers.
	Probe func(context.Context, config.Endpoint) error
	// Stop asks a daemon to end, which it may do after it answered; nil where
	// this program may not.
	Stop func(context.Context, config.Endpoint) error

	anyVersion bool // an older daemon serves
}

// Start returns the endpoint of a daemon that answers, starting one in the
// background where none does, and replacing one that is older than the writd that
// it finds. It returns ErrNoBinary, ErrDied, ErrOldBinary, ErrElsewhere, config.ErrNewerDaemon, or
// the context's error.
func Start(ctx context.Context, o Options) (config.Endpoint, error) {
	o.Probe = patient(o.Probe)
	if at, err := answering(ctx, o); settled(err) {
		return at, err
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return config.Endpoint{}, fmt.Errorf("launch: data folder: %w. Make it writable for you, or set WRIT_HOME to another folder", err)
	}
	for {
		lock, err := filelock.Take(filepath.Join(o.DataDir, "start.lock"))
		if err == nil {
			defer lock.Release()
			return startLocked(ctx, o)
		}
		if !errors.Is(err, filelock.ErrHeld) {
			return config.Endpoint{}, fmt.Errorf("launch: %w. Make room there, make it writable for you, or set WRIT_HOME to another folder", err)
		}
		if err := rest(ctx, o); err != nil {
			return config.Endpoint{}, err
		}
		if at, err := answering(ctx, o); settled(err) {
			return at, err
		}
	}
}

// settled tells an answer that waiting cannot change.
func settled(err error) bool { return err == nil || errors.Is(err, config.ErrNewerDaemon) }

func startLocked(ctx context.Context, o Options) (config.Endpoint, error) {
	at, err := answering(ctx, o)
	if settled(err) {
		return at, err
	}
	older := errors.Is(err, config.ErrOlderDaemon)
	o.anyVersion = true // there is none better than the one that is found here
	binary, err := Find(o.Executable, o.Vars)
	if err != nil {
		return config.Endpoint{}, err
	}
	if older {
		if goesOn, err := replace(ctx, o, at, binary); err != nil || goesOn {
			return at, err
		}
	}
	for {
		if at, err = spawn(ctx, binary, o); !errors.Is(err, config.ErrNoDaemon) || ctx.Err() != nil {
			return at, err
		}
	}
}

func answering(ctx context.Context, o Options) (config.Endpoint, error) {
	at, err := config.ReadEndpoint(o.DataDir)
	if err == nil {
		err = at.Understood()
	}
	if err == nil && !o.anyVersion && at.Older(config.Version, config.Protocol) {
		err = fmt.Errorf("%w: it is Writ %s, protocol %d", config.ErrOlderDaemon, at.Version, at.Protocol)
	}
	if err != nil {
		return at, err
	}
	return at, o.Probe(ctx, at)
}

// patient asks an endpoint that did not answer less and less often: twenty
// hooks that wait for a daemon must not keep it from starting. Another
// endpoint is asked at once.
func patient(probe func(context.Context, config.Endpoint) error) func(context.Context, config.Endpoint) error {
	var last config.Endpoint
	var failure error
	skip, skipped := 0, 0
	return func(ctx context.Context, at config.Endpoint) error {
		if at == last && failure != nil && skipped < skip {
			skipped++
			return failure
		}
		if at != last {
			skip = 0
		}
		last, skipped = at, 0
		if failure = probe(ctx, at); failure != nil {
			skip = min(2*skip+1, mostSkipped)
		}
		return failure
	}
}

// rest ends with the context's error, as ErrElsewhere where another daemon still starts or
// ends.
func rest(ctx context.Context, o Options) error {
	if pause.For(ctx, poll) {
		return nil
	}
	err := fmt.Errorf("launch: waiting for the daemon: %w", context.Cause(ctx))
	if held(o) {
		err = fmt.Errorf("%w: %w", ErrElsewhere, err)
	}
	return err
}

// Find returns the path of writd: beside the executable or what it is a link to,
// else $WRITD, else on the PATH. ErrNoBinary comes with the command that installs
// it.
func Find(executable string, vars []string) (string, error) {
	name := binaryName("writd")
	if executable != "" {
		for _, self := range []string{executable, resolved(executable)} {
			if path := filepath.Join(filepath.Dir(self), name); isProgram(path) {
				return path, nil
			}
		}
	}
	if path := lookup(vars, "WRITD"); path != "" {
		if !isProgram(path) {
			return "", fmt.Errorf("%w, and WRITD is %s, which is not a program", ErrNoBinary, path)
		}
		return filepath.Abs(path)
	}
	for _, dir := range filepath.SplitList(lookup(vars, "PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && isProgram(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w; `%s` installs it", ErrNoBinary, Installed(executable, cmp.Or(lookup(vars, "HOME"), lookup(vars, "USERPROFILE")), vars).Remedy())
}

func lookup(vars []string, name string) string {
	for i := len(vars) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(vars[i], name+"="); ok {
			return value
		}
	}
	return ""
}

func isProgram(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil && filepath.Base(path) != path
}

// daemon is a started process, until it answers.
type daemon struct {
	ended  chan error
	log    string
	offset int64 // where this start's part of the log begins
}

// spawn starts a daemon and waits for it, or for another that it met: config.ErrNoDaemon
// says that such a one has ended.
func spawn(ctx context.Context, binary string, o Options) (at config.Endpoint, err error) {
	d := &daemon{log: config.Layout{Root: o.DataDir}.DaemonLog(), ended: make(chan error, 1)}
	if err := os.MkdirAll(filepath.Dir(d.log), 0o700); err != nil {
		return at, fmt.Errorf("launch: %w. Where a file lies in its place, move %s away", err, filepath.Dir(d.log))
	}
	log, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return at, fmt.Errorf("launch: %w", err)
	}
	defer func() { _ = log.Close() }()
	d.offset, _ = log.Seek(0, io.SeekEnd) // else its last words are looked for in all of it
	cmd := exec.Command(binary)
	cmd.Dir = o.DataDir
	cmd.Env = DaemonVars(o.Vars, o.DataDir)
	cmd.Stdout, cmd.Stderr = log, log
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return at, fmt.Errorf("launch: %s: %w", binary, err)
	}
	go func() { d.ended <- cmd.Wait() }()
	return d.await(ctx, o)
}

// DaemonVars is the environment of a daemon of a data directory. What an
// agent's host put there for its own children is left out: the daemon outlives
// the session that happened to start it.
func DaemonVars(vars []string, dataDir string) []string {
	var kept []string
	for _, v := range vars {
		if !strings.HasPrefix(v, "CLAUDE") && !strings.HasPrefix(v, "WRIT_HOME=") {
			kept = append(kept, v)
		}
	}
	return append(kept, "WRIT_HOME="+dataDir)
}

func (d *daemon) await(ctx context.Context, o Options) (config.Endpoint, error) {
	for {
		at, err := answering(ctx, o)
		if err == nil {
			return at, nil
		}
		select {
		case end := <-d.ended:
			// Another daemon, still recovering its log, may hold the data: it
			// is the one to wait for, unless it has refused who asks.
			if exit := (*exec.ExitError)(nil); !held(o) && !(errors.As(end, &exit) && exit.ExitCode() == HeldStatus) {
				return config.Endpoint{}, d.death(o.DataDir, end)
			}
			if errors.Is(err, bus.ErrBadCredentials) {
				return config.Endpoint{}, err
			}
			d.ended = nil
		default:
		}
		if d.ended == nil && !held(o) {
			return at, config.ErrNoDaemon // what held the data was ending
		}
		if err := rest(ctx, o); err != nil {
			return config.Endpoint{}, err
		}
	}
}

// held says whether a daemon has the data folder.
func held(o Options) bool { return filelock.Held(config.Layout{Root: o.DataDir}.Lock()) }

// daemonSays stands before the reason that ended a daemon.
const daemonSays = "writd: "

func (d *daemon) death(dataDir string, end error) error {
	why := "it says nothing of why: " + cmp.Or(end, errors.New("it ended without an error")).Error()
	if room := disk.Room(dataDir, disk.Reserve); room != nil {
		why = room.Error() // a full disk has no room for its words
	}
	return fmt.Errorf("%w: %s (%s)", ErrDied, cmp.Or(d.lastWords(), why), d.log)
}

// lastWords are what this daemon said at its end, which may be several lines,
// else the last line it logged; at most 4 KiB of it.
func (d *daemon) lastWords() string {
	file, err := os.Open(d.log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	const most = 4 << 10
	from := max(d.offset, info.Size()-most)
	raw, _ := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from)) // what can be read of it
	text := strings.TrimSpace(string(raw))
	start := strings.LastIndex("\n"+text, "\n"+daemonSays)
	if start < 0 {
		start = strings.LastIndex(text, "\n") + 1
	}
	return strings.TrimSpace(strings.TrimPrefix(text[start:], daemonSays))
}
