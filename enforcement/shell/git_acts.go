package shell

import (
	"slices"
	"strings"
)

// GitKind says what a git command does to work and history, beyond what its
// files show.
type GitKind string

// The kinds of git acts.
const (
	// GitDiscards overwrites uncommitted changes of GitAct.Paths.
	GitDiscards GitKind = "discards"
	// GitDeletes removes what git cannot bring back by itself: files it does not
	// know, branches, stashes, unreachable commits, the log of references.
	GitDeletes GitKind = "deletes"
	// GitPublishes overwrites or deletes what others have from a remote.
	GitPublishes GitKind = "publishes"
	// GitRewrites replaces the branch's last commits, which matters where they
	// were published.
	GitRewrites GitKind = "rewrites"
	// GitLeaves goes to another branch or commit.
	GitLeaves GitKind = "leaves"
	// GitPlants puts content into the repository that is not in the work tree, or
	// makes a second work tree.
	GitPlants GitKind = "plants"
)

// GitAct is one such act of a command line.
type GitAct struct {
	Kind    GitKind
	Command string // the simple command, shortened
	// Root is the work tree that git acts on, absolute; "" where it is not known.
	Root string
	// Paths are absolute: what is discarded. A folder stands for all in it.
	Paths []string
}

// maxGitActs bounds the acts kept of one command line.
const maxGitActs = 50

// acts notes what the subcommand does to work and history.
func (g *gitRun) acts() {
	if j, ok := gitActs[g.sub]; ok && !slices.ContainsFunc(g.args, func(a arg) bool { return a.val == "--help" }) {
		j(g)
	}
}

var gitActs map[string]func(*gitRun)

func init() {
	always := func(k GitKind) func(*gitRun) { return func(g *gitRun) { g.act(k) } }
	gitActs = map[string]func(*gitRun){
		"push": (*gitRun).pushActs, "checkout": (*gitRun).checkoutActs, "switch": (*gitRun).switchActs,
		"restore": (*gitRun).restoreActs, "reset": (*gitRun).resetActs, "clean": (*gitRun).cleanActs,
		"branch": (*gitRun).branchActs, "tag": (*gitRun).tagActs, "stash": (*gitRun).stashActs,
		"rebase": (*gitRun).rebaseActs, "commit": (*gitRun).commitActs, "reflog": (*gitRun).reflogActs,
		"gc": (*gitRun).gcActs, "worktree": (*gitRun).worktreeActs, "fetch": (*gitRun).fetchActs,
		"apply": (*gitRun).applyActs, "update-index": (*gitRun).updateIndexActs, "rm": (*gitRun).removeActs,
		"read-tree": (*gitRun).readTreeActs, "checkout-index": (*gitRun).checkoutIndexActs,
		"prune": (*gitRun).pruneActs, "symbolic-ref": (*gitRun).symbolicRefActs,
		"update-ref": always(GitDeletes), "filter-branch": always(GitDeletes), "filter-repo": always(GitDeletes),
		"commit-tree": always(GitPlants), "fast-import": always(GitPlants), "mktree": always(GitPlants),
		"send-pack": always(GitPublishes),
	}
}

// act notes an act, with the operands it is about.
func (g *gitRun) act(kind GitKind, specs ...arg) {
	a := g.sh.a
	if len(a.git) >= maxGitActs {
		return
	}
	act := GitAct{Kind: kind, Command: shorten(holesShown.Replace(g.line()))}
	if !g.sh.lost && g.gitDir == "" {
		act.Root = g.root()
	}
	for _, s := range specs {
		act.Paths = append(act.Paths, g.specPath(s))
	}
	a.git = append(a.git, act)
}

// specPath is the outermost path that a pathspec names: what is not plain
// stands for the whole tree.
func (g *gitRun) specPath(s arg) string {
	dir, ok := g.sh.cwd()
	if g.tree != "" {
		dir = g.tree
	}
	switch {
	case !ok && g.tree == "" || !s.known || strings.HasPrefix(s.val, ":") || strings.ContainsAny(s.val, "*?["):
		return g.root()
	}
	if strings.HasPrefix(s.val, "/") {
		return s.val
	}
	return under(dir, s.val)
}

// whole is the work tree as an operand.
func (g *gitRun) whole() arg { return arg{val: ":/", known: true} }

