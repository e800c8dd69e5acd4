package shell

import (
	"path"
	"slices"
	"strings"
)

// gitReads are the subcommands that read whatever their operands are.
var gitReads = setOf(` status log diff show blame annotate grep ls-files ls-tree ls-remote cat-file rev-parse rev-list describe shortlog
 merge-base name-rev for-each-ref show-ref count-objects var check-ignore check-attr check-mailmap check-ref-format
 diff-tree diff-index diff-files whatchanged cherry version help fsck verify-commit verify-tag verify-pack range-diff
 show-branch get-tar-commit-id patch-id stripspace column fmt-merge-msg request-pull show-index`)

// gitMetadata are the subcommands that change the repository's own data only.
var gitMetadata = setOf(` add stage commit update-index update-ref symbolic-ref write-tree commit-tree commit-graph
 mktree mktag gc prune repack pack-refs replace rerere multi-pack-index unpack-objects prune-packed
 update-server-info merge-tree refs last-modified`)

// gitTrees are the subcommands that may change any file of the work tree.
var gitTrees = setOf(` merge cherry-pick revert pull merge-recursive merge-ours merge-resolve`)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// gitCommands are the subcommands whose operands decide.
var gitCommands map[string]func(*gitRun)

func init() {
	gitCommands = map[string]func(*gitRun){
		"checkout": (*gitRun).checkout, "switch": (*gitRun).switchBranch, "restore": (*gitRun).restore,
		"reset": (*gitRun).reset, "stash": (*gitRun).stash, "rm": (*gitRun).remove, "mv": (*gitRun).move,
		"clean": (*gitRun).clean, "apply": (*gitRun).apply, "config": (*gitRun).config,
		"worktree": (*gitRun).worktree, "clone": (*gitRun).clone, "init": (*gitRun).initRepo,
		"archive": (*gitRun).archive, "format-patch": (*gitRun).formatPatch, "rebase": (*gitRun).rebase,
		"remote": (*gitRun).remote, "branch": (*gitRun).branch, "tag": (*gitRun).tag,
		"fetch": (*gitRun).fetch, "submodule": (*gitRun).submodule, "bundle": (*gitRun).bundle,
		"read-tree": (*gitRun).readTree, "checkout-index": (*gitRun).checkoutIndex,
		"hash-object": (*gitRun).hashObject, "reflog": (*gitRun).reflog, "notes": (*gitRun).reflog,
		"bisect": (*gitRun).bisect, "sparse-checkout": (*gitRun).sparse, "lfs": (*gitRun).lfs,
		"push": (*gitRun).push, "send-pack": (*gitRun).push, "fetch-pack": (*gitRun).push, "index-pack": (*gitRun).indexPack,
		"am": func(g *gitRun) { g.unsure("applies mails"); g.wholeTree() },
		"maintenance": func(g *gitRun) {
			g.unsureIf(nextWord(g.args) != "run", "schedules jobs")
			g.metadata()
		},
		"interpret-trailers": func(g *gitRun) {
			if g.flagged("--in-place") {
				g.write(optSpec{long: "--trailer --where"}.parse(g.args).operands...)
			}
		},
	}
}

// checkout switches branches or restores files. Without "--" a single operand
// may be either, so the whole work tree may change.
func (g *gitRun) checkout() {
	before, after, separated := pathspecs(g.args)
	p := optSpec{short: "bB", long: "--orphan --conflict --pathspec-from-file"}.parse(before)
	switch {
	case p.has("--pathspec-from-file"):
		g.wholeTree()
	case separated && len(after) > 0:
		g.paths(after)
		g.metadata()
	case p.has("-b", "-B", "--orphan") && len(p.operands) == 0:
		g.metadata()
	case !p.has("-b", "-B", "--orphan", "--detach", "-t", "--track") && len(p.operands) > 1:
		if fileLike(p.operands[0]) {
			g.paths(p.operands[:1])
		}
		g.paths(p.operands[1:])
		g.metadata()
	case len(p.operands) == 0 && !p.has("-f", "--force", "-p", "--patch", "--detach"):
		g.metadata()
	default:
		g.wholeTree()
	}
}

// fileLike tells a file name from a revision: a suffix, or a leading dot.
func fileLike(a arg) bool {
	return !a.known || strings.HasPrefix(a.val, ".") || path.Ext(path.Base(a.val)) != "" && !strings.ContainsAny(a.val, "~^@:")
}

