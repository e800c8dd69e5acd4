package enforcement

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// maxPending bounds State.Pending: a host that never reports back must not let
// a session grow.
const maxPending = 64

// maxAccepted bounds State.Accepted.
const maxAccepted = 256

// maxSlashText bounds what is kept of a slash command, in bytes. Writ's own are
// far shorter.
const maxSlashText = 256

// Evolve folds one event into a session. It happened, so it cannot fail; events
// that mean nothing for a session are ignored.
func Evolve(s State, e schemas.Event) State {
	if gaveUp(e.Data) {
		s.Given = nil
	}
	switch p := e.Data.(type) {
	case schemas.SessionStarted:
		if s.Began == 0 && !e.Time.IsZero() {
			s.Began = e.Time.Unix()
			if p.Repository != nil {
				s.Head = cmp.Or(p.Repository.Head, schemas.NoHead)
			}
		}
		return s.started(p)
	case schemas.SessionEnded:
		s.Ended = true
	case schemas.PromptSubmitted:
		return s.prompted(p)
	case schemas.RulesShown:
		return s.shown(p)
	case schemas.ToolDecided:
		return s.decided(p)
	case schemas.ToolFinished:
		return s.finished(p)
	case schemas.TestsFinished:
		return s.ran(p)
	case schemas.TestsSeen:
		s.Work = s.Work.seen(p)
	case schemas.ContentChecked:
		return s.checked(p)
	case schemas.RuleViolated:
		return s.violated(p)
	case schemas.ViolationFixed:
		return s.mended(p)
	case schemas.WriteUnapproved:
		return s.unapproved(p)
	case schemas.ModeChanged:
		if e.Actor.Kind() == schemas.ActorPerson {
			s.Closed = ""
		}
		return s.modeChanged(p)
	case schemas.PhaseChanged:
		return s.enterPhase(p.To)
	case schemas.GateApproved:
		return s.approved(p, e.Time)
	case schemas.ApprovalGiven:
		return given(s, p)
	case schemas.GateDrifted:
		return s.drifted(p)
	case schemas.GateInvalidated:
		return s.invalidated(p)
	case schemas.GatesClosed:
		return closed(s, p)
	case schemas.GateDeclined:
		return s.declined(p)
	case schemas.PlanExtended:
		s = s.used(p.ActID, "extended")
		s.Work = s.Work.extended(p)
	case schemas.ToolAccepted:
		if len(s.Accepted) < maxAccepted {
			s.Accepted = insert(s.Accepted, p.Tool)
		}
	case schemas.PlanReopened:
		return putAside(s)
	case schemas.PlanResumed:
		return resumed(s, p)
	case schemas.TurnEnded:
		s.Work.Rested = !p.Blocked && p.Agent == "" && s.building()
		if p.Agent == "" {
			s.Stops, s.Work.InTurn = true, false
			if !p.Blocked {
				s.Pending = underWay(s)
			}
		}
	case schemas.ApprovalRefused:
		return s.used(p.ActID, "refused")
	case schemas.SubagentStarted:
		return s.began(p)
	case schemas.SubagentStopped:
		return s.agentLeft(p.AgentID)
	case schemas.SubagentBriefed:
		return s.briefed(p)
	case schemas.ContextCompacted:
		return s.compacted(p)
	}
	return s
}

func (s State) started(p schemas.SessionStarted) State {
	first := s.Host == ""
	s.Host, s.Project, s.Dir = p.Host, p.Project, p.Dir
	s.Parent, s.AgentType, s.Subagents = p.Parent, p.AgentType, p.Subagents
	if p.Model != "" {
		s.Model = p.Model
	}
	s.Ended = false
	switch p.Source {
	case "clear":
		s = s.forgetShown()
		s.Instructed = nil
	case "compact":
		s = s.resumed()
	}
	if first && s.Mode == "" && knownMode(p.Mode) {
		s.Mode = p.Mode
		if p.Mode == ModeWork {
			s.Work = Work{Phase: PhasePlanning}
		}
	}
	return s
}

