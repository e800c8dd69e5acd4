// Package programs builds writ and writd for the tests that run them as a user
// does.
package programs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var folder string

// Main runs a package's tests, of which it is the TestMain: after what prepares
// them, and with a folder for the programs, which goes with the last of them.
func Main(m *testing.M, prepare ...func() error) {
	os.Exit(run(m, prepare))
}

func run(m *testing.M, prepare []func() error) int {
	dir, err := os.MkdirTemp("", "writ-programs")
	if err != nil {
		fmt.Fprintln(os.Stderr, "a folder for the programs under test:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	folder = dir
	for _, first := range prepare {
		if err := first(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// Built is the folder that holds both programs: those of WRIT_TEST_BIN or, without
// it, built when it is asked for first.
var Built = sync.OnceValues(func() (string, error) {
	if folder == "" {
		return "", errors.New("programs: TestMain is not programs.Main")
	}
	given := os.Getenv("WRIT_TEST_BIN")
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	// Without tables for debuggers, as the tests' own programs are: linking takes
	// half as long. The client without the system's C library, as it is shipped.
	for program, vars := range map[string][]string{"writ": {"CGO_ENABLED=0"}, "writd": nil} {
		if given != "" {
			if err := copyInto(folder, filepath.Join(given, program)); err != nil {
				return "", fmt.Errorf("the programs of WRIT_TEST_BIN: %w", err)
			}
			continue
		}
		// The go tool links nothing where `+"`writ up`"+` built the same program.
		_ = copyInto(folder, filepath.Join(home, ".local", "share", "writ", "bin", program))
		build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", folder, "github.com/writbus/writ/cmd/"+program)
		build.Env = append(os.Environ(), vars...)
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build the programs under test: %w\n%s", err, out)
		}
	}
	return folder, nil
})

// copyInto copies a program into a folder.
func copyInto(folder, path string) error {
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, filepath.Base(path)), program, 0o755)
}
