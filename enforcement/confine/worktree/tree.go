package worktree

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name git gives contents, not a safeguard
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/schemas/gitignore"
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
	folders map[string]*folder // by path, "" for the root
	size    int                // files in them
	index   map[string]indexed
	indexAt stamp // of git's index file
	ignore  *ignoring
	hashes  map[string]oid
}

// stamp is what the file system says about a file.
type stamp struct {
	size         int64
	mtime, ctime int64 // nanoseconds; ctime is 0 where the system has none
	ino          uint64
	mode         fs.FileMode
	ignored      bool
	clean        bool // git's index says what it holds
	linked       bool // it has another name, where the system tells
}

func (s stamp) same(o stamp) bool {
	s.ignored, o.ignored, s.clean, o.clean, s.linked, o.linked = false, false, false, false, false, false
	return s == o
}

// folder is what is in one folder, in the order in which the system lists it;
// folders within are among the names.
type folder struct {
	names  []string
	stamps []stamp
}

// file finds a file by its name.
func (f *folder) file(name string) (stamp, bool) {
	if f == nil {
		return stamp{}, false
	}
	i := slices.Index(f.names, name)
	if i < 0 || f.stamps[i].mode.IsDir() {
		return stamp{}, false
	}
	return f.stamps[i], true
}

func (t *Tree) file(p string) (stamp, bool) {
	dir, name := path.Split(p)
	return t.folders[strings.TrimSuffix(dir, "/")].file(name)
}

func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// oid is git's name of a content.
type oid [sha1.Size]byte

// ReadTree looks at a work tree. What an earlier look with the same options, nil for
// none, decided about files that are as they were is taken from it, where git knows and
// ignores the same.
func ReadTree(o TreeOptions, earlier *Tree) (*Tree, error) {
	t := &Tree{options: o, hashes: map[string]oid{}}
	t.know(earlier)
	if earlier != nil && (t.indexAt != earlier.indexAt || !reflect.DeepEqual(t.ignore.base, earlier.ignore.base)) {
		earlier = nil
	}
	if err := t.read(earlier); err != nil {
		return nil, err
	}
	if earlier != nil {
		t.hashes = earlier.kept(t)
	}
	t.hashUnknown()
	return t, nil
}

// Of says whether it is the tree of a root.
func (t *Tree) Of(root string) bool { return t != nil && t.options.Root == root }

// know reads what git knows of the tree, or takes it from an earlier look where
// the index is the same file.
func (t *Tree) know(earlier *Tree) {
	dir := gitDir(t.options.Root)
	t.indexAt, _ = stampOf(filepath.Join(dir, "index"))
	exclude := gitignore.Files{readExclude(dir)}
	if earlier != nil && t.indexAt == earlier.indexAt {
		t.index = earlier.index
		t.ignore = &ignoring{tracked: earlier.ignore.tracked, base: exclude, rules: map[string]*gitignore.File{}}
		return
	}
	t.index = readIndex(dir)
	t.ignore = newIgnoring(t.index, exclude)
}

func (t *Tree) read(earlier *Tree) error {
	t.folders, t.size = make(map[string]*folder, 64), 0
	w := walker{tree: t, earlier: earlier, root: t.options.Root}
	if err := w.folder(subfolder{decided: earlier != nil}); err != nil {
		return fmt.Errorf("worktree: look at %s: %w", t.options.Root, err)
	}
	return nil
}

// Size is the number of files looked at.
func (t *Tree) Size() int { return t.size }

// Below lists the files that lie in folders whose path holds a text; sorted.
func (t *Tree) Below(text string) (files []string) {
	for dir, f := range t.folders {
		if !strings.Contains("/"+dir, text) {
			continue
		}
		for i, name := range f.names {
			if !f.stamps[i].mode.IsDir() {
				files = append(files, below(dir, name))
			}
		}
	}
	slices.Sort(files)
	return files
}

// Linked is a file of the work tree that has another name, by which it can be
// written as well; "" for none. It is the first of them by its path.
func (t *Tree) Linked() (file string) {
	for dir, f := range t.folders {
		if dir == ".git" || strings.HasPrefix(dir, ".git/") {
			continue
		}
		for i, name := range f.names {
			if p := below(dir, name); f.stamps[i].linked && !f.stamps[i].ignored && (file == "" || p < file) {
				file = p
			}
		}
	}
	return file
}

