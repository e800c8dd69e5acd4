package memory

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// reflectAtOnce is how many observations of a scope one reflection reads.
	reflectAtOnce = 200
	// reflectTokens bounds a model's answer.
	reflectTokens = 3000
	// reflectRetry is waited after a reflection by itself failed.
	reflectRetry = 10 * time.Minute
	// sourceReflection is the source of notes, which are not reflected on again.
	// Persisted; never change.
	sourceReflection = "reflection"
	// proposalScope holds the keys of proposals, apart from those of any
	// project. Persisted; never change.
	proposalScope = "writ:proposal"
)

// reflect reads what is allowed and was not read yet, once each, and records
// what follows: merges, and proposals for a person to decide about.
func (d reflection) reflect(ctx context.Context, r schemas.MemoryReflectRequest) (schemas.MemoryReflectReply, error) {
	m := d.kept
	m.reflecting.Lock()
	defer m.reflecting.Unlock()
	reply := schemas.MemoryReflectReply{By: byEmbedded}
	if d.Model != nil {
		reply.By = d.Model.Model()
	}
	end, err := d.Conn.State(ctx, schemas.StreamMemory)
	if err != nil {
		return reply, err
	}
	search, err := d.upToDate(ctx)
	if err != nil {
		return reply, err
	}
	scopes := search.unread(r.Scope)
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		all := scopes[scope]
		some := all[:min(len(all), reflectAtOnce)]
		reply.Left += len(all) - len(some)
		if err := d.reflectOn(ctx, scope, some, end.Last, &reply); err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// mayReflect says whether reflection reads an entry: what others shared proposes no rule
// here.
func (e *entry) mayReflect() bool {
	return !fromOthers(e.key.Scope) && observation.MayReflect(&e.verdict) && !e.reflected && !e.short && e.source != sourceReflection
}

// unread lists the entries to reflect on by scope, oldest first.
func (s *snapshot) unread(scope string) map[string][]*entry {
	of := map[string][]*entry{}
	for _, e := range s.entries {
		if e != nil && e.mayReflect() && (scope == "" || scope == e.key.Scope) {
			of[e.key.Scope] = append(of[e.key.Scope], e)
		}
	}
	return of
}

// reflectOn reflects on observations of one scope. What stopped being allowed
// meanwhile takes what rests on it along.
func (d reflection) reflectOn(ctx context.Context, scope string, some []*entry, through uint64, reply *schemas.MemoryReflectReply) error {
	merges, proposals, err := d.thinkAbout(ctx, some)
	if err != nil {
		return err
	}
	m := d.kept
	m.judging.Lock() // nobody changes a verdict until this is recorded
	defer m.judging.Unlock()
	search, err := d.upToDate(ctx)
	if err != nil {
		return err
	}
	still := map[schemas.ObservationKey]bool{}
	for _, e := range search.unread(scope)[scope] {
		still[e.key] = true
	}
	all := func(places ...int) bool {
		return !slices.ContainsFunc(places, func(i int) bool { return !still[some[i].key] })
	}
	main := schemas.ReflectionMade{ReflectionID: bus.NewID(), By: reply.By, Through: through}
	for _, e := range some {
		if still[e.key] {
			main.Read = append(main.Read, e.key.ID)
		}
	}
	var keys []schemas.ObservationKey
	for _, e := range some {
		keys = append(keys, e.key)
	}
	states, err := m.standing(keys...)
	if err != nil {
		return err
	}
	var also []schemas.Payload
	for _, merge := range merges {
		one, into := some[merge.One].key, some[merge.Into].key
		if !all(merge.One, merge.Into) {
			continue
		}
		decision, err := observation.Decide(states.Of(one), observation.Merge{Into: states.LeadsTo(into), Similarity: merge.Similarity})
		if err != nil {
			return err
		}
		for _, e := range decision.Record {
			states[one] = observation.Evolve(states[one], e)
			main.Merged, also = main.Merged+1, append(also, e.Data)
		}
	}
	for _, p := range proposals {
		if !all(p.From...) {
			continue
		}
		proposal, err := m.sealProposal(p, main)
		if err != nil {
			return err
		}
		for _, i := range p.From {
			proposal.Observations = append(proposal.Observations, some[i].key.ID)
		}
		main.Proposals++
		also = append(also, proposal)
	}
	event := schemas.Event{Actor: schemas.Writ(sourceReflection), Aggregate: schemas.Memory(scope), Data: main}
	if _, err := d.recordMemory(ctx, event, also...); err != nil {
		return err
	}
	reply.Read += len(main.Read)
	reply.Merged += main.Merged
	reply.Proposals += main.Proposals
	_, err = d.upToDate(ctx)
	return err
}

// thinkAbout finds near-duplicates, and asks the model what follows from the
// rest, or groups it by likeness.
func (d reflection) thinkAbout(ctx context.Context, some []*entry) (merges []observation.Duplicate, proposals []observation.Proposed, err error) {
	texts := make([]string, len(some))
	vectors := true
	for i, e := range some {
		texts[i] = excerpt.Runes(e.text, memoryLineChars)
		vectors = vectors && e.vector != nil
	}
	merges = observation.Duplicates(texts)
	if d.Model != nil {
		system, user := observation.ReflectPrompt(texts, newMark())
		answer, err := d.Model.Chat(ctx, model.Request{System: system, MaxTokens: reflectTokens, Messages: []model.Message{model.Said(model.User, user)}}, nil)
		if err != nil {
			return nil, nil, err
		}
		proposals, err = observation.Reflected(answer.Text, len(texts))
		return merges, proposals, err
	}
	var cosine func(a, b int) float64
	if vectors {
		cosine = func(a, b int) float64 { return dot(some[a].vector, some[b].vector) }
	}
	return merges, observation.Notes(texts, cosine), nil
}

// dot is the cosine of two vectors of length 1, which embedders give.
func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// sealProposal makes a proposal that only its own key opens.
func (m *Store) sealProposal(p observation.Proposed, of schemas.ReflectionMade) (schemas.ProposalMade, error) {
	proposal := schemas.ProposalMade{ProposalID: bus.NewID(), Kind: schemas.ProposalNote, ReflectionID: of.ReflectionID, By: of.By}
	if p.Rule != "" {
		proposal.Kind = schemas.ProposalRule
	}
	keys, err := m.keys.make([]schemas.ObservationKey{{Scope: proposalScope, ID: proposal.ProposalID}})
	if err != nil {
		return proposal, err
	}
	content := schemas.ObservationRecorded{ObservationID: proposal.ProposalID, Original: []byte(redactText(p.Rule)), Text: redactText(p.Text)}
	sealed, err := observation.Seal(content, proposalScope, keys[0], random(observation.NonceBytes))
	proposal.Sealed = sealed.Sealed
	return proposal, err
}

// openProposal reads what a proposal says.
func (m *Store) openProposal(s observation.Proposal) (text, rule string, err error) {
	if len(s.Sealed) == 0 {
		return s.Text, "", nil
	}
	key, err := m.keys.get(schemas.ObservationKey{Scope: proposalScope, ID: s.ProposalID})
	if err != nil {
		return "", "", err
	}
	content, err := observation.Open(schemas.ObservationRecorded{ObservationID: s.ProposalID, Sealed: s.Sealed}, proposalScope, key)
	return content.Text, string(content.Original), err
}

// reflectByItself reflects once enough of a scope was not read, beside everything else
// but building views: hooks that wait for those wait for no reflection too. A failure
// waits for a while.
func (d reflection) reflectByItself(ctx context.Context) {
	m := d.kept
	after := d.ReflectAfter
	if after == 0 || !m.ownReflection.TryLock() {
		return
	}
	enough := false
	for _, all := range m.index.current.Load().unread("") {
		enough = enough || len(all) >= after
	}
	if !enough || d.Now().Before(m.reflectNext) {
		m.ownReflection.Unlock()
		return
	}
	m.beside.Go(func() {
		defer m.ownReflection.Unlock()
		if d.Views.Built(ctx) != nil {
			return // it ends
		}
		if _, err := d.reflect(ctx, schemas.MemoryReflectRequest{}); err != nil && !errors.Is(err, context.Canceled) {
			m.reflectNext = d.Now().Add(reflectRetry)
			d.Logger.Warn("reflect on what was observed", "error", err)
		}
	})
}

// reflectNow reflects as a person asked.
func (d reflection) reflectNow(ctx context.Context, r schemas.MemoryReflectRequest) (schemas.MemoryReflectReply, error) {
	reply, err := d.reflect(ctx, r)
	if errors.Is(err, observation.ErrAnswer) || d.Model != nil && err != nil && cmp.Or(d.Model.State().Last, "") != "" {
		return reply, schemas.Faultf(schemas.CodeRefused, "the model did not answer as it should: %v. Nothing counts as read that was not recorded", err)
	}
	return reply, err
}

// reflection is the part of the service that reads what was allowed, proposes,
// and does what a person decided of a proposal.
type reflection struct{ *Service }

func (d *Service) reflection() reflection { return reflection{d} }
