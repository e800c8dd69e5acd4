package turn

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/confine/runner"
	"github.com/writbus/writ/enforcement/confine/worktree"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// leftRunning are the work trees of sessions in which a command that nobody can
// judge may have left something running, as they were when it had ended. They
// are compared before the next command and at the end of the turn. In memory
// only, as [trees] are.
type leftRunning struct {
	mu        sync.Mutex
	bySession map[string]*leftBy
	order     []string
	jobs      map[int]job // by the process that keeps it
}

// job is what a command left running that may write code as long as it runs. Of one
// from before this daemon only that is known.
type job struct{ session, command, toolUseID string }

// alreadyRunning are the jobs that there are when a daemon starts.
func alreadyRunning() map[int]job {
	jobs := map[int]job{}
	for _, keeper := range confine.Left("") {
		jobs[keeper] = job{}
	}
	return jobs
}

// note remembers whose jobs run that were not there before, once a command of a
// session has ended, and reports whether there are any.
func (l *leftRunning) note(t turn) (found bool) {
	keepers := confine.Left(t.project.Root)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.jobs == nil || len(l.jobs) > maxJobs {
		l.jobs = map[int]job{}
	}
	for _, keeper := range keepers {
		if _, known := l.jobs[keeper]; !known {
			l.jobs[keeper] = job{t.Session, *t.Shell, t.ToolUseID}
			found = true
		}
	}
	return found
}

// mayLay reports whether something that runs may lay a link in the way of what a plain
// line reads, once the line was judged: what writes the project, where code is open or
// since it was. Held, the line reads nothing that is hidden.
func (l *leftRunning) mayLay(t turn, open bool) bool {
	l.mu.Lock()
	jobs := len(l.jobs)
	l.mu.Unlock()
	return enforcement.PlainReads(*t.Shell) && (open || jobs > 0 && len(confine.Left(t.project.Root)) > 0)
}

// running are those of a session's jobs that still run, and the last one of them.
func (l *leftRunning) running(t turn) (keepers []int, last job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.jobs) == 0 {
		return nil, job{}
	}
	alive := confine.Left(t.project.Root)
	for keeper, of := range l.jobs {
		switch {
		case of.session != t.Session && of.session != "":
		case slices.Contains(alive, keeper):
			keepers, last = append(keepers, keeper), of
		default:
			delete(l.jobs, keeper)
		}
	}
	return keepers, last
}

// maxJobs bounds the jobs that are remembered.
const maxJobs = 256

// leftBy is what one command left.
type leftBy struct {
	looking   sync.Mutex // held while the tree is compared, before leftRunning.mu
	tree      *worktree.Tree
	command   string
	toolUseID string
	bounded   bool            // it ran confined
	own       map[string]bool // paths that tools of the session wrote since
}

// keptLeft bounds the sessions whose trees are remembered.
const keptLeft = 16

func (l *leftRunning) keep(t turn, tree *worktree.Tree) {
	l.watch(t.Session, &leftBy{tree: tree, command: *t.Shell, toolUseID: t.ToolUseID, bounded: t.bounded, own: map[string]bool{}})
}

func (l *leftRunning) watch(session string, by *leftBy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySession == nil {
		l.bySession = map[string]*leftBy{}
	}
	if l.bySession[session] == nil {
		l.order = append(l.order, session)
	}
	l.bySession[session] = by
	if len(l.order) > keptLeft {
		delete(l.bySession, l.order[0])
		l.order = l.order[1:]
	}
}

// wrote notes what a tool of the session wrote itself.
func (l *leftRunning) wrote(session string, paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.bySession[session]; left != nil {
		for _, p := range paths {
			left.own[p] = true
		}
	}
}

// compare returns what changed since the last look, without what the session's
// own tools wrote, and the command behind it; nil for none.
func (l *leftRunning) compare(session string, end bool) (changes []worktree.Change, by *leftBy, err error) {
	l.mu.Lock()
	left := l.bySession[session]
	if left != nil && end {
		delete(l.bySession, session)
		l.order = slices.DeleteFunc(l.order, func(s string) bool { return s == session })
	}
	l.mu.Unlock()
	if left == nil {
		return nil, nil, nil
	}
	left.looking.Lock()
	defer left.looking.Unlock()
	before := l.look(left)
	changes, next, err := left.tree.Changes()
	return l.looked(left, before, changes, next, err)
}

