package memory

import (
	"cmp"
	"context"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// proposals lists the proposals that may be shown.
func (d reflection) proposals(ctx context.Context, r schemas.MemoryProposalsRequest) (schemas.MemoryProposals, error) {
	list := schemas.MemoryProposals{Proposals: []schemas.MemoryProposal{}}
	m := d.kept
	if err := d.await(ctx); err != nil {
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
func (m *Store) proposal(r projections.Reader, s observation.Proposal) (p schemas.MemoryProposal, shown bool, err error) {
	for _, id := range s.Observations {
		state, found, err := m.view.Observation(r, schemas.ObservationKey{Scope: s.Scope, ID: id})
		if err != nil {
			return p, false, err
		}
		if found && state.KeptBack() {
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

// triage decides and carries out what a person wants of a proposal.
func (d reflection) triage(ctx context.Context, r schemas.MemoryTriageRequest) (schemas.MemoryTriageReply, error) {
	reply := schemas.MemoryTriageReply{ID: r.ID}
	d.kept.judging.Lock()
	defer d.kept.judging.Unlock()
	state, p, shown, err := d.proposalNamed(ctx, r.ID)
	if err != nil {
		return reply, err
	}
	command := observation.Triage{ID: r.ID, Decision: r.Decision, Reason: r.Reason, Withheld: !shown}
	decision, err := observation.DecideProposal(state, command)
	if err != nil {
		return reply, err
	}
	if decision.Message == "" { // the gate for rules is to be asked
		rule, err := d.Propose(ctx, schemas.RuleProposeRequest{Content: p.Rule, By: sourceReflection})
		if err != nil {
			return reply, err
		}
		reply.Rule, command.Rule = &rule, &rule
		if decision, err = observation.DecideProposal(state, command); err != nil {
			return reply, err
		}
	}
	reply.Message = decision.Message
	for _, e := range decision.Record {
		triaged, _ := e.Data.(schemas.ProposalTriaged)
		reply.Decision, reply.ObservationID = triaged.Decision, triaged.ObservationID
	}
	if reply.ObservationID != "" {
		if err := d.recordNote(ctx, state.Note(), p.Text); err != nil {
			return reply, err
		}
	}
	if err := d.recordDecision(ctx, person, decision); err != nil {
		return reply, err
	}
	_, err = d.upToDate(ctx)
	return reply, err
}

// proposalNamed reads a proposal, and as it is told if it is shown.
func (d reflection) proposalNamed(ctx context.Context, id string) (state observation.Proposal, p schemas.MemoryProposal, shown bool, err error) {
	if err := d.await(ctx); err != nil {
		return state, p, false, err
	}
	m := d.kept
	err = m.read(func(r projections.Reader) (err error) {
		if state, _, err = m.view.Proposal(r, id); err == nil && state.Known() {
			p, shown, err = m.proposal(r, state)
		}
		return err
	})
	return state, p, shown, err
}

// recordNote stores an accepted note as a memory; repeated, nothing changes.
func (d reflection) recordNote(ctx context.Context, k schemas.ObservationKey, text string) error {
	t, err := takeObservation(schemas.Observation{ID: k.ID, Scope: k.Scope, Source: sourceReflection, Input: []byte(text)})
	if err != nil {
		return err
	}
	t.verdict(observation.Gated{Verdict: observation.Allow, Confidence: 1, Reason: "accepted by a person", Category: "note"})
	return d.store(ctx, []taken{t}, true)
}

// restingOn lists what was made of an observation.
func (d reflection) restingOn(k schemas.ObservationKey) (all []observation.Proposal, err error) {
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

// follow lets what was made of an observation follow what becomes of it: a note
// is never more open than the strictest of its facts, and nothing tells what was
// forgotten.
func (d reflection) follow(ctx context.Context, fact observation.State) error {
	if !fact.KeptBack() {
		return nil
	}
	proposals, err := d.restingOn(fact.ObservationKey)
	if err != nil {
		return err
	}
	m := d.kept
	for _, p := range proposals {
		if fact.Forgotten != nil {
			if err := m.keys.erase(schemas.ObservationKey{Scope: proposalScope, ID: p.ProposalID}); err != nil {
				return err
			}
		}
		notes, err := m.standing(p.Note())
		if err != nil {
			return err
		}
		note := notes[p.Note()]
		decision, err := observation.Decide(note, observation.Follow{Fact: fact})
		if err == nil {
			_, err = m.erased(note, decision)
		}
		if err == nil {
			err = d.recordDecision(ctx, schemas.Writ(sourceReflection), decision)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
