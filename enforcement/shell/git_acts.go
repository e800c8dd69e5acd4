package shell

import (
	"path"
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

// isHead reports whether an operand is missing or names the commit that is
// checked out.
func (p parsed) isHead(i int) bool {
	return i >= len(p.operands) || p.operands[i].known && (p.operands[i].val == "HEAD" || p.operands[i].val == "@")
}

// fileLike tells a file name from a revision: a suffix, or a leading dot.
func fileLike(a arg) bool {
	return !a.known || strings.HasPrefix(a.val, ".") || path.Ext(path.Base(a.val)) != "" && !strings.ContainsAny(a.val, "~^@:")
}
