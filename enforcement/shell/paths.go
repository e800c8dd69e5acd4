package shell

import (
	"path"
	"regexp"
	"strings"
)

// resolve returns the absolute cleaned paths a name may stand for, one per
// folder the shell may be in; ok is false where the folder is unknown.
func (sh *shell) resolve(name string) (paths []string, ok bool) {
	if strings.HasPrefix(name, "/") {
		return []string{path.Clean(name)}, true
	}
	for _, dir := range sh.dirs {
		paths = append(paths, path.Join(dir, name))
	}
	return paths, !sh.lost
}

// writeName records that the file of this name is written, in the words of
// command.
func (sh *shell) writeName(command, name string) {
	if name == "" {
		return
	}
	paths, ok := sh.resolve(name)
	if !ok {
		sh.a.unsure(command, "the working folder is known only at run time")
	}
	for _, p := range paths {
		sh.writePath(command, name, p)
	}
}

func (sh *shell) writePath(command, name, p string) {
	if device(p) && !strings.Contains(name, "/..") {
		return
	}
	if real, alias := procAlias(name, p); alias {
		sh.a.unsure(command, "the path goes through a process folder")
		for _, dir := range sh.dirs {
			if real != "" {
				sh.a.addPath(path.Join(dir, real))
			}
		}
	}
	sh.a.addPath(p)
	sh.a.addMention(p)
	sh.a.reason(command, "writes "+p)
}

func (a *analysis) addPath(p string) {
	if len(a.paths) >= maxFindings {
		a.unsure("", "too many paths")
		return
	}
	a.paths[p] = struct{}{}
}

func (a *analysis) addMention(p string) {
	if len(a.mentions) < maxFindings {
		a.mentions[p] = struct{}{}
	}
}

// mentionName records that the command refers to a file of this name.
func (sh *shell) mentionName(name string) {
	if name == "" || len(name) > 4096 {
		return
	}
	paths, _ := sh.resolve(name)
	for _, p := range paths {
		sh.a.addMention(p)
	}
}

// mention records what an argument may refer to: the whole word, and what
// follows = in an assignment-like word, or @ in a file argument.
func (sh *shell) mention(a arg) {
	if !a.known {
		if dir, ok := a.folder(); ok {
			sh.mentionName(dir)
		}
		return
	}
	if a.val == "-" || a.val == "--" {
		return
	}
	if name, value, ok := strings.Cut(a.val, "="); ok && !strings.ContainsAny(name, "/ ") {
		sh.mentionName(strings.TrimPrefix(value, "@"))
	}
	if !strings.HasPrefix(a.val, "-") {
		sh.mentionName(strings.TrimPrefix(a.val, "@"))
	}
}

var pathLike = regexp.MustCompile(`[~\w.@+-]*/[\w./@+-]*|\.?[\w-]+\.[\w.-]+|\.[\w-]+`)

// mentionCode records the path-like tokens of program text.
func (sh *shell) mentionCode(code string) {
	for _, token := range pathLike.FindAllString(code, maxFindings) {
		if rest, ok := strings.CutPrefix(token, "~/"); ok && sh.a.env.Home != "" {
			token = path.Join(sh.a.env.Home, rest)
		}
		sh.mentionName(token)
	}
}

var deviceFD = regexp.MustCompile(`^/(dev|proc/self|proc/thread-self)/fd/[0-9]+$|^/dev/(tcp|udp)/[^/]+/[^/]+$|^/dev/(tty[^/]*|pts/[0-9]+)$`)

// device reports the files in /dev whose opening for writing changes no file.
func device(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	return deviceFD.MatchString(p)
}

var procFolder = regexp.MustCompile(`^/proc/[^/]+/(?:cwd(?:/(.*))?|root(/.*)?|fd/.*|task/.*)$`)

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
func (sh *shell) temporary(p string) bool {
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp", sh.a.env.Vars["TMPDIR"]} {
		if dir != "" && inside(p, path.Clean(dir)) && !inside(p, sh.a.env.Project) {
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
