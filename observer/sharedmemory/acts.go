package sharedmemory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/excerpt"
)

func sortedNames(all map[string]*known) []string { return slices.Sorted(maps.Keys(all)) }

func plural(n int, one string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Second) }

// toSign asks a person to sign a payload.
func toSign(kind string, payload any) (one schemas.ScopeToSign, err error) {
	one.Type = kind
	one.Payload, err = json.Marshal(payload)
	return one, err
}

// certify makes sure that the card of this machine is certified by who asks. A card that
// was signed is taken off what the request holds.
func (s *Service) certify(r *schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	if c, err := scope.OpenCard(s.kept.Card); err == nil && c.Person == r.Person && c.Recipient == s.kept.recipient() {
		return reply, nil
	}
	if len(r.Signed) > 0 {
		c, err := scope.OpenCard(r.Signed[0])
		if err == nil && (c.Recipient != s.kept.recipient() || c.Person != r.Person) {
			err = schemas.Faultf(schemas.CodeRefused, "this is the card of another machine, or of another person")
		}
		if err != nil {
			return reply, err
		}
		s.kept.Card, r.Signed = r.Signed[0], r.Signed[1:]
		return reply, s.kept.save(s.Folder)
	}
	one, err := toSign(scope.CardType, scope.Card{Person: r.Person, Recipient: s.kept.recipient(), Made: s.now()})
	reply.Sign = []schemas.ScopeToSign{one}
	return reply, err
}

// change makes the next list of members: a draft, which its owner signs.
func (s *Service) change(ctx context.Context, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	if reply, err = s.certify(&r); err != nil || len(reply.Sign) > 0 {
		return reply, err
	}
	k := s.kept.Scopes[r.Name]
	switch {
	case r.Act == schemas.ScopeNew && k != nil:
		return reply, schemas.Faultf(schemas.CodeConflict, "there is a scope %s here, of %s", r.Name, scope.NameOf(k.Owner))
	case r.Act == schemas.ScopeNew:
		k = &known{Owner: r.Person, Keys: map[int][]byte{}, mine: map[int]mine{}, is: scope.Scope{Name: r.Name, Owner: r.Person}, Restores: s.restores}
		r.Add = append([]string{string(s.kept.Card)}, r.Add...)
	case k == nil:
		_, err := s.known(r.Name)
		return reply, err
	case len(r.Add)+len(r.Remove)+len(r.Owner) == 0:
		return reply, schemas.Faultf(schemas.CodeBadRequest, "nobody comes and nobody goes")
	}
	if len(r.Signed) > 0 {
		return s.changed(ctx, k, r)
	}
	add, err := s.find(r.Add)
	if err != nil {
		return reply, err
	}
	without, err := leaving(k.is.Newest(), r.Remove, s.kept.recipient())
	if err != nil {
		return reply, err
	}
	next, fresh, err := k.is.Next(r.Person, add, without, s.now())
	if err == nil && r.Owner != "" {
		next, err = next.HandTo(r.Owner, r.Person)
	}
	if err != nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	for _, c := range next.Cards {
		if why := s.stranger(ctx, c); why != "" {
			return reply, schemas.Faultf(schemas.CodeRefused, "%s. Remove them, or have the release name them", why)
		}
	}
	var earlier map[int][]byte
	if r.Earlier {
		earlier = k.Keys
	}
	if next, err = sealRoster(next, fresh, earlier); err != nil {
		return reply, err
	}
	one, err := toSign(scope.RosterType, next)
	reply.Sign = []schemas.ScopeToSign{one}
	reply.Ask = fmt.Sprintf("From epoch %d on, what is shared with %s can be read by:\n", next.Epoch, r.Name)
	for _, c := range next.Cards {
		reply.Ask += "  " + c.Person + map[bool]string{true: "  (new)"}[slices.Contains(fresh, c)] + "\n"
	}
	if r.Owner != "" {
		reply.Ask += "Who comes in and who goes is then decided by " + scope.NameOf(next.Owners[0]) + ", and not by you.\n"
	}
	if r.Earlier {
		reply.Ask += "Who is new can also read what was shared before.\n"
	}
	return reply, err
}

