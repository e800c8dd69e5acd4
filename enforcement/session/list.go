package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// defaultSessions is how many sessions a list shows.
const defaultSessions = 50

func (v *Service) sessionList(ctx context.Context, q schemas.SessionQuery) (schemas.SessionList, error) {
	if q.Limit <= 0 {
		q.Limit = defaultSessions
	}
	list := schemas.SessionList{Sessions: []schemas.SessionSummary{}}
	for _, view := range []string{v.sessions.List.Name(), v.sessions.States.Name()} {
		if err := v.sessions.Runtime.Await(ctx, schemas.StreamSessions, view); err != nil {
			return list, err
		}
	}
	var places []string
	err := v.each(func(reader projections.Reader, s projections.SessionSummary) (err error) {
		if q.Project != "" && places == nil {
			if places, err = v.sessions.List.Relatives(reader, q.Project); err != nil {
				return err
			}
		}
		if len(list.Sessions) == q.Limit || q.Project != "" && !slices.Contains(places, s.Project) {
			return nil
		}
		state, err := v.sessions.shown(ctx, s.ID)
		if err != nil {
			return err
		}
		one := v.summary(s, state)
		one.Given, err = v.sessions.List.Given(reader, s)
		list.Sessions = append(list.Sessions, one)
		return err
	})
	if err != nil {
		return list, err
	}
	list.Counts, err = v.Counts(ctx)
	return list, err
}

// each hands over the sessions of the list's view, the one with the latest event
// first. Those by which writ doctor probes are nobody's.
func (v *Service) each(fn func(projections.Reader, projections.SessionSummary) error) error {
	return v.sessions.Runtime.Read(v.sessions.List.Name(), func(reader projections.Reader) error {
		for s, err := range v.sessions.List.List(reader) {
			if err == nil && !strings.HasPrefix(s.ID, schemas.ProbeSession) {
				err = fn(reader, s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// count adds a session to where it stands. Sub-agents are their parents' affair.
func count(c *schemas.SessionCounts, s projections.SessionSummary, now time.Time) {
	if s.Parent != "" {
		return
	}
	switch s.Standing(now) {
	case schemas.StandsLive:
		c.Live++
	case schemas.StandsIdle:
		c.Idle++
	case schemas.StandsEnded:
		c.Ended++
	}
}

// summary joins what the list's view counted with the state that decides. Prompts of
// a log that is older than redaction hold secrets, which no title shows.
func (v *Service) summary(s projections.SessionSummary, state enforcement.State) schemas.SessionSummary {
	one := schemas.SessionSummary{
		Session: s.ID, Host: state.Host, Project: state.Project, Parent: state.Parent,
		Mode: state.Mode, Phase: state.Phase(), Started: s.Started, LastSeen: s.Last, Ended: state.Ended,
		Refusals: state.Refusals, Events: s.Events,
		Title: redact.Text(s.Title), Standing: s.Standing(v.sessions.Now()), Prompts: s.Prompts, GivenSince: s.Since,
	}
	if s.Wish != s.Title {
		one.Wish = redact.Text(s.Wish)
	}
	return one
}

func (v *Service) sessionShow(ctx context.Context, q schemas.SessionQuery) (schemas.SessionView, error) {
	if q.At != 0 || !q.Moment.IsZero() {
		return v.sessionThen(ctx, q)
	}
	state, err := v.known(ctx, q.Session)
	if err != nil {
		return schemas.SessionView{}, err
	}
	counted, err := v.counted(ctx, q.Session)
	if err != nil {
		return schemas.SessionView{}, err
	}
	ws := v.sessions.Approvable(ctx, v.projectOf(state), q.Session, state)
	view, err := v.viewOf(counted, state, state.Drifted(ws))
	if err != nil {
		return view, err
	}
	waits := state.Waiting(ws)
	for i := range view.Gates {
		if g := &view.Gates[i]; g.Gate == waits && state.Parent == "" {
			if o := state.Offer(waits, ws); !o.Empty {
				g.Problems, g.Waits = o.Problems, len(o.Problems) == 0 && !state.Work.SentBack(waits, o.Fingerprint)
			}
		}
	}
	err = v.sessions.Runtime.Read(v.sessions.List.Name(), func(reader projections.Reader) error {
		view.Given, err = v.sessions.List.Given(reader, counted)
		return err
	})
	return view, err
}

// viewOf shows a state. Drift is what is known of the approved files, by gate.
func (v *Service) viewOf(counted projections.SessionSummary, state enforcement.State, drift map[string][]schemas.FileChange) (schemas.SessionView, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return schemas.SessionView{}, err
	}
	view := schemas.SessionView{
		SessionSummary: v.summary(counted, state), Dir: state.Dir, Model: state.Model, Gates: []schemas.SessionGate{},
		Shown: state.Shown, Tokens: state.Spent, Written: state.Written, Next: next(state), State: raw,
		Pending: len(state.Violations), Untested: state.PendingTests, Failing: state.Failing, Audit: audit(state),
	}
	for _, name := range []string{enforcement.GatePlan, enforcement.GateTests, enforcement.GateImplementation} {
		gate := schemas.SessionGate{Gate: name, State: "none"}
		if g, approved := state.Work.Gates[name]; approved {
			gate.State, gate.Fingerprint, gate.Channel, gate.ApprovedAt, gate.Files = "approved", g.Fingerprint, g.Channel, g.ApprovedAt, g.Files
			if len(drift[name]) > 0 {
				gate.State = "drifted"
			}
		}
		view.Gates = append(view.Gates, gate)
	}
	return view, nil
}

// next is what comes next in a session; of one that has ended, should it be resumed.
func next(state enforcement.State) string {
	if state.Ended {
		return "Nothing, the session has ended. Resumed, it goes on here: " + state.Guidance()
	}
	return state.Guidance()
}

// counted returns what the list's view knows of a session, with everything in
// it that was acknowledged before the call.
func (v *Service) counted(ctx context.Context, id string) (s projections.SessionSummary, err error) {
	_, seq, err := v.sessions.State(ctx, id)
	if err != nil {
		return s, err
	}
	if err := v.sessions.Runtime.WaitFor(ctx, v.sessions.List.Name(), schemas.Position{Stream: schemas.StreamSessions, Seq: seq}); err != nil {
		return s, err
	}
	err = v.sessions.Runtime.Read(v.sessions.List.Name(), func(reader projections.Reader) error {
		s, _, err = v.sessions.List.Session(reader, id)
		return err
	})
	return s, err
}

// audit is a session's sum as it stands.
func audit(s enforcement.State) *schemas.SessionAudited {
	a := s.Audit()
	return &a
}