func (g *gitRun) pushActs() {
	p := optSpec{short: "o", long: "--push-option --repo --receive-pack --exec"}.parse(g.args)
	if p.has("-n", "--dry-run") {
		return
	}
	force := p.has("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d", "--prune")
	for _, spec := range p.operands[min(1, len(p.operands)):] {
		force = force || strings.HasPrefix(spec.val, "+") || strings.HasPrefix(spec.val, ":") && spec.val != ":"
	}
	if force {
		g.act(GitPublishes)
	}
}

func (g *gitRun) checkoutActs() {
	before, after, separated := pathspecs(g.args)
	p := optSpec{short: "bB", long: "--orphan --conflict --pathspec-from-file"}.parse(before)
	creates := p.has("-b", "--orphan")
	if p.has("-B") {
		g.act(GitDeletes)
	}
	if p.has("-f", "--force") || p.has("--pathspec-from-file") {
		g.act(GitDiscards, g.whole())
	}
	switch {
	case p.has("-p", "--patch"):
	case separated && len(after) > 0:
		g.act(GitDiscards, after...)
	case creates && len(p.operands) == 0:
	case !creates && !p.has("-B", "--detach", "-t", "--track") && len(p.operands) > 1:
		if fileLike(p.operands[0]) {
			g.act(GitDiscards, p.operands[0])
		}
		g.act(GitDiscards, p.operands[1:]...)
	case len(p.operands) == 1 && !creates && fileLike(p.operands[0]) && p.operands[0].known:
		g.act(GitDiscards, p.operands[0])
	case len(p.operands) > 0 || p.has("--detach"):
		if len(p.operands) == 1 && !creates {
			g.act(GitDiscards, p.operands[0]) // a file may have a branch's name
		}
		if !p.isHead(0) {
			g.act(GitLeaves)
		}
	}
}

// isHead reports whether an operand is missing or names the commit that is
// checked out.
func (p parsed) isHead(i int) bool {
	return i >= len(p.operands) || p.operands[i].known && (p.operands[i].val == "HEAD" || p.operands[i].val == "@")
}

func (g *gitRun) switchActs() {
	p := optSpec{short: "cC", long: "--create --force-create --orphan --conflict"}.parse(g.args)
	if p.has("-f", "--force", "--discard-changes") {
		g.act(GitDiscards, g.whole())
	}
	if p.has("-C", "--force-create") {
		g.act(GitDeletes)
	}
	if creates := p.has("-c", "-C", "--create", "--force-create", "--orphan"); !creates || !p.isHead(0) {
		g.act(GitLeaves)
	}
}

func (g *gitRun) restoreActs() {
	p := optSpec{short: "sU", long: "--source --conflict --pathspec-from-file --unified"}.parse(g.args)
	switch {
	case p.has("-S", "--staged") && !p.has("-W", "--worktree"), p.has("-p", "--patch"):
	case p.has("--pathspec-from-file"):
		g.act(GitDiscards, g.whole())
	case len(p.operands) > 0:
		g.act(GitDiscards, p.operands...)
	}
}

func (g *gitRun) resetActs() {
	before, _, separated := pathspecs(g.args)
	p := optSpec{long: "--pathspec-from-file"}.parse(before)
	if p.has("--hard", "--merge") || slices.ContainsFunc(before, func(a arg) bool { return a.split }) {
		g.act(GitDiscards, g.whole())
	}
	// With paths, reset only takes them out of the index.
	if !separated && len(p.operands) == 1 && !p.isHead(0) && (p.has("--hard", "--soft", "--mixed", "--keep", "--merge") || !fileLike(p.operands[0])) {
		g.act(GitRewrites)
	}
}

func (g *gitRun) cleanActs() {
	p := optSpec{short: "e", long: "--exclude"}.parse(g.args)
	// With paths it removes what rm would, and is judged by them.
	sweeps := len(p.operands) == 0 || slices.ContainsFunc(p.operands, func(a arg) bool {
		return strings.Trim(a.val, "./:*") == ""
	})
	if sweeps && !p.has("-n", "--dry-run") && p.has("-f", "--force") {
		g.act(GitDeletes)
	}
}

func (g *gitRun) branchActs() {
	p := optSpec{short: "u", long: "--set-upstream-to --contains --no-contains --merged --no-merged --sort --points-at --format"}.parse(g.args)
	if p.has("-D", "-M", "-C", "-f", "--force") {
		g.act(GitDeletes)
	}
}

