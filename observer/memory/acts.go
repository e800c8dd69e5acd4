package memory

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"

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
	// reasonRunes is the most a stored reason holds.
	reasonRunes = 120
)

// standing reads observations, and those that they lead to by merges, as the view
// has them.
func (m *Store) standing(keys ...schemas.ObservationKey) (observation.Standing, error) {
	all := observation.Standing{}
	err := m.read(func(r projections.Reader) error {
		for ; len(keys) > 0; keys = keys[1:] {
			k := keys[0]
			if _, read := all[k]; read {
				continue
			}
			state, found, err := m.view.Observation(r, k)
			if err != nil {
				return err
			}
			if !found {
				state = observation.Unknown(k)
			}
			all[k] = state
			if state.MergedInto != "" {
				keys = append(keys, schemas.ObservationKey{Scope: k.Scope, ID: state.MergedInto})
			}
		}
		return nil
	})
	return all, err
}

// regate changes a verdict, as a person decided.
func (d *Service) regate(ctx context.Context, r schemas.MemoryRegateRequest) (schemas.MemoryActReply, error) {
	return d.act(ctx, r.ID, r.Scope, func(scopes []string) observation.Command {
		return observation.Regate{Verdict: r.Verdict, Reason: r.Reason, Scopes: scopes}
	})
}

// forget erases what an observation says.
func (d *Service) forget(ctx context.Context, r schemas.MemoryForgetRequest) (schemas.MemoryActReply, error) {
	return d.act(ctx, r.ID, r.Scope, func(scopes []string) observation.Command {
		return observation.Forget{Reason: r.Reason, Scopes: scopes}
	})
}

// ForgetAll erases what observations say, those that want chooses by where they are
// from, and returns how many they were.
func ForgetAll(ctx context.Context, d *Service, reason string, want func(o schemas.ObservationKey, session string) bool) (n int, err error) {
	if err := d.await(ctx); err != nil {
		return 0, err
	}
	var chosen []schemas.ObservationKey
	err = d.kept.read(func(r projections.Reader) error {
		for state, err := range d.kept.view.All(r, 0) {
			if err != nil {
				return err
			}
			if state.Forgotten == nil && want(state.ObservationKey, state.Recorded.Session) {
				chosen = append(chosen, state.ObservationKey)
			}
		}
		return nil
	})
	for _, o := range chosen {
		if err != nil {
			break
		}
		if _, err = d.forget(ctx, schemas.MemoryForgetRequest{ID: o.ID, Scope: o.Scope, Reason: reason}); err == nil {
			n++
		}
	}
	return n, err
}

// act decides and carries out what a person wants of an observation, and returns
// once searches show it.
func (d *Service) act(ctx context.Context, id, scope string, command func(scopes []string) observation.Command) (schemas.MemoryActReply, error) {
	d.kept.judging.Lock()
	defer d.kept.judging.Unlock()
	if _, err := d.upToDate(ctx); err != nil {
		return schemas.MemoryActReply{}, err
	}
	key := schemas.ObservationKey{Scope: scope, ID: id}
	var scopes []string // that have one, where none was named
	if scope == "" {
		if scopes = d.kept.index.scopesOf(id); len(scopes) == 1 {
			key.Scope = scopes[0]
		}
	}
	states, err := d.kept.standing(key)
	if err != nil {
		return schemas.MemoryActReply{}, err
	}
	decision, err := observation.Decide(states[key], command(scopes))
	if err != nil {
		return schemas.MemoryActReply{}, err
	}
	state, err := d.carryOut(ctx, person, states[key], decision)
	if err == nil {
		_, err = d.upToDate(ctx)
	}
	return schemas.MemoryActReply{ObservationID: state.ID, Scope: state.Scope, Verdict: state.Verdict(), Message: decision.Message}, err
}

// carryOut records a decision about an observation, and returns how that leaves
// it. What has to be unreadable or kept back is so before the record, so that
// after a crash between nothing is open and the act is repeated.
func (d *Service) carryOut(ctx context.Context, actor schemas.Actor, was observation.State, decision observation.Decision) (observation.State, error) {
	is, err := d.kept.erased(was, decision)
	if err == nil {
		err = d.reflection().follow(ctx, is)
	}
	if err == nil {
		err = d.recordDecision(ctx, actor, decision)
	}
	return is, err
}

// erased is an observation as a decision leaves it, its key erased if that forgets
// it.
func (m *Store) erased(was observation.State, decision observation.Decision) (is observation.State, err error) {
	is = was
	for _, e := range decision.Record {
		is = observation.Evolve(is, e)
	}
	if is.Forgotten != nil && was.Forgotten == nil {
		err = m.keys.erase(was.ObservationKey)
	}
	return is, err
}

