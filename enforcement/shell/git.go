package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// gitRun is one call of git: where it works and with what settings.
type gitRun struct {
	*call
	sub     string
	gitDir  string            // "" means .git in the project
	tree    string            // work tree, "" means the project
	aliases map[string]string // given with -c
}

// gitJudge takes the options before the subcommand and judges the subcommand.
func gitJudge(r *reading) {
	c := r.call
	g := &gitRun{call: &call{sh: c.sh.fork(), name: "git", args: c.args}, aliases: map[string]string{}}
	rest, ok := g.globals(c.args)
	if !ok || len(rest) == 0 {
		return
	}
	if !rest[0].known || rest[0].guess {
		g.unsure("the subcommand is known only at run time")
		return
	}
	g.sub, g.args = rest[0].val, rest[1:]
	g.name = "git " + g.sub
	g.elsewhere()
	g.mentions()
	g.dispatch()
}

// elsewhere doubts a repository that anybody may have made: its settings run
// programs, and even to show its status is to run them.
func (g *gitRun) elsewhere() {
	dirs := g.sh.dirs
	if g.gitDir != "" {
		dirs, _ = g.sh.resolve(g.gitDir)
		own := path.Join(g.sh.a.env.Project, ".git")
		if !slices.ContainsFunc(dirs, func(dir string) bool { return !inside(path.Clean(dir), own) }) {
			return
		}
	} else if g.sub == "init" || g.sub == "clone" || g.sub == "--version" {
		return
	}
	if slices.ContainsFunc(dirs, func(dir string) bool { return g.gitDir != "" || g.sh.temporary(path.Clean(dir)) }) {
		g.unsure("the settings of a repository in a scratch folder may run programs")
	}
}

// globals takes the options before the subcommand.
func (g *gitRun) globals(args []arg) (rest []arg, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a.val, "-") {
			return args[i:], true
		}
		name, value, attached := strings.Cut(a.val, "=")
		v := arg{val: value, known: a.known, guess: a.guess}
		takes := name == "-C" || name == "-c" || name == "--git-dir" || name == "--work-tree" || name == "--namespace" || name == "--config-env" || name == "--super-prefix"
		if takes && !attached && i+1 < len(args) {
			i++
			v = args[i]
		}
		switch name {
		case "-C":
			g.sh.moveInto(v)
		case "-c":
			g.setting(v)
		case "--config-env", "--exec-path":
			g.unsureIf(attached || name == "--config-env", "a setting that loads code")
		case "--git-dir":
			g.gitDir = v.val
		case "--work-tree":
			g.tree = v.val
		case "--version", "--help", "-v", "-h", "--html-path", "--man-path", "--info-path":
			return nil, false
		}
	}
	return nil, false
}

// setting judges "-c name=value". Sections that only change how git prints and
// merges are harmless; the others may name programs to run.
func (g *gitRun) setting(v arg) {
	key, value, _ := strings.Cut(v.val, "=")
	key = strings.ToLower(key)
	if name, ok := strings.CutPrefix(key, "alias."); ok {
		g.aliases[name] = value
		return
	}
	section, _, _ := strings.Cut(key, ".")
	last := key[strings.LastIndexByte(key, '.')+1:]
	if section == "gc" && strings.HasSuffix(last, "expire") || last == "reflogexpireunreachable" {
		g.act(GitDeletes) // whatever the subcommand that cleans up with it
	}
	// A name of a folder or file is never a word that switches something off.
	named := last == "hookspath" || last == "templatedir" || last == "attributesfile" || last == "path" || last == "cookiefile"
	off := value == "" || value == "/dev/null" || !named && (value == "false" || value == "true" || value == "cat" || value == "less" || value == ":")
	switch section {
	case "user", "color", "advice", "log", "status", "push", "fetch", "pull", "rebase", "rerere", "init", "commit", "tag", "safe", "format", "column", "blame", "branch", "checkout", "stash", "index", "pack", "gc", "i18n", "help", "feature", "versionsort", "worktree", "grep", "http", "url", "author", "committer", "apply", "merge", "diff", "core", "gpg", "pager":
		switch last {
		case "templatedir", "external", "textconv", "command", "driver", "tool", "cmd", "path", "program", "fsmonitor", "hookspath", "sshcommand", "editor", "pager", "worktree", "attributesfile", "excludesfile", "askpass", "gitproxy", "alternaterefscommand", "proxycommand", "browser", "virtualfilesystem", "defaultkeycommand", "cookiefile":
		default:
			if section != "pager" {
				return
			}
		}
	}
	if off && v.known {
		return
	}
	g.unsure("the setting " + key + " may run a program")
	if last != "hookspath" && last != "worktree" && last != "attributesfile" {
		g.text(arg{val: strings.TrimPrefix(value, "!"), known: v.known})
	}
}

