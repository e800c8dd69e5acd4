package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// listers print names that they find; filters pass on the lines they are given.
var (
	listers = setOf(`find gfind fd fdfind git rg ripgrep grep egrep fgrep zgrep ag ack tree docker podman kubectl pgrep
		dpkg rpm brew npm go cargo helm systemctl locate mdfind which gh`)
	filters = setOf("sort uniq head tail grep egrep fgrep rg tac shuf tee column wc")
)

// lists reports a statement whose output are names that a program lists. In a
// scratch folder anybody may have made a file whose name is an option.
func (sh *shell) lists(st *syntax.Stmt) bool {
	return !slices.ContainsFunc(sh.dirs, func(dir string) bool { return sh.temporary(path.Clean(dir)) }) && producer(st, listers)
}

// revisions reports a word made of what git prints of commits and branches.
func revisions(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if s, ok := part.(*syntax.CmdSubst); ok && (len(s.Stmts) != 1 || !producer(s.Stmts[0], setOf("git"))) {
			return false
		}
	}
	return true
}

// passesOn reports a statement that passes on lines of its input.
func passesOn(st *syntax.Stmt) bool { return producer(st, filters) }

func producer(st *syntax.Stmt, names map[string]bool) bool {
	if st == nil {
		return false
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Args) > 0 && names[cmd.Args[0].Lit()] && !prints(cmd)
	case *syntax.BinaryCmd:
		if cmd.Op != syntax.Pipe && cmd.Op != syntax.PipeAll {
			return producer(cmd.X, names) && producer(cmd.Y, names)
		}
		return producer(cmd.Y, filters) && producer(cmd.X, names)
	}
	return false
}

// prints reports a call that prints what is in files, not their names: a search
// without -l, or git showing content.
func prints(c *syntax.CallExpr) bool {
	switch c.Args[0].Lit() {
	case "git":
		for _, w := range c.Args[1:] {
			switch w.Lit() {
			case "ls-files", "ls-tree", "--name-only", "--name-status", "branch", "tag", "rev-list", "rev-parse", "merge-base", "describe", "for-each-ref", "worktree", "stash", "remote":
				return false
			}
		}
		return true
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ripgrep", "ag", "ack":
		for _, w := range c.Args[1:] {
			switch lit := w.Lit(); {
			case lit == "--files", lit == "--files-with-matches", lit == "--files-without-match", lit == "--name-only":
				return false
			case len(lit) > 1 && lit[0] == '-' && lit[1] != '-' && strings.ContainsAny(lit, "lL"):
				return false
			}
		}
		return true
	}
	return false
}
