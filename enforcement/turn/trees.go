package turn

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// afterwards compares work trees with what they were before commands that nobody
// can judge.
type afterwards struct {
	sessions Sessions
	before   trees
	left     leftRunning
	guards   guards

	mu    sync.Mutex
	blind map[string]bool // sessions that were told that their tree cannot be compared
	owed  []owed          // oldest first
}

// owed is what could not be recorded when it was found: the log had no room.
type owed struct {
	session string
	check   enforcement.CheckTree
}

// maxOwed bounds what waits to be recorded.
const maxOwed = 64

// maxBlind bounds the sessions of which is known that they were told.
const maxBlind = 1000

// unseen tells once in a session that its work tree cannot be compared, so that what
// a command changes is seen where it is held, or where it changes what is approved.
func (a *afterwards) unseen(session string, err error) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil || a.blind[session] {
		return ""
	}
	if a.blind == nil || len(a.blind) >= maxBlind {
		a.blind = map[string]bool{}
	}
	a.blind[session] = true
	return fmt.Sprintf("writ: what commands change in this project cannot be compared afterwards: %v. Approved files are still compared at every write.", err)
}

// keptTrees bounds the work trees remembered while commands run.
const keptTrees = 16

// trees are work trees as they were before commands that nobody can judge. They
// are kept in memory only: after a restart in between, drift still finds a
// change of what is approved.
type trees struct {
	mu    sync.Mutex
	byKey map[string]*worktree.Tree
	order []string
	last  *worktree.Tree // the latest look
}

// looked is a work tree that is read once for a call.
type looked struct {
	trees *trees
	once  sync.Once
	tree  *worktree.Tree
	err   error
}

func (t turn) tree() (*worktree.Tree, error) {
	l := t.before
	if l == nil {
		l = &looked{trees: &trees{}}
	}
	l.once.Do(func() { l.tree, l.err = l.trees.read(t.project.Root) })
	return l.tree, l.err
}

// read looks at a work tree, from what the latest look found where that was at the same.
func (k *trees) read(root string) (*worktree.Tree, error) {
	k.mu.Lock()
	earlier := k.last
	k.mu.Unlock()
	if !earlier.Of(root) {
		earlier = nil
	}
	tree, err := worktree.ReadTree(worktree.TreeOptions{Root: root, Keep: []string{"plan.md", "capabilities.md"}}, earlier)
	if err == nil {
		k.mu.Lock()
		k.last = tree
		k.mu.Unlock()
	}
	return tree, err
}

// secondName says that no hold keeps a file of the project as it is: by another name
// it may lie where commands write, and a right to write a file counts for all its
// names. "" where none has one.
func (t turn) secondName() (why string) {
	tree, err := t.tree()
	if err != nil {
		return ""
	}
	if file := tree.Linked(); file != "" {
		why = file + " has a second name (a hard link), by which a command could write it"
	}
	return why
}

// named adds the project's files that a command would write by another name of
// theirs in a temp folder.
func (t turn) named(targets []schemas.Target) []schemas.Target {
	for _, to := range targets[:len(targets):len(targets)] {
		if to.Class == enforcement.ClassScratch {
			for _, name := range t.sameFile(to.Path) {
				targets = append(targets, enforcement.Classify(t.project.Layout, filepath.ToSlash(name)))
			}
		}
	}
	return targets
}

// keep remembers a work tree. Of one that cannot be read it returns the error: it is
// not compared later, and the gates hold all the same.
func (k *trees) keep(t turn) (*worktree.Tree, error) {
	if t.ToolUseID == "" {
		return nil, nil
	}
	tree, err := t.tree()
	if err != nil {
		return nil, err
	}
	key := t.contentKey("")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKey == nil {
		k.byKey = map[string]*worktree.Tree{}
	}
	if k.byKey[key] == nil {
		k.order = append(k.order, key)
	}
	k.byKey[key] = tree
	if len(k.order) > keptTrees {
		delete(k.byKey, k.order[0])
		k.order = k.order[1:]
	}
	return tree, nil
}

func (k *trees) take(t turn) *worktree.Tree {
	key := t.contentKey("")
	k.mu.Lock()
	defer k.mu.Unlock()
	tree := k.byKey[key]
	if tree != nil {
		delete(k.byKey, key)
		k.order = slices.DeleteFunc(k.order, func(other string) bool { return other == key })
	}
	return tree
}

// maxTouched bounds the changes of one command that count as files it wrote.
const maxTouched = 200

// answersFile is where Claude Code notes, between its hooks, which commands its
// user no longer wants to be asked for. A confined command cannot have written
// it, and Claude Code reads none of Writ's settings there.
const answersFile = ".claude/settings.local.json"

