package shell

import (
	"path"
	"strings"
)

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
	g.transports()
	g.metadata()
}

// transports doubts options and addresses by which git starts a program to talk
// to another repository.
func (g *gitRun) transports() {
	p := optSpec{}.parse(g.args)
	for _, a := range g.args {
		if strings.Contains(a.val, "ext::") || a.isOption("--upload-pack") || a.isOption("--receive-pack") || a.isOption("--exec") {
			g.unsure("an option or address runs a program")
		}
	}
	g.unsureIf(p.unsplit, "its options are known only at run time")
}

// push changes the data of repositories.
func (g *gitRun) push() {
	g.transports()
	g.metadata()
}

// indexPack writes the index of a pack, beside it unless told where.
func (g *gitRun) indexPack() {
	g.write(optSpec{short: "o"}.parse(g.args).values("-o")...)
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
	default:
		g.reads()
	}
}

func (g *gitRun) bisect() {
	switch sub := nextWord(g.args); sub {
	case "log", "terms", "":
	case "view", "visualize":
		g.unsureIf(len(g.args) > 1, "runs git log, or a program, with its options")
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
