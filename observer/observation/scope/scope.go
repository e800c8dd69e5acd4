package scope

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Scope is what a member believes of one. Its methods change no value that they were
// called on.
type Scope struct {
	Name  string
	Owner string // public key, pinned: who signs the first roster
	// Rosters are those of the epochs, the first at 0, and Sums their digests.
	Rosters []Roster
	Sums    []string
	// Seen is what was taken of each author, by number.
	Seen map[string]map[int]Seen
}

// Seen is a record that was taken.
type Seen struct {
	Digest string `json:"digest"`
	Gone   bool   `json:"gone,omitempty"` // its tombstone was taken
}

// Epoch is the newest that is known, 0 for none.
func (s Scope) Epoch() int { return len(s.Rosters) }

// Newest is the roster that holds; the zero Roster before the first.
func (s Scope) Newest() Roster {
	if len(s.Rosters) == 0 {
		return Roster{}
	}
	return s.Rosters[len(s.Rosters)-1]
}

// Member is the card of who is in a roster under a recipient.
func (r Roster) Member(recipient string) (Card, bool) {
	at := slices.IndexFunc(r.Cards, func(c Card) bool { return c.Recipient == recipient })
	if at < 0 {
		return Card{}, false
	}
	return r.Cards[at], true
}

// author is the card that an author had in any epoch.
func (s Scope) author(recipient string) (Card, bool) {
	for _, r := range slices.Backward(s.Rosters) {
		if c, is := r.Member(recipient); is {
			return c, true
		}
	}
	return Card{}, false
}

// Next is the roster that would follow, without its keys: with some cards, and without
// the members of some recipients. made and who signs it are the caller's.
func (s Scope) Next(owner string, add []json.RawMessage, without []string, made time.Time) (next Roster, fresh []Card, err error) {
	was := s.Newest()
	next = Roster{Scope: s.Name, Epoch: was.Epoch + 1, Made: made, Owners: was.Owners}
	if was.Epoch == 0 {
		next.Owners = []string{owner}
	} else {
		next.Before = s.Sums[len(s.Sums)-1]
		if !slices.Contains(was.Owners, owner) {
			return next, nil, fmt.Errorf("%s is owned by %s", s.Name, NameOf(was.Owners[0]))
		}
	}
	for i, c := range was.Cards {
		if !slices.Contains(without, c.Recipient) {
			next.Members, next.Cards = append(next.Members, was.Members[i]), append(next.Cards, c)
			continue
		}
		if next.Kept == nil {
			next.Kept = map[string][]string{}
		}
		next.Kept[c.Recipient] = s.counting(c.Recipient)
	}
	for _, raw := range add {
		c, err := OpenCard(raw)
		if err != nil {
			return next, nil, err
		}
		if _, is := next.Member(c.Recipient); is {
			return next, nil, fmt.Errorf("%s is in %s already", c.Name(), s.Name)
		}
		next.Members, next.Cards, fresh = append(next.Members, raw), append(next.Cards, c), append(fresh, c)
	}
	return next, fresh, nil
}

// HandTo has a member own the scope from a roster on, in the place of the owner who is to
// sign it.
func (r Roster) HandTo(name, owner string) (Roster, error) {
	var to []string
	for _, c := range r.Cards {
		if c.Called(name) && !slices.Contains(to, c.Person) {
			to = append(to, c.Person)
		}
	}
	if len(to) != 1 || slices.Contains(r.Owners, to[0]) {
		return r, fmt.Errorf("%.120q is not one member of %s who does not own it yet", name, r.Scope)
	}
	r.Owners = slices.Clone(r.Owners)
	r.Owners[slices.Index(r.Owners, owner)] = to[0]
	return r, nil
}

// counting are the digests of an author's records that were not destroyed.
func (s Scope) counting(author string) []string {
	all := []string{}
	for _, n := range slices.Sorted(maps.Keys(s.Seen[author])) {
		if one := s.Seen[author][n]; !one.Gone {
			all = append(all, one.Digest)
		}
	}
	return all
}

// TakeRoster takes the next roster.
func (s Scope) TakeRoster(raw []byte) (Scope, error) {
	claim, err := Peek(raw)
	switch {
	case err != nil:
		return s, err
	case claim.Scope != s.Name:
		return s, refused("it is of %.60q", claim.Scope)
	case claim.Epoch < 1 || claim.Epoch > MaxEpochs:
		return s, refused("epoch %d", claim.Epoch)
	case claim.Epoch > len(s.Rosters)+1:
		return s, ErrEarly
	}
	owners := []string{s.Owner}
	if claim.Epoch > 1 {
		owners = s.Rosters[claim.Epoch-2].Owners
	}
	r, sum, err := open[Roster](RosterType, raw, owners...)
	if err != nil {
		return s, fmt.Errorf("no owner signed epoch %d of %s: %w", claim.Epoch, s.Name, err)
	}
	if r.Scope != s.Name || r.Epoch != claim.Epoch {
		return s, refused("it says two things of itself")
	}
	if r.Epoch <= len(s.Rosters) {
		if s.Sums[r.Epoch-1] != sum {
			return s, refused("fork: an owner signed two lists of members for epoch %d of %s", r.Epoch, s.Name)
		}
		return s, ErrKnown
	}
	if r.Epoch > 1 && r.Before != s.Sums[r.Epoch-2] {
		return s, refused("epoch %d of %s does not follow the one before", r.Epoch, s.Name)
	}
	if r.Cards, err = r.check(); err != nil {
		return s, err
	}
	s.Rosters, s.Sums = append(slices.Clip(s.Rosters), r), append(slices.Clip(s.Sums), sum)
	return s, nil
}