func (g *gitRun) tagActs() {
	p := optSpec{short: "muFn", long: "--message --local-user --file --contains --merged --sort --points-at --format"}.parse(g.args)
	if p.has("-d", "--delete", "-f", "--force") {
		g.act(GitDeletes)
	}
}

func (g *gitRun) stashActs() {
	if sub := g.first(); sub == "drop" || sub == "clear" {
		g.act(GitDeletes)
	}
}

func (g *gitRun) rebaseActs() {
	p := optSpec{short: "xsX", long: "--exec --onto --strategy --strategy-option"}.parse(g.args)
	if p.has("--show-current-patch", "--abort", "--continue", "--skip", "--quit", "--edit-todo") {
		return
	}
	g.act(GitRewrites)
	if len(p.operands) > 1 {
		g.act(GitLeaves)
	}
}

func (g *gitRun) commitActs() {
	p := optSpec{short: "mFCct", long: "--message --file --author --date --template --reuse-message --reedit-message --fixup --squash --cleanup --trailer --pathspec-from-file"}.parse(g.args)
	if p.has("--amend") && !p.has("--dry-run") {
		g.act(GitRewrites)
	}
}

func (g *gitRun) reflogActs() {
	switch nextWord(g.args) {
	case "expire", "delete", "drop":
		if !g.flagged("--dry-run", "-n") {
			g.act(GitDeletes)
		}
	}
}

func (g *gitRun) gcActs() {
	// Without an age, gc leaves what is younger than two weeks.
	p := optSpec{}.parse(g.args)
	for _, o := range p.opts {
		if o.is([]string{"--prune"}) && o.has && o.value.val != "never" {
			g.act(GitDeletes)
		}
	}
}

func (g *gitRun) pruneActs() {
	if !g.flagged("-n", "--dry-run") {
		g.act(GitDeletes)
	}
}

func (g *gitRun) worktreeActs() {
	p := optSpec{short: "bB", long: "--reason --expire"}.parse(g.args)
	switch nextWord(g.args) {
	case "add":
		g.act(GitPlants)
	case "remove":
		if p.has("-f", "--force") {
			g.act(GitDeletes)
		}
	}
}

// fetchActs finds local branches that are overwritten.
func (g *gitRun) fetchActs() {
	p := optSpec{short: "oj", long: "--upload-pack --depth --jobs --refmap --server-option --shallow-since --shallow-exclude --negotiation-tip --filter"}.parse(g.args)
	forced := p.has("-f", "--force") && !p.has("--dry-run")
	for _, spec := range p.operands[min(1, len(p.operands)):] {
		_, to, mapped := strings.Cut(spec.val, ":")
		if mapped && to != "" && !strings.HasPrefix(to, "refs/remotes/") && (forced || strings.HasPrefix(spec.val, "+")) {
			g.act(GitDeletes)
			return
		}
	}
}

func (g *gitRun) applyActs() {
	p := optSpec{short: "pC", long: "--directory --exclude --include --whitespace --build-fake-ancestor"}.parse(g.args)
	if p.has("--cached") && !p.has("--check") {
		g.act(GitPlants)
	}
}

func (g *gitRun) updateIndexActs() {
	if g.flagged("--cacheinfo", "--index-info") {
		g.act(GitPlants)
	}
}

func (g *gitRun) removeActs() {
	p := optSpec{long: "--pathspec-from-file"}.parse(g.args)
	if p.has("-f", "--force") && !p.has("--cached", "-n", "--dry-run") {
		g.act(GitDiscards, p.operands...)
	}
}

func (g *gitRun) readTreeActs() {
	if p := (optSpec{long: "--prefix --index-output"}).parse(g.args); p.has("--reset") && p.has("-u") {
		g.act(GitDiscards, g.whole())
	}
}

func (g *gitRun) checkoutIndexActs() {
	p := optSpec{long: "--prefix --stage"}.parse(g.args)
	if p.has("-f", "--force") && !p.has("--prefix") {
		g.act(GitDiscards, g.whole())
	}
}

func (g *gitRun) symbolicRefActs() {
	p := optSpec{short: "m"}.parse(g.args)
	if len(p.operands) > 1 || p.has("-d", "--delete") {
		g.act(GitLeaves)
	}
}
