package confine

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name git gives contents, not a safeguard
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what a Tree hashes of files that git does not know as they are.
// A file beyond them counts as changed when anything about it changed.
const (
	maxHashedFile  = 1 << 20
	maxHashed      = 4 << 20
	maxHashedFiles = 500
	// maxTreeFiles bounds the files of a tree; beyond, Tree is an error.
	maxTreeFiles = 500_000
)

// TreeOptions says what a Tree looks at.
type TreeOptions struct {
	// Root is the work tree, absolute.
	Root string
	// Ignore lists patterns, in the form of a .gitignore file's lines, of what
	// is left out besides what the tree's own .gitignore files name.
	Ignore []string
	// Keep lists paths relative to Root that are looked at although they are
	// ignored: the plan's and the findings files. Protected paths always are.
	Keep []string
}

// Change is one file that is not as it was.
type Change struct {
	Path   string // relative to the root, with forward slashes
	Change string // Created, Changed or Deleted
}

// Tree is what a work tree looked like.
//
// It is read from the file system alone: no program runs, so no hook, filter
// or monitor of the repository does. A change is found by what the file system
// says about a file, its change time above all, which programs cannot set. The
// content decides where only that differs and the old content is known: from
// git's index for files that were as git knew them, from a hash for others,
// within bounds.
//
// Folders that .gitignore names and in which git knows no file are left out,
// those of the .git folder as well, hooks and configuration apart.
type Tree struct {
	options TreeOptions
	files   map[string]stamp
	index   map[string]indexed
	indexAt stamp // of git's index file
	ignore  *ignoring
	hashes  map[string]oid
	extra   ruleList
}

// stamp is what the file system says about a file.
type stamp struct {
	size         int64
	mtime, ctime int64 // nanoseconds; ctime is 0 where the system has none
	ino          uint64
	mode         fs.FileMode
	ignored      bool
}

func (s stamp) same(o stamp) bool {
	s.ignored, o.ignored = false, false
	return s == o
}

// oid is git's name of a content.
type oid [sha1.Size]byte

// ReadTree looks at a work tree.
func ReadTree(o TreeOptions) (*Tree, error) {
	t := &Tree{options: o, hashes: map[string]oid{}, extra: parseIgnore(strings.Join(o.Ignore, "\n"))}
	t.know(nil)
	if err := t.read(); err != nil {
		return nil, err
	}
	t.hashUnknown()
	return t, nil
}

// know reads what git knows of the tree, or takes it from an earlier look where
// the index is the same file.
func (t *Tree) know(earlier *Tree) {
	dir := gitDir(t.options.Root)
	t.indexAt, _ = stampOf(filepath.Join(dir, "index"))
	exclude := slices.Concat(t.extra, readExclude(dir))
	if earlier != nil && t.indexAt == earlier.indexAt {
		t.index = earlier.index
		t.ignore = &ignoring{tracked: earlier.ignore.tracked, base: exclude}
		return
	}
	t.index = readIndex(dir)
	t.ignore = newIgnoring(t.index, exclude)
}

func (t *Tree) read() error {
	t.files = make(map[string]stamp, len(t.index)+64)
	w := walker{tree: t, root: t.options.Root}
	if err := w.folder("", false); err != nil {
		return fmt.Errorf("confine: look at %s: %w", t.options.Root, err)
	}
	return nil
}

// Size is the number of files looked at.
func (t *Tree) Size() int { return len(t.files) }

// Changes compares the work tree as it is now, by path, and returns it for the
// next comparison. What is ignored is decided as it was: a command cannot hide
// a file by ignoring it.
func (t *Tree) Changes() ([]Change, *Tree, error) {
	now := &Tree{options: t.options, index: t.index, ignore: t.ignore.frozen(), hashes: map[string]oid{}, extra: t.extra}
	if err := now.read(); err != nil {
		return nil, nil, err
	}
	var changes []Change
	for p, was := range t.files {
		is, still := now.files[p]
		switch {
		case !still:
			changes = append(changes, Change{p, Deleted})
		case is.same(was):
		case was.ignored || t.unchanged(p, was, is, now):
		default:
			changes = append(changes, Change{p, Changed})
		}
	}
	for p, is := range now.files {
		if _, was := t.files[p]; !was && !is.ignored {
			changes = append(changes, Change{p, Created})
		}
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Change == Deleted && t.files[c.Path].ignored })
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	next := &Tree{options: t.options, files: now.files, hashes: map[string]oid{}, extra: t.extra}
	next.know(t)
	next.ignore.rules = t.ignore.rules
	if slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitignore" }) {
		// The next comparison goes by the rules as they are now.
		next.ignore.rules = map[string]ruleList{}
		if err := next.read(); err != nil {
			return nil, nil, err
		}
	}
	maps.Copy(next.hashes, t.kept(next))
	next.hashUnknown()
	return changes, next, nil
}

// kept are the hashes of files that are as they were.
func (t *Tree) kept(now *Tree) map[string]oid {
	kept := map[string]oid{}
	for p, h := range t.hashes {
		if now.files[p].same(t.files[p]) {
			kept[p] = h
		}
	}
	return kept
}