// check reads the cards of a roster.
func (r Roster) check() (cards []Card, err error) {
	if len(r.Members) == 0 || len(r.Members) > MaxMembers || len(r.Owners) == 0 || len(r.Owners) > MaxMembers || len(r.Key) == 0 {
		return nil, refused("epoch %d has %d members and %d owners", r.Epoch, len(r.Members), len(r.Owners))
	}
	for _, o := range r.Owners {
		if _, err := note.NewVerifier(o); err != nil {
			return nil, refused("the owner %.80q is no public key", o)
		}
	}
	for _, raw := range r.Members {
		c, err := OpenCard(raw)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(cards, func(has Card) bool { return has.Recipient == c.Recipient }) {
			return nil, refused("%s is in it twice", c.Name())
		}
		cards = append(cards, c)
	}
	return cards, nil
}

// TakeRecord takes a record, and returns it with the card of its author; the zero Record
// of one that was destroyed.
func (s Scope) TakeRecord(raw []byte) (next Scope, r Record, by Card, err error) {
	claim, err := Peek(raw)
	switch {
	case err != nil:
		return s, r, by, err
	case claim.Scope != s.Name:
		return s, r, by, refused("it is of %.60q", claim.Scope)
	case claim.Epoch > len(s.Rosters):
		return s, r, by, ErrEarly
	case claim.Epoch < 1 || claim.Number < 1 || claim.Number > MaxNumber:
		return s, r, by, refused("number %d of epoch %d", claim.Number, claim.Epoch)
	}
	by, is := s.Rosters[claim.Epoch-1].Member(claim.Author)
	if !is {
		return s, r, by, refused("its author was not in %s in epoch %d", s.Name, claim.Epoch)
	}
	r, sum, err := open[Record](RecordType, raw, by.Person)
	if err != nil {
		return s, r, by, fmt.Errorf("%s did not sign it: %w", by.Name(), err)
	}
	was, had := s.Seen[r.Author][r.Number]
	switch {
	case (Claim{RecordType, r.Scope, r.Epoch, r.Author, r.Number}) != claim:
		return s, r, by, refused("it says two things of itself")
	case had && was.Gone:
		return s, Record{}, by, ErrKnown
	case had && was.Digest == sum:
		return s, r, by, ErrKnown
	case had:
		return s, r, by, refused("fork: %s signed two observations as number %d", by.Name(), r.Number)
	case !s.counts(r.Author, sum):
		return s, r, by, refused("%s is not in %s any more, and it is none of what was there before", by.Name(), s.Name)
	}
	return s.with(r.Author, r.Number, Seen{Digest: sum}), r, by, nil
}

// counts says whether a record of an author is believed: who is a member no more signs
// what he likes, and dates it back.
func (s Scope) counts(author, sum string) bool {
	if _, is := s.Newest().Member(author); is {
		return true
	}
	for _, r := range slices.Backward(s.Rosters) {
		if kept, left := r.Kept[author]; left {
			return slices.Contains(kept, sum)
		}
	}
	return false
}

// TakeTombstone takes what destroys a record, whether that came or not.
func (s Scope) TakeTombstone(raw []byte) (next Scope, t Tombstone, err error) {
	claim, err := Peek(raw)
	switch {
	case err != nil:
		return s, t, err
	case claim.Scope != s.Name:
		return s, t, refused("it is of %.60q", claim.Scope)
	case claim.Number < 1 || claim.Number > MaxNumber:
		return s, t, refused("number %d", claim.Number)
	}
	by, is := s.author(claim.Author)
	if !is {
		return s, t, ErrEarly
	}
	t, _, err = open[Tombstone](TombstoneType, raw, by.Person)
	if err != nil {
		return s, t, fmt.Errorf("%s did not sign it: %w", by.Name(), err)
	}
	if t.Scope != s.Name || t.Author != by.Recipient || t.Number != claim.Number {
		return s, t, refused("it says two things of itself")
	}
	if s.Seen[t.Author][t.Number].Gone {
		return s, t, ErrKnown
	}
	return s.with(t.Author, t.Number, Seen{Digest: t.Record, Gone: true}), t, nil
}

func (s Scope) with(author string, number int, one Seen) Scope {
	all := maps.Clone(s.Seen)
	if all == nil {
		all = map[string]map[int]Seen{}
	}
	of := maps.Clone(all[author])
	if of == nil {
		of = map[int]Seen{}
	}
	of[number] = one
	all[author], s.Seen = of, all
	return s
}

// Last is the highest number of an author that was seen.
func (s Scope) Last(author string) (last int) {
	for n := range s.Seen[author] {
		last = max(last, n)
	}
	return last
}

// Missing are how many records of each author, by name, did not come though later ones of
// theirs did: who carries them withholds them, or they are on their way.
func (s Scope) Missing() map[string]int {
	all := map[string]int{}
	for author, seen := range s.Seen {
		if n := s.Last(author) - len(seen); n > 0 {
			c, _ := s.author(author)
			all[c.Name()] += n
		}
	}
	return all
}