// changes compares the work tree with what it was before a command. It also
// returns git's names of the contents that changed files had, where git has them.
func (a *afterwards) changes(t *turn) (changes []enforcement.TreeChange, was map[string]string, err error) {
	tree := a.before.take(*t)
	if tree == nil {
		return nil, nil, nil
	}
	found, next, err := tree.Changes()
	if err != nil {
		return nil, nil, err
	}
	was = map[string]string{}
	for _, change := range found {
		if name, known := tree.Blob(change.Path); known && change.Change == confine.Changed {
			was[change.Path] = name
		}
	}
	kept := t.withoutNested(found)
	if len(kept) < len(found) {
		if _, again, err := tree.Changes(); err == nil {
			next = again
		}
	}
	if t.bounded && a.left.note(*t) || t.leavesRunning() {
		a.left.keep(*t, next)
	}
	return t.classified(kept), was, nil
}

func (t turn) classified(found []worktree.Change) []enforcement.TreeChange {
	changes := make([]enforcement.TreeChange, 0, len(found))
	for _, change := range found {
		if t.bounded && t.Host == "claude" && change.Path == answersFile {
			continue
		}
		target := enforcement.Classify(t.project.Layout, filepath.ToSlash(filepath.Join(t.project.Root, filepath.FromSlash(change.Path))))
		changes = append(changes, enforcement.TreeChange{Target: target, Change: change.Change})
	}
	return changes
}

// touched are the files that a tool wrote, as far as that can be told from its
// call and from the work tree afterwards.
func (t turn) touched(changes []enforcement.TreeChange) []schemas.Target {
	var targets []schemas.Target
	if t.Shell != nil {
		targets = slices.Clone(t.shell().Targets)
	} else {
		targets = written(t)
	}
	for _, change := range changes[:min(len(changes), maxTouched)] {
		if !slices.ContainsFunc(targets, func(have schemas.Target) bool { return have.Path == change.Target.Path }) {
			targets = append(targets, change.Target)
		}
	}
	return targets
}

// ended is a command that came to its end, and whether the host said how. "" is
// a tool that is no command, or one that runs on in the background.
func (t turn) ended() (command string, certain bool) {
	switch {
	case t.Shell == nil:
		return "", false
	case t.Kind == host.ToolFailed, t.Exit != nil:
		return *t.Shell, true
	case t.Host == "claude":
		return "", false
	}
	return *t.Shell, false
}

// check records what of a command's changes the gate would have refused.
func (a *afterwards) check(ctx context.Context, t turn, session string, parent *enforcement.State, changes []enforcement.TreeChange) (enforcement.Decision, error) {
	return a.judge(ctx, t, session, parent, enforcement.CheckTree{ToolUseID: t.ToolUseID, Changes: changes, Restored: t.restored})
}

func (a *afterwards) judge(ctx context.Context, t turn, session string, parent *enforcement.State, c enforcement.CheckTree) (enforcement.Decision, error) {
	c.Actor, c.Settings = enforcement.Actor{Agent: t.Agent, Parent: parent}, t.project.Settings.Policy
	return a.record(ctx, t, session, c)
}

// record judges and records changes. Those that the log does not take are owed.
func (a *afterwards) record(ctx context.Context, t turn, session string, c enforcement.CheckTree) (enforcement.Decision, error) {
	if len(c.Changes) == 0 && len(c.Restored) == 0 {
		return enforcement.Decision{}, nil
	}
	decision, _, err := a.sessions.Act(ctx, session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		watching := s
		if c.Actor.Parent != nil {
			watching = *c.Actor.Parent
		}
		c.Workspace = a.sessions.Workspace(ctx, t.project, t.Session, watching)
		return enforcement.Decide(s, c)
	})
	if err != nil {
		a.owe(session, c)
	}
	return decision, err
}

func (a *afterwards) owe(session string, c enforcement.CheckTree) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.owed = append(a.owed, owed{session, c})
	a.owed = a.owed[max(0, len(a.owed)-maxOwed):]
}

// settle records what is owed of a session and its sub-agents.
func (a *afterwards) settle(ctx context.Context, t turn) (all enforcement.Decision, err error) {
	a.mu.Lock()
	var due []owed
	a.owed = slices.DeleteFunc(a.owed, func(o owed) bool {
		own := o.session == t.Session || strings.HasPrefix(o.session, t.Session+"/")
		if own {
			due = append(due, o)
		}
		return own
	})
	a.mu.Unlock()
	for i, o := range due {
		d, err := a.record(ctx, t, o.session, o.check)
		if err != nil {
			for _, later := range due[i+1:] {
				a.owe(later.session, later.check)
			}
			return all, err
		}
		all.Context, all.Notice = join(all.Context, d.Context), join(all.Notice, d.Notice)
	}
	return all, nil
}