// mentions records the paths git is given; messages are text.
func (g *gitRun) mentions() {
	for i := 0; i < len(g.args); i++ {
		switch a := g.args[i]; a.val {
		case "-m", "--message", "--author", "--grep", "--format", "--pretty", "-S", "-G":
			i++
		default:
			if !strings.HasPrefix(a.val, "--format=") && !strings.HasPrefix(a.val, "--pretty=") && !strings.HasPrefix(a.val, "--message=") {
				g.sh.mention(a)
			}
		}
	}
}

// root is the work tree as far as it is known: the project, when git runs in it.
func (g *gitRun) root() string {
	if g.tree != "" {
		return g.tree
	}
	return g.sh.gitRoot()
}

// gitRoot is the work tree that a git in the working folder acts on.
func (w *place) gitRoot() string {
	if dir, ok := w.cwd(); ok {
		if inside(dir, w.a.env.Project) {
			return w.a.env.Project
		}
		return dir
	}
	return w.a.env.Project
}

// gitTree records a change of the whole work tree.
func (c *call) gitTree(root string) {
	if root == "" {
		root = c.sh.gitRoot()
	}
	c.unsureIf(c.sh.lost, "the working folder is known only at run time")
	c.writeName(root)
}

// wholeTree records that any file of the work tree may change.
func (g *gitRun) wholeTree() { g.gitTree(g.root()) }

// metadata records a change of the repository's own data.
func (g *gitRun) metadata() {
	g.sh.a.metadata = true
	g.sh.a.reason(g.line(), "changes the data of the repository")
}

// inGitDir is a file of the repository's own.
func (g *gitRun) inGitDir(name string) string {
	if g.gitDir != "" {
		return under(g.gitDir, name)
	}
	return under(g.root(), ".git/"+name)
}

// paths records the work tree files of pathspecs; patterns and magic stand for
// the whole tree.
func (g *gitRun) paths(specs []arg) {
	for _, s := range specs {
		switch {
		case s.known && strings.HasPrefix(s.val, ":/"):
			g.writeName(under(g.root(), s.val[2:]))
		case s.known && strings.HasPrefix(s.val, ":"):
			g.wholeTree()
		case s.known && strings.ContainsAny(s.val, "*?["):
			dir, _ := arg{val: s.val, glob: true}.folder()
			g.writeName(dir)
		case g.tree != "" && s.known && !strings.HasPrefix(s.val, "/"):
			g.writeName(under(g.tree, s.val))
		default:
			g.write(s)
		}
	}
}

// pathspecs splits operands at "--"; separated says that there was one.
func pathspecs(args []arg) (before, after []arg, separated bool) {
	for i, a := range args {
		if a.val == "--" {
			return args[:i], args[i+1:], true
		}
	}
	return args, nil, false
}

// dispatch judges the subcommand by its entry in the table, and by another one
// what it does to work and history.
func (g *gitRun) dispatch() {
	if e, ok := registry()["git!"+g.sub]; ok && !containsAny(g.args, []string{"--help"}) {
		e.read(&reading{call: g.call, git: g})
	}
	e, ok := registry()["git/"+g.sub]
	switch {
	case g.sub == "help" || ok && e.info && informs(g.args, false):
	case ok:
		e.read(&reading{call: g.call, git: g})
	default:
		g.alias()
	}
}