// recordDecision appends what was decided. Events that name no actor are actor's.
func (d *Service) recordDecision(ctx context.Context, actor schemas.Actor, decision observation.Decision) error {
	for _, e := range decision.Record {
		if e.Actor == (schemas.Actor{}) {
			e.Actor = actor
		}
		if _, err := d.recordMemory(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// review lists observations with a verdict, oldest first.
func (d *Service) review(ctx context.Context, r schemas.MemoryReviewRequest) (schemas.MemoryReviewPage, error) {
	verdict := cmp.Or(r.Verdict, observation.Hold)
	page := schemas.MemoryReviewPage{}
	var err error
	page.Items, page.Next, err = d.memoryItems(ctx, r.After, cmp.Or(r.Limit, reviewPage), func(s observation.State) bool {
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
	page.Items, page.Next, err = d.memoryItems(ctx, r.After, cmp.Or(r.Limit, memoryPage), func(s observation.State) bool {
		return r.Scope == "" || r.Scope == s.Scope
	})
	return page, err
}

// memoryItems reads a page of the observations that wanted names.
func (d *Service) memoryItems(ctx context.Context, after uint64, limit int, wanted func(observation.State) bool) (items []schemas.MemoryItem, next uint64, err error) {
	items = []schemas.MemoryItem{}
	m := d.kept
	if err := d.await(ctx); err != nil {
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
func (m *Store) item(s observation.State) (schemas.MemoryItem, error) {
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
	given := len(r.Items) // what others shared comes from them, or not
	r.Items = slices.DeleteFunc(r.Items, func(item schemas.MemoryItem) bool { return fromOthers(item.Scope) })
	reply.Known = given - len(r.Items)
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
	states, err := d.known(ctx, all)
	if err != nil {
		return reply, err
	}
	for i, t := range all {
		known := states.Of(t.key).Known()
		if err := d.importItem(ctx, t, r.Items[i], states); err != nil {
			return reply, err
		}
		if known {
			reply.Known++
			continue
		}
		reply.Imported++
		if len(t.recorded.Redacted) > len(r.Items[i].Redacted) {
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
	if item.MergedInto != "" {
		t.into = schemas.ObservationKey{Scope: t.key.Scope, ID: item.MergedInto}
	}
	p := &t.recorded
	p.Text, p.Category = redactText(item.Text), redactText(item.Category)
	p.Verdict, p.Confidence, p.GateVersion, p.Fallback = item.Verdict, min(max(item.Confidence, 0), 1), item.GateVersion, item.Fallback
	p.Reason = excerpt.RunesWith(redactText(item.Reason), reasonRunes, "")
	p.Redacted = append(append([]string(nil), item.Redacted...), p.Redacted...)
	return t, nil
}

// importItem records what is new of an observation. Searches see all of it at
// once.
func (d *Service) importItem(ctx context.Context, t taken, item schemas.MemoryItem, states observation.Standing) (err error) {
	m := d.kept
	m.index.mu.Lock()
	defer m.index.mu.Unlock()
	state := states.Of(t.key)
	command := observation.Import{Item: item, Recorded: t.recorded, Into: states.LeadsTo(t.into), Now: d.Now()}
	if item.Forgotten == nil {
		if command.Recorded, err = m.seal(state, t.recorded, item.Lost); err != nil {
			return err
		}
	}
	decision, err := observation.Decide(state, command)
	if err == nil {
		states[t.key], err = d.carryOut(ctx, schemas.Actor{}, state, decision)
	}
	return err
}

// seal seals the record of an observation that is to be taken in, under a key of
// its own that is durable; one that is known is left as it is. One whose text was
// lost elsewhere gets a key that nobody keeps, so that it is as unreadable here.
func (m *Store) seal(s observation.State, r schemas.ObservationRecorded, lost bool) (schemas.ObservationRecorded, error) {
	switch {
	case s.Known():
		return r, nil
	case lost:
		if err := m.keys.erase(s.ObservationKey); err != nil {
			return r, err
		}
		return observation.Seal(r, s.Scope, random(observation.KeyBytes), random(observation.NonceBytes))
	}
	keys, err := m.keys.make([]schemas.ObservationKey{s.ObservationKey})
	if err != nil {
		return r, err
	}
	return observation.Seal(r, s.Scope, keys[0], random(observation.NonceBytes))
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// person is who acts with the admin credential where no channel is named.
var person = enforcement.Person(enforcement.ChannelTerminal)
