package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	memoryPage      = 500
	memoryPageBytes = 4 << 20 // after which a page ends
	reviewPage      = 20
	// reasonRunes is the most a stored reason holds (MEMORY.md, contract).
	reasonRunes = 120
)

func newNonce() []byte {
	nonce := make([]byte, observation.NonceBytes)
	_, _ = rand.Read(nonce) // never fails
	return nonce
}

// observationNamed finds an observation by its id, in a scope or in the only
// one that has it.
func (d *Service) observationNamed(ctx context.Context, id, scope string) (state projections.ObservationState, err error) {
	if _, err := d.upToDate(ctx); err != nil {
		return state, err
	}
	key := projections.ObservationKey{Scope: scope, ID: id}
	if scope == "" {
		scopes := d.kept.index.scopesOf(id)
		if len(scopes) > 1 {
			return state, schemas.Faultf(schemas.CodeBadRequest, "the scopes %s each have an observation %q: say which with --scope", strings.Join(scopes, ", "), id)
		}
		if len(scopes) == 1 {
			key.Scope = scopes[0]
		}
	}
	found := false
	err = d.kept.read(func(r projections.Reader) error {
		state, found, err = d.kept.view.Observation(r, key)
		return err
	})
	if err == nil && !found {
		err = schemas.Faultf(schemas.CodeNotFound, "there is no observation %q. writ memory export lists them all", id)
	}
	return state, err
}

// regate changes a verdict, as a person decided.
func (d *Service) regate(ctx context.Context, r schemas.MemoryRegateRequest) (schemas.MemoryActReply, error) {
	switch {
	case r.Verdict != observation.Allow && r.Verdict != observation.Hold && r.Verdict != observation.Discard:
		return schemas.MemoryActReply{}, schemas.Faultf(schemas.CodeBadRequest, "a verdict is allow, hold or discard, not %q", r.Verdict)
	case strings.TrimSpace(r.Reason) == "":
		return schemas.MemoryActReply{}, schemas.Faultf(schemas.CodeBadRequest, "changing a verdict needs a reason")
	}
	d.kept.judging.Lock()
	defer d.kept.judging.Unlock()
	state, err := d.observationNamed(ctx, r.ID, r.Scope)
	if err != nil {
		return schemas.MemoryActReply{}, err
	}
	if state.Forgotten != nil {
		return schemas.MemoryActReply{}, schemas.Faultf(schemas.CodeRefused, "observation %s was forgotten: %s", r.ID, state.Forgotten.Reason)
	}
	// Notes first: after a crash between, the act is repeated.
	if err := d.reflection().keepBackNotes(ctx, state.ObservationKey, r.Verdict); err != nil {
		return schemas.MemoryActReply{}, err
	}
	return d.actOn(ctx, state, r.Verdict, state.ID+" is "+r.Verdict+" now",
		schemas.ObservationRegated{ObservationID: state.ID, Verdict: r.Verdict, Reason: r.Reason})
}

// forget erases what an observation says: its key first, so that a crash
// leaves it unreadable and the act to be repeated, then the tombstone.
func (d *Service) forget(ctx context.Context, r schemas.MemoryForgetRequest) (schemas.MemoryActReply, error) {
	if strings.TrimSpace(r.Reason) == "" {
		return schemas.MemoryActReply{}, schemas.Faultf(schemas.CodeBadRequest, "forgetting needs a reason, which stays in the place of the text")
	}
	d.kept.judging.Lock()
	defer d.kept.judging.Unlock()
	state, err := d.observationNamed(ctx, r.ID, r.Scope)
	if err != nil {
		return schemas.MemoryActReply{}, err
	}
	if state.Forgotten != nil {
		return schemas.MemoryActReply{}, schemas.Faultf(schemas.CodeRefused, "observation %s is forgotten already: %s", r.ID, state.Forgotten.Reason)
	}
	message := "forgot " + state.ID + ": its key is erased, no copy of the log can be read"
	if len(state.Recorded.Sealed) == 0 {
		message = "forgot " + state.ID + " for recall and export; it was recorded unsealed, so the log still holds its text"
	}
	if err := d.kept.keys.erase(state.ObservationKey); err != nil {
		return schemas.MemoryActReply{}, err
	}
	if err := d.reflection().forgetWhatRestsOn(ctx, state.ObservationKey); err != nil {
		return schemas.MemoryActReply{}, err
	}
	return d.actOn(ctx, state, "", message, schemas.ObservationForgotten{ObservationID: state.ID, Reason: r.Reason})
}