// Changes compares the work tree as it is now, by path, and returns it for the
// next comparison. What is ignored is decided as it was: a command cannot hide
// a file by ignoring it.
func (t *Tree) Changes() ([]Change, *Tree, error) {
	now := &Tree{options: t.options, index: t.index, ignore: t.ignore.frozen(), hashes: map[string]oid{}}
	if err := now.read(t); err != nil {
		return nil, nil, err
	}
	var changes []Change
	for dir, was := range t.folders {
		changes = t.compare(changes, dir, was, now)
	}
	for dir := range now.folders {
		if t.folders[dir] == nil {
			changes = t.compare(changes, dir, &folder{}, now)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	next := &Tree{options: t.options, folders: now.folders, size: now.size, hashes: map[string]oid{}}
	next.know(t)
	next.ignore.rules = t.ignore.rules
	switch {
	case slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitignore" }):
		// The next comparison goes by the rules as they are now.
		next.ignore.rules = map[string]*gitignore.File{}
		if err := next.read(nil); err != nil {
			return nil, nil, err
		}
	case next.indexAt != t.indexAt:
		next.askIndex()
	}
	maps.Copy(next.hashes, t.kept(next))
	next.hashUnknown()
	return changes, next, nil
}

// compare adds what differs in one folder.
func (t *Tree) compare(changes []Change, dir string, was *folder, now *Tree) []Change {
	is := now.folders[dir]
	if is == nil {
		is = &folder{}
	}
	at := func(i int, name string) int { return i }
	if !slices.Equal(was.names, is.names) {
		place := make(map[string]int, len(is.names))
		for i, name := range is.names {
			place[name] = i
		}
		at = func(_ int, name string) int {
			if i, found := place[name]; found {
				return i
			}
			return -1
		}
		changes = t.created(changes, dir, was, is)
	}
	for i, name := range was.names {
		before := was.stamps[i]
		if before.mode.IsDir() {
			if j := at(i, name); j >= 0 && !is.stamps[j].mode.IsDir() && !is.stamps[j].ignored {
				changes = append(changes, Change{below(dir, name), confine.Created})
			}
			continue
		}
		j := at(i, name)
		switch {
		case j < 0 || is.stamps[j].mode.IsDir():
			if !before.ignored {
				changes = append(changes, Change{below(dir, name), confine.Deleted})
			}
		case before.ignored || is.stamps[j].same(before):
		default:
			if p := below(dir, name); !t.unchanged(p, before, is.stamps[j], now) {
				changes = append(changes, Change{p, confine.Changed})
			}
		}
	}
	return changes
}

// created adds the files of a folder whose names are new.
func (t *Tree) created(changes []Change, dir string, was, is *folder) []Change {
	had := make(map[string]bool, len(was.names))
	for _, name := range was.names {
		had[name] = true
	}
	for i, name := range is.names {
		if s := is.stamps[i]; !had[name] && !s.mode.IsDir() && !s.ignored {
			changes = append(changes, Change{below(dir, name), confine.Created})
		}
	}
	return changes
}

// askIndex asks the index anew which files it knows the content of.
func (t *Tree) askIndex() {
	for dir, f := range t.folders {
		f.stamps = slices.Clone(f.stamps) // an earlier look may have them too
		for i, name := range f.names {
			e, tracked := t.index[below(dir, name)]
			f.stamps[i].clean = tracked && e.clean(f.stamps[i])
		}
	}
}

// Blob is git's name of what a file held, in hexadecimal, where the file was as
// git knows it.
func (t *Tree) Blob(p string) (name string, known bool) {
	s, found := t.file(p)
	if !found || !s.clean {
		return "", false
	}
	of := t.index[p].oid
	return hex.EncodeToString(of[:]), true
}

// kept are the hashes of files that are as they were.
func (t *Tree) kept(now *Tree) map[string]oid {
	kept := map[string]oid{}
	for p, h := range t.hashes {
		was, had := t.file(p)
		if is, has := now.file(p); had && has && is.same(was) && !is.ignored {
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
	for dir, f := range t.folders {
		for i, s := range f.stamps {
			if s.ignored || s.clean || s.mode.IsDir() || s.size > maxHashedFile {
				continue
			}
			if p := below(dir, f.names[i]); t.hashes[p] == (oid{}) {
				unknown = append(unknown, p)
			}
		}
	}
	slices.Sort(unknown)
	total := int64(0)
	for _, p := range unknown {
		s, _ := t.file(p)
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
	if dirs := confine.GitFolders(root); len(dirs) > 0 {
		return dirs[0]
	}
	return filepath.Join(root, ".git")
}

// alwaysLooked are folders that no .gitignore takes out: they hold live
// settings of agents.
var alwaysLooked = []string{".writ", ".codex", ".claude", ".cursor", ".gemini", ".opencode", ".github"}

// rebuilt are folders that tools fill, in any project. They are left out
// unless git knows a file in them.
var rebuilt = []string{
	"node_modules", "__pycache__", ".venv", ".tox", ".nox", ".gradle", ".terraform", ".pytest_cache", ".mypy_cache", ".ruff_cache",
}

// walker visits the folders of a tree.
type walker struct {
	tree    *Tree
	earlier *Tree // what was decided about files that are as they were; may be nil
	root    string
	files   atomic.Int64
}

// decide fills in what is to be known about the names in a folder and returns
// the folders to descend into.
func (w *walker) decide(at subfolder, f *folder) (into []subfolder, err error) {
	dir, ignored := at.path, at.ignored
	var before *folder
	if at.decided = at.decided && reflect.DeepEqual(w.tree.ignore.rules[dir], w.earlier.ignore.rules[dir]); at.decided {
		if before = w.earlier.folders[dir]; before != nil && !slices.Equal(before.names, f.names) {
			before = nil
		}
	}
	kept, files, same := settings(dir), 0, before != nil
	for i, name := range f.names {
		s := &f.stamps[i]
		is := before != nil && before.stamps[i].same(*s)
		same = same && is
		if s.mode.IsDir() {
			if next, descend := w.descend(dir, name, ignored); descend {
				next.decided = at.decided
				into = append(into, next)
			}
			continue
		}
		files++
		if is {
			s.ignored, s.clean = before.stamps[i].ignored, before.stamps[i].clean
			continue
		}
		p := below(dir, name)
		e, tracked := w.tree.index[p]
		s.clean = tracked && e.clean(*s)
		if !tracked && !kept && !slices.Contains(w.tree.options.Keep, p) && p != "plan.md" && p != "capabilities.md" {
			s.ignored = ignored || w.tree.ignore.ignores(dir, name, false)
		}
	}
	if same {
		*f = *before
	}
	if w.files.Add(int64(files)) > maxTreeFiles {
		return nil, fmt.Errorf("more than %d files", maxTreeFiles)
	}
	return into, nil
}

// subfolder is a folder to look at.
type subfolder struct {
	path    string
	ignored bool
	decided bool // what is ignored there was decided by the same rules before
}

// descend decides about a folder. One with files that git knows is looked at
// whatever is ignored; what else is in it stays ignored.
func (w *walker) descend(dir, name string, ignored bool) (next subfolder, yes bool) {
	p := below(dir, name)
	switch {
	case name == ".git":
		return next, false
	case slices.Contains(alwaysLooked, name):
		return subfolder{path: p}, true
	case ignored || slices.Contains(rebuilt, name) || w.tree.ignore.ignores(dir, name, true):
		return subfolder{path: p, ignored: true}, w.tree.ignore.tracked[p]
	}
	return subfolder{path: p}, true
}

// keep puts a folder that was looked at into the tree.
func (w *walker) keep(dir string, f *folder) {
	for i, name := range f.names {
		if name == ".git" && f.stamps[i].mode.IsDir() {
			w.git(below(dir, name))
		} else if !f.stamps[i].mode.IsDir() {
			w.tree.size++
		}
	}
	w.tree.folders[dir] = f
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
func (w *walker) git(p string) {
	w.single(p, "config", "config.worktree", "commondir")
	hooks, err := os.ReadDir(filepath.Join(w.root, filepath.FromSlash(p), "hooks"))
	if err != nil {
		return // no hooks
	}
	for _, h := range hooks {
		if !strings.HasSuffix(h.Name(), ".sample") {
			w.single(p+"/hooks", h.Name())
		}
	}
}

func (w *walker) single(dir string, names ...string) {
	f := w.tree.folders[dir]
	if f == nil {
		f = &folder{}
		w.tree.folders[dir] = f
	}
	for _, name := range names {
		if s, err := stampOf(filepath.Join(w.root, filepath.FromSlash(dir), name)); err == nil && !s.mode.IsDir() {
			f.names, f.stamps = append(f.names, name), append(f.stamps, s)
			w.tree.size++
		}
	}
}