// alias judges a subcommand that git does not have, following -c alias.
func (g *gitRun) alias() {
	value, ok := g.aliases[g.sub]
	if code, shell := strings.CutPrefix(value, "!"); ok && shell {
		g.unsure("an alias that runs a command line")
		g.text(literal(code))
		return
	}
	words, simple := g.sh.split("git " + value)
	if !ok || !simple || len(words) < 2 {
		g.unsure("an alias or a subcommand that is not known")
		return
	}
	delete(g.aliases, g.sub)
	g.sub, g.args = words[1].val, append(words[2:], g.args...)
	g.dispatch()
}

// opensFiles is the letter by which grep runs a program, behind letters without a value.
var opensFiles = lazyregexp.New(`^-[^-ABCefm]*O`)

// reads judges a subcommand that reads: some options write or run programs.
func (g *gitRun) reads() {
	for i, a := range g.args {
		if a.val == "--" {
			return
		}
		name, value, attached := strings.Cut(a.val, "=")
		switch {
		case name == "--output":
			switch {
			case attached:
				g.write(arg{val: value, known: a.known, guess: a.guess})
			case i+1 < len(g.args):
				g.write(g.args[i+1])
			}
		case shortens(name, "--output"):
			g.unsure("an option that may write a file")
			g.writeName(".")
		case a.split && !a.revs:
			g.unsure("its options are known only at run time")
		case a.isOption("--ext-diff"), a.isOption("--upload-pack"), a.isOption("--exec"),
			g.sub == "grep" && (opensFiles.MatchString(a.val) || a.isOption("--open-files-in-pager")):
			g.unsure("an option runs a program")
		case strings.Contains(a.val, "ext::"):
			g.unsure("the address runs a program")
		case g.sub == "fsck" && name == "--lost-found":
			g.metadata()
		}
	}
}

func gitMove(r *reading) {
	sources, target, folder := r.destination(r.p)
	r.write(sources...)
	r.into(target, sources, folder, r.write)
}

// gitClean sweeps the folder, or the whole tree.
func gitClean(r *reading) {
	g := r.git
	kept := slices.ContainsFunc(r.p.values("-e", "--exclude"), func(a arg) bool { return strings.Trim(a.val, "/") == ".writ" })
	dir, ok := g.sh.cwd()
	ok = ok && g.tree == ""
	if !ok {
		dir = g.root()
	}
	if !kept {
		g.gone(literal(dir))
	}
	if ok {
		g.writeName(dir)
		return
	}
	g.wholeTree()
}

// gitApply judges a patch that is applied to the work tree.
func gitApply(r *reading) {
	g, p := r.git, r.p
	root := "."
	if v, ok := p.last("--directory"); ok {
		root = v.val
	}
	strip := 1
	if v, ok := p.last("-p"); ok && len(v.val) == 1 {
		strip = int(v.val[0] - '0')
	}
	if len(p.operands) > 0 && p.operands[0].val != "-" {
		g.unsure("the names are in the patch")
		g.wholeTree()
		return
	}
	g.patchNames(strip, root)
}

// gitCloned is the folder that a clone is named after its address.
func gitCloned(r *reading) {
	g, p, url := r.git, r.p, r.p.operands[0]
	name := strings.TrimSuffix(strings.TrimSuffix(url.val, "/"), ".git")
	name = path.Base(name[strings.LastIndexAny(name, "/:")+1:])
	if !url.known || name == "" {
		g.unsure("the folder comes from the address")
		g.writeName(".")
		return
	}
	if p.has("--bare", "--mirror") {
		name += ".git"
	}
	g.writeName(name)
}

// gitFetched finds local branches that are overwritten.
func gitFetched(r *reading) {
	g, p := r.git, r.p
	forced := p.has("-f", "--force", "-p", "--prune") && !p.has("--dry-run")
	for _, spec := range append(p.values("--refmap"), p.operands[min(1, len(p.operands)):]...) {
		_, to, mapped := strings.Cut(spec.val, ":")
		if mapped && to != "" && !strings.HasPrefix(to, "refs/remotes/") && (forced || strings.HasPrefix(spec.val, "+")) {
			g.act(GitDeletes)
			return
		}
	}
}