// actOn records a person's act and returns once searches show it.
func (d *Service) actOn(ctx context.Context, state projections.ObservationState, verdict, message string, act schemas.Payload) (schemas.MemoryActReply, error) {
	reply := schemas.MemoryActReply{ObservationID: state.ID, Scope: state.Scope, Verdict: cmp.Or(verdict, state.Verdict()), Message: message}
	_, err := d.recordMemory(ctx, schemas.Event{Actor: person, Aggregate: schemas.Memory(state.Scope), Data: act})
	if err != nil {
		return reply, err
	}
	_, err = d.upToDate(ctx)
	return reply, err
}

// review lists observations with a verdict, oldest first.
func (d *Service) review(ctx context.Context, r schemas.MemoryReviewRequest) (schemas.MemoryReviewPage, error) {
	verdict := cmp.Or(r.Verdict, observation.Hold)
	page := schemas.MemoryReviewPage{}
	var err error
	page.Items, page.Next, err = d.memoryItems(ctx, r.After, cmp.Or(r.Limit, reviewPage), func(s projections.ObservationState) bool {
		if s.Forgotten != nil || r.Scope != "" && r.Scope != s.Scope {
			return false
		}
		if r.ID != "" {
			return r.ID == s.ID
		}
		return s.Verdict() == verdict
	})
	return page, err
}

// export pages through all observations in the order of the log.
func (d *Service) export(ctx context.Context, r schemas.MemoryExportRequest) (schemas.MemoryExportPage, error) {
	page := schemas.MemoryExportPage{}
	var err error
	page.Items, page.Next, err = d.memoryItems(ctx, r.After, cmp.Or(r.Limit, memoryPage), func(s projections.ObservationState) bool {
		return r.Scope == "" || r.Scope == s.Scope
	})
	return page, err
}

// memoryItems reads a page of the observations that wanted names.
func (d *Service) memoryItems(ctx context.Context, after uint64, limit int, wanted func(projections.ObservationState) bool) (items []schemas.MemoryItem, next uint64, err error) {
	items = []schemas.MemoryItem{}
	m := d.kept
	if err := d.Views.Await(ctx, schemas.StreamMemory, m.view.Name()); err != nil {
		return items, 0, err
	}
	err = m.read(func(r projections.Reader) error {
		size, last := 0, after
		for state, err := range m.view.All(r, after) {
			if err != nil {
				return err
			}
			// All of a message's observations are in one page.
			if (len(items) >= limit || size > memoryPageBytes) && state.Position.Seq != last {
				next = last
				return nil
			}
			last = state.Position.Seq
			if !wanted(state) {
				continue
			}
			item, err := m.item(state)
			if err != nil {
				return err
			}
			size += len(item.Original)*2 + len(item.Text) + 500
			items = append(items, item)
		}
		return nil
	})
	return items, next, err
}

// item is an observation whole, as far as it can be read.
func (m *Store) item(s projections.ObservationState) (schemas.MemoryItem, error) {
	item := schemas.MemoryItem{ObservationID: s.ID, Scope: s.Scope, Time: s.Time}
	recorded, err := m.open(s)
	if err != nil {
		if !unreadable(err) {
			return item, err
		}
		item.Lost, recorded = true, s.Recorded
	}
	item.Original, item.Text, item.Category, item.Reason = recorded.Original, recorded.Text, recorded.Category, recorded.Reason
	item.Verdict, item.Confidence, item.GateVersion, item.Fallback = recorded.Verdict, recorded.Confidence, recorded.GateVersion, recorded.Fallback
	item.Source, item.Session, item.Redacted = recorded.Origin, recorded.Session, recorded.Redacted
	item.MergedInto, item.MergedSimilarity = s.MergedInto, s.MergedSimilarity
	for _, g := range s.Regated {
		item.Regated = append(item.Regated, schemas.MemoryRegate(g))
	}
	if s.Forgotten != nil {
		forgotten := schemas.MemoryRegate(*s.Forgotten)
		item.Forgotten = &forgotten
	}
	return item, nil
}

// importAll takes exported observations in, with their verdicts, their
// changes and their tombstones. Ids that are known stay as they are; secrets
// are taken out as from any observation.
func (d *Service) importAll(ctx context.Context, r schemas.MemoryImportRequest) (schemas.MemoryImportReply, error) {
	var reply schemas.MemoryImportReply
	if len(r.Items) > observedAtOnce {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "at most %d observations in one request, not %d", observedAtOnce, len(r.Items))
	}
	all := make([]taken, len(r.Items))
	for i, item := range r.Items {
		t, err := takeItem(item)
		if err != nil {
			return reply, err
		}
		all[i] = t
	}
	m := d.kept
	m.judging.Lock()
	defer m.judging.Unlock()
	m.naming.Lock()
	defer m.naming.Unlock()
	if err := d.knownIDs(ctx, all); err != nil {
		return reply, err
	}
	for i := range all {
		if err := d.importItem(ctx, &all[i], r.Items[i]); err != nil {
			return reply, err
		}
		if all[i].known {
			reply.Known++
			continue
		}
		reply.Imported++
		if len(all[i].recorded.Redacted) > len(r.Items[i].Redacted) {
			reply.Redacted++
		}
	}
	return reply, nil
}

