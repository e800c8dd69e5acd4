package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
)

// Env is the world a command runs in, besides its arguments and streams.
type Env struct {
	// Vars are environment variables in the form of os.Environ.
	Vars []string
	// Dir is the working folder, absolute.
	Dir string
	// Home is the user's home folder, absolute, "" where none is known.
	Home string
	// Executable is the path of this program, absolute.
	Executable string
	// Now is the clock, for what is shown to people.
	Now func() time.Time
	// Connect reaches the daemon at an endpoint in a role; nil is the bus.
	Connect func(ctx context.Context, at config.Endpoint, dataDir, role string) (Service, error)
	// Start makes sure that a daemon runs; nil is launch.Start.
	Start func(ctx context.Context, o launch.Options) (config.Endpoint, error)
}

// OS is the world of a real process.
func OS() Env {
	dir, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	executable, _ := os.Executable()
	return Env{Vars: os.Environ(), Dir: dir, Home: home, Executable: executable, Now: time.Now}
}

// Getenv returns a variable's value, "" where it is unset. The last of several
// wins, as it does for a child process.
func (e Env) Getenv(name string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Vars[i], name+"="); ok {
			return value
		}
	}
	return ""
}

func (e Env) dataDir() (string, error) {
	if dir := e.Getenv("WRIT_HOME"); dir != "" {
		return e.absolute(dir), nil
	}
	return config.DataDir()
}

func (e Env) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// style colours text where the reader is a person at a terminal.
type style struct{ on bool }

func (e Env) style(w io.Writer) style {
	return style{isTerminal(w) && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) cyan(text string) string   { return s.paint("36", text) }
