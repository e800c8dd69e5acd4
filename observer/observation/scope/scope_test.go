package scope_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/observer/observation/scope"
	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas/digest"
)

// person signs. The recipients of these tests are names: nothing is encrypted to them.
type person struct {
	t           testing.TB
	key, public string
	card        json.RawMessage
	recipient   string
	number      int
}

func newPerson(t testing.TB, name string) *person {
	p := &person{t: t, recipient: "age1" + name}
	var err error
	if p.key, err = evidence.NewKey(name); err == nil {
		_, p.public, err = evidence.ReadKey(p.key)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.card = p.sign(scope.CardType, scope.Card{Person: p.public, Recipient: p.recipient})
	return p
}

func (p *person) sign(kind string, payload any) json.RawMessage {
	signer, _, err := evidence.ReadKey(p.key)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := json.Marshal(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	raw, err := attest.Seal(kind, body, signer)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}

func key(epoch int) []byte  { return bytes.Repeat([]byte{byte(epoch)}, scope.KeyBytes) }
func nonce(b int) []byte    { return bytes.Repeat([]byte{byte(b)}, scope.NonceBytes) }
func sum(raw []byte) string { return digest.Hex(payload(raw)) }
func payload(e []byte) []byte {
	var in struct {
		Payload []byte `json:"payload"`
	}
	_ = json.Unmarshal(e, &in) // nothing then
	return in.Payload
}

// record is the next of a person, with its tombstone.
func (p *person) record(epoch int, text string, change ...func(*scope.Record)) (raw, tomb json.RawMessage) {
	p.number++
	r := scope.Record{Scope: "team", Epoch: epoch, Author: p.recipient, Number: p.number}
	for _, c := range change {
		c(&r)
	}
	r, err := scope.Seal(r, scope.Content{Text: text, Time: time.Unix(1e9, 0).UTC()}, key(epoch), key(100+p.number), [2][]byte{nonce(1), nonce(2)})
	if err != nil {
		p.t.Fatal(err)
	}
	raw = p.sign(scope.RecordType, r)
	return raw, p.sign(scope.TombstoneType, scope.Tombstone{Scope: "team", Author: r.Author, Number: r.Number, Record: sum(raw)})
}

// world is a scope of an owner, with bob until epoch 3, and carol from then on.
type world struct {
	owner, bob, carol, mallory *person
	rosters                    []json.RawMessage
	s                          scope.Scope // with all of them, and what follows
	one, two, gone, tomb       json.RawMessage
}

func (w *world) next(s scope.Scope, change func(*scope.Roster), add []json.RawMessage, without ...string) json.RawMessage {
	w.owner.t.Helper()
	r, _, err := s.Next(w.owner.public, add, without, time.Unix(1e9, 0).UTC())
	if err != nil {
		w.owner.t.Fatal(err)
	}
	r.Check, r.Key = scope.KeyCheck("team", r.Epoch, key(r.Epoch)), []byte("an age file")
	if change != nil {
		change(&r)
	}
	return w.owner.sign(scope.RosterType, r)
}

func newWorld(t testing.TB) *world {
	w := &world{owner: newPerson(t, "owner"), bob: newPerson(t, "bob"), carol: newPerson(t, "carol"), mallory: newPerson(t, "mallory")}
	w.s = scope.Scope{Name: "team", Owner: w.owner.public}
	w.take(w.next(w.s, nil, []json.RawMessage{w.owner.card}))
	w.take(w.next(w.s, nil, []json.RawMessage{w.bob.card}))
	w.one, _ = w.bob.record(2, "one")
	w.two, _ = w.owner.record(2, "two")
	w.gone, w.tomb = w.bob.record(2, "gone")
	for _, raw := range []json.RawMessage{w.one, w.two, w.gone} {
		w.record(raw)
	}
	w.take(w.next(w.s, nil, []json.RawMessage{w.carol.card}, w.bob.recipient))
	next, _, err := w.s.TakeTombstone(w.tomb)
	if err != nil {
		t.Fatal(err)
	}
	w.s = next
	return w
}

func (w *world) take(raw json.RawMessage) {
	w.owner.t.Helper()
	next, err := w.s.TakeRoster(raw)
	if err != nil {
		w.owner.t.Fatal(err)
	}
	w.s, w.rosters = next, append(w.rosters, raw)
}

func (w *world) record(raw json.RawMessage) {
	w.owner.t.Helper()
	next, _, _, err := w.s.TakeRecord(raw)
	if err != nil {
		w.owner.t.Fatal(err)
	}
	w.s = next
}

// alter changes the payload of an envelope and leaves its signature.
func alter(raw json.RawMessage, from, to string) json.RawMessage {
	body := bytes.Replace(payload(raw), []byte(from), []byte(to), 1)
	return json.RawMessage(strings.Replace(string(raw), base64.StdEncoding.EncodeToString(payload(raw)), base64.StdEncoding.EncodeToString(body), 1))
}

// TestNothingForgedIsTaken: what a hub, a stranger and a member who left may try.
func TestNothingForgedIsTaken(t *testing.T) {
	w := newWorld(t)
	unused, unusedTomb := w.owner.record(3, "unused")
	carols, _ := w.carol.record(3, "carol's")
	dated, _ := w.bob.record(2, "dated back")
	late, _ := w.bob.record(3, "late")
	w.bob.number = 0
	other, _ := w.bob.record(2, "another one") // under number 1
	w.owner.number = 0
	fork, _ := w.owner.record(3, "another two") // under number 1
	signedAs := func(as string) json.RawMessage {
		r, _ := w.mallory.record(3, "x", func(r *scope.Record) { r.Author = as })
		return r
	}
	stranger := w.mallory.sign(scope.CardType, scope.Card{Person: w.carol.public, Recipient: w.mallory.recipient})
	before := w.s
	for name, raw := range map[string]json.RawMessage{
		"an altered ciphertext":                    alter(unused, `"sealed":"`, `"sealed":"A`),
		"an altered key":                           alter(unused, `"key":"`, `"key":"A`),
		"another epoch":                            alter(unused, `"epoch":3`, `"epoch":2`),
		"another scope":                            alter(unused, `"team"`, `"teal"`),
		"another number":                           alter(unused, `"number":2`, `"number":7`),
		"another author":                           alter(unused, w.owner.recipient, w.carol.recipient),
		"a record of a stranger":                   signedAs(w.mallory.recipient),
		"a record of a stranger as the owner's":    signedAs(w.owner.recipient),
		"a record of a stranger as carol's":        signedAs(w.carol.recipient),
		"a record of who left, in a later epoch":   late,
		"a record of who left, dated back":         dated,
		"another record under a number of his":     other,
		"another record under a number of another": fork,
		"an epoch of a stranger":                   w.mallory.sign(scope.RosterType, scope.Roster{Scope: "team", Epoch: 4, Owners: []string{w.mallory.public}, Members: []json.RawMessage{w.mallory.card}, Key: []byte("k")}),
		"an epoch of a member":                     w.carol.sign(scope.RosterType, scope.Roster{Scope: "team", Epoch: 4, Before: w.s.Sums[2], Owners: []string{w.carol.public}, Members: []json.RawMessage{w.carol.card}, Key: []byte("k")}),
		"an altered list of members":               alter(w.rosters[2], `"check":"`, `"check":"0`),
		"another list for an epoch":                w.next(scope.Scope{Name: "team", Owner: w.owner.public, Rosters: w.s.Rosters[:2], Sums: w.s.Sums[:2]}, nil, []json.RawMessage{w.mallory.card}),
		"a list that does not follow":              w.next(w.s, func(r *scope.Roster) { r.Before = w.s.Sums[0] }, []json.RawMessage{w.mallory.card}),
		"a list with a stranger's card for carol":  w.next(w.s, func(r *scope.Roster) { r.Members = append(r.Members, stranger) }, nil),
		"a list with a member twice":               w.next(w.s, func(r *scope.Roster) { r.Members = append(r.Members, r.Members[0]) }, nil),
		"a list without a key":                     w.next(w.s, func(r *scope.Roster) { r.Key = nil }, nil),
		"a list without members":                   w.next(w.s, func(r *scope.Roster) { r.Members = nil }, nil),
		"a tombstone of a stranger":                w.mallory.sign(scope.TombstoneType, scope.Tombstone{Scope: "team", Author: w.owner.recipient, Number: 1, Record: sum(w.two)}),
		"a tombstone of another member":            w.carol.sign(scope.TombstoneType, scope.Tombstone{Scope: "team", Author: w.owner.recipient, Number: 1, Record: sum(w.two)}),
		"an altered tombstone":                     alter(unusedTomb, `"number":2`, `"number":1`),
		"a record as a list":                       json.RawMessage(strings.Replace(string(unused), scope.RecordType, scope.RosterType, 1)),
		"a tombstone as a record":                  json.RawMessage(strings.Replace(string(w.tomb), scope.TombstoneType, scope.RecordType, 1)),
		"no envelope":                              json.RawMessage(`{"payload":7}`),
		"too much":                                 append(slices.Clone(unused), bytes.Repeat([]byte(" "), scope.MaxEnvelope)...),
	} {
		if err := refuses(w.s, raw); !errors.Is(err, scope.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !reflect.DeepEqual(before, w.s) {
		t.Error("a refusal changed what is believed")
	}
	// What was known, or destroyed, changes nothing, from wherever it comes back.
	for name, raw := range map[string]json.RawMessage{"an old list": w.rosters[0], "an old record": w.one, "one that was destroyed": w.gone, "its tombstone": w.tomb} {
		if err := refuses(w.s, raw); !errors.Is(err, scope.ErrKnown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, r, _, _ := w.s.TakeRecord(w.gone); r.Author != "" {
		t.Error("what was destroyed is handed out")
	}
	w.record(unused)
	w.record(carols)
}

// refuses takes what an envelope says that it is.
func refuses(s scope.Scope, raw json.RawMessage) (err error) {
	c, err := scope.Peek(raw)
	switch c.Type {
	case scope.RosterType:
		_, err = s.TakeRoster(raw)
	case scope.RecordType:
		_, _, _, err = s.TakeRecord(raw)
	case scope.TombstoneType:
		_, _, err = s.TakeTombstone(raw)
	case scope.CardType:
		if _, err = scope.OpenCard(raw); err == nil {
			err = scope.ErrKnown
		}
	}
	return err
}

// TestAFormerOwnerDecidesNothing hands the scope to carol: from then on her lists count,
// and none of the former owner's, whether it follows, is put in an earlier one's place or
// comes again.
func TestAFormerOwnerDecidesNothing(t *testing.T) {
	w := newWorld(t)
	before := w.s
	for _, name := range []string{"bob", "owner", w.owner.public, "", "carol+"} {
		if _, err := before.Newest().HandTo(name, w.owner.public); err == nil {
			t.Errorf("%q got the scope", name)
		}
	}
	hand := func(r *scope.Roster) {
		var err error
		if *r, err = r.HandTo("carol", w.owner.public); err != nil {
			t.Fatal(err)
		}
	}
	w.take(w.next(before, hand, nil))
	if now := w.s.Newest().Owners; !slices.Equal(now, []string{w.carol.public}) || !slices.Equal(before.Newest().Owners, []string{w.owner.public}) {
		t.Fatalf("it is owned by %v", now)
	}
	follows := func(r *scope.Roster) { r.Epoch, r.Before = 5, w.s.Sums[3] }
	for what, raw := range map[string]json.RawMessage{
		"the next list":            w.next(before, follows, []json.RawMessage{w.mallory.card}),
		"another one in its place": w.next(before, nil, []json.RawMessage{w.mallory.card}),
	} {
		if _, err := w.s.TakeRoster(raw); err == nil || errors.Is(err, scope.ErrKnown) {
			t.Errorf("%s of the former owner: %v", what, err)
		}
	}
	for i, raw := range w.rosters {
		if _, err := w.s.TakeRoster(raw); !errors.Is(err, scope.ErrKnown) {
			t.Errorf("list %d again: %v", i+1, err)
		}
	}
	if _, _, err := w.s.Next(w.owner.public, nil, nil, time.Now()); err == nil {
		t.Error("the former owner makes a list")
	}
	w.owner = w.carol
	w.take(w.next(w.s, nil, nil, "age1owner"))
}

// TestWhatIsSealedOpensInItsPlace and under its epoch's key alone.
func TestWhatIsSealedOpensInItsPlace(t *testing.T) {
	p := newPerson(t, "ann")
	raw, _ := p.record(2, "said")
	var r scope.Record
	if err := json.Unmarshal(payload(raw), &r); err != nil {
		t.Fatal(err)
	}
	if c, err := r.Open(key(2)); err != nil || c.Text != "said" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := r.Open(key(3)); !errors.Is(err, scope.ErrRefused) {
		t.Errorf("with a later key: %v", err)
	}
	for name, change := range map[string]func(*scope.Record){
		"scope": func(r *scope.Record) { r.Scope = "other" }, "epoch": func(r *scope.Record) { r.Epoch++ },
		"author": func(r *scope.Record) { r.Author += "x" }, "number": func(r *scope.Record) { r.Number++ },
		"key": func(r *scope.Record) { r.Key[20] ^= 1 }, "text": func(r *scope.Record) { r.Sealed[20] ^= 1 }, "neither": func(r *scope.Record) { r.Key, r.Sealed = r.Sealed, r.Key },
	} {
		moved := r
		moved.Key, moved.Sealed = slices.Clone(r.Key), slices.Clone(r.Sealed)
		if change(&moved); true {
			if _, err := moved.Open(key(2)); !errors.Is(err, scope.ErrRefused) {
				t.Errorf("another %s: %v", name, err)
			}
		}
	}
}

// TestAnyOrderGivesTheSame: messages come in any order, doubled and again, and what comes
// is believed in the end; what does not come is missed where something later did.
func TestAnyOrderGivesTheSame(t *testing.T) {
	w := newWorld(t)
	three, _ := w.carol.record(3, "three")
	w.record(three)
	all := append(slices.Clone(w.rosters), w.one, w.two, w.gone, w.tomb, three)
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.SliceOfN(rapid.SampledFrom(all), 0, 30).Draw(t, "order")
		s := scope.Scope{Name: "team", Owner: w.owner.public}
		pass := func(raws []json.RawMessage) {
			for _, raw := range raws {
				c, _ := scope.Peek(raw)
				var next scope.Scope
				var err error
				switch c.Type {
				case scope.RosterType:
					next, err = s.TakeRoster(raw)
				case scope.RecordType:
					next, _, _, err = s.TakeRecord(raw)
				default:
					next, _, err = s.TakeTombstone(raw)
				}
				if err == nil {
					s = next
				}
			}
		}
		pass(order)
		for range 2 {
			pass(all)
		}
		if !reflect.DeepEqual(s.Seen, w.s.Seen) || !slices.Equal(s.Sums, w.s.Sums) || len(s.Missing()) > 0 {
			t.Fatalf("%v, want %v; missing %v", s.Seen, w.s.Seen, s.Missing())
		}
	})
	s := w.s
	s.Seen = maps.Clone(s.Seen)
	s.Seen[w.bob.recipient] = map[int]scope.Seen{2: s.Seen[w.bob.recipient][2]}
	if n := s.Missing(); len(n) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(n))[0], "bob+") {
		t.Errorf("one of bob's did not come: %v", n)
	}
}

// FuzzTake: any bytes are taken or refused, and nobody's are taken that nobody signed.
func FuzzTake(f *testing.F) {
	w := newWorld(f)
	f.Add([]byte(w.rosters[0]))
	f.Add([]byte(w.one))
	f.Add([]byte(w.tomb))
	f.Add([]byte(w.bob.card))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := refuses(w.s, raw); err == nil {
			t.Errorf("taken: %q", raw)
		}
	})
}