// takeItem is the record of an exported observation. Its verdict stays what it
// was, also one that is none of the three, or none.
func takeItem(item schemas.MemoryItem) (taken, error) {
	if item.ObservationID == "" {
		return taken{}, schemas.Faultf(schemas.CodeBadRequest, "an observation to import needs an observation_id")
	}
	t, err := takeObservation(schemas.Observation{
		ID: item.ObservationID, Scope: item.Scope, Source: item.Source, Session: item.Session, Input: item.Original,
	})
	if err != nil {
		return t, err
	}
	p := &t.recorded
	p.Text, p.Category = redactText(item.Text), redactText(item.Category)
	p.Verdict, p.Confidence, p.GateVersion, p.Fallback = item.Verdict, min(max(item.Confidence, 0), 1), item.GateVersion, item.Fallback
	p.Reason = excerpt.RunesWith(redactText(item.Reason), reasonRunes, "")
	p.Redacted = append(append([]string(nil), item.Redacted...), p.Redacted...)
	return t, nil
}

// importItem appends what is new of an observation: the record, later changes
// of its verdict, its forgetting. Searches see all of it at once.
func (d *Service) importItem(ctx context.Context, t *taken, item schemas.MemoryItem) error {
	m := d.kept
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	at := item.Time.UTC()
	if at.IsZero() {
		at = d.Now()
	}
	var events []schemas.Event
	if !t.known {
		record, err := m.sealItem(t, item)
		if err != nil {
			return err
		}
		events = append(events, schemas.Event{Time: at, Actor: schemas.Import("memory"), Data: record})
	}
	if err := d.reflection().keepBackNotes(ctx, t.key, item.Current()); err != nil {
		return err
	}
	for _, g := range item.Regated[min(t.regated, len(item.Regated)):] {
		events = append(events, schemas.Event{Time: g.Time.UTC(), Actor: schemas.ParseActor(g.Actor), Data: schemas.ObservationRegated{
			ObservationID: t.key.ID, Verdict: g.Verdict, Reason: g.Reason,
		}})
	}
	if item.MergedInto != "" && t.mergedInto == "" && item.MergedInto != t.key.ID {
		events = append(events, schemas.Event{Time: at, Actor: schemas.Import("memory"), Data: schemas.ObservationMerged{
			ObservationID: t.key.ID, Into: item.MergedInto, Similarity: item.MergedSimilarity,
		}})
	}
	if f := item.Forgotten; f != nil && !t.forgotten {
		if err := errors.Join(m.keys.erase(t.key), d.reflection().forgetWhatRestsOn(ctx, t.key)); err != nil {
			return err
		}
		events = append(events, schemas.Event{Time: f.Time.UTC(), Actor: schemas.ParseActor(f.Actor), Data: schemas.ObservationForgotten{ObservationID: t.key.ID, Reason: f.Reason}})
	}
	for _, e := range events {
		e.Aggregate = schemas.Memory(t.key.Scope)
		if e.Time.IsZero() {
			e.Time = at
		}
		if _, err := d.recordMemory(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// sealItem seals the record of an imported observation. One whose text was lost
// is sealed with a key that nobody keeps, so that it is as unreadable here.
func (m *Store) sealItem(t *taken, item schemas.MemoryItem) (schemas.ObservationRecorded, error) {
	switch {
	case item.Forgotten != nil:
		return t.recorded, nil // there is nothing to seal
	case item.Lost:
		return observation.Seal(t.recorded, t.key.Scope, newLostKey(), newNonce())
	}
	keys, err := m.keys.make([]projections.ObservationKey{t.key})
	if err != nil {
		return t.recorded, err
	}
	return observation.Seal(t.recorded, t.key.Scope, keys[0], newNonce())
}

func newLostKey() []byte {
	key := make([]byte, observation.KeyBytes)
	_, _ = rand.Read(key) // never fails
	return key
}

// person is who acts with the admin credential where no channel is named.
var person = enforcement.Person(enforcement.ChannelTerminal)
