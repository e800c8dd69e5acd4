package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/schemas"
)

// Exit codes of every command but hook. Persisted in people's scripts; never
// change.
const (
	exitOK     = 0
	exitFailed = 1 // refused, not found, failed
	exitUsage  = 2 // the command line cannot be understood
)

// fault is an error as the user sees it: what, why, and what to do.
type fault struct {
	what, why, todo string
	code            int // exit code, 0 counts as 1
}

func (f *fault) Error() string {
	text := f.what
	if f.why != "" {
		text += ": " + f.why
	}
	if f.todo == "" {
		return text
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text + " " + f.todo
}

func (f *fault) exit() int {
	if f.code == 0 {
		return exitFailed
	}
	return f.code
}

func usage(what, todo string) error { return &fault{what: what, todo: todo, code: exitUsage} }

func refused(what, why, todo string) error { return &fault{what: what, why: why, todo: todo} }

// explain turns an error of a lower layer into a fault about what was tried.
func explain(what string, err error) error {
	var known *fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	f := &fault{what: what, why: oneLine(err.Error())}
	var service *bus.ServiceError
	switch {
	case errors.As(err, &service):
		f.why = oneLine(service.Text)
		switch service.Code {
		case schemas.CodeBadRequest:
			f.code = exitUsage
		case schemas.CodeNotReady:
			f.todo = "Try again in a moment; `writ status` shows the progress."
		case schemas.CodeInternal:
			f.todo = "`writ doctor` checks the installation; the daemon's log says more."
		}
	case errors.Is(err, launch.ErrNoBinary):
		f.todo = "Install it beside writ, put it on the PATH, or set WRITD to its path."
	case errors.Is(err, config.ErrNoDaemon):
		f.why, f.todo = "the daemon does not run", "`writ up` starts it."
	case errors.Is(err, errConfined):
		f.todo = "Run it as a command of its own, not below a build or an interpreter; what only the user may do, ask the user for."
	case errors.Is(err, bus.ErrDenied), errors.Is(err, bus.ErrBadCredentials):
		f.todo = "`writ doctor` checks the credentials."
	case errors.Is(err, bus.ErrUnavailable):
		f.todo = "`writ doctor` shows why."
	}
	return f
}

// oneLine keeps multi-line texts of other layers from tearing a message.
func oneLine(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// shorten cuts text to at most n runes, at a space where one is near.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	cut := string(runes[:n-1])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", thousands(uint64(n)), many)
}

// thousands groups digits for people.
func thousands(n uint64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
