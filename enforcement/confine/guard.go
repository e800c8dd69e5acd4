package confine

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
)

// Bounds of what a guard remembers. Settings and hooks are far below.
const (
	maxKeptFile  = 1 << 20  // bytes of one file
	maxKept      = 32 << 20 // bytes of all
	maxEntries   = 4096
	maxGuardDeep = 16 // folders below a protected one
)

// protectedPaths are the paths of a project that no agent writes, as
// enforcement.Classify has them for a project's root. One that ends in a slash
// is a folder with all in it; a star stands for part of a name.
var protectedPaths = []string{
	".writ/", ".codex/", ".github/hooks/", ".claude/settings*.json", ".cursor/hooks.json", ".cursor/commands/", ".gemini/settings.json", ".gemini/commands/",
	".opencode/plugin/", ".opencode/plugins/", ".opencode/command/", ".opencode/commands/", ".opencode/opencode.json*", "opencode.json", "opencode.jsonc",
	".git/hooks/", ".git/config", ".git/config.worktree", ".git/commondir", ".git",
}

// gitPaths are those of a git folder that lies outside the project.
var gitPaths = []string{"hooks/", "config", "config.worktree", "commondir", "gitdir"}

// Guarded remembers protected files and puts them back.
type Guarded struct {
	folders []*guardedFolder
}

type guardedFolder struct {
	root   *os.Root
	name   string // absolute, in front of paths that are shown; "" for the project
	paths  []string
	before map[string]entry
	asOf   int64 // of before, by the clock of change times; 0 where there is none
	kept   int
}

// entry is what stands at a path.
type entry struct {
	mode  fs.FileMode
	link  string // target of a symbolic link
	data  []byte
	size  int64
	mtime int64 // nanoseconds
	ctime int64 // nanoseconds, 0 where the system has none
	ino   uint64
	names int  // hard links
	whole bool // data is all of it
	way   bool // a folder on the way to a protected path: only that it is one counts
	info  fs.FileInfo
}

// Guard remembers the protected files of a project, of the git folders it uses
// elsewhere, and more files of the project, relative to it. A project that
// cannot be opened has nothing to guard.
func Guard(project string, more []string) *Guarded {
	g := &Guarded{}
	project = real(project)
	g.add(project, "", append(slices.Clone(protectedPaths), more...))
	for _, dir := range submodules(project) {
		g.add(dir, dir, gitPaths)
	}
	for _, dir := range GitFolders(project) {
		g.add(dir, dir, gitPaths)
	}
	return g
}

// submodules are the git folders of a project's submodules. A name may have
// slashes, so they lie at any depth.
func submodules(project string) []string {
	modules := join(project, ".git", "modules")
	var dirs []string
	for _, dir := range below(modules) {
		dirs = append(dirs, dir)
		dirs = append(dirs, below(dir)...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := os.Lstat(join(dir, "HEAD"))
		return err != nil
	})
}

// below are the names in a folder, none where it cannot be listed.
func below(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		paths = append(paths, join(dir, e.Name()))
	}
	return paths
}

func (g *Guarded) add(dir, name string, paths []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	f := &guardedFolder{root: root, name: name, paths: paths}
	asOf := fileClock()
	f.before = f.take()
	f.asOf = asOf
	g.folders = append(g.folders, f)
}

// Close gives the folders up.
func (g *Guarded) Close() {
	for _, f := range g.folders {
		_ = f.root.Close()
	}
}

// take reads what stands at the protected paths now.
func (f *guardedFolder) take() map[string]entry {
	f.kept = 0
	found := map[string]entry{}
	for _, p := range f.paths {
		tree := hasSuffix(p, "/")
		p = path.Clean(slashed(p))
		if dir := path.Dir(p); dir != "." && !f.way(found, dir) {
			continue
		}
		switch {
		case indexByte(p, '*') >= 0:
			for _, name := range f.list(path.Dir(p)) {
				if ok, _ := path.Match(path.Base(p), name); ok {
					f.walk(found, path.Join(path.Dir(p), name), 0)
				}
			}
		case tree:
			f.walk(found, p, 0)
		default:
			f.one(found, p)
		}
	}
	return found
}

