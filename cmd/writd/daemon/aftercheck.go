package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
)

// keptTrees bounds the work trees remembered while commands run.
const keptTrees = 16

// trees are work trees as they were before commands that nobody can judge. They
// are kept in memory only: after a restart in between, drift still finds a
// change of what is approved.
type trees struct {
	mu    sync.Mutex
	byKey map[string]*confine.Tree
	order []string
}

// before remembers a work tree. One that cannot be read is not compared later;
// the gates hold all the same.
func (k *trees) before(t turn) {
	if t.ToolUseID == "" {
		return
	}
	tree, err := confine.ReadTree(confine.TreeOptions{Root: t.project.root, Keep: []string{"plan.md", "capabilities.md"}})
	if err != nil {
		return
	}
	key := t.contentKey("")
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byKey == nil {
		k.byKey = map[string]*confine.Tree{}
	}
	if k.byKey[key] == nil {
		k.order = append(k.order, key)
	}
	k.byKey[key] = tree
	if len(k.order) > keptTrees {
		delete(k.byKey, k.order[0])
		k.order = k.order[1:]
	}
}

func (k *trees) take(t turn) *confine.Tree {
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

// checkTree compares the work tree with what it was before a command, and
// records what the gate would have refused.
func (d *Daemon) checkTree(ctx context.Context, t turn, session string, parent *enforcement.State) (enforcement.Decision, error) {
	tree := d.trees.take(t)
	if tree == nil {
		return enforcement.Decision{}, nil
	}
	changes, _, err := tree.Changes()
	if err != nil || len(changes) == 0 {
		return enforcement.Decision{}, nil //nolint:nilerr // what cannot be read cannot be compared; drift is judged at every write
	}
	c := enforcement.CheckTree{ToolUseID: t.ToolUseID, Actor: enforcement.Actor{Agent: t.Agent, Parent: parent}, Settings: t.project.policy()}
	for _, change := range changes {
		target := enforcement.Classify(t.project.layout, filepath.ToSlash(filepath.Join(t.project.root, filepath.FromSlash(change.Path))))
		c.Changes = append(c.Changes, enforcement.TreeChange{Target: target, Change: change.Change})
	}
	decision, _, err := d.sessions.act(ctx, session, t.meta("agent"), func(s enforcement.State) (enforcement.Decision, error) {
		watching := s
		if parent != nil {
			watching = *parent
		}
		c.Workspace = d.workspace(ctx, t.project, t.Session, watching)
		return enforcement.Decide(s, c)
	})
	return decision, err
}
