package confine

import (
	"errors"
	"os"
	"slices"
	"strconv"
)

// Profile names what a confined command may write.
type Profile string

// KeptOption is the option that names Options.Since. The process above a command
// becomes this program again, with the same arguments behind this one, to keep what the
// command left running.
const KeptOption = "--kept"

// The profiles (persisted in command lines; never change). Each allows what
// the one before it allows.
const (
	// Scratch allows temp folders, caches of build tools and harmless devices.
	Scratch Profile = "scratch"
	// ReadOnly also allows the plan's files, where they exist.
	ReadOnly Profile = "read-only"
	// Tests also allows the paths in Options.Write: the test folders.
	Tests Profile = "tests"
	// Implementation also allows the project's tree and its git metadata.
	Implementation Profile = "implementation"
)

// Profiles lists the profiles, the strictest first.
func Profiles() []Profile { return []Profile{Scratch, ReadOnly, Tests, Implementation} }

// ErrOptions is returned for options that make no sense; its text says which.
var ErrOptions = errors.New("confine: bad options")

// planFiles are the files a plan consists of, relative to the project.
var planFiles = []string{"plan.md", "capabilities.md"}

// Options says what runs, where, and what it may write.
type Options struct {
	Profile Profile
	// Project is the root of the project, absolute.
	Project string
	// Home is the user's home folder, "" where none is known.
	Home string
	// DataDir is Writ's own data, which is neither read nor written; "" for none.
	DataDir string
	// Reveal lists files below DataDir that are read all the same: where the
	// daemon is, and the credential that may only look things up. Links are not
	// followed.
	Reveal []string
	// Write lists more paths that may be written, relative to the project or
	// absolute. One that does not exist, or that is reached through a link
	// inside the project, is left out and named in the notes.
	Write []string
	// Args is the program and its arguments.
	Args []string
	// Dir is the working folder, absolute; "" is the caller's own.
	Dir string
	// Vars is the environment in the form of os.Environ.
	Vars []string
	// BestEffort runs the command unconfined where the kernel has no Landlock.
	BestEffort bool
	// Quiet leaves out the line about a non-zero exit.
	Quiet bool
	// Whole ends everything that the command started, in whatever group or
	// session, when the command or the parent of this process ends, or at SIGTERM.
	// Linux only.
	Whole bool
	// Since is when a command began, in nanoseconds, where this process keeps what it
	// left running; 0 for one that runs a command. See KeptOption.
	Since int64
	// Git lets a profile that does not write the project write its git metadata:
	// for commands of git and of programs that are known to read.
	Git bool
	// Make are files of the project, relative to it, that the command may make: they
	// stand there, empty, while it runs. An absolute one lies in a temp folder around
	// the project, where a command makes no others.
	Make []string
	// Program is what runs where Args[0] is only its name, "" where that is it.
	Program string
}

// Doors is the file in which a daemon names the ports of this machine at which a person
// acts on it, which no held command is connected to.
func Doors(dataDir string) string { return join(dataDir, "run", "doors") }

func (o Options) check() error {
	switch {
	case !slices.Contains(Profiles(), o.Profile):
		return because(ErrOptions, "the profile "+strconv.Quote(string(o.Profile))+" is unknown: use scratch, read-only, tests or implementation")
	case !absolute(o.Project):
		return because(ErrOptions, "the project "+strconv.Quote(o.Project)+" is no absolute path")
	case len(o.Args) == 0:
		return because(ErrOptions, "no command is named")
	}
	return nil
}

