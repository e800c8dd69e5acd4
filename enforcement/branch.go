package enforcement

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// GitAct is what a git command does to work and history, beyond the files it
// writes.
type GitAct struct {
	shell.GitAct
	// Here says that it acts on the project's repository, as far as can be told.
	Here bool
}

// Repository is what stands to be lost, read just before the decision.
type Repository struct {
	// Dirty are the project's files with changes that no commit has, relative to
	// the project.
	Dirty []string
	// Staged says that the index may hold what no commit does.
	Staged bool
	// Published says that a remote has the commit that is checked out.
	Published bool
}

// NeedsRepository reports whether a decision about the command line turns on
// what stands in the repository.
func (c *ShellCommand) NeedsRepository() bool {
	return c != nil && slices.ContainsFunc(c.Git, func(a GitAct) bool {
		return a.Here && (a.Kind == shell.GitDiscards || a.Kind == shell.GitRewrites)
	})
}

// gitActs are the acts of a command line that count, with their paths resolved.
func (r resolver) gitActs(l Layout, acts []shell.GitAct) []GitAct {
	var all []GitAct
	for _, a := range acts {
		one := GitAct{GitAct: a, Here: true}
		if a.Root != "" {
			class := Classify(l, r.real(a.Root)).Class
			one.Here = class != ClassScratch && class != ClassOutside
		}
		one.Paths = nil
		for _, p := range a.Paths {
			one.Paths = append(one.Paths, r.real(p))
		}
		all = append(all, one)
	}
	return all
}

// git judges what a command line does to branches, history and uncommitted
// work. Nobody but the user can say whether those may go, so the user is asked.
func (st stance) git(acts []GitAct, repo *Repository, project string) ruling {
	worst := allowed
	for _, a := range acts {
		if r := st.gitAct(a, repo, project); worse(r, worst) {
			worst = r
		}
	}
	return worst
}

func (st stance) gitAct(a GitAct, repo *Repository, project string) ruling {
	asked := func(why, next string) ruling {
		return ruling{verdict: Ask, rule: RuleBranch, text: wording{fmt.Sprintf("`%s` %s", excerpt.Runes(a.Command, 100), why), next}}
	}
	if a.Kind == shell.GitPublishes {
		return asked("overwrites or deletes what others may have from the remote.",
			"Push to a branch of its own, or undo with `git revert`; only the user decides on force.")
	}
	if !a.Here {
		return allowed
	}
	switch a.Kind {
	case shell.GitDeletes:
		return asked("removes branches, stashes, history or files that git cannot bring back.",
			"Leave them and tell the user, or show first what would go: `git clean -n`, `git log`, `git stash show -p`.")
	case shell.GitDiscards:
		if lost := discarded(a.Paths, repo, project); lost != "" {
			return asked("discards uncommitted changes: "+lost+".",
				"Commit them or `git stash` first, or undo your own change by an edit.")
		}
	case shell.GitRewrites:
		if repo == nil || repo.Published {
			return asked("replaces commits that a remote has.", "Add a commit, or `git revert`, instead.")
		}
	case shell.GitLeaves:
		if st.Mode == ModeWork && !st.exempt && st.Approved(GatePlan) {
			return asked("leaves the branch on which the user approved the plan.",
				"Stay on it; `git switch -c NAME` takes the work to a new branch from here.")
		}
	case shell.GitPlants:
		// It is as good as a write of code, wherever the files are.
		if r := st.write(schemas.Target{Class: ClassCode}); r.verdict != Allow {
			r.text.why = fmt.Sprintf("`%s` puts code where no gate sees it: a second work tree, or straight into the repository. %s", excerpt.Runes(a.Command, 60), r.text.why)
			return r
		}
	case shell.GitPublishes:
	}
	return allowed
}

// discarded names the changes below paths that nothing else has, "" for none.
func discarded(paths []string, repo *Repository, project string) string {
	if repo == nil {
		return "what they are cannot be told"
	}
	whole := slices.ContainsFunc(paths, func(p string) bool { _, in := within(p, project, false); return in })
	var lost []string
	for _, name := range repo.Dirty {
		abs := path.Join(project, name)
		if whole || slices.ContainsFunc(paths, func(p string) bool { _, in := within(p, abs, false); return in }) {
			lost = append(lost, shortPath(name))
		}
	}
	if len(lost) > 3 {
		lost = append(lost[:3], fmt.Sprintf("%d more", len(lost)-3))
	}
	if len(lost) == 0 && whole && repo.Staged {
		return "what is staged"
	}
	return strings.Join(lost, ", ")
}