// unchanged reports whether a file about which something changed holds what it
// held, with the rights it had.
func (t *Tree) unchanged(p string, was, is stamp, now *Tree) bool {
	if is.size != was.size || is.mode != was.mode {
		return false
	}
	before, known := t.hashes[p]
	if e, tracked := t.index[p]; !known && tracked && e.clean(was) {
		before, known = e.oid, true
	}
	if !known || is.size > maxHashedFile {
		return false
	}
	after, ok := now.hash(p, is)
	return ok && after == before
}

// hashUnknown hashes the files whose content git's index does not tell.
func (t *Tree) hashUnknown() {
	var unknown []string
	for p, s := range t.files {
		if e, tracked := t.index[p]; s.ignored || s.size > maxHashedFile || tracked && e.clean(s) {
			continue
		}
		if _, have := t.hashes[p]; !have {
			unknown = append(unknown, p)
		}
	}
	slices.Sort(unknown)
	total := int64(0)
	for _, p := range unknown {
		s := t.files[p]
		if total += s.size; total > maxHashed || len(t.hashes) >= maxHashedFiles {
			return
		}
		if h, ok := t.hash(p, s); ok {
			t.hashes[p] = h
		}
	}
}

// hash names a file's content as git does. A link's content is its target.
func (t *Tree) hash(p string, s stamp) (oid, bool) {
	var content []byte
	var err error
	file := filepath.Join(t.options.Root, filepath.FromSlash(p))
	switch {
	case s.mode.IsRegular():
		content, err = os.ReadFile(file)
	case s.mode.Type() == fs.ModeSymlink:
		var target string
		target, err = os.Readlink(file)
		content = []byte(target)
	default:
		return oid{}, false
	}
	if err != nil {
		return oid{}, false
	}
	header := append(append([]byte("blob "), strconv.Itoa(len(content))...), 0)
	return sha1.Sum(bytes.Join([][]byte{header, content}, nil)), true //nolint:gosec // as above
}

// gitDir is the folder of a work tree's own git metadata.
func gitDir(root string) string {
	if dirs := gitFolders(root); len(dirs) > 0 {
		return dirs[0]
	}
	return filepath.Join(root, ".git")
}

// alwaysLooked are folders that no .gitignore takes out: they hold live
// settings of agents.
var alwaysLooked = []string{".writ", ".codex", ".claude", ".cursor", ".gemini", ".github"}

// rebuilt are folders that tools fill, in any project. They are left out
// unless git knows a file in them.
var rebuilt = []string{
	"node_modules", "__pycache__", ".venv", ".tox", ".nox", ".gradle", ".terraform", ".pytest_cache", ".mypy_cache", ".ruff_cache",
}

// walker visits the folders of a tree.
type walker struct {
	tree *Tree
	root string
}

// visit is called for each name in a folder; it returns the folder to descend
// into, "" for none.
func (w *walker) visit(dir, name string, s stamp, ignored bool) (into string, below bool, err error) {
	p := name
	if dir != "" {
		p = dir + "/" + name
	}
	if s.mode.IsDir() {
		switch {
		case name == ".git":
			return "", false, w.git(p)
		case slices.Contains(alwaysLooked, name):
			return p, false, nil
		case ignored || slices.Contains(rebuilt, name) || w.tree.ignore.ignores(dir, name, true):
			// A folder with files that git knows is looked at; what else is in
			// it stays ignored.
			if !w.tree.ignore.tracked[p] {
				return "", true, nil
			}
			return p, true, nil
		}
		return p, false, nil
	}
	if _, tracked := w.tree.index[p]; !tracked && !settings(dir) && !slices.Contains(w.tree.options.Keep, p) && p != "plan.md" && p != "capabilities.md" {
		s.ignored = ignored || w.tree.ignore.ignores(dir, name, false)
	}
	if len(w.tree.files) >= maxTreeFiles {
		return "", false, fmt.Errorf("more than %d files", maxTreeFiles)
	}
	w.tree.files[p] = s
	return "", false, nil
}

// settings reports whether a folder is or lies in one of live settings.
func settings(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if slices.Contains(alwaysLooked, part) {
			return true
		}
	}
	return false
}

// git notes what makes git run code, of a .git folder.
func (w *walker) git(p string) error {
	for _, name := range []string{"config", "config.worktree", "commondir"} {
		w.single(p + "/" + name)
	}
	hooks, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(p), "hooks"))
	if err != nil {
		return nil //nolint:nilerr // no hooks
	}
	for _, h := range hooks {
		if !strings.HasSuffix(h.Name(), ".sample") {
			w.single(path.Join(p, "hooks", h.Name()))
		}
	}
	return nil
}

func (w *walker) single(p string) {
	if s, err := stampOf(filepath.Join(w.root, filepath.FromSlash(p))); err == nil && !s.mode.IsDir() {
		w.tree.files[p] = s
	}
}