// look begins a look at a tree, and returns what tools wrote before it. What a tool
// reports from here on shows in what is read now or in what is read the time after.
func (l *leftRunning) look(left *leftBy) (before map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, left.own = left.own, map[string]bool{}
	return before
}

// looked ends it.
func (l *leftRunning) looked(left *leftBy, before map[string]bool, found []worktree.Change, next *worktree.Tree, err error) ([]worktree.Change, *leftBy, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		maps.Copy(left.own, before)
		return nil, nil, err
	}
	left.tree = next
	return slices.DeleteFunc(found, func(c worktree.Change) bool { return before[c.Path] || left.own[c.Path] }), left, nil
}

// leavesRunning says that a command may go on after its end, as far as its line
// and the host tell.
func (t turn) leavesRunning() bool {
	if t.Shell == nil {
		return false
	}
	if _, ends := t.ended(); t.Host == "claude" && t.Kind == host.AfterTool && !ends {
		return true // in the background, or stopped halfway
	}
	return t.shell().Background
}

// sinceEnded judges what changed after an earlier command of the session had
// ended, while it may have left something running.
func (a *afterwards) sinceEnded(ctx context.Context, t turn, session string, parent *enforcement.State) (enforcement.Decision, error) {
	earlier, err := a.settle(ctx, t)
	if err != nil {
		return earlier, err
	}
	restored, command := a.guards.since(t)
	changes, by, blind := a.left.compare(t.Session, t.Kind == host.Stop)
	check := enforcement.CheckTree{Since: command, Restored: restored}
	if t.bounded = false; by != nil {
		t.bounded = by.bounded
		check.ToolUseID, check.Since, check.Changes = by.toolUseID, by.command, t.classified(changes)
	}
	d, err := a.judge(ctx, t, session, parent, check)
	if err == nil {
		err = a.bound(ctx, t, session, parent != nil, by, &d)
	}
	d.Context, d.Notice = join(earlier.Context, d.Context), join(earlier.Notice, d.Notice, a.unseen(t.Session, blind))
	return d, err
}

// bound keeps an eye, while code is closed, on jobs that were started while it was
// open: their hold stays as wide as it was. They are ended once something changed
// that they could have written.
func (a *afterwards) bound(ctx context.Context, t turn, session string, worker bool, by *leftBy, d *enforcement.Decision) error {
	keepers, last := a.left.running(t)
	if len(keepers) == 0 {
		return nil
	}
	state, err := a.sessions.Peek(ctx, session)
	asked := t.Kind == host.Prompt || t.Kind == host.Command // which may close code
	if err != nil || !runner.ClosesCode(state, worker) && !asked {
		return err
	}
	if runner.ClosesCode(state, worker) && wroteCode(d.Record) {
		confine.EndLeft(keepers)
		text := "What ran since code was open was ended. Start again what is needed: it is held to what may be written now."
		d.Context, d.Notice = join(d.Context, "Writ: "+text), join(d.Notice, "writ: "+text)
		return nil
	}
	if by == nil {
		tree, err := t.tree()
		if err != nil {
			return nil //nolint:nilerr // the user was told once that nothing is compared here
		}
		by = &leftBy{tree: tree, command: last.command, toolUseID: last.toolUseID, bounded: true, own: map[string]bool{}}
	}
	a.left.watch(t.Session, by)
	return nil
}

// wroteCode reports whether a change was recorded that stands.
func wroteCode(record []schemas.Payload) bool {
	return slices.ContainsFunc(record, func(p schemas.Payload) bool {
		event, is := p.(schemas.WriteUnapproved)
		return is && slices.ContainsFunc(event.Changes, func(c schemas.UnapprovedChange) bool { return !c.PutBack })
	})
}

func pathsOf(files []schemas.FileState) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}