func (g *gitRun) switchBranch() {
	p := optSpec{short: "cC", long: "--create --force-create --orphan --conflict"}.parse(g.args)
	if p.has("-c", "-C", "--create", "--force-create") && len(p.operands) == 0 {
		g.metadata()
		return
	}
	g.wholeTree()
}

func (g *gitRun) restore() {
	p := optSpec{short: "sU", long: "--source --conflict --pathspec-from-file --unified"}.parse(g.args)
	switch {
	case p.has("-S", "--staged") && !p.has("-W", "--worktree"):
		g.metadata()
	case p.has("--pathspec-from-file") || len(p.operands) == 0:
		g.wholeTree()
	default:
		g.paths(p.operands)
	}
}

func (g *gitRun) reset() {
	if g.flagged("--hard", "--merge", "--keep") {
		g.wholeTree()
		return
	}
	g.unsureIf(len(g.args) > 0 && g.args[0].split, "its options are known only at run time")
	g.metadata()
}

func (g *gitRun) stash() {
	sub := g.first()
	switch sub {
	case "list", "show":
		g.reads()
		return
	case "drop", "clear", "create", "store":
		g.metadata()
		return
	case "push", "save":
		if _, after, ok := pathspecs(g.args); ok && sub == "push" && len(after) > 0 {
			g.paths(after)
			return
		}
	}
	if sub == "" || sub == "push" || sub == "save" || strings.HasPrefix(sub, "-") {
		if p := (optSpec{short: "m", long: "--message"}).parse(g.args); p.has("-u", "-a", "--include-untracked", "--all") {
			g.gone(literal(g.root()))
		}
	}
	g.wholeTree()
}

func (g *gitRun) remove() {
	p := optSpec{long: "--pathspec-from-file"}.parse(g.args)
	switch {
	case p.has("-n", "--dry-run"):
	case p.has("--cached"):
		g.metadata()
	case p.has("--pathspec-from-file"):
		g.wholeTree()
	default:
		g.paths(p.operands)
	}
}

func (g *gitRun) move() {
	p := optSpec{}.parse(g.args)
	if p.has("-n", "--dry-run") {
		return
	}
	sources, target, folder := g.destination(p)
	g.write(sources...)
	g.into(target, sources, folder)
}

func (g *gitRun) clean() {
	p := optSpec{short: "e", long: "--exclude"}.parse(g.args)
	if p.has("-n", "--dry-run") {
		return
	}
	if len(p.operands) > 0 {
		g.paths(p.operands)
		return
	}
	kept := slices.ContainsFunc(p.values("-e", "--exclude"), func(a arg) bool { return strings.Trim(a.val, "/") == ".writ" })
	if dir, ok := g.sh.cwd(); ok && g.tree == "" {
		g.writeName(dir)
		if !kept {
			g.gone(literal(dir))
		}
		return
	}
	if !kept {
		g.gone(literal(g.root()))
	}
	g.wholeTree()
}

func (g *gitRun) apply() {
	p := optSpec{short: "pC", long: "--directory --exclude --include --whitespace --build-fake-ancestor"}.parse(g.args)
	if p.has("--stat", "--numstat", "--summary", "--check") && !p.has("--apply") {
		return
	}
	if p.has("--cached") {
		g.metadata()
		return
	}
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

// config reads with one operand and writes with two; where it writes depends on
// the scope.
func (g *gitRun) config() {
	p := optSpec{short: "ft", long: "--file --blob --type --default --get-color --get-colorbool --comment --value --url"}.parse(g.args)
	words := p.operands
	verb := ""
	if len(words) > 0 {
		verb = words[0].val
	}
	switch {
	case p.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "--show-origin", "--show-scope", "--get-color", "--get-colorbool", "--name-only"):
		return
	case verb == "get" || verb == "list":
		return
	case verb != "set" && verb != "unset" && verb != "rename-section" && verb != "remove-section" && verb != "edit" &&
		len(words) < 2 && !p.has("--unset", "--unset-all", "--add", "--replace-all", "--edit", "-e", "--rename-section", "--remove-section"):
		return
	}
	switch {
	case p.has("--global"):
		g.writeName(path.Join(g.sh.a.env.Home, ".gitconfig"))
	case p.has("--system"):
		g.writeName("/etc/gitconfig")
	case p.has("-f", "--file"):
		g.write(p.values("-f", "--file")...)
	default:
		g.writeName(g.inGitDir("config"))
	}
	if p.has("-e", "--edit") || verb == "edit" {
		g.unsure("an editor")
	}
}