func (o Options) getenv(name string) string {
	for i := len(o.Vars) - 1; i >= 0; i-- {
		if value, ok := cutPrefix(o.Vars[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// limits are what a command is held to.
type limits struct {
	// write lists files, and folders with all that is in them.
	write []string
	// around lists temp folders around a project that is written itself: all in
	// them is written as well, and no folder in them is removed or renamed, so
	// that the project stays where it is.
	around []string
	// shared are temp folders that are written as a whole. No link is laid in one
	// itself: other programs of the user's follow what lies at their files' names.
	shared []string
	// hidden are paths that are neither read nor written.
	hidden []string
	// reveal are plain files below what is hidden that are read all the same.
	reveal []string
	// loose are folders that commands may write, so what a name in one leads to may
	// be of an earlier command's making.
	loose []string
	// devices are those that are read and written.
	devices []string
	// vars are variables to add to the environment.
	vars []string
	// notes tell what was left out, for the caller's standard error.
	notes []string
}

// limitsOf finds what a command may write. It makes the cache folders of tools
// that the project uses where they are missing, since the command could not.
func limitsOf(o Options) limits {
	l := limits{devices: devices}
	if o.Profile == Implementation || !keeps {
		l.devices = append(slices.Clone(devices), terminals)
	}
	project := real(o.Project)
	if o.DataDir != "" {
		l.hidden = []string{real(o.DataDir)}
		for _, path := range o.Reveal {
			if path = join(real(parent(path)), base(path)); within(l.hidden[0], path) && plainFile(path) {
				l.reveal = append(l.reveal, path)
			}
		}
	}
	l.temp(o, project)
	l.gradle(o)
	for _, dir := range caches(o, project, l.loose) {
		l.loose = append(l.loose, dir)
		l.tree(dir, nil)
	}
	if o.Profile != Implementation {
		l.cachesAside(o, project)
	}
	if o.Profile == ReadOnly || o.Profile == Tests {
		for _, name := range planFiles {
			if path := join(project, name); plainFile(path) {
				l.write = append(l.write, path)
			}
		}
	}
	for _, path := range append(slices.Clone(o.Write), o.Make...) {
		if !absolute(path) || slices.Contains(o.Write, path) {
			l.named(path, project)
		} else if beside(path, project) && plainFile(path) {
			l.write = append(l.write, path)
		}
	}
	switch {
	case o.Profile == Implementation:
		for _, dir := range append(ownGitFolders(project), project) {
			l.tree(dir, nil)
		}
	case o.Git:
		for _, dir := range append(ownGitFolders(project), join(project, ".git")) {
			if isDir(dir) && real(dir) == dir {
				l.tree(dir, nil)
			}
		}
	}
	return l
}

// alone is the variable by which Gradle builds in a process of its own: the daemon that
// it would leave stays held and would serve the user's builds, and one of theirs is not.
const alone = "GRADLE_OPTS"

// gradle has it do so. Where code is closed a daemon that is asked for outright is of the
// command's own, and where the user's are to be found, and by which word they take
// orders, is not read: no hold is around them. Java asks no variable for a temp folder.
func (l *limits) gradle(o Options) {
	options := o.getenv(alone) + " -Dorg.gradle.daemon=false"
	if own, ok := ownTemp(l.mainTemp(o)); ok && o.Profile != Implementation {
		options += " -Dorg.gradle.daemon.registry.base=" + join(own, "gradle") + " -Djava.io.tmpdir=" + own
		for _, home := range []string{o.getenv("GRADLE_USER_HOME"), join(o.Home, ".gradle")} {
			if dir := real(join(home, "daemon")); absolute(home) && isDir(dir) {
				l.hidden = append(l.hidden, dir)
			}
		}
	}
	l.vars = append(l.vars, alone+"="+options)
}

// asideCaches are variables that put elsewhere what tools would keep in the project.
var asideCaches = []struct{ name, value, folder string }{
	{"PYTHONPYCACHEPREFIX", "", "pycache"},
	{"PYTEST_ADDOPTS", "-o cache_dir=", ".pytest_cache"},
	{"RUFF_CACHE_DIR", "", ".ruff_cache"},
	{"MYPY_CACHE_DIR", "", ".mypy_cache"},
}

// cachesAside gives tools a place for the caches that they may not keep in the
// project. One that is there is written where it is.
func (l *limits) cachesAside(o Options, project string) {
	own, ok := ownTemp(l.mainTemp(o))
	if !ok {
		return
	}
	for _, c := range asideCaches {
		if o.getenv(c.name) == "" && !isDir(join(project, c.folder)) {
			l.vars = append(l.vars, c.name+"="+c.value+join(own, c.folder))
		}
	}
}

// placed are files that were made so that a command may write them.
type placed []placedFile

type placedFile struct {
	path string
	info os.FileInfo
}

// beside reports whether a path lies in a temp folder that the project is in, too.
func beside(path, project string) bool {
	dir := parent(path)
	return clean(path) == path && within(dir, project) && dir != project &&
		slices.ContainsFunc(tempFolders, func(temp string) bool { return within(real(temp), dir) })
}

// place makes the files of o.Make that are not there, in folders that are, and
// that no link leads to.
func place(o Options) placed {
	var all placed
	project := real(o.Project)
	for _, name := range o.Make {
		path := clean(join(project, name))
		if absolute(name) {
			path = name
		}
		if !(absolute(name) && beside(path, project) || within(project, path)) || real(parent(path)) != parent(path) {
			continue
		}
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		if errors.Join(err, file.Close()) == nil {
			all = append(all, placedFile{path, info})
		}
	}
	return all
}

// remove takes away what the command left as it was made.
func (p placed) remove() {
	for _, f := range p {
		now, err := os.Lstat(f.path)
		if err == nil && os.SameFile(now, f.info) && now.Size() == 0 && now.ModTime().Equal(f.info.ModTime()) {
			_ = os.Remove(f.path)
		}
	}
}

// devices swallow, echo or make up what is read and written. Of all others none
// is opened: some show disks and memory as they are, under all file systems.
var devices = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx",
}

// terminals are all that there are, the user's own among them: what is written there
// is shown to the user, some take orders from it, and what the user types can be read.
// Where the project is closed a command reaches only those that it makes itself, which
// the keeper opens.
const terminals = "/dev/pts"

// tree allows a folder with all in it, except what lies in apart and what is
// hidden. Where one of those is inside, its neighbours are allowed one by one,
// and nothing new can be made beside it.
func (l *limits) tree(dir string, apart []string) {
	l.write = append(l.write, spread(dir, append(slices.Clone(l.hidden), apart...))...)
}

// tempFolders are where temporary files are kept besides $TMPDIR.
var tempFolders = []string{"/tmp", "/var/tmp", "/dev/shm"}

// mainTemp is the temp folder that the environment names, links followed, or the
// system's where it names none, or one that commands may have led elsewhere.
func (l *limits) mainTemp(o Options) string {
	if named := o.getenv("TMPDIR"); absolute(named) {
		if dir, ok := steady(named, l.loose); ok {
			return dir
		}
	}
	return real(tempFolders[0])
}

// temp allows the temp folders, without a project or home that lies in one.
// Where that takes the right to make files or remove folders there, the command
// gets a temp folder of its own.
func (l *limits) temp(o Options, project string) {
	apart := []string{project}
	if o.Home != "" {
		apart = append(apart, real(o.Home))
	}
	l.loose = []string{project}
	for _, dir := range tempFolders {
		l.loose = append(l.loose, real(dir))
	}
	main := l.mainTemp(o)
	l.loose = append(l.loose, main)
	var roots []string
	for _, dir := range append([]string{main}, tempFolders...) {
		dir = real(dir)
		if isDir(dir) && dir != "/" && !slices.Contains(roots, dir) && !slices.ContainsFunc(apart, func(a string) bool { return within(a, dir) }) {
			roots = append(roots, dir)
		}
	}
	apart = slices.DeleteFunc(apart, func(a string) bool {
		return !slices.ContainsFunc(roots, func(r string) bool { return within(r, a) })
	})
	for _, dir := range roots {
		if o.Profile == Implementation && l.holdsOnly(dir, project, apart) {
			// Neighbours may be many, and each would take a rule of its own.
			l.around = append(l.around, dir)
		} else {
			l.tree(dir, apart)
		}
		if keeps && slices.Contains(append(l.around, l.write...), dir) {
			l.shared = append(l.shared, dir)
		}
	}
	if main != "/" && slices.Contains(l.write, main) {
		if named := o.getenv("TMPDIR"); absolute(named) && real(named) != main {
			l.vars = append(l.vars, "TMPDIR="+main)
			l.notes = append(l.notes, named+" is reached through a link that a command may have laid: TMPDIR is "+main)
		}
		return
	}
	if own, ok := ownTemp(main); ok {
		l.write = append(l.write, own)
		l.vars = append(l.vars, "TMPDIR="+own)
		cannot := "new files cannot be made"
		if slices.Contains(l.around, main) {
			cannot = "folders cannot be removed"
		}
		l.notes = append(l.notes, cannot+" in "+main+" itself: TMPDIR is "+own)
	}
}

// holdsOnly reports whether the project lies in a folder, and nothing else does
// that is kept apart or hidden.
func (l *limits) holdsOnly(dir, project string, apart []string) bool {
	other := func(a string) bool { return a != project && within(dir, a) }
	return within(dir, project) && !slices.ContainsFunc(apart, other) && !slices.ContainsFunc(l.hidden, other)
}

// ownTemp is a temp folder that belongs to this user alone, kept for the next
// command: what runs in the background may still use it.
func ownTemp(parent string) (dir string, ok bool) {
	dir = join(parent, "writ-confine-"+strconv.Itoa(os.Geteuid()))
	if err := os.Mkdir(dir, 0o700); err == nil {
		return dir, true
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !owned(info) {
		dir, err = os.MkdirTemp(parent, "writ-confine-")
		return dir, err == nil
	}
	return dir, true
}

// named allows a path that the caller named. A link inside the project could
// have been laid to lead the right elsewhere.
func (l *limits) named(path, project string) {
	if !absolute(path) {
		path = join(project, path)
	}
	path = clean(path)
	resolved, err := withoutLinks(path)
	switch {
	case err != nil:
		l.notes = append(l.notes, path+" does not exist, so it cannot be written")
	case resolved != path && within(project, path):
		l.notes = append(l.notes, path+" is reached through a link, so it cannot be written")
	case isDir(resolved):
		l.tree(resolved, nil)
	case plainFile(resolved):
		l.write = append(l.write, resolved)
	default:
		l.notes = append(l.notes, path+" is no plain file with one name, so it cannot be written")
	}
}

// spread lists the outermost paths at or below root that hold none of apart.
// Links are left out: what they lead to has a place of its own.
func spread(root string, apart []string) []string {
	inside := false
	for _, a := range apart {
		if within(a, root) {
			return nil
		}
		inside = inside || within(root, a)
	}
	if !inside {
		return []string{root}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			paths = append(paths, spread(join(root, e.Name()), apart)...)
		}
	}
	return paths
}

// within reports whether path is root or below it. Both are absolute and clean.
func within(root, path string) bool {
	if root == "/" || root == path {
		return true
	}
	return len(path) > len(root) && path[len(root)] == '/' && hasPrefix(path, root)
}

// real resolves links as far as a path exists.
func real(path string) string {
	path = clean(path)
	if resolved, err := withoutLinks(path); err == nil {
		return resolved
	}
	if above := parent(path); above != path {
		return join(real(above), base(path))
	}
	return path
}

// errLaid is the error of follow at a link that a command may have laid.
var errLaid = errors.New("confine: a link lies where commands may write")

// steady is real for a path that was not judged yet. It reports false for one that
// leads through a link in a folder that commands may write: an earlier command may
// have laid it, and would choose what the next one may write.
func steady(path string, loose []string) (resolved string, ok bool) {
	path = clean(path)
	resolved, err := follow(path, loose)
	if err == nil {
		return resolved, true
	}
	above := parent(path)
	if errors.Is(err, errLaid) || above == path {
		return path, false
	}
	if _, err := os.Lstat(path); err == nil {
		return path, false // a link that leads nowhere yet
	}
	resolved, ok = steady(above, loose)
	return join(resolved, base(path)), ok
}

// among reports whether a path is one of folders, or below one.
func among(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool { return within(dir, path) })
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// plainFile reports whether a path is a regular file with no second name: a
// right to write a file counts for all its names.
func plainFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && names(info) == 1
}

// GitFolders are the folders outside a project that its git metadata is in:
// those of the repository that a work tree was added to.
func GitFolders(project string) []string {
	raw, err := os.ReadFile(join(project, ".git"))
	if err != nil {
		return nil
	}
	dir, ok := cutPrefix(trimmed(string(raw)), "gitdir: ")
	if !ok {
		return nil
	}
	dir = real(against(project, dir))
	folders := []string{dir}
	if raw, err := os.ReadFile(join(dir, "commondir")); err == nil {
		folders = append(folders, real(against(dir, trimmed(string(raw)))))
	}
	// Whoever wrote these files chose the folders: git's own have a HEAD.
	return slices.DeleteFunc(folders, func(dir string) bool {
		_, err := os.Stat(join(dir, "HEAD"))
		return err != nil
	})
}

// ownGitFolders are those of GitFolders that say themselves that the project is theirs:
// a command may have written the project's .git, and named another repository.
func ownGitFolders(project string) []string {
	folders := GitFolders(project)
	if len(folders) < 2 {
		return slices.DeleteFunc(folders, func(dir string) bool { return !keepsGitOf(dir, project) })
	}
	dir, common := folders[0], folders[1]
	back, err := os.ReadFile(join(dir, "gitdir"))
	if err != nil || parent(dir) != join(common, "worktrees") || real(parent(against(dir, trimmed(string(back))))) != project {
		return nil
	}
	return folders
}

// keepsGitOf reports whether a git folder says that a project is its work tree, as a
// submodule's does, or says nothing and is not another work tree's own.
func keepsGitOf(dir, project string) bool {
	raw, _ := os.ReadFile(join(dir, "config"))
	for _, line := range split(string(raw), '\n') {
		at := max(indexByte(line, '='), 0)
		switch value := trimmed(line[min(at+1, len(line)):]); lower(trimmed(line[:at])) {
		case "worktree":
			return real(against(dir, value)) == project
		case "bare":
			if value != "false" {
				return false
			}
		}
	}
	for ; dir != "/" && dir != "."; dir = parent(dir) {
		if base(dir) == ".git" {
			return false
		}
	}
	return true
}

// against is a path as it is read in a folder.
func against(dir, path string) string {
	if absolute(path) {
		return path
	}
	return join(dir, path)
}