// way notes the folders on the way to a protected path, the links among them
// above all, and reports whether the way can be gone.
func (f *guardedFolder) way(found map[string]entry, dir string) bool {
	if parent := path.Dir(dir); parent != "." && !f.way(found, parent) {
		return false
	}
	info, err := f.root.Lstat(dir)
	if err != nil {
		return false
	}
	e := entry{mode: info.Mode().Type(), way: true, info: info}
	if e.mode == fs.ModeSymlink {
		e.link, _ = f.root.Readlink(dir)
		info, err = f.root.Stat(dir)
	}
	found[dir] = e
	return err == nil && info.IsDir()
}

// one notes a file. A folder in its place is noted as being one.
func (f *guardedFolder) one(found map[string]entry, p string) (e entry, ok bool) {
	info, err := f.root.Lstat(p)
	if err != nil || len(found) >= maxEntries {
		return entry{}, false
	}
	e = entry{mode: info.Mode(), size: info.Size(), mtime: info.ModTime().UnixNano(), names: names(info)}
	e.ctime, e.ino = changeOf(info)
	was, had := f.before[p]
	switch {
	case e.mode.Type() == fs.ModeSymlink:
		e.link, _ = f.root.Readlink(p)
	case e.mode.IsDir():
		e = entry{mode: fs.ModeDir, way: true, info: info}
	case had && was.whole && f.untouched(e, was):
		e.data, e.whole = was.data, true
		f.kept += len(e.data)
	case e.mode.IsRegular() && e.size <= maxKeptFile && f.kept+int(e.size) <= maxKept:
		e.data, err = f.root.ReadFile(p)
		e.whole = err == nil
		f.kept += len(e.data)
	}
	if _, noted := found[p]; !noted {
		found[p] = e
	}
	return e, true
}

// untouched reports whether a file is surely as it was remembered: no program
// can set a change time. One of the very moment of remembering may have been
// given again since.
func (f *guardedFolder) untouched(e, was entry) bool {
	return e.ctime != 0 && e.ctime == was.ctime && e.ctime < f.asOf &&
		e.ino == was.ino && e.mode == was.mode && e.size == was.size && e.mtime == was.mtime && e.names == was.names
}

// walk notes a folder with all that is in it, through a link as well.
func (f *guardedFolder) walk(found map[string]entry, p string, depth int) {
	e, ok := f.one(found, p)
	if !ok || depth > maxGuardDeep || !e.mode.IsDir() && e.mode.Type() != fs.ModeSymlink {
		return
	}
	if e.mode.IsDir() {
		if info, err := f.root.Lstat(p); err == nil {
			found[p] = entry{mode: info.Mode(), info: info}
		}
	}
	for _, name := range f.list(p) {
		f.walk(found, path.Join(p, name), depth+1)
	}
}

func (f *guardedFolder) list(dir string) []string {
	folder, err := f.root.Open(dir)
	if err != nil {
		return nil
	}
	defer func() { _ = folder.Close() }() // read only
	entries, _ := folder.ReadDir(-1)
	var all []string
	for _, e := range entries {
		// Git runs no hook of this name, and puts fourteen into each repository.
		if path.Base(dir) == "hooks" && hasSuffix(e.Name(), ".sample") {
			continue
		}
		all = append(all, e.Name())
	}
	slices.Sort(all)
	return all
}

// differs says how an entry is not what it was.
func (e entry) differs(was entry) bool {
	switch {
	case e.mode.Type() != was.mode.Type() || e.link != was.link:
		return true
	case e.way || was.way || e.mode.Type() == fs.ModeSymlink:
		return false
	case e.mode != was.mode || e.names > was.names && e.mode.IsRegular():
		return true
	case e.whole && was.whole:
		return !bytes.Equal(e.data, was.data)
	}
	return e.mode.IsRegular() && (e.size != was.size || e.mtime != was.mtime)
}

