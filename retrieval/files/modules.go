package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/schemas"
)

// Sources finds the folders of projects by their names.
type Sources struct {
	Project string // the folder of the project without a name
	Folder  string // of other projects, "" for none

	cache, root, version string // of the Go toolchain
	asked                bool
	failed               error // of asking
}

// Find is where the files of a project are: of a folder among the sources, else of a
// module of Go's cache, "path@version", or of the standard library, "std@go1.26.8".
func (m *Sources) Find(ctx context.Context, name string) (string, error) {
	if name == "" {
		return filepath.Abs(m.Project)
	}
	if m.Folder != "" {
		if dir := filepath.Join(m.Folder, filepath.FromSlash(name)); filepath.IsLocal(filepath.FromSlash(name)) && isFolder(dir) {
			return filepath.EvalSymlinks(dir)
		}
	}
	if err := m.toolchain(ctx); err != nil {
		return "", err
	}
	module, version, versioned := strings.Cut(name, "@")
	if !versioned {
		return "", fmt.Errorf("project %q has no version: write module@version, or std@%s", name, m.version)
	}
	if module == "std" {
		if version != m.version {
			return "", fmt.Errorf("the standard library here is that of %s, the queries are about %s: run with GOTOOLCHAIN=%s", m.version, version, version)
		}
		return filepath.Join(m.root, "src"), nil
	}
	dir := filepath.Join(m.cache, filepath.FromSlash(escaped(module)+"@"+escaped(version)))
	if !isFolder(dir) {
		return "", fmt.Errorf("%s is not in the module cache: run `go mod download %s`, or name its sources' folder with --sources", name, name)
	}
	return dir, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// toolchain asks the go command, once, where modules and the standard library
// are.
func (m *Sources) toolchain(ctx context.Context) error {
	if m.asked {
		return m.failed
	}
	m.asked = true
	out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOROOT", "GOVERSION").Output()
	if err != nil {
		m.failed = fmt.Errorf("the queries name Go modules, and `go env` does not say where they are: %w", err)
		return m.failed
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		m.failed = errors.New("`go env` answers in another way than expected")
		return m.failed
	}
	m.cache, m.root, m.version = strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1]), strings.TrimSpace(lines[2])
	return nil
}

// escaped is a path as the module cache writes it: capitals are marked, since
// some file systems cannot tell them apart.
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Indexed indexes a folder as the daemon does, with nothing recorded.
func Indexed(ctx context.Context, root string, globs []string, e search.Embedder, now func() time.Time) (*Project, error) {
	p, err := Open(Options{
		Root: root, Embedder: e, Now: now, Workers: runtime.GOMAXPROCS(0),
		Record: func(context.Context, []schemas.Payload) error { return nil },
	})
	if err != nil {
		return nil, err
	}
	if _, err := p.Update(ctx, Update{Globs: &globs}); err != nil {
		return nil, err
	}
	return p, nil
}

// Resident is the memory that this process has, bytes; 0 where that is not known.
func Resident() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