func (s State) prompted(p schemas.PromptSubmitted) State {
	text, command := strings.TrimSpace(p.Prompt), p.Command != ""
	repeated := s.repeats(p.PromptID, text, command)
	if !repeated {
		s.ApprovedNow, s.Small = "", nil
	}
	s.LastPrompt, s.Late = Prompt{ID: p.PromptID, Key: promptKey(text)}, false
	if (!repeated || command) && strings.HasPrefix(text, "/") && len(text) <= maxSlashText {
		s.LastPrompt.Text, s.LastPrompt.Command = text, command
	}
	s = s.resumed()
	if !repeated {
		s.Pending = underWay(s)
	}
	return s
}

// underWay are the pending writes that may still be reported after a prompt, or the
// end of a turn: a user types while the agent works, too. What was decided before
// the one before that has ended or will never report, and where the host tells of no
// turn's end so has all of it.
func underWay(s State) (kept []PendingWrite) {
	for _, w := range s.Pending {
		if s.Stops && !w.Old {
			w.Old = true
			kept = append(kept, w)
		}
	}
	return kept
}

// repeats reports whether a prompt is the one before once more: a hook may be
// installed twice, and a host may report a typed command both as a command and
// as a prompt. Some hosts give the same id to what their user types while a turn
// goes on.
func (s State) repeats(id, text string, command bool) bool {
	last := s.LastPrompt
	if id != "" && id == last.ID && (command || last.Command || last.Key == "" || last.Key == promptKey(text)) {
		return true
	}
	return text != "" && s.LastPrompt.Text == text && s.LastPrompt.Command != command
}

func (s State) shown(p schemas.RulesShown) State {
	for _, r := range p.Rules {
		if r.Band == BandLine {
			s.Named = insert(s.Named, r.ID)
			continue
		}
		s.Shown = insert(s.Shown, r.ID)
		if r.Band == BandInstructions {
			s.Instructed = insert(s.Instructed, r.ID)
			continue
		}
		s.Fresh = insert(s.Fresh, r.ID)
	}
	s.Tokens += p.Tokens
	s.Spent += p.Tokens
	return s
}

func (s State) decided(p schemas.ToolDecided) State {
	writes := len(p.Targets) > 0 || p.Effect == EffectCannotTell
	switch p.Verdict {
	case Allow.String():
		if slices.ContainsFunc(p.Targets, func(t schemas.Target) bool { return t.Class != ClassScratch }) {
			s.Streak = Streak{}
		}
		for _, t := range p.Targets {
			if s.tracksTests() && t.Class == ClassTest && t.Rel != "" {
				s.Work.TestFiles = insert(s.Work.TestFiles, t.Rel)
			}
		}
	case Ask.String():
		if s.Work.asksBeyond(p) {
			s.Work.Asked = s.Work.beyond(p.Targets)
		}
	default:
		s.Streak = Streak{Rule: p.Rule, Count: s.streak(p.Rule) + 1}
		s.Refusals++
		s.Denials = cloned(s.Denials)
		s.Denials[p.Rule]++
		return s
	}
	s = s.queued(p.Queued)
	if writes {
		s.Work.Rested, s.Work.InTurn = false, true
		w := pendingOf(p)
		if s.Work.asksBeyond(p) {
			w.Beyond = s.Work.Asked
		}
		s.Pending = append(s.recentPending(), w)
	}
	return s
}

// tracksTests reports whether tests written now belong to a round of work: this
// session's, or that of the parent a sub-agent works for.
func (s State) tracksTests() bool { return s.Mode == ModeWork || s.Parent != "" }

func (s State) streak(rule string) int {
	if s.Streak.Rule == rule {
		return s.Streak.Count
	}
	return 0
}

// recentPending is a copy of the pending writes with room for one more.
func (s State) recentPending() []PendingWrite {
	old := s.Pending
	if len(old) >= maxPending {
		old = old[len(old)-maxPending+1:]
	}
	return append(make([]PendingWrite, 0, len(old)+1), old...)
}

