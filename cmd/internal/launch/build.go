package launch

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the path by which a checkout of this project is recognised.
const Module = "github.com/writbus/writ"

// Checkout walks up from a folder to a checkout of this project.
func Checkout(dir string) (root string, found bool) {
	for {
		if moduleOf(filepath.Join(dir, "go.mod")) == Module {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func moduleOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 && fields[0] == "module" {
			return strings.Trim(fields[1], `"`)
		}
	}
	return ""
}

// Temporary says whether a program is one that `go run` made and will remove.
func Temporary(executable string) bool {
	return strings.Contains(filepath.ToSlash(executable), "/go-build")
}

// BinDir is where programs built from a checkout are kept: in no cache, where held
// commands write, since hooks run them.
func BinDir() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("launch: %w", err)
	}
	return filepath.Join(home, ".local", "share", "writ", "bin"), nil
}

// Build builds writ and writd from a checkout into a folder and returns the
// path of writ. The go tool decides what is still current. The client is built
// without the system's C library: it starts with every hook, and sooner so. Both are
// without tables for debuggers, which linking takes as long for as for the rest.
func Build(ctx context.Context, checkout, into string) (writ string, err error) {
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", fmt.Errorf("launch: %w", err)
	}
	for program, vars := range map[string][]string{"./cmd/writd": nil, "./cmd/writ": {"CGO_ENABLED=0"}} {
		cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", into+string(filepath.Separator), program)
		cmd.Dir, cmd.Env = checkout, append(os.Environ(), vars...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("launch: go build in %s: %w: %s", checkout, err, strings.TrimSpace(string(out)))
		}
	}
	return filepath.Join(into, binaryName("writ")), nil
}