// find are the cards of who is to come in.
func (s *Service) find(names []string) (cards []json.RawMessage, err error) {
	for _, one := range names {
		card := s.cards[one]
		if strings.HasPrefix(one, "{") {
			card = json.RawMessage(one)
		}
		if card == nil {
			return nil, schemas.Faultf(schemas.CodeNotFound, "no card of %.120q is here: they run writ memory scope --card, and you name the file, or at a hub their public key", one)
		}
		cards = append(cards, card)
	}
	return cards, nil
}

// leaving are the recipients of who is to go.
func leaving(r scope.Roster, names []string, me string) (all []string, err error) {
	for _, name := range names {
		found := len(all)
		for _, c := range r.Cards {
			if c.Called(name) {
				all = append(all, c.Recipient)
			}
		}
		if len(all) == found {
			return nil, schemas.Faultf(schemas.CodeNotFound, "%.120q is not in %s", name, r.Scope)
		}
	}
	if slices.Contains(all, me) {
		return nil, schemas.Faultf(schemas.CodeRefused, "the machine that makes the list stays in it")
	}
	return all, nil
}

// changed takes the list that the owner signed.
func (s *Service) changed(ctx context.Context, k *known, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	if err := s.roster(k, r.Signed[0]); err != nil {
		return reply, err
	}
	if k.Keys[k.is.Epoch()] == nil {
		return reply, schemas.Faultf(schemas.CodeRefused, "its key is not for this machine")
	}
	s.kept.Scopes[r.Name] = k
	reply.Message = fmt.Sprintf("Epoch %d of %s has %s. Who joins names the key %s", k.is.Epoch(), r.Name, plural(len(k.is.Newest().Cards), "member"), k.Owner)
	return reply, s.kept.save(s.Folder)
}

// roster takes a list of members, and what of its keys is for this machine.
func (s *Service) roster(k *known, raw json.RawMessage) error {
	next, err := k.is.TakeRoster(raw)
	if err != nil {
		return err
	}
	had := len(k.Keys)
	if _, is := next.Newest().Member(s.kept.recipient()); is {
		if err := openRoster(next, next.Newest(), s.kept.Identity, k.Keys); err != nil {
			k.find("%v", err)
		}
	}
	if k.early || len(k.Keys) > had+1 {
		k.early, s.again = false, true // what could not be taken is read again
	}
	k.is, k.Rosters = next, append(k.Rosters, raw)
	return nil
}

// join believes an owner, or nothing of a scope any more.
func (s *Service) join(r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	k := s.kept.Scopes[r.Name]
	if r.Act == schemas.ScopeLeave {
		if _, err := s.known(r.Name); err != nil {
			return reply, err
		}
		delete(s.kept.Scopes, r.Name)
		reply.Message = "Left " + r.Name + ": its keys are gone from here. Its owner takes you out of the list; what came stays until you forget it"
		return reply, s.kept.save(s.Folder)
	}
	if k != nil && k.Owner != r.Owner {
		return reply, schemas.Faultf(schemas.CodeConflict, "%s is known as one of %s. Leave that first: writ memory scope %s --leave", r.Name, k.Owner, r.Name)
	}
	if reply, err = s.certify(&r); err != nil || len(reply.Sign) > 0 || k != nil {
		return reply, err
	}
	if !strings.Contains(r.Owner, "+") {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "%.120q is no public key, NAME+HASH+BASE64, as its owner tells it", r.Owner)
	}
	k = &known{Owner: r.Owner, Keys: map[int][]byte{}, is: scope.Scope{Name: r.Name, Owner: r.Owner}}
	if k.mine, err = own(s.Folder, r.Name); err != nil {
		return reply, err
	}
	if s.hub == nil { // else it is read now
		k.Restores = s.restores
	}
	s.kept.Scopes[r.Name], s.again = k, true
	reply.Message = "Joined " + r.Name + ". Its owner adds you by your card: writ memory scope --card"
	return reply, s.kept.save(s.Folder)
}