func pendingOf(p schemas.ToolDecided) PendingWrite {
	w := PendingWrite{
		ID: p.ToolUseID, Tool: p.Tool, Phase: p.Phase,
		Allowed: p.Verdict == Allow.String(), Open: p.Effect == EffectCannotTell,
	}
	for _, t := range p.Targets {
		path := cmp.Or(t.Rel, t.Path)
		w.Targets = append(w.Targets, PendingTarget{Path: path, Result: t.Result, Lines: t.Lines})
	}
	return w
}

func (s State) finished(p schemas.ToolFinished) State {
	var w PendingWrite
	s, w = s.take(p)
	if !p.Failed && s.Mode == ModeSmall {
		s.Small = s.Small.grown(w)
	}
	for _, f := range p.Files {
		if !p.Failed || w.Open {
			s.Written = insert(s.Written, f.Path)
			s = s.untested(f.Path)
			s.Work = s.Work.carriedOut(f.Path)
		}
		if f.Path == PlanFile {
			s.Draft, s.Work.Drafted = f.SHA256, true
		}
		if s.tracksTests() && isTest(f.Path) && !strings.HasPrefix(f.Path, "/") {
			s.Work.TestFiles = insert(s.Work.TestFiles, f.Path)
			switch {
			case w.leaves(f.Path, p.Failed):
				s.Work.Left = cloned(s.Work.Left)
				s.Work.Left[f.Path] = f.SHA256
			case !p.Failed && w.target(f.Path) != nil: // by the user's answer: what was left is gone
				s.Work.Left = cloned(s.Work.Left)
				delete(s.Work.Left, f.Path)
			}
		}
		s = s.restored(f)
	}
	for _, t := range p.Tests {
		s.PendingTests = insert(s.PendingTests, t)
	}
	return s
}

// leaves reports whether a content found after a tool is that tool's own doing,
// allowed during implementation: of a file it was to write, or of any when
// nobody could tell. What failed without a chance to write left nothing.
func (w PendingWrite) leaves(file string, failed bool) bool {
	if !w.Allowed || w.Phase != PhaseImplementation {
		return false
	}
	if w.Open {
		return true
	}
	t := w.target(file)
	return t != nil && (!failed || t.Result == "")
}

// target is what a tool was to write that is a file, or a folder around it; nil
// for none.
func (w PendingWrite) target(file string) *PendingTarget {
	for i, t := range w.Targets {
		if _, ok := within(t.Path, file, false); ok {
			return &w.Targets[i]
		}
	}
	return nil
}

// take removes the pending write that a tool reports on. A host without ids of
// tool uses reports on the latest of that tool.
func (s State) take(p schemas.ToolFinished) (State, PendingWrite) {
	for i := len(s.Pending) - 1; i >= 0; i-- {
		if w := s.Pending[i]; w.ID == p.ToolUseID && w.Tool == p.Tool {
			rest := make([]PendingWrite, 0, len(s.Pending)-1)
			rest = append(append(rest, s.Pending[:i]...), s.Pending[i+1:]...)
			if len(rest) == 0 {
				rest = nil
			}
			s.Pending = rest
			return s, w
		}
	}
	return s, PendingWrite{}
}

// restored forgets a recorded drift of a file that is again as approved.
func (s State) restored(f schemas.FileState) State {
	for _, name := range watchedGates {
		g, ok := s.Work.Gates[name]
		if !ok {
			continue
		}
		var rest []schemas.FileChange
		for _, c := range g.Drift {
			if c.Path != f.Path || c.Was != f.SHA256 {
				rest = append(rest, c)
			}
		}
		if len(rest) != len(g.Drift) {
			g.Drift = rest
			s.Work.Gates = cloned(s.Work.Gates)
			s.Work.Gates[name] = g
		}
	}
	return s
}

func (s State) modeChanged(p schemas.ModeChanged) State {
	switch {
	case p.To == ModeWork && p.Restored && s.Parked != nil:
		s.Work, s.Parked = s.Parked.changed(), nil // in between, code was anybody's
	case p.To == ModeWork:
		s.Work, s.Parked = Work{Phase: PhasePlanning, Drafted: s.Mode != ModeWork && s.Work.Drafted}, nil
		s.Invalidations = nil
	case s.Mode == ModeWork:
		parked := s.Work
		s.Parked, s.Work = &parked, Work{}
	}
	s.Mode, s.Orchestrator, s.Repro, s.Small = p.To, p.Orchestrator, p.Repro, nil
	s.Streak, s.ApprovedNow = Streak{}, ""
	return s.forgetShown()
}