// Ways in which a protected path changed.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Restored is a protected path that a command changed.
type Restored struct {
	Path   string // relative to the project, absolute outside it; with forward slashes
	Change string // one of the ways above
	Err    error  // why it could not be put back
}

// String says what happened, for the agent and the user.
func (r Restored) String() string {
	text := r.Path + " was " + r.Change
	if r.Err != nil {
		return text + " and could not be put back (" + r.Err.Error() + "): tell the user"
	}
	switch r.Change {
	case Created:
		return text + "; it is removed again"
	case Deleted:
		return text + "; it is back"
	}
	return text + "; it is as before"
}

// Restore puts back what changed since Guard, and tells of it.
func (g *Guarded) Restore() []Restored {
	var all []Restored
	for _, f := range g.folders {
		for _, r := range f.restore() {
			if f.name != "" {
				r.Path = path.Join(slashed(f.name), r.Path)
			}
			all = append(all, r)
		}
	}
	return all
}

func (f *guardedFolder) restore() []Restored {
	var done []Restored
	now := f.take()
	// A link in the place of a folder leads the names below it elsewhere: it is
	// put right first, and what stands below is read again.
	for _, p := range slices.Sorted(maps.Keys(now)) {
		was, had := f.before[p]
		if e := now[p]; e.mode.Type() == fs.ModeSymlink && (!had || e.differs(was)) {
			done = append(done, f.straighten(p, e, was, had))
		}
	}
	if len(done) > 0 {
		now = f.take()
	}
	for _, p := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		if _, had := f.before[p]; !had && !now[p].way {
			done = append(done, Restored{Path: p, Change: Created, Err: f.root.RemoveAll(p)})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(f.before)) {
		was := f.before[p]
		e, has := now[p]
		switch {
		case !has && was.way && was.mode.IsDir():
		case !has:
			done = append(done, Restored{Path: p, Change: Deleted, Err: f.put(p, was)})
		case e.differs(was):
			done = append(done, Restored{Path: p, Change: Changed, Err: f.put(p, was)})
		}
	}
	return done
}

// straighten removes a link that was laid in the place of something, and moves
// that back from where the link leads, if it is there.
func (f *guardedFolder) straighten(p string, e, was entry, had bool) Restored {
	err := f.root.Remove(p)
	switch {
	case !had:
		return Restored{Path: p, Change: Created, Err: err}
	case err != nil:
		return Restored{Path: p, Change: Changed, Err: err}
	}
	if was.mode.IsDir() && was.info != nil && !path.IsAbs(e.link) {
		target := path.Join(path.Dir(p), e.link)
		if info, statErr := f.root.Lstat(target); statErr == nil && os.SameFile(info, was.info) && f.root.Rename(target, p) == nil {
			return Restored{Path: p, Change: Changed}
		}
	}
	return Restored{Path: p, Change: Changed, Err: f.put(p, was)}
}

var errNotKept = errors.New("it was too large, or not readable, to be remembered")

// put makes a path what it was.
func (f *guardedFolder) put(p string, was entry) error {
	if was.mode.IsDir() {
		if info, err := f.root.Lstat(p); err != nil || !info.IsDir() {
			if err := f.root.RemoveAll(p); err != nil {
				return err
			}
			if err := f.root.MkdirAll(p, 0o755); err != nil {
				return err
			}
		}
		if was.way {
			return nil
		}
		return f.root.Chmod(p, was.mode.Perm())
	}
	if was.mode.IsRegular() && !was.whole || !was.mode.IsRegular() && was.mode.Type() != fs.ModeSymlink {
		return errNotKept
	}
	if dir := path.Dir(p); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := f.root.RemoveAll(p); err != nil {
		return err
	}
	if was.mode.Type() == fs.ModeSymlink {
		return f.root.Symlink(was.link, p)
	}
	return f.write(p, was)
}

// write makes a file anew, so that other names of the changed one stay with
// what was changed.
func (f *guardedFolder) write(p string, was entry) error {
	file, err := f.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(was.data); err != nil {
		_ = file.Close()
		return err
	}
	if err := file.Chmod(was.mode.Perm()); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
