package client

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	// Columns is how many columns lines may have; 0 asks the terminal, and leaves
	// them whole where none is.
	Columns int
	// Now is the clock, for what is shown to people.
	Now func() time.Time
	// Connect reaches the daemon at an endpoint in a role; nil is the bus.
	Connect func(ctx context.Context, at config.Endpoint, dataDir, role string) (Service, error)
	// StopGrace is how long a program that was told to stop may take for it; 0 is
	// three seconds.
	StopGrace time.Duration
	// Unattended tells why no person sits at this process's terminal; nil asks the
	// system.
	Unattended func(terminals []string) string
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

// DataDir is the data directory that the environment names, else the usual one.
func (e Env) DataDir() (string, error) {
	if dir := e.Getenv("WRIT_HOME"); dir != "" {
		return e.Absolute(dir), nil
	}
	return config.DataDir()
}

// Absolute is a path as it is meant from the working folder.
func (e Env) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}
