package sharedmemory

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/rights"
	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
)

const (
	// every is between two looks at the hub, and at what was forgotten here.
	every = 400 * time.Millisecond
	// lookEvery is after how many of these it is asked whether it still has what it had.
	lookEvery = 5
	// maxCards is how many cards of others are kept at hand.
	maxCards = 1000
)

// run exchanges until the context ends. Without a scope it waits for one.
func (s *Service) run(ctx context.Context) {
	for {
		pause := time.Hour
		s.mu.Lock()
		any := len(s.kept.Scopes) > 0 || s.kept.Card != nil
		s.mu.Unlock()
		if any {
			pause = every
			if err := s.round(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Debug("shared memory", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-time.After(pause):
		}
	}
}

// round destroys what was forgotten here, reads what is new at the hub, and brings what
// it lacks.
func (s *Service) round(ctx context.Context) error {
	if err := s.withdraw(ctx); err != nil {
		return err
	}
	if s.hub == nil {
		return nil
	}
	err := s.Reached()
	if err == nil {
		err = s.read(ctx)
	}
	if err == nil {
		err = s.look(ctx)
	}
	if err == nil {
		err = s.bring(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = ""
	if err != nil {
		s.problem = err.Error()
	}
	return err
}

// withdraw replaces records whose observations were forgotten by their tombstones.
func (s *Service) withdraw(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := s.Memory.Changes()
	if changes == s.changes {
		return nil
	}
	for name, k := range s.kept.Scopes {
		var of []schemas.ObservationKey
		for _, m := range k.mine {
			if m.Record != nil {
				of = append(of, m.Of)
			}
		}
		gone, err := s.Memory.Forgotten(ctx, of)
		if err != nil {
			return err
		}
		for n, m := range k.mine {
			if m.Record == nil || !slices.Contains(gone, m.Of) {
				continue
			}
			m.Record = nil
			if err := m.save(s.Folder, name); err != nil {
				return err
			}
			k.mine[n] = m
			if next, _, err := k.is.TakeTombstone(m.Tombstone); err == nil {
				k.is = next
			}
			if err := s.kept.save(s.Folder); err != nil {
				return err
			}
		}
	}
	s.changes = changes
	return nil
}

// read takes what is new at the hub.
func (s *Service) read(ctx context.Context) error {
	s.mu.Lock()
	from := s.at
	if s.again {
		from, s.again = 0, false
	}
	s.mu.Unlock()
	for some := false; ; some = true {
		record, err := bus.NextOn(ctx, s.hub, rights.NextMemory, from, rights.MemorySubject(">"))
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return err
		}
		ended, err := s.readOne(ctx, record, err != nil, some)
		if ended || err != nil {
			return err
		}
		from = record.Seq
	}
}

// readOne takes a message of the hub, or notes that there is none.
func (s *Service) readOne(ctx context.Context, record schemas.Record, none, some bool) (ended bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if none {
		if s.again { // keys came that open what was there before
			s.wakeUp()
		}
		for _, k := range s.kept.Scopes {
			if !s.again && k.Restores != s.restores {
				k.Restores, some = s.restores, true
			}
		}
		if some {
			err = s.kept.save(s.Folder)
		}
		return true, err
	}
	if err := s.take(ctx, record.Message.Body); err != nil {
		return false, err
	}
	s.at = record.Seq
	if rights.OfMember(record.Message.Subject, s.Member) {
		s.there[record.Message.Subject] = digest.Hex(record.Message.Body)
	}
	return false, nil
}

// take takes one envelope. An error says that it could not be looked at now; what is
// refused is a finding.
func (s *Service) take(ctx context.Context, raw json.RawMessage) error {
	c, err := scope.Peek(raw)
	if err != nil {
		return nil //nolint:nilerr // nothing of ours
	}
	if c.Type == scope.CardType {
		if card, err := scope.OpenCard(raw); err == nil && len(s.cards) < maxCards {
			s.cards[card.Person] = raw
		}
		return nil
	}
	k := s.kept.Scopes[c.Scope]
	if k == nil {
		return nil
	}
	switch c.Type {
	case scope.RosterType:
		err = s.roster(k, raw)
	case scope.RecordType:
		err = s.record(ctx, k, raw)
	case scope.TombstoneType:
		err = s.tombstone(ctx, k, raw)
	}
	switch {
	case errors.Is(err, scope.ErrEarly):
		k.early = true
	case errors.Is(err, scope.ErrRefused):
		k.find("%v", err)
	case err != nil && !errors.Is(err, scope.ErrKnown):
		return err
	}
	return nil
}

// record hands what an author shared to the memory, where this machine can open it.
func (s *Service) record(ctx context.Context, k *known, raw json.RawMessage) error {
	next, r, by, err := k.is.TakeRecord(raw)
	if err != nil && !errors.Is(err, scope.ErrKnown) || r.Author == "" {
		return err
	}
	k.met = k.met || r.Author == s.kept.recipient()
	key := k.Keys[r.Epoch]
	if key == nil || r.Author == s.kept.recipient() {
		k.is = next
		return nil
	}
	content, err := r.Open(key)
	if err == nil {
		err = s.Memory.Take(ctx, schemas.MemoryItem{
			ObservationID: scope.ID(r.Author, r.Number), Scope: schemas.MemoryShared + k.is.Name,
			Text: content.Text, Category: content.Category, Time: content.Time, Source: by.Name(),
		})
	}
	if err == nil {
		k.is = next
	}
	return err
}

// tombstone forgets what an author destroyed.
func (s *Service) tombstone(ctx context.Context, k *known, raw json.RawMessage) error {
	next, t, err := k.is.TakeTombstone(raw)
	if err != nil && !errors.Is(err, scope.ErrKnown) {
		return err
	}
	if k.met = k.met || t.Author == s.kept.recipient(); err != nil {
		return err
	}
	if t.Author != s.kept.recipient() {
		err = s.Memory.Forget(ctx, schemas.ObservationKey{Scope: schemas.MemoryShared + k.is.Name, ID: scope.ID(t.Author, t.Number)}, "its author had it forgotten")
	} else if m := k.mine[t.Number]; m.Record != nil { // a backup brought it back
		m.Record = nil
		if err = m.save(s.Folder, k.is.Name); err == nil {
			k.mine[t.Number] = m
		}
	}
	if err == nil {
		k.is = next
	}
	return err
}

// wanted is what the hub is to have under this member's name, by subject.
func (s *Service) wanted() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if s.kept.Card != nil {
		all[rights.MemorySubject(s.Member+".card")] = s.kept.Card
	}
	for name, k := range s.kept.Scopes {
		for end, raw := range s.outgoing(name, k) {
			all[rights.MemorySubject(s.Member+"."+end)] = raw
		}
	}
	return all
}

// bring brings what the hub lacks.
func (s *Service) bring(ctx context.Context) error {
	s.mu.Lock()
	all := s.wanted()
	for subject, raw := range all {
		if s.there[subject] == digest.Hex(raw) {
			delete(all, subject)
		}
	}
	s.mu.Unlock()
	subjects := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if by := order(all[a]) - order(all[b]); by != 0 {
			return by
		}
		return len(a) - len(b)
	})
	for _, subject := range subjects {
		if err := s.hub.Deliver(ctx, subject, all[subject]); err != nil {
			return err
		}
		s.mu.Lock()
		s.there[subject] = digest.Hex(all[subject])
		s.mu.Unlock()
	}
	return nil
}

// look asks now and then whether the hub still has what it had: the last that was read,
// or something later, and in turns each that is this member's. Of one that lost something
// all is read anew, and it is brought what it lacks.
func (s *Service) look(ctx context.Context) error {
	s.mu.Lock()
	s.looked++
	at, subjects := s.at, slices.Sorted(maps.Keys(s.there))
	s.mu.Unlock()
	if s.looked%lookEvery != 0 || at == 0 {
		return nil
	}
	record, err := bus.NextOn(ctx, s.hub, rights.NextMemory, at-1, rights.MemorySubject(">"))
	holds := err == nil && record.Seq >= at
	if holds && len(subjects) > 0 {
		subject := subjects[s.looked/lookEvery%len(subjects)]
		record, err = bus.NextOn(ctx, s.hub, rights.NextMemory, 0, subject)
		s.mu.Lock()
		holds = err == nil && digest.Hex(record.Message.Body) == s.there[subject]
		s.mu.Unlock()
	}
	if holds || err != nil && !errors.Is(err, bus.ErrNotFound) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.there = 0, map[string]string{}
	for _, k := range s.kept.Scopes {
		k.find("the hub lost or changed something of this member's: it was read anew, and brought what it lacked")
	}
	return nil
}
