package session

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/enforcement/skeleton"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// maxAsked bounds the live sessions that are looked at for what waits.
	maxAsked = 50
	// maxAsserts bounds the assertions of a test that are shown, maxAssert the
	// characters of one, and maxTests the tests of a file.
	maxAsserts, maxAssert, maxTests = 12, 160, 60
)

// waits lists what waits for the user in live sessions, longest first: plans and
// tests that can be approved as they are, and that the user did not send back.
func (v *Service) waits(ctx context.Context, _ bus.None) (schemas.Waits, error) {
	if err := v.sessions.Runtime.Await(ctx, schemas.StreamSessions, v.sessions.List.Name()); err != nil {
		return schemas.Waits{}, err
	}
	return v.queue(ctx)
}

// Counts are how many sessions stand where, as far as the list's view is.
func (v *Service) Counts(ctx context.Context) (schemas.SessionCounts, error) {
	w, err := v.queue(ctx)
	return w.Counts, err
}

func (v *Service) queue(ctx context.Context) (schemas.Waits, error) {
	w := schemas.Waits{Items: []schemas.Waiting{}}
	now := v.sessions.Now()
	var asked []projections.SessionSummary
	err := v.each(func(_ projections.Reader, s projections.SessionSummary) error {
		count(&w.Counts, s, now)
		if len(asked) < maxAsked && s.Parent == "" && s.Mode == enforcement.ModeWork && s.Standing(now) == schemas.StandsLive {
			asked = append(asked, s)
		}
		return nil
	})
	if err != nil {
		return w, err
	}
	for _, s := range asked {
		one, waits, err := v.waiting(ctx, s)
		if err != nil {
			return w, err
		}
		if waits {
			w.Items = append(w.Items, one)
		}
	}
	slices.SortStableFunc(w.Items, func(a, b schemas.Waiting) int { return a.Since.Compare(b.Since) })
	w.Counts.Waiting = len(w.Items)
	return w, nil
}

// waiting is what waits in a session, where something does that can be approved.
// The implementation waits for as long as it goes on: it calls nobody.
func (v *Service) waiting(ctx context.Context, s projections.SessionSummary) (one schemas.Waiting, waits bool, err error) {
	state, _, err := v.sessions.State(ctx, s.ID)
	if err != nil || state.Parent != "" {
		return one, false, err
	}
	p := v.projectOf(state)
	ws := v.sessions.Approvable(ctx, p, s.ID, state)
	gate := state.Waiting(ws)
	if gate == "" || gate == enforcement.GateImplementation {
		return one, false, nil
	}
	o := state.Offer(gate, ws)
	if o.Empty || len(o.Problems) > 0 || state.Work.SentBack(gate, o.Fingerprint) {
		return one, false, nil
	}
	one = schemas.Waiting{
		Session: s.ID, Gate: gate, Project: state.Project, Host: state.Host, Wish: redact.Text(cmp.Or(s.Wish, s.Title)), Plan: plan.Title(ws.Plan),
		Changed: state.Approved(gate), Fingerprint: o.Fingerprint, Since: s.Last, Files: []string{},
		Second: enforcement.Second(state, o, p.Settings.Policy, v.sessions.Persons(ctx)),
	}
	for _, f := range o.Files {
		one.Files = append(one.Files, f.Path)
	}
	for _, seen := range o.Seen {
		one.Tests++
		if seen.Verdict == schemas.SeenRed {
			one.Red++
		}
	}
	return one, true, nil
}

// wish is what the user asked for in a session, in a line.
func (v *Service) wish(ctx context.Context, id string) (string, error) {
	counted, err := v.counted(ctx, id)
	return redact.Text(cmp.Or(counted.Wish, counted.Title)), err
}

// show adds to an offer what a person should see before answering: the plan with
// what it covers, and what the tests assert.
func show(offer *schemas.GateOffer, ws enforcement.Workspace) {
	offer.Title = plan.Title(ws.Plan)
	if ws.Plan != nil {
		p, _ := plan.Parse(ws.Plan)
		offer.Covers = p.Files
	}
	switch offer.Gate {
	case enforcement.GatePlan:
		offer.Plan = string(ws.Plan)
	case enforcement.GateTests:
		for _, path := range slices.Sorted(maps.Keys(ws.Tests)) {
			if tests := asserted(path, ws.Tests[path]); len(tests) > 0 {
				offer.Asserts = append(offer.Asserts, schemas.OfferTests{Path: path, Tests: tests})
			}
		}
	}
}

func asserted(path string, content []byte) (out []schemas.OfferTest) {
	for _, t := range skeleton.Outline(path, content) {
		if len(out) == maxTests {
			break
		}
		one := schemas.OfferTest{Name: excerpt.Runes(t.Name, maxAssert), Line: t.Line}
		for _, text := range t.Asserts[:min(len(t.Asserts), maxAsserts)] {
			one.Asserts = append(one.Asserts, excerpt.Runes(text, maxAssert))
		}
		out = append(out, one)
	}
	return out
}
