package shell

import (
	"path"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// resolve returns the absolute paths a name may stand for, one per folder the
// shell may be in; ok is false where the folder is unknown.
func (w *place) resolve(name string) (paths []string, ok bool) {
	if strings.HasPrefix(name, "/") {
		return []string{tidy(name)}, true
	}
	for _, dir := range w.dirs {
		paths = append(paths, tidy(under(dir, name)))
	}
	return paths, !w.lost
}

// under is a name within a folder, as the system would be given it.
func under(dir, name string) string {
	switch {
	case dir == "." || dir == "":
		return name
	case name == "." || name == "":
		return dir
	}
	return strings.TrimRight(dir, "/") + "/" + strings.TrimLeft(name, "/")
}

// tidy drops what means nothing in a path. Dots that lead upwards stay: behind
// a symbolic link they lead out of its target, not back to where it stands.
func tidy(p string) string {
	if !upwards(p) {
		return path.Clean(p)
	}
	var kept []string
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(kept) == 0:
			// The root has nothing above it.
		default:
			kept = append(kept, part)
		}
	}
	return "/" + strings.Join(kept, "/")
}

// parent is the folder part of a name, as dirname prints it.
func parent(name string) string {
	i := strings.LastIndexByte(strings.TrimRight(name, "/"), '/')
	switch {
	case i < 0:
		return "."
	case i == 0:
		return "/"
	}
	return name[:i]
}

// upwards reports a path with a component that leads upwards.
func upwards(p string) bool {
	return strings.Contains(p, "..") && strings.Contains("/"+p+"/", "/../")
}

// writeName records that the file of this name is written, in the words of
// command.
func (w *place) writeName(command, name string) { w.touch(command, name, true) }

// touch records that the file of this name changes. follows says that a
// symbolic link of this name would lead to the file, as in opening it; deleting
// or replacing a name changes the name only.
func (w *place) touch(command, name string, follows bool) {
	if name == "" {
		return
	}
	paths, ok := w.resolve(name)
	if !ok {
		w.a.unsure(command, "the working folder is known only at run time")
	}
	for _, p := range paths {
		w.touchPath(command, name, p, follows)
	}
}

func (w *place) touchPath(command, name, p string, follows bool) {
	if device(p) && !strings.Contains(name, "/..") {
		w.a.reopens(p)
		return
	}
	if real, alias := procAlias(name, path.Clean(p)); alias {
		w.a.unsure(command, "the path goes through a process folder")
		for _, dir := range w.dirs {
			if real != "" {
				w.a.addPath(tidy(under(dir, real)), follows)
			}
		}
	}
	w.a.addPath(p, follows)
	w.a.addMention(p)
	w.a.reason(command, "writes "+p)
}

func (a *analysis) addPath(p string, follows bool) {
	if len(a.paths) >= maxFindings {
		a.unsure("", "too many paths")
		return
	}
	a.paths[p] = a.paths[p] || follows
	delete(a.folders, p)
}

func (a *analysis) addMention(p string) {
	if len(a.mentions) < maxFindings {
		a.mentions[p] = struct{}{}
	}
}

// mentionName records that the command refers to a file of this name.
func (w *place) mentionName(name string) {
	if name == "" || len(name) > 4096 {
		return
	}
	paths, _ := w.resolve(name)
	for _, p := range paths {
		// What a descriptor leads to was mentioned where it was opened.
		if !device(p) {
			w.a.addMention(p)
		}
	}
}

// mentionTree records that the command reads what is in a folder, at any depth.
func (w *place) mentionTree(name string) {
	if len(name) > 4096 {
		return
	}
	paths, _ := w.resolve(name)
	for _, p := range paths {
		if len(w.a.trees) < maxFindings {
			w.a.trees[p] = struct{}{}
		}
	}
}

// readsTrees records folders that a program reads with all that is in them;
// without operands it reads the working folder.
func (c *call) readsTrees(folders []arg) {
	for _, a := range folders {
		if dir, ok := a.folder(); ok {
			c.sh.mentionTree(dir)
		}
	}
	if len(folders) == 0 {
		c.sh.mentionTree(".")
	}
}

// mention records what an argument may refer to: the whole word, and what
// follows = in an assignment-like word, or @ in a file argument.
func (w *place) mention(a arg) {
	if !a.known {
		w.mentionPattern(a)
		return
	}
	if a.val == "-" || a.val == "--" {
		return
	}
	if name, value, ok := strings.Cut(a.val, "="); ok && !strings.ContainsAny(name, "/ ") {
		w.mentionName(strings.TrimPrefix(value, "@"))
	}
	if !strings.HasPrefix(a.val, "-") {
		w.mentionName(strings.TrimPrefix(a.val, "@"))
	}
}

// mentionPattern records what a word that is not known may refer to: the names
// that its pattern matches, or the folder it lies in. What comes from nowhere
// in sight may come from a search that the command line makes.
func (w *place) mentionPattern(a arg) {
	t := a.template()
	if dir, ok := a.folder(); ok {
		w.mentionName(dir)
		paths, _ := w.resolve(strings.Map(wildcard, t))
		for _, p := range paths {
			if len(p) <= 4096 && len(w.a.patterns) < maxFindings {
				w.a.patterns[p] = struct{}{}
			}
		}
	}
	if strings.ContainsRune(t, hole) {
		w.a.blind = true
	}
}

// wildcard turns holes into the signs of a file pattern.
func wildcard(r rune) rune {
	if isHole(r) {
		return '*'
	}
	return r
}

var pathLike = lazyregexp.New(`[~\w.@+-]*/[\w./@+-]*|\.?[\w-]+\.[\w.-]+|\.[\w-]+`)

// mentionCode records the path-like tokens of program text.
func (w *place) mentionCode(code string) {
	for _, token := range pathLike.Regexp().FindAllString(code, maxFindings) {
		if rest, ok := strings.CutPrefix(token, "~/"); ok && w.a.env.Home != "" {
			token = path.Join(w.a.env.Home, rest)
		}
		w.mentionName(token)
	}
}

var deviceFD = lazyregexp.New(`^/(dev|proc/self|proc/thread-self)/fd/[0-9]+$|^/dev/(tcp|udp)/[^/]+/[^/]+$|^/dev/(tty[^/]*|pts/[0-9]+)$`)

// device reports the files in /dev whose opening for writing changes no file.
func device(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return deviceFD.MatchString(p)
}

var procFolder = lazyregexp.New(`^/proc/[^/]+/(?:cwd(?:/(.*))?|root(/.*)?|fd/.*|task/.*)$`)

// procAlias reports paths that reach other files through /proc or /dev/fd,
// where cleaning a path does not follow what the kernel does. real is the part
// relative to the working folder, where that is what the path leads to.
func procAlias(name, p string) (real string, alias bool) {
	if m := procFolder.FindStringSubmatch(p); m != nil {
		return m[1], true
	}
	return "", (strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/")) && strings.Contains(name, "/..")
}

// inside reports whether p is dir or lies in it.
func inside(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// temporary reports the folders for scratch files.
func (w *place) temporary(p string) bool {
	if upwards(p) {
		return false
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", w.a.env.Vars["TMPDIR"]} {
		if dir != "" && inside(p, path.Clean(dir)) && !inside(p, w.a.env.Project) {
			return true
		}
	}
	return false
}

func (sh *shell) tempDir() string {
	dir := sh.vars["TMPDIR"].Str
	if dir == "" || !isKnown(dir) {
		return "/tmp"
	}
	paths, _ := sh.resolve(dir)
	return paths[0]
}
