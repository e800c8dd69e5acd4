package attest

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Collector folds the events of sessions into what the log knows about files. It
// is fed in the order of the log.
type Collector struct {
	roots     []string // of the repository's work trees, slashes
	origin    schemas.Repository
	sessions  map[string]*session
	approvals []Approval
	writes    []write // in order
	red       map[file]Event
}

// file is a path of the repository with its content.
type file struct{ path, sha256 string }

// write is a write with the file it left.
type write struct {
	file
	Write
	use  string // the host's id of the call
	rule string // that would have refused it
}

// session is what counts of one session.
type session struct {
	project, host, parent string
	gates                 map[string]int // approvals in force, by gate
	parked                map[string]int // put aside by a new wish
	calls                 map[string]call
	tests                 *Tests
}

// call is a decided call of a tool that has not ended.
type call struct {
	schemas.ToolDecided
	at Event
}

// NewCollector returns one for the work trees of a repository. Other clones are
// taken for its own where their sessions say that they are of the same origin.
func NewCollector(roots []string, origin schemas.Repository) *Collector {
	c := &Collector{origin: origin, sessions: map[string]*session{}, red: map[file]Event{}}
	for _, r := range roots {
		c.roots = append(c.roots, path.Clean(strings.ReplaceAll(r, `\`, "/")))
	}
	return c
}

// Parent is the session that a sub-agent's belongs to, "" for none.
func (c *Collector) Parent(id string) string {
	if s := c.sessions[id]; s != nil {
		return s.parent
	}
	return ""
}

// Wants tells whether an event says that a tool left one of the changed files, so
// that the whole of its session is to be added.
func Wants(e schemas.Event, changes map[string]bool) bool {
	p, is := e.Data.(schemas.ToolFinished)
	return is && slices.ContainsFunc(p.Files, func(f schemas.FileState) bool {
		return changes[f.SHA256] || changes[path.Base(f.Path)]
	})
}

// Wanted is what [Wants] looks for: the content of files, and the names of all.
func Wanted(changes []schemas.AttestChange) map[string]bool {
	wanted := map[string]bool{}
	for _, c := range changes {
		wanted[path.Base(c.Path)] = true
		if c.SHA256 != "" {
			wanted[c.SHA256] = true
		}
	}
	return wanted
}

// Add takes an event of a session.
func (c *Collector) Add(e schemas.Event) {
	if e.Aggregate.Kind != schemas.KindSession {
		return
	}
	id := e.Aggregate.ID
	s := c.sessions[id]
	if s == nil {
		s = &session{gates: map[string]int{}, calls: map[string]call{}}
		c.sessions[id] = s
	}
	switch p := e.Data.(type) {
	case schemas.SessionStarted:
		s.project, s.host, s.parent = path.Clean(strings.ReplaceAll(p.Project, `\`, "/")), p.Host, p.Parent
		if p.Repository != nil {
			c.alsoIn(s.project, *p.Repository)
		}
	case schemas.GateApproved:
		s.gates[p.Gate] = len(c.approvals)
		c.approvals = append(c.approvals, Approval{
			Session: id, Gate: p.Gate, Channel: p.Channel, Assurance: p.Assurance, Fingerprint: p.Fingerprint,
			Files: p.Files, Planned: p.PlannedFiles, Time: e.Time, Event: placeOf(e), Act: p.ActID, Signed: p.Signed, With: p.With,
		})
	case schemas.GateInvalidated:
		delete(s.gates, p.Gate)
	case schemas.GateDrifted:
		delete(s.gates, p.Gate)
	case schemas.GatesClosed:
		s.gates, s.parked = map[string]int{}, nil
	case schemas.PlanReopened:
		s.parked, s.gates = s.gates, map[string]int{}
	case schemas.PlanResumed:
		s.gates, s.parked = s.parked, nil
		if s.gates == nil {
			s.gates = map[string]int{}
		}
	case schemas.ToolDecided:
		s.calls[p.ToolUseID] = call{p, placeOf(e)}
	case schemas.ToolFinished:
		c.ended(id, s, e, p)
	case schemas.WriteUnapproved:
		c.unapproved(id, s, p)
	case schemas.TestsSeen:
		if name, in := c.inRepository(s, p.Path); in && p.Verdict == schemas.SeenRed {
			c.red[file{name, p.SHA256}] = placeOf(e)
		}
	case schemas.TestsFinished:
		if p.Kind == "test" {
			s.tests = &Tests{Session: id, Command: p.Command, Outcome: p.Outcome, Time: e.Time, Event: placeOf(e)}
		}
	}
}

// alsoIn takes the work tree of a project for one of the repository, where it is of
// the same origin.
func (c *Collector) alsoIn(project string, r schemas.Repository) {
	below := r.Below
	r.Below = ""
	root := strings.TrimSuffix(strings.TrimSuffix(project, below), "/")
	if c.origin.Same(r) && strings.HasSuffix(project, below) && root != "" && !slices.Contains(c.roots, root) {
		c.roots = append(c.roots, root)
	}
}

// inRepository is a path of a session's project from the repository's root.
func (c *Collector) inRepository(s *session, name string) (string, bool) {
	abs := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if !path.IsAbs(abs) && (len(abs) < 2 || abs[1] != ':') {
		abs = path.Join(s.project, abs)
	}
	for _, root := range c.roots {
		if rel, in := strings.CutPrefix(abs, strings.TrimSuffix(root, "/")+"/"); in {
			return rel, true
		}
	}
	return "", false
}

// ended takes the files that a tool left.
func (c *Collector) ended(id string, s *session, e schemas.Event, p schemas.ToolFinished) {
	decided, known := s.calls[p.ToolUseID]
	delete(s.calls, p.ToolUseID)
	if !known {
		return // a write that nothing was decided about is none that was allowed
	}
	for _, f := range p.Files {
		name, in := c.inRepository(s, f.Path)
		if !in {
			continue
		}
		w := write{file: file{name, f.SHA256}, use: p.ToolUseID, Write: Write{
			Session: id, Host: s.host, Tool: p.Tool, Verdict: decided.Verdict, Mode: decided.Mode, Phase: decided.Phase,
			Time: e.Time, Decided: decided.at, Ended: placeOf(e), Releases: decided.Releases, Policy: decided.Policy,
		}}
		for _, t := range decided.Targets {
			if t.Rel == f.Path || t.Path == f.Path {
				w.Class = t.Class
			}
		}
		if w.Mode == "work" {
			w.Approvals = c.inForce(s)
		}
		c.writes = append(c.writes, w)
	}
}

// inForce are the approvals of a session, and of the one that a sub-agent's belongs
// to.
func (c *Collector) inForce(s *session) []int {
	var all []int
	for s != nil {
		all = slices.AppendSeq(all, maps.Values(s.gates))
		s = c.sessions[s.parent]
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unapproved marks what a command changed and the gate would have refused.
func (c *Collector) unapproved(id string, s *session, p schemas.WriteUnapproved) {
	for _, change := range p.Changes {
		name, in := c.inRepository(s, change.Path)
		if !in || change.PutBack {
			continue
		}
		for i := len(c.writes) - 1; i >= 0; i-- {
			w := &c.writes[i]
			if w.path == name && w.Session == id && (p.ToolUseID == "" || w.use == p.ToolUseID) {
				w.rule = change.Rule
				break
			}
		}
	}
}

// about is what is known about changed files, with the approvals and tests that it
// names.
func (c *Collector) about(changes []schemas.AttestChange) ([]Path, []Approval, []Tests) {
	b := builder{collector: c, renumbered: map[int]int{}, lastWrite: map[string]uint64{}}
	paths := make([]Path, 0, len(changes))
	for _, change := range changes {
		paths = append(paths, b.path(change))
	}
	return paths, b.approvals, b.tests()
}

// builder gathers what the paths of a statement name.
type builder struct {
	collector  *Collector
	approvals  []Approval
	renumbered map[int]int
	lastWrite  map[string]uint64 // by session
}

func (b *builder) path(change schemas.AttestChange) Path {
	p := Path{Path: change.Path, Mode: change.Mode, SHA256: change.SHA256, State: Unknown}
	if AsInParent(change) {
		p.State = Parent
		return p
	}
	if change.Mode != "" && !plainFile(change.Mode) {
		return p // a link or another repository: its content is no file's
	}
	sameContent := slices.ContainsFunc(change.Parents, func(p string) bool { return strings.HasSuffix(p, " "+change.SHA256) })
	for i := len(b.collector.writes) - 1; i >= 0; i-- {
		w := b.collector.writes[i]
		if w.path != change.Path {
			continue
		}
		if w.sha256 != change.SHA256 {
			if !sameContent && p.Write == nil {
				p.State = Changed
			}
			continue
		}
		p.State, p.Rule = Written, w.rule
		if w.rule != "" || w.Verdict != "allow" && w.Verdict != "ask" {
			p.State = Unapproved
		}
		p.Write = b.write(w)
		if p.State == Written {
			break // an earlier, unapproved one says nothing any more
		}
	}
	return p
}

func (b *builder) write(w write) *Write {
	one := w.Write
	one.Approvals = nil
	for _, at := range w.Approvals {
		n, known := b.renumbered[at]
		if !known {
			n = len(b.approvals)
			b.renumbered[at] = n
			b.approvals = append(b.approvals, b.collector.approvals[at])
		}
		one.Approvals = append(one.Approvals, n)
	}
	if at, red := b.collector.red[w.file]; red {
		one.Red = &at
	}
	b.lastWrite[w.Session] = max(b.lastWrite[w.Session], w.Ended.Seq)
	return &one
}

// tests are the last runs of the sessions that wrote something, where those came
// after it.
func (b *builder) tests() []Tests {
	var all []Tests
	for id, last := range b.lastWrite {
		s := b.collector.sessions[id]
		if s.tests == nil && s.parent != "" && b.collector.sessions[s.parent] != nil {
			s = b.collector.sessions[s.parent]
		}
		if s.tests != nil && s.tests.Event.Seq > last {
			run := *s.tests
			run.Session = id
			all = append(all, run)
		}
	}
	slices.SortFunc(all, func(a, b Tests) int { return strings.Compare(a.Session, b.Session) })
	return all
}

// plainFile tells a regular file by git's mode.
func plainFile(mode string) bool { return mode == "100644" || mode == "100755" }

// AsInParent reports whether a file is as in one of several parents, and can be run
// where it can there.
func AsInParent(c schemas.AttestChange) bool {
	return plainFile(c.Mode) && slices.Contains(c.Parents, c.Mode+" "+c.SHA256) || c.Mode == "" && len(c.Parents) > 1 && slices.Contains(c.Parents, "")
}