// share seals an observation for a scope: a draft, with its tombstone, that its author
// signs.
func (s *Service) share(ctx context.Context, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	k, err := s.known(r.Name)
	if err != nil {
		return reply, err
	}
	newest, me := k.is.Newest(), s.kept.recipient()
	card, inside := newest.Member(me)
	item, err := s.Memory.Accepted(ctx, r.ID, r.From)
	if err != nil {
		return reply, err
	}
	of := schemas.ObservationKey{Scope: item.Scope, ID: item.ObservationID}
	text := s.Memory.Clean(item.Text)
	switch {
	case !inside || k.Keys[newest.Epoch] == nil:
		err = schemas.Faultf(schemas.CodeRefused, "this machine is not in %s: its owner adds it (writ memory scope %s)", r.Name, r.Name)
	case card.Person != r.Person:
		err = schemas.Faultf(schemas.CodeRefused, "this machine is in %s for %s, and your key is %s", r.Name, card.Name(), scope.NameOf(r.Person))
	case len(text) > scope.MaxText:
		err = schemas.Faultf(schemas.CodeRefused, "it has %d bytes, and at most %d are shared", len(text), scope.MaxText)
	case k.Restores != s.restores:
		err = schemas.Faultf(schemas.CodeRefused, "this machine was put back from a backup, and what it shared with %s since is not read yet: it is once the hub is reached, or with writ memory scope --take of a folder that has it. Where it shared nothing there, leave the scope and join it again", r.Name)
	case k.shared(of):
		err = schemas.Faultf(schemas.CodeConflict, "%s is shared with %s already", r.ID, r.Name)
	case k.last(me) >= scope.MaxNumber:
		err = schemas.Faultf(schemas.CodeRefused, "%d observations were shared with %s from here, and more are not taken: begin another scope", scope.MaxNumber, r.Name)
	}
	for _, c := range newest.Cards {
		if why := s.stranger(ctx, c); err == nil && why != "" {
			err = schemas.Faultf(schemas.CodeRefused, "%s: nothing is shared with them. The owner of %s removes them", why, r.Name)
		}
	}
	if err != nil {
		return reply, err
	}
	if len(r.Signed) > 0 {
		return s.shared(ctx, k, of, r)
	}
	record := scope.Record{Scope: r.Name, Epoch: newest.Epoch, Author: me, Number: k.last(me) + 1, Made: s.now()}
	content := scope.Content{Text: text, Category: s.Memory.Clean(item.Category), Time: item.Time}
	record, err = scope.Seal(record, content, k.Keys[newest.Epoch], draw(scope.KeyBytes), [2][]byte{draw(scope.NonceBytes), draw(scope.NonceBytes)})
	if err != nil {
		return reply, err
	}
	one, err := toSign(scope.RecordType, record)
	if err != nil {
		return reply, err
	}
	other, err := toSign(scope.TombstoneType, scope.Tombstone{Scope: r.Name, Author: me, Number: record.Number, Record: digest.Hex(one.Payload)})
	reply.Sign = []schemas.ScopeToSign{one, other}
	reply.Ask = fmt.Sprintf("This would be read by %s of %s, and their agents:\n  %s\nWho read it may keep it.\n", plural(len(newest.Cards), "member"), r.Name, excerpt.Line(text))
	return reply, err
}

func (k *known) shared(of schemas.ObservationKey) bool {
	for _, m := range k.mine {
		if m.Of == of && m.Record != nil {
			return true
		}
	}
	return false
}

// last is the highest number that was given to an observation of this machine.
func (k *known) last(me string) int {
	last := k.is.Last(me)
	for n := range k.mine {
		last = max(last, n)
	}
	return last
}

