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
	maxEntries   = 4096     // of one protected path
	maxGuardDeep = 16       // folders below a protected one
	maxModules   = 1024     // folders in which submodules are looked for
	maxRounds    = 256      // looks at a path that has more entries than one look takes
)

// ProtectedPaths are the paths of a project that no agent writes, as
// enforcement.Classify has them for a project's root. One that ends in a slash
// is a folder with all in it; a star stands for part of a name.
var ProtectedPaths = []string{
	".writ/", ".codex/", ".github/hooks/", ".claude/settings*.json", ".cursor/hooks.json", ".cursor/commands/", ".gemini/settings.json", ".gemini/commands/",
	".opencode/plugin/", ".opencode/plugins/", ".opencode/command/", ".opencode/commands/", ".opencode/opencode.json*", "opencode.json", "opencode.jsonc",
	".claude/hooks/", ".git/hooks/", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes", ".git",
}

// RunByTools are paths of a project that its tools run or take orders from by
// themselves. An agent that is asked to may write them where it may write code.
var RunByTools = []string{".mcp.json", ".envrc", ".husky/", ".vscode/tasks.json", ".claude/commands/"}

// gitPaths are those of a git folder that lies outside the project.
var gitPaths = []string{"hooks/", "config", "config.worktree", "commondir", "gitdir", "info/attributes"}

// Guarded remembers protected files and puts them back.
type Guarded struct {
	folders []*guardedFolder
}

type guardedFolder struct {
	root   *os.Root
	top    *os.File // the folder itself, which has a mode of its own
	dir    string
	name   string // absolute, in front of paths that are shown; "" for the project
	paths  []string
	before map[string]entry
	asOf   int64 // of before, by the clock of change times; 0 where there is none
	kept   int
	room   int      // entries that the protected path which is looked at may still have
	full   []string // those that had more
	over   []string // those that had more before
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
	names int // hard links
	owner owner
	whole bool // data is all of it
	way   bool // a folder on the way to a protected path: what is in it does not count
	info  fs.FileInfo
}

// Guard remembers the protected files of a project, of the git folders it uses
// elsewhere, and more files of the project, relative to it. A project that
// cannot be opened has nothing to guard.
func Guard(project string, more []string) *Guarded { return (*Guarded)(nil).Anew(project, more) }

// Anew is Guard, with what an earlier guard read of files that were not touched
// since; the earlier one may be nil, and stays as it is. Of more folders, it keeps
// their own modes and owners.
func (g *Guarded) Anew(project string, more []string, folders ...string) *Guarded {
	next := &Guarded{}
	project = real(project)
	next.add(g, project, "", append(slices.Clone(ProtectedPaths), more...))
	for _, dir := range submodules(project) {
		next.add(g, dir, dir, gitPaths)
	}
	for _, dir := range GitFolders(project) {
		next.add(g, dir, dir, gitPaths)
	}
	for _, dir := range folders {
		next.add(g, dir, dir, nil)
	}
	return next
}

// submodules are the git folders of a project's submodules, and of theirs. A name may
// have slashes, so they lie at any depth.
func submodules(project string) (dirs []string) {
	look := []string{join(project, ".git", "modules")}
	for seen := 0; len(look) > 0 && seen < maxModules; seen++ {
		at := look[0]
		look = look[1:]
		for _, dir := range below(at) {
			if _, err := os.Lstat(join(dir, "HEAD")); err != nil {
				look = append(look, dir)
				continue
			}
			dirs, look = append(dirs, dir), slices.Insert(look, 0, join(dir, "modules"))
		}
	}
	return dirs
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

func (g *Guarded) add(earlier *Guarded, dir, name string, paths []string) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	top, err := root.Open(".")
	if err != nil {
		_ = root.Close() // nothing was written
		return
	}
	f := &guardedFolder{root: root, top: top, dir: dir, name: name, paths: paths}
	if earlier != nil {
		for _, was := range earlier.folders {
			if was.dir == dir {
				f.before, f.asOf = was.before, was.asOf
			}
		}
	}
	asOf := FileClock()
	f.before = f.take()
	f.asOf, f.over = asOf, f.full
	g.folders = append(g.folders, f)
}

