package shell

import (
	"path"
	"slices"
	"strings"
)

// place is where a shell is, as far as it can be followed. Names of files are
// given from there, so it is also what records them.
type place struct {
	a *analysis

	dirs     []string // folders the shell may be in, at least one
	lost     bool     // the folder is known only at run time; dirs are guesses
	prev     []string // folders before the last cd
	kept     [][]string
	made     map[string]bool // folders this command line creates
	physical bool            // ".." leads out of a link's target
	doubt    []string        // folders it is still in if a cd of this statement failed
	guessed  map[string]bool // those of dirs it is in only if a cd failed
}

// at reports a shell that is where another one is.
func (w *place) at(other *place) bool {
	return w.lost == other.lost && slices.Equal(w.dirs, other.dirs)
}

// enter moves to a folder of a known name.
func (w *place) enter(name, tempDir string) {
	old := w.dirs
	next, ok := w.resolve(name)
	w.lost = !ok
	w.dirs = nil
	for i, dir := range next {
		from := old[min(i, len(old)-1)]
		if !w.physical && !upwards(from) {
			dir = path.Clean(dir)
		}
		if i > 0 && w.guessed[from] && w.escapes(from, dir) {
			continue
		}
		if len(dir) > maxDir {
			w.lost, dir = true, from
		}
		w.dirs = append(w.dirs, dir)
		if w.mayFail(from, dir, tempDir) {
			w.doubt = append(w.doubt, from)
		}
	}
}

func (w *place) addDir(dir string) {
	if slices.Contains(w.dirs, dir) {
		return
	}
	if len(w.dirs) == 4 {
		w.lost = true
		return
	}
	w.dirs = append(w.dirs, dir)
}

// escapes reports a step out of the project. A guess that takes it is not
// followed: "cd a; cd .." is meant to come back.
func (w *place) escapes(from, to string) bool {
	root := w.a.env.Project
	return inside(from, root) && !inside(path.Clean(to), root)
}

// mayFail reports that a cd may leave the shell where it is: nothing says that
// the folder exists.
func (w *place) mayFail(from, to, tempDir string) bool {
	to = path.Clean(to)
	if absent := w.a.env.Absent; absent != nil && !w.made[to] && inside(to, w.a.env.Project) && absent(to) {
		return true
	}
	if w.made[to] || inside(w.a.env.Project, to) || inside(path.Clean(w.a.env.Dir), to) || inside(path.Clean(from), to) {
		return false
	}
	switch to {
	case "/tmp", "/var/tmp", w.a.env.Home, tempDir:
		return false
	}
	return true
}

// cwd is the working folder where there is only one.
func (w *place) cwd() (string, bool) {
	if w.lost || len(w.dirs) != 1 {
		return "", false
	}
	return w.dirs[0], true
}

// installed reports a path in a folder for installed programs, which an agent
// has no leave to change.
func (w *place) installed(name string) bool {
	paths, ok := w.resolve(name)
	if !ok || len(paths) != 1 {
		return false
	}
	return w.trustedFolder(path.Dir(paths[0]))
}

// trustedFolder reports an absolute folder outside the project and the scratch
// folders.
func (w *place) trustedFolder(dir string) bool {
	if !strings.HasPrefix(dir, "/") || !isKnown(dir) {
		return false
	}
	dir = path.Clean(dir)
	return !inside(dir, w.a.env.Project) && !inside(dir, path.Clean(w.a.env.Dir)) &&
		!w.temporary(dir) && !strings.HasPrefix(dir, "/proc") && dir != "/"
}

// caches reports a folder outside the project for what is kept between builds.
func (w *place) caches(dir string) bool {
	return dir == "off" || strings.HasPrefix(dir, "/") && !upwards(dir) && !inside(path.Clean(dir), w.a.env.Project) && w.temporary(dir)
}

// trustedFile reports a file outside the project and the scratch folders.
func (w *place) trustedFile(name string) bool {
	paths, ok := w.resolve(name)
	return ok && len(paths) == 1 && !upwards(paths[0]) && w.trustedFolder(path.Dir(paths[0]))
}

// trustedPath reports a search path on which every folder before the usual ones
// holds installed programs.
func (w *place) trustedPath(value arg) bool {
	system := false
	for dir := range strings.SplitSeq(value.val, ":") {
		if w.trustedFolder(dir) {
			system = system || path.Clean(dir) == "/usr/bin" || path.Clean(dir) == "/bin"
			continue
		}
		// Folders after the usual ones cannot take the place of a usual program.
		if !system {
			return false
		}
	}
	return true
}