func (s State) enterPhase(phase string) State {
	if phase == s.Work.Phase || phase == "" || s.Mode != ModeWork {
		return s
	}
	if s.Work.Phase == PhaseVerification && s.Approved(GateImplementation) {
		s.Work.Gates = cloned(s.Work.Gates)
		delete(s.Work.Gates, GateImplementation)
	}
	if phase != PhaseVerification && s.Work.Phase != PhaseVerification {
		s.PendingTests, s.Unverified, s.Unreviewed, s.Failing = nil, nil, nil, false
	}
	s.Work.Phase, s.Streak = phase, Streak{}
	return s.forgetShown()
}

func (s State) approved(p schemas.GateApproved, at time.Time) State {
	s = s.used(p.ActID, p.Gate)
	if s.Mode != ModeWork {
		return s
	}
	s = s.enterPhase(p.NextPhase)
	s.Work = s.Work.heard(p.Gate)
	if p.Gate == GatePlan {
		s.Work.Added, s.Work.Asked, s.Work.Written, s.Work.Aside = nil, nil, nil, nil
		s.Work.Seen = nil
	}
	s.Work.Gates = cloned(s.Work.Gates)
	s.Work.Gates[p.Gate] = Gate{
		Fingerprint: p.Fingerprint, Files: p.Files,
		Channel: p.Channel, Assurance: p.Assurance, ActID: p.ActID, ApprovedAt: at.UTC(),
		Capabilities: p.Capabilities, Planned: p.PlannedFiles,
	}
	if p.Gate == GateTests {
		s.Work.Left = nil
	}
	s.ApprovedNow, s.Streak, s.Closed = p.Gate, Streak{}, ""
	return s
}

// used spends a user's act: whatever came of it, it counts once.
func (s State) used(act, what string) State {
	if act == "" || s.Acts[act] != "" {
		return s
	}
	s.Acts = cloned(s.Acts)
	s.Acts[act] = what
	return s
}

func (s State) drifted(p schemas.GateDrifted) State {
	g, ok := s.Work.Gates[p.Gate]
	if !ok {
		return s
	}
	g.Drift = p.Changes
	s.Work.Gates = cloned(s.Work.Gates)
	s.Work.Gates[p.Gate] = g
	return s
}

// invalidated closes a gate and those behind it, and goes back to the phase
// that leads to it. Parked work is closed as well.
func (s State) invalidated(p schemas.GateInvalidated) State {
	s.Invalidations = append(append([]Invalidation(nil), s.Invalidations...), Invalidation{Gate: p.Gate, Rule: p.Rule})
	s.ApprovedNow = ""
	if s.Parked != nil {
		parked := *s.Parked
		parked.Gates, parked.Phase = parked.without(p.Gate)
		parked.Aside = nil
		s.Parked = &parked
	}
	if s.Mode != ModeWork {
		return s
	}
	s.Work.Aside = nil
	gates, back := s.Work.without(p.Gate)
	s = s.enterPhase(back)
	s.Work.Gates = gates
	return s
}

func (w Work) without(gate string) (gates map[string]Gate, phase string) {
	gates, phase = cloned(w.Gates), w.Phase
	switch gate {
	case GatePlan:
		clear(gates)
		phase = PhasePlanning
	case GateTests:
		delete(gates, GateTests)
		delete(gates, GateImplementation)
		if phase != PhasePlanning {
			phase = PhaseTesting
		}
	case GateImplementation:
		delete(gates, GateImplementation)
		if phase == PhaseVerification {
			phase = PhaseImplementation
		}
	}
	return gates, phase
}

func (s State) forgetShown() State {
	s.Fresh, s.Named, s.Tokens = nil, nil, 0
	return s
}

// cloned copies a map so that it can be written to.
func cloned[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}
