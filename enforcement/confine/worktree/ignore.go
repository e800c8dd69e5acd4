package worktree

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/gitignore"
)

// ignoring decides what .gitignore files leave out of a tree.
type ignoring struct {
	tracked map[string]bool // folders below which git knows a file
	base    gitignore.Files // of the caller and .git/info/exclude
	rules   map[string]*gitignore.File
	closed  bool // rules are those read before; no more are read
}

func newIgnoring(index map[string]indexed, base gitignore.Files) *ignoring {
	g := &ignoring{tracked: map[string]bool{}, base: base, rules: map[string]*gitignore.File{}}
	for p := range index {
		for dir := path.Dir(p); dir != "." && !g.tracked[dir]; dir = path.Dir(dir) {
			g.tracked[dir] = true
		}
	}
	return g
}

// frozen decides by the rules read so far.
func (g *ignoring) frozen() *ignoring {
	f := *g
	f.closed = true
	return &f
}

func readExclude(gitDir string) *gitignore.File {
	raw, _ := os.ReadFile(filepath.Join(gitDir, "info", "exclude"))
	return gitignore.Parse(string(raw))
}

// enter reads the rules of a folder that is about to be visited.
func (g *ignoring) enter(root, dir string, names []string) {
	if g.closed || !slices.Contains(names, ".gitignore") {
		return
	}
	at := filepath.Join(root, filepath.FromSlash(dir), ".gitignore")
	if info, err := os.Lstat(at); err != nil || !info.Mode().IsRegular() {
		return // git follows no link here
	}
	if raw, err := os.ReadFile(at); err == nil {
		f := gitignore.Parse(string(raw))
		f.Base = dir
		g.rules[dir] = f
	}
}

// ignores reports whether a name in a folder is left out. The last rule that
// matches decides, those of deeper folders before those above.
func (g *ignoring) ignores(dir, name string, isDir bool) bool {
	file := below(dir, name)
	for {
		if f := g.rules[dir]; f != nil {
			if r, found := f.Match(file, isDir); found {
				return !r.Include
			}
		}
		if dir == "" {
			break
		}
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	}
	_, r, found := g.base.Match(file, isDir)
	return found && !r.Include
}
