package client

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/excerpt"
)

// Exit codes of every command but hook. Persisted in people's scripts; never
// change.
const (
	ExitOK     = 0
	ExitFailed = 1 // refused, not found, failed
	ExitUsage  = 2 // the command line cannot be understood
)

// Fault is an error as the user sees it: what, why, and what to do.
type Fault struct {
	What, Why, Todo string
	Code            int // exit code, 0 counts as 1
}

func (f *Fault) Error() string {
	text := f.What
	if f.Why != "" {
		text += ": " + f.Why
	}
	if f.Todo == "" {
		return text
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text + " " + f.Todo
}

func (f *Fault) exit() int {
	if f.Code == 0 {
		return ExitFailed
	}
	return f.Code
}

// Usage is a command line that cannot be understood, and what to do.
func Usage(what, todo string) error { return &Fault{What: what, Todo: todo, Code: ExitUsage} }

// Refused is an attempt that failed: what, why, and what to do.
func Refused(what, why, todo string) error {
	return &Fault{What: what, Why: excerpt.Plain(why), Todo: todo}
}

// Explain turns an error of a lower layer into a fault about what was tried.
func Explain(what string, err error) error {
	var known *Fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	f := &Fault{What: what, Why: OneLine(err.Error())}
	var service *bus.ServiceError
	switch {
	case errors.As(err, &service):
		f.Why = OneLine(service.Text)
		switch service.Code {
		case schemas.CodeBadRequest:
			f.Code = ExitUsage
		case schemas.CodeNotReady:
			f.Todo = "Try again in a moment; `writ status` shows the progress."
		case schemas.CodeInternal:
			f.Todo = "`writ doctor` checks the installation; the daemon's log says more."
		}
	case disk.Full(err):
		f.Todo = "Make room on that disk, and try again."
	case errors.Is(err, syscall.ENOTDIR):
		f.Todo = "Set WRIT_HOME to a folder of yours, or move that file."
	case errors.Is(err, launch.ErrNoBinary):
		f.Todo = "Or set WRITD to its path."
	case errors.Is(err, config.ErrFormat):
		_, why, _ := strings.Cut(err.Error(), config.ErrFormat.Error()+": ")
		f.Why = "the daemon does not run: " + OneLine(why)
	case errors.Is(err, config.ErrNewerDaemon), errors.Is(err, launch.ErrOldBinary):
		_, f.Why, _ = strings.Cut(OneLine(err.Error()), ": ")
	case errors.Is(err, launch.ErrElsewhere):
		f.Why = "another process holds the data folder, and does not answer here"
		f.Todo = "It may still be starting or ending, or stand still: `writ down` says which. Else its daemon runs in another container or on another machine: work there, or end it there."
	case errors.Is(err, config.ErrNoDaemon):
		f.Why, f.Todo = "the daemon does not run", "`writ up` starts it."
	case errors.Is(err, errConfined):
		f.Todo = "Run it as a command of its own, by the `writ` beside the daemon's program (`writ doctor` names it), not below a build or an interpreter; what only the user may do, ask the user for."
	case errors.Is(err, bus.ErrDenied), errors.Is(err, bus.ErrBadCredentials):
		f.Todo = "`writ doctor` checks the credentials."
	case errors.Is(err, bus.ErrBusy):
		f.Why, f.Todo = "as many agents ask the daemon as may at once", "Try again in a moment."
	case errors.Is(err, bus.ErrTooLarge):
		f.Why, f.Todo = "it is more than the daemon takes in one request", "Ask about less at once; a confined command may ask 1 MiB."
	case errors.Is(err, bus.ErrUnavailable):
		f.Todo = "See whether it was done, and ask again; `writ doctor` shows why."
	case errors.Is(err, context.DeadlineExceeded):
		f.Why, f.Todo = "the daemon did not answer in time", "`writ doctor` shows why."
	}
	f.Why = excerpt.Plain(f.Why)
	return f
}