// Close gives the folders up.
func (g *Guarded) Close() {
	for _, f := range g.folders {
		_, _ = f.root.Close(), f.top.Close()
	}
}

// take reads what stands at the protected paths now.
func (f *guardedFolder) take() map[string]entry {
	f.kept, f.full = 0, nil
	found := map[string]entry{}
	if info, err := f.top.Stat(); err == nil {
		found["."] = folderEntry(info)
	}
	absent := map[string]bool{}
	for _, p := range f.paths {
		tree := hasSuffix(p, "/")
		p = path.Clean(slashed(p))
		f.room = maxEntries
		if dir := path.Dir(p); dir != "." && !f.way(found, absent, dir) {
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
		if f.room < 0 {
			f.full = append(f.full, p)
		}
	}
	return found
}

// way notes the folders on the way to a protected path, the links among them
// above all, and reports whether the way can be gone.
func (f *guardedFolder) way(found map[string]entry, absent map[string]bool, dir string) bool {
	if e, noted := found[dir]; noted && e.mode.IsDir() {
		return true
	}
	if absent[dir] {
		return false
	}
	absent[dir] = true
	if parent := path.Dir(dir); parent != "." && !f.way(found, absent, parent) {
		return false
	}
	info, err := f.root.Lstat(dir)
	if err != nil {
		return false
	}
	e := folderEntry(info)
	if e.mode.Type() == fs.ModeSymlink {
		e.link, _ = f.root.Readlink(dir)
		info, err = f.root.Stat(dir)
	}
	found[dir] = e
	there := err == nil && info.IsDir()
	absent[dir] = !there
	return there
}

func folderEntry(info fs.FileInfo) entry {
	return entry{mode: info.Mode(), owner: ownerOf(info), way: true, info: info}
}

// one notes a file. A folder in its place is noted as being one.
func (f *guardedFolder) one(found map[string]entry, p string) (e entry, ok bool) {
	info, err := f.root.Lstat(p)
	if f.room--; err != nil || f.room < 0 {
		return entry{}, false
	}
	e = entry{mode: info.Mode(), size: info.Size(), mtime: info.ModTime().UnixNano(), names: names(info), owner: ownerOf(info)}
	e.ctime, e.ino = changeOf(info)
	was, had := f.before[p]
	switch {
	case e.mode.Type() == fs.ModeSymlink:
		e.link, _ = f.root.Readlink(p)
	case e.mode.IsDir():
		e = folderEntry(info)
	case had && was.whole && f.untouched(e, was):
		e.data, e.whole = was.data, true
		f.kept += len(e.data)
	case e.mode.IsRegular() && e.size <= maxKeptFile && (f.kept+int(e.size) <= maxKept || had && was.whole && was.size == e.size):
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
			found[p] = entry{mode: info.Mode(), owner: ownerOf(info), info: info}
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
	case e.mode.Type() == fs.ModeSymlink:
		return false
	case e.mode != was.mode || e.owner != was.owner || e.names > was.names && e.mode.IsRegular():
		return true
	case e.whole && was.whole:
		return !bytes.Equal(e.data, was.data)
	}
	return e.mode.IsRegular() && (e.size != was.size || e.mtime != was.mtime || e.ctime != was.ctime || e.ino != was.ino)
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

// Restore puts back what changed since Guard, and tells of it. Of the project's
// files, one stays as it is where leave says so, which is given what the file held
// and holds; it may be nil.
func (g *Guarded) Restore(leave func(path string, was, is []byte) bool) []Restored {
	var all []Restored
	for _, f := range g.folders {
		if leave == nil || f.name != "" {
			leave = func(string, []byte, []byte) bool { return false }
		}
		for _, r := range f.restore(leave) {
			if f.name != "" {
				r.Path = path.Join(slashed(f.name), r.Path)
			}
			all = append(all, r)
		}
	}
	return all
}

func (f *guardedFolder) restore(leave func(path string, was, is []byte) bool) []Restored {
	var now map[string]entry
	stays := func(p string) bool {
		e, was := now[p], f.before[p]
		return e.told() && was.told() && leave(p, was.data, e.data)
	}
	done := f.reopen()
	now = f.take()
	// A link in the place of a folder leads the names below it elsewhere: it is
	// put right first, and what stands below is read again.
	for _, p := range slices.Sorted(maps.Keys(now)) {
		was, had := f.before[p]
		if e := now[p]; e.mode.Type() == fs.ModeSymlink && (!had || e.differs(was)) && !stays(p) {
			done = append(done, f.straighten(p, e, was, had))
		}
	}
	if len(done) > 0 {
		now = f.take()
	}
	for range maxRounds {
		removed := false
		for _, p := range slices.Backward(slices.Sorted(maps.Keys(now))) {
			if _, had := f.before[p]; !had && !now[p].way && !stays(p) && !f.overflowed(p) {
				err := f.root.RemoveAll(p)
				done, removed = append(done, Restored{Path: p, Change: Created, Err: err}), removed || err == nil
			}
		}
		if len(f.full) == 0 || !removed {
			break
		}
		now = f.take() // there was more than one look takes
	}
	for _, p := range f.full {
		if !slices.Contains(f.over, p) {
			done = append(done, Restored{Path: p, Change: Changed, Err: errTooMany})
		}
	}
	for _, p := range slices.Sorted(maps.Keys(f.before)) {
		was := f.before[p]
		e, has := now[p]
		switch {
		case has && !e.differs(was), !has && was.way && was.mode.IsDir(), stays(p):
		case !has:
			done = append(done, Restored{Path: p, Change: Deleted, Err: f.put(p, was)})
		default:
			done = append(done, Restored{Path: p, Change: Changed, Err: f.put(p, was)})
		}
	}
	return done
}

// overflowed reports what lies in a path that had more entries before than are
// remembered: what is new in it cannot be told.
func (f *guardedFolder) overflowed(p string) bool {
	return slices.ContainsFunc(f.over, func(dir string) bool { return within(dir, p) })
}

// told says that all of an entry is known: nothing, a file with its content, a
// link, or a folder.
func (e entry) told() bool {
	return !e.way && (e.mode == 0 && e.info == nil || e.whole || e.mode.IsDir() || e.mode.Type() == fs.ModeSymlink)
}

// reopen gives folders their modes and owners back, from the outer ones in: what
// is in one that cannot be read is not seen.
func (f *guardedFolder) reopen() []Restored {
	var done []Restored
	for _, p := range slices.Sorted(maps.Keys(f.before)) {
		was := f.before[p]
		if !was.mode.IsDir() {
			continue
		}
		info, err := f.stat(p)
		if err == nil && info.IsDir() && folderEntry(info).differs(was) {
			done = append(done, Restored{Path: p, Change: Changed, Err: f.own(p, was)})
		}
	}
	return done
}

func (f *guardedFolder) stat(p string) (fs.FileInfo, error) {
	if p == "." {
		return f.top.Stat()
	}
	return f.root.Lstat(p)
}

// own gives a path its mode and its owner.
func (f *guardedFolder) own(p string, was entry) error {
	if p == "." {
		if info, err := f.top.Stat(); err == nil && ownerOf(info) != was.owner {
			if err := f.top.Chown(was.owner.user, was.owner.group); err != nil {
				return err
			}
		}
		return f.top.Chmod(was.mode)
	}
	if info, err := f.root.Lstat(p); err == nil && ownerOf(info) != was.owner {
		if err := f.root.Lchown(p, was.owner.user, was.owner.group); err != nil {
			return err
		}
	}
	return f.root.Chmod(p, was.mode)
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

var (
	errNotKept = errors.New("it was too large, or not readable, to be remembered")
	errTooMany = errors.New("it holds more than can be looked through")
)

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
		return f.own(p, was)
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
	if err := file.Close(); err != nil {
		return err
	}
	return f.own(p, was)
}
