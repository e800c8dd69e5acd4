package turn

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/enforcement/host"
)

// guards hold what protected files were before commands that may change some.
// What a command changed of them is put back when it has ended, whether or not its
// runner lived to do it; where it left something running, until the turn ends.
type guards struct {
	now    func() time.Time
	mu     sync.Mutex
	held   []*guard                    // oldest first
	recent map[string]*confine.Guarded // what was read of a project, by its root
}

// guard is what one command may have changed.
type guard struct {
	key, session, root, command string
	now                         func() time.Time
	until                       time.Time
	closed                      bool // code may not be written
	ends                        bool // the command has ended just now
	left                        bool // it ended, and may have left something running

	mu    sync.Mutex
	files *confine.Guarded // nil when it is over
	done  []enforcement.Restored
	watch *time.Timer
}

const (
	// keptGuards bounds the commands whose protected files are held.
	keptGuards = 32
	// watchEvery is how often files are compared that something left running may
	// change: a host that reads changed settings may call no hook again.
	watchEvery = time.Second
	// runsFor is how often they are while a command runs, whose end its host tells.
	// What git moves to and fro in between is left alone.
	runsFor = 10 * time.Second
	// heldFor bounds how long files are held where a host tells no end.
	heldFor = time.Hour
)

// settingsFile takes effect by being accepted, so it is put back at a command's end
// alone, as its runner does: what is in it meanwhile and later may be what the user
// pulled.
const settingsFile = ".writ/config.yaml"

// hold remembers the protected files before a command, and more of the project's.
func (g *guards) hold(t turn, closed bool, more []string) {
	if t.ToolUseID == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.held {
		if other.root == t.project.Root {
			other.compare()
		}
	}
	next := &guard{now: g.now, key: t.contentKey(""), session: t.Session, root: t.project.Root, command: *t.Shell, closed: closed}
	next.files = g.recent[next.root].Anew(next.root, slices.Concat(t.hookScripts(), confine.RunByTools, more), t.project.Layout.DataDir)
	next.until = g.now().Add(heldFor)
	next.watchOn(runsFor)
	g.drop(func(other *guard) bool { return other.key == next.key })
	g.held = append(g.held, next)
	for len(g.held) > keptGuards {
		oldest := g.held[0]
		g.drop(func(other *guard) bool { return other == oldest })
	}
	if g.recent == nil || len(g.recent) > keptGuards {
		g.recent = map[string]*confine.Guarded{}
	}
	g.recent[next.root] = next.files
}

// hookScripts are the project's files that hosts run by themselves, relative to it.
func (t turn) hookScripts() (paths []string) {
	for _, at := range t.project.Layout.HookScripts {
		if below, err := filepath.Rel(t.project.Root, filepath.FromSlash(at)); err == nil && filepath.IsLocal(below) {
			paths = append(paths, filepath.ToSlash(below))
		}
	}
	return paths
}

// ended puts back what a command changed, once it has ended.
func (g *guards) ended(t turn) []enforcement.Restored {
	if t.Shell == nil {
		return nil
	}
	key := t.contentKey("")
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.held, func(one *guard) bool { return one.key == key })
	if at < 0 {
		return nil
	}
	one := g.held[at]
	one.mu.Lock()
	one.ends = true
	one.mu.Unlock()
	one.compare()
	restored := one.told()
	if !t.leavesRunning() {
		g.drop(func(other *guard) bool { return other == one })
		return restored
	}
	g.drop(func(other *guard) bool {
		return other != one && other.left && other.session == one.session && other.root == one.root
	})
	one.mu.Lock()
	one.left, one.ends = true, false
	one.mu.Unlock()
	one.watchOn(watchEvery)
	return restored
}

// since puts back what earlier commands of a session, or what they left running,
// changed meanwhile. The end of a turn is the end of that.
func (g *guards) since(t turn) (restored []enforcement.Restored, command string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.held {
		if one.session != t.Session {
			continue
		}
		one.compare()
		if done := one.told(); len(done) > 0 {
			restored, command = append(restored, done...), one.command
		}
	}
	switch t.Kind {
	case host.Stop, host.Prompt, host.Command, host.SessionEnd:
		if t.Agent == "" {
			g.drop(func(one *guard) bool { return one.session == t.Session })
		}
	default:
	}
	return restored, command
}

func (g *guards) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(func(*guard) bool { return true })
}

func (g *guards) drop(which func(*guard) bool) {
	g.held = slices.DeleteFunc(g.held, func(one *guard) bool {
		if !which(one) {
			return false
		}
		one.mu.Lock()
		defer one.mu.Unlock()
		one.watch.Stop()
		one.files.Close()
		one.files = nil
		return true
	})
}

// watchOn compares again and again until it is over.
func (one *guard) watchOn(every time.Duration) {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.watch != nil {
		one.watch.Stop()
	}
	if one.files == nil {
		return
	}
	one.watch = time.AfterFunc(every, func() {
		if one.now().Before(one.until) {
			one.compare()
			one.watchOn(every)
		}
	})
}

// compare puts back what changed, and remembers it until it is told.
func (one *guard) compare() {
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.files == nil {
		return
	}
	for _, r := range one.files.Restore(one.leaves) {
		one.done = append(one.done, enforcement.Restored{Path: r.Path, Change: r.Change, Told: r.String(), Failed: r.Err != nil})
	}
}

func (one *guard) told() []enforcement.Restored {
	one.mu.Lock()
	defer one.mu.Unlock()
	done := one.done
	one.done = nil
	return done
}

// leaves says which changes stay.
func (one *guard) leaves(path string, was, is []byte) bool {
	switch {
	case path == answersFile:
		return onlyAnswers(was, is)
	case path == settingsFile:
		return !one.ends
	}
	return !one.closed && slices.ContainsFunc(confine.RunByTools, func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path+"/", p)
	})
}

// onlyAnswers says that two contents of answersFile differ in nothing but the
// commands that the user no longer wants to be asked for.
func onlyAnswers(was, is []byte) bool {
	other := func(raw []byte) (map[string]any, bool) {
		all := map[string]any{}
		if len(raw) > 0 && json.Unmarshal(raw, &all) != nil {
			return nil, false
		}
		if permissions, ok := all["permissions"].(map[string]any); ok {
			if delete(permissions, "allow"); len(permissions) == 0 {
				delete(all, "permissions")
			}
		}
		return all, true
	}
	a, fine := other(was)
	b, too := other(is)
	return fine && too && reflect.DeepEqual(a, b)
}
