package memory

import (
	"cmp"
	"context"
	"strings"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// proposals lists the proposals that may be shown.
func (d reflection) proposals(ctx context.Context, r schemas.MemoryProposalsRequest) (schemas.MemoryProposals, error) {
	list := schemas.MemoryProposals{Proposals: []schemas.MemoryProposal{}}
	m := d.kept
	if err := d.Views.Await(ctx, schemas.StreamMemory, m.view.Name()); err != nil {
		return list, err
	}
	err := m.read(func(reader projections.Reader) error {
		for state, err := range m.view.Proposals(reader) {
			if err != nil {
				return err
			}
			if r.Scope != "" && r.Scope != state.Scope || state.Triage != nil && !r.All {
				continue
			}
			proposal, shown, err := m.proposal(reader, state)
			switch {
			case err != nil:
				return err
			case shown:
				list.Proposals = append(list.Proposals, proposal)
			default:
				list.Withheld++
			}
		}
		return nil
	})
	return list, err
}

// proposal is one as it is told, unless it rests on what is kept back or gone.
func (m *Store) proposal(r projections.Reader, s projections.ProposalState) (p schemas.MemoryProposal, shown bool, err error) {
	for _, id := range s.Observations {
		state, found, err := m.view.Observation(r, projections.ObservationKey{Scope: s.Scope, ID: id})
		if err != nil {
			return p, false, err
		}
		verdict := state.Verdict()
		if found && (state.Forgotten != nil || !observation.MayReflect(&verdict)) {
			return p, false, nil
		}
	}
	text, rule, err := m.openProposal(s)
	if err != nil {
		if unreadable(err) {
			err = nil
		}
		return p, false, err
	}
	p = schemas.MemoryProposal{
		ID: s.ProposalID, Scope: s.Scope, Kind: cmp.Or(s.Kind, schemas.ProposalNote), Text: text, Rule: rule,
		Observations: s.Observations, By: cmp.Or(s.By, s.Actor), Time: s.Time,
	}
	if s.Triage != nil {
		p.Decision, p.Reason = s.Triage.Decision, s.Triage.Reason
	}
	return p, true, nil
}

// triage carries out what a person decided about a proposal: a rejected
// one is that, a note becomes a memory, a rule goes through the structural gate
// and stays open if that refuses it.
func (d reflection) triage(ctx context.Context, r schemas.MemoryTriageRequest) (schemas.MemoryTriageReply, error) {
	reply := schemas.MemoryTriageReply{ID: r.ID, Decision: r.Decision}
	switch {
	case r.Decision != schemas.ProposalAccepted && r.Decision != schemas.ProposalRejected:
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a proposal is accepted or rejected, not %q", r.Decision)
	case r.Decision == schemas.ProposalRejected && strings.TrimSpace(r.Reason) == "":
		return reply, schemas.Faultf(schemas.CodeBadRequest, "rejecting a proposal needs a reason: it is what the next reflection can be judged by")
	}
	m := d.kept
	m.judging.Lock()
	defer m.judging.Unlock()
	p, err := d.openProposalNamed(ctx, r.ID)
	if err != nil {
		return reply, err
	}
	event := schemas.ProposalTriaged{ProposalID: r.ID, Decision: r.Decision, Reason: r.Reason}
	reply.Message = r.ID + " is rejected"
	switch {
	case r.Decision == schemas.ProposalRejected:
	case p.Kind == schemas.ProposalRule:
		rule, err := d.Propose(ctx, schemas.RuleProposeRequest{Content: p.Rule, By: sourceReflection})
		if err != nil {
			return reply, err
		}
		reply.Rule = &rule
		if !rule.Admitted {
			reply.Decision, reply.Message = "", "the structural gate refused "+cmp.Or(rule.ID, "the rule")+"; "+r.ID+" stays open"
			return reply, nil
		}
		event.RuleID, reply.Message = rule.ID, rule.ID+" is in the corpus as a proposal. `writ rule review` promotes it"
	default:
		if reply.ObservationID, err = d.recordNote(ctx, p); err != nil {
			return reply, err
		}
		event.ObservationID, reply.Message = reply.ObservationID, r.ID+" is a memory now"
	}
	if _, err := d.recordMemory(ctx, schemas.Event{Actor: person, Aggregate: schemas.Memory(p.Scope), Data: event}); err != nil {
		return reply, err
	}
	_, err = d.upToDate(ctx)
	return reply, err
}

// openProposalNamed finds a proposal that waits for a decision.
func (d reflection) openProposalNamed(ctx context.Context, id string) (p schemas.MemoryProposal, err error) {
	m := d.kept
	if err := d.Views.Await(ctx, schemas.StreamMemory, m.view.Name()); err != nil {
		return p, err
	}
	shown := false
	err = m.read(func(r projections.Reader) error {
		state, found, err := m.view.Proposal(r, id)
		if err != nil || !found {
			return err
		}
		p, shown, err = m.proposal(r, state)
		return err
	})
	switch {
	case err != nil:
		return p, err
	case !shown:
		return p, schemas.Faultf(schemas.CodeNotFound, "there is no proposal %q to decide about. writ memory triage lists those that are open", id)
	case p.Decision != "":
		return p, schemas.Faultf(schemas.CodeRefused, "proposal %s is %s already", id, p.Decision)
	}
	return p, nil
}

// noteID names the memory that an accepted note becomes.
func noteID(proposal string) string { return "note-" + proposal }

// recordNote stores an accepted note as a memory; repeated, nothing changes.
func (d reflection) recordNote(ctx context.Context, p schemas.MemoryProposal) (string, error) {
	t, err := takeObservation(schemas.Observation{ID: noteID(p.ID), Scope: p.Scope, Source: sourceReflection, Input: []byte(p.Text)})
	if err != nil {
		return "", err
	}
	t.verdict(observation.Gated{Verdict: observation.Allow, Confidence: 1, Reason: "accepted by a person", Category: "note"})
	all := []taken{t}
	return t.key.ID, d.store(ctx, all, true)
}

// restingOn lists what was made of an observation.
func (d reflection) restingOn(k projections.ObservationKey) (all []projections.ProposalState, err error) {
	m := d.kept
	err = m.read(func(r projections.Reader) error {
		for state, err := range m.view.Proposals(r) {
			if err != nil {
				return err
			}
			if state.RestsOn(k) {
				all = append(all, state)
			}
		}
		return nil
	})
	return all, err
}

// keepBackNotes gives the notes that rest on an observation its stricter
// verdict: a note is never more open than the strictest of its facts.
func (d reflection) keepBackNotes(ctx context.Context, k projections.ObservationKey, verdict string) error {
	if observation.MayReflect(&verdict) {
		return nil
	}
	return d.eachNote(k, func(note projections.ObservationState) error {
		if current := note.Verdict(); current == verdict || current == observation.Discard {
			return nil
		}
		act := schemas.ObservationRegated{ObservationID: note.ID, Verdict: verdict, Reason: "rests on an observation that is " + verdict + " now"}
		_, err := d.recordMemory(ctx, schemas.Event{Actor: schemas.Writ(sourceReflection), Aggregate: schemas.Memory(note.Scope), Data: act})
		return err
	})
}

// eachNote calls do with the notes that rest on an observation and are there.
func (d reflection) eachNote(k projections.ObservationKey, do func(projections.ObservationState) error) error {
	proposals, err := d.restingOn(k)
	if err != nil {
		return err
	}
	m := d.kept
	for _, p := range proposals {
		var note projections.ObservationState
		found := false
		if err := m.read(func(r projections.Reader) (err error) {
			note, found, err = m.view.Observation(r, projections.ObservationKey{Scope: p.Scope, ID: noteID(p.ProposalID)})
			return err
		}); err != nil {
			return err
		}
		if found && note.Forgotten == nil {
			if err := do(note); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetWhatRestsOn erases what was made of an observation: proposals, and the
// notes they became.
func (d reflection) forgetWhatRestsOn(ctx context.Context, k projections.ObservationKey) error {
	m := d.kept
	proposals, err := d.restingOn(k)
	if err != nil {
		return err
	}
	for _, p := range proposals {
		if err := m.keys.erase(projections.ObservationKey{Scope: proposalScope, ID: p.ProposalID}); err != nil {
			return err
		}
	}
	return d.eachNote(k, func(note projections.ObservationState) error {
		if err := m.keys.erase(note.ObservationKey); err != nil {
			return err
		}
		act := schemas.ObservationForgotten{ObservationID: note.ID, Reason: "rests on an observation that was forgotten"}
		_, err := d.recordMemory(ctx, schemas.Event{Actor: schemas.Writ(sourceReflection), Aggregate: schemas.Memory(note.Scope), Data: act})
		return err
	})
}
