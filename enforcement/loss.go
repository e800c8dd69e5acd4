package enforcement

import (
	"fmt"
	"path"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// CloseGates closes what the user opened in a session, since the log lacks events
// that may have closed it: an approval taken back, a stricter mode, a new wish.
type CloseGates struct {
	Reason string // what the log lacks, for people
}

func (c CloseGates) check() error { return named("reason", c.Reason) }

func (c CloseGates) decide(s State) Decision {
	if !holdsOpen(s) {
		return Decision{Verdict: Allow}
	}
	p := schemas.GatesClosed{Reason: c.Reason}
	after := closed(s, p)
	p.Mode, p.Phase = after.Mode, after.Work.Phase
	return record(p)
}

// holdsOpen reports whether a session may do something that it might not if an event
// of its log were missing.
func holdsOpen(s State) bool {
	return laxer(s.Mode) || s.Orchestrator || len(s.Pending) > 0 || s.Work.opens() || s.Parked != nil && s.Parked.opens()
}

// laxer reports whether a mode allows more than none does.
func laxer(mode string) bool { return strictness[mode] < strictness[""] }

func (w Work) opens() bool {
	return len(w.Gates) > 0 || len(w.Left) > 0 || w.Aside != nil || w.Phase != "" && w.Phase != PhasePlanning
}

// closed leaves of a session what lets nothing pass: a mode that is laxer than none
// is none, and work is in planning.
func closed(s State, p schemas.GatesClosed) State {
	s = s.enterPhase(PhasePlanning)
	s.Work = s.Work.begun()
	if s.Parked != nil {
		parked := s.Parked.begun()
		s.Parked = &parked
	}
	if laxer(s.Mode) {
		s.Mode, s.Repro, s.Small = "", nil, nil
	}
	s.Orchestrator, s.Pending, s.ApprovedNow = false, nil, ""
	s.Closed = p.Reason
	return s
}

// begun is work with nothing approved: the test files that were written are known.
func (w Work) begun() Work {
	again := Work{TestFiles: w.TestFiles}
	if w.Phase != "" {
		again.Phase = PhasePlanning
	}
	return again
}

// whileClosed says first what the log lacks, where that is why a gate is closed, and
// where a plan belongs that an agent in a folder of the project writes there.
func (st stance) whileClosed(t schemas.Target, w wording) wording {
	if name := path.Base(t.Rel); name == PlanFile || name == CapabilitiesFile {
		w = textMisplaced(name, t)
	}
	if st.Closed != "" {
		w.why = textClosed(st.State) + "; " + w.why
	}
	return w
}

// textClosed tells that what was approved before counts no more, "" where it does.
func textClosed(s State) string {
	if s.Closed == "" {
		return ""
	}
	return fmt.Sprintf("%s, so that what the user approved or chose before counts no more", excerpt.Runes(s.Closed, 120))
}