// shared takes what the author signed. It is kept, and in the log, before it leaves.
func (s *Service) shared(ctx context.Context, k *known, of schemas.ObservationKey, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	if len(r.Signed) != 2 {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "a record and its tombstone are signed")
	}
	next, record, _, err := k.is.TakeRecord(r.Signed[0])
	if errors.Is(err, scope.ErrKnown) || err == nil && (record.Author != s.kept.recipient() || record.Number != k.last(record.Author)+1) {
		err = schemas.Faultf(schemas.CodeConflict, "something else was shared meanwhile: share it again")
	}
	if err != nil {
		return reply, err
	}
	if _, err := record.Open(k.Keys[record.Epoch]); err != nil {
		return reply, err
	}
	sum := next.Seen[record.Author][record.Number].Digest
	if _, t, err := next.TakeTombstone(r.Signed[1]); err != nil || t.Author != record.Author || t.Number != record.Number || t.Record != sum {
		return reply, schemas.Faultf(schemas.CodeRefused, "its tombstone is not its own")
	}
	m := mine{Of: of, Number: record.Number, Record: r.Signed[0], Tombstone: r.Signed[1]}
	if err := m.save(s.Folder, r.Name); err != nil {
		return reply, err
	}
	k.mine[m.Number], k.is = m, next
	_, err = bus.Record(ctx, s.Log, schemas.Event{Actor: enforcement.Person(enforcement.ChannelTerminal), Aggregate: schemas.Memory(of.Scope), Data: schemas.ObservationShared{
		ObservationID: of.ID, With: r.Name, Epoch: record.Epoch, Number: record.Number, Digest: sum, Person: r.Person,
	}})
	reply.Message = fmt.Sprintf("Shared %s with %s of %s", of.ID, plural(len(k.is.Newest().Cards), "member"), r.Name)
	if s.hub == nil {
		reply.Message += ". No hub is joined: writ memory scope " + r.Name + " --out DIR writes it to a folder, for --take there"
	}
	return reply, errors.Join(err, s.kept.save(s.Folder))
}

// Extension ends the names of files that carry shared memory.
const Extension = ".shared"

// maxFiles bounds a folder.
const maxFiles = 20_000

// outgoing is what others need of a scope, by the name of its file or the end of its
// subject: the lists of members, if this machine's person makes them, and what was shared
// from here, or its tombstone.
func (s *Service) outgoing(name string, k *known) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	me, _ := scope.OpenCard(s.kept.Card)
	if k.Owner == me.Person || slices.Contains(k.is.Newest().Owners, me.Person) {
		for i, raw := range k.Rosters {
			all[fmt.Sprintf("%s.epoch.%d", name, i+1)] = raw
		}
	}
	for n, m := range k.mine {
		raw := m.Record
		if raw == nil {
			raw = m.Tombstone
		}
		all[name+"."+scope.ID(s.kept.recipient(), n)] = raw
	}
	return all
}

func (s *Service) writeOut(r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	k, err := s.known(r.Name)
	if err == nil && !filepath.IsAbs(r.Dir) {
		err = schemas.Faultf(schemas.CodeBadRequest, "a folder is named by its absolute path, not %q", r.Dir)
	}
	if err != nil {
		return reply, err
	}
	all := s.outgoing(r.Name, k)
	for name, raw := range all {
		if err := atomicfile.Write(filepath.Join(r.Dir, name+Extension), append(slices.Clone(raw), '\n'), 0o644); err != nil {
			return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
		}
	}
	reply.Message = fmt.Sprintf("%d files of %s are in %s", len(all), r.Name, r.Dir)
	return reply, nil
}

// readIn takes what is in a folder: lists of members first, in their order.
func (s *Service) readIn(ctx context.Context, r schemas.ScopeRequest) (reply schemas.ScopeReply, err error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil || len(entries) > maxFiles || !filepath.IsAbs(r.Dir) {
		return reply, schemas.Faultf(schemas.CodeBadRequest, "the folder %q cannot be read, has more than %d files, or is not named by its absolute path: %v", r.Dir, maxFiles, err)
	}
	var all []json.RawMessage
	for _, e := range entries {
		if filepath.Ext(e.Name()) != Extension {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(r.Dir, e.Name()))
		if err != nil {
			return reply, schemas.Faultf(schemas.CodeRefused, "%v", err)
		}
		all = append(all, raw)
	}
	slices.SortStableFunc(all, func(a, b json.RawMessage) int { return order(a) - order(b) })
	for _, k := range s.kept.Scopes {
		k.met = false
	}
	for range 2 { // keys that came open what was there before them
		for _, raw := range all {
			if err := s.take(ctx, raw); err != nil {
				return reply, err
			}
		}
	}
	for _, k := range s.kept.Scopes {
		if k.met {
			k.Restores = s.restores
		}
	}
	reply.Message = fmt.Sprintf("%d files were read", len(all))
	return reply, s.kept.save(s.Folder)
}

// order puts lists of members before all else, by epoch.
func order(raw json.RawMessage) int {
	c, err := scope.Peek(raw)
	if err != nil || c.Type != scope.RosterType {
		return scope.MaxEpochs + 1
	}
	return min(c.Epoch, scope.MaxEpochs)
}
