package shell

import (
	"path"
	"strings"
)

// gitReads are the subcommands that read whatever their operands are.
var gitReads = setOf(` status log diff show blame annotate grep ls-files ls-tree ls-remote cat-file rev-parse rev-list describe shortlog
 merge-base name-rev for-each-ref show-ref count-objects var check-ignore check-attr check-mailmap check-ref-format
 diff-tree diff-index diff-files whatchanged cherry version help fsck verify-commit verify-tag verify-pack range-diff
 show-branch get-tar-commit-id patch-id stripspace column fmt-merge-msg request-pull show-index`)

// gitMetadata are the subcommands that change the repository's own data only.
var gitMetadata = setOf(` add stage commit push update-index update-ref symbolic-ref write-tree commit-tree commit-graph
 mktree mktag gc prune repack pack-refs replace rerere multi-pack-index index-pack unpack-objects prune-packed
 update-server-info merge-tree fetch-pack send-pack refs last-modified`)

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
	if dir, ok := g.sh.cwd(); ok && g.tree == "" {
		g.writeName(dir)
		return
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

func (g *gitRun) worktree() {
	p := optSpec{short: "bB", long: "--reason --expire"}.parse(g.args)
	if len(p.operands) == 0 {
		return
	}
	switch p.operands[0].val {
	case "list":
	case "add":
		if len(p.operands) > 1 {
			g.write(p.operands[1])
		}
	case "remove", "move":
		g.write(p.operands[1:]...)
	default:
		g.metadata()
	}
}

func (g *gitRun) clone() {
	p := optSpec{short: "bocuj", long: "--branch --origin --config --upload-pack --depth --jobs --template --reference --separate-git-dir --filter --shallow-since --server-option --bundle-uri --ref-format"}.parse(g.args)
	if p.has("-u", "--upload-pack", "--template", "-c", "--config") {
		g.unsure("an option that may run a program")
	}
	if len(p.operands) == 0 {
		return
	}
	url := p.operands[0]
	if strings.HasPrefix(url.val, "ext::") {
		g.unsure("the address runs a program")
	}
	if len(p.operands) > 1 {
		g.write(p.operands[1])
		return
	}
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

func (g *gitRun) initRepo() {
	p := optSpec{short: "b", long: "--template --separate-git-dir --initial-branch --object-format --ref-format --shared"}.parse(g.args)
	if p.has("--template") {
		g.unsure("copies hooks from a template")
	}
	for _, v := range p.values("--separate-git-dir") {
		g.write(v)
	}
	if len(p.operands) > 0 {
		g.write(p.operands[0])
		return
	}
	if p.has("--bare") {
		g.writeName(".")
		return
	}
	g.writeName(".git")
}

func (g *gitRun) archive() {
	p := optSpec{short: "o", long: "--output --format --prefix --remote --exec --add-file --add-virtual-file"}.parse(g.args)
	g.unsureIf(p.has("--exec"), "an option runs a program")
	for _, v := range p.values("-o", "--output") {
		g.write(v)
	}
}

func (g *gitRun) formatPatch() {
	p := optSpec{short: "o", long: "--output-directory --output --subject-prefix --suffix --signature --to --cc --from --base --interdiff --range-diff"}.parse(g.args)
	if p.has("--stdout") {
		return
	}
	if v, ok := p.last("--output"); ok {
		g.write(v)
		return
	}
	dir, ok := p.last("-o", "--output-directory")
	if !ok {
		dir = literal(".")
	}
	g.unsure("the names come from the commits")
	g.write(dir)
}

func (g *gitRun) rebase() {
	p := optSpec{short: "xsX", long: "--exec --onto --strategy --strategy-option"}.parse(g.args)
	if p.has("--show-current-patch") {
		return
	}
	for _, v := range p.values("-x", "--exec") {
		g.unsure("runs a command for every commit")
		g.text(v)
	}
	g.wholeTree()
}

// remote changes the configuration unless it lists.
func (g *gitRun) remote() {
	switch nextWord(g.args) {
	case "", "show", "get-url":
	case "update", "prune":
		g.metadata()
	default:
		g.writeName(g.inGitDir("config"))
	}
}

func (g *gitRun) branch() {
	p := optSpec{short: "u", long: "--set-upstream-to --contains --no-contains --merged --no-merged --sort --points-at --format"}.parse(g.args)
	if len(p.operands) == 0 && !p.has("-u", "--set-upstream-to", "--unset-upstream", "-d", "-D", "-m", "-M", "-c", "-C", "--edit-description") ||
		p.has("--list", "-l", "--show-current", "-a", "--all", "-r", "--remotes", "--contains", "--merged", "--no-merged", "-v", "-vv") && !p.has("-d", "-D", "-m", "-M") {
		return
	}
	g.metadata()
}

func (g *gitRun) tag() {
	p := optSpec{short: "muFn", long: "--message --local-user --file --contains --merged --sort --points-at --format"}.parse(g.args)
	if len(p.operands) == 0 || p.has("-l", "--list", "-v", "--verify", "--contains", "--merged", "--points-at") && !p.has("-d", "-a", "-f") {
		return
	}
	g.metadata()
}

func (g *gitRun) fetch() {
	if g.flagged("--dry-run") {
		return
	}
	for _, a := range g.args {
		if strings.HasPrefix(a.val, "ext::") || strings.HasPrefix(a.val, "--upload-pack") {
			g.unsure("an option or address runs a program")
		}
	}
	g.metadata()
}

func (g *gitRun) submodule() {
	p := optSpec{short: "b", long: "--branch --reference --depth --name", stop: false}.parse(g.args)
	if len(p.operands) == 0 {
		return
	}
	switch p.operands[0].val {
	case "status", "summary":
	case "init", "deinit", "sync", "absorbgitdirs", "set-branch", "set-url":
		g.writeName(g.inGitDir("config"))
		g.wholeTree()
	case "foreach":
		g.unsure("runs a command in every submodule")
		if len(p.operands) > 1 {
			g.text(p.operands[1])
		}
	default:
		g.unsure("the files come from another repository")
		g.wholeTree()
	}
}

func (g *gitRun) bundle() {
	p := optSpec{}.parse(g.args)
	if len(p.operands) > 1 && p.operands[0].val == "create" {
		g.writeOut(p.operands[1])
		return
	}
	if len(p.operands) > 0 && p.operands[0].val == "unbundle" {
		g.metadata()
	}
}

func (g *gitRun) readTree() {
	if p := (optSpec{long: "--prefix --index-output"}).parse(g.args); p.has("-u") {
		g.wholeTree()
		return
	}
	g.metadata()
}

func (g *gitRun) checkoutIndex() {
	p := optSpec{long: "--prefix --stage"}.parse(g.args)
	switch prefix, ok := p.last("--prefix"); {
	case ok && strings.HasSuffix(prefix.val, "/"):
		g.write(prefix)
	case ok:
		g.prefixed(prefix)
	case p.has("-a", "--all", "--stdin") || len(p.operands) == 0:
		g.wholeTree()
	default:
		g.paths(p.operands)
	}
}

func (g *gitRun) hashObject() {
	if g.flagged("-w") {
		g.metadata()
	}
}

// reflog lists unless told to change something; so do notes.
func (g *gitRun) reflog() {
	switch nextWord(g.args) {
	case "expire", "delete", "drop", "add", "append", "copy", "edit", "remove", "merge", "prune":
		g.metadata()
	}
}

func (g *gitRun) bisect() {
	switch sub := nextWord(g.args); sub {
	case "log", "view", "visualize", "terms", "":
	default:
		g.unsure("checks out commits")
		g.wholeTree()
		if sub == "run" && len(g.args) > 1 {
			g.run(g.args[1:])
		}
	}
}

func (g *gitRun) sparse() {
	if sub := nextWord(g.args); sub != "list" && sub != "check-rules" {
		g.wholeTree()
	}
}

func (g *gitRun) lfs() {
	switch nextWord(g.args) {
	case "ls-files", "status", "env", "version", "logs":
	default:
		g.unsure("may change the work tree or the configuration")
	}
}
