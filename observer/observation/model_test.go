package observation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
)

// notebook is what somebody who watched would know of an observation.
type notebook struct {
	text      string
	first     string // the verdict that it was recorded with
	changes   []string
	forgotten bool
	into      string
	read      string
	sessions  map[string]bool
	facts     []string // of a note
}

func (n *notebook) verdict() string {
	if len(n.changes) > 0 {
		return n.changes[len(n.changes)-1]
	}
	return n.first
}

func (n *notebook) open() bool {
	return n != nil && !n.forgotten && (n.verdict() == Allow || n.verdict() == "")
}

var (
	modelVerdicts = []string{Allow, Hold, Discard, "perhaps", ""}
	modelIDs      = []string{"a", "b", "c", "d", "e", "f"}
)

const modelScope = "/p"

type world struct {
	t      *rapid.T
	driven map[string]int
	states Standing
	keys   map[string][]byte
	log    []schemas.Message
	seen   map[string]bool // session and id, as a view keeps them
	made   int             // proposals

	is map[string]*notebook
}

func (w *world) intn(n int) int { return rapid.IntRange(0, n-1).Draw(w.t, "n") }

func pick[T any](w *world, from ...T) T { return from[w.intn(len(from))] }

func keyOf(id string) schemas.ObservationKey {
	return schemas.ObservationKey{Scope: modelScope, ID: id}
}

// The model test drives random commands against a few observations, the notes
// that are made of them, and what a log holds besides, and checks every answer
// against notebooks that know nothing of State.
func TestModel(t *testing.T) {
	integration.Checks(t)
	driven := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := &world{t: rt, driven: driven, states: Standing{}, keys: map[string][]byte{}, seen: map[string]bool{}, is: map[string]*notebook{}}
		for range 100 {
			w.step()
			w.invariants()
		}
		live := w.states
		w.states, w.seen = Standing{}, map[string]bool{}
		for seq, message := range w.log {
			w.read(message, seq+1)
		}
		if was, is := encode(rt, live), encode(rt, w.states); was != is {
			rt.Fatalf("the live states and their replay differ:\n%s\n%s", was, is)
		}
	})
	t.Logf("%v", driven)
	for _, event := range []string{
		"observation.recorded", "observation.regated", "observation.forgotten", "observation.merged", "proposal.triaged",
		"refused", "nothing", "unsealed", "cycle", "note forgotten", "note stricter", "imported",
	} {
		if driven["commands"] >= 4_000 && driven[event] < driven["commands"]/1000 {
			t.Errorf("only %d of %s: the model explores too little", driven[event], event)
		}
	}
}

func (w *world) step() {
	id := pick(w, modelIDs...)
	if notes := w.notes(); len(notes) > 0 && w.intn(6) == 0 {
		id = pick(w, notes...)
	}
	switch w.intn(13) {
	case 0, 1, 2:
		w.remember(id)
	case 3, 4:
		w.regate(id)
	case 5:
		if w.intn(3) == 0 {
			w.forget(id)
		}
	case 6, 7:
		w.merge(id, pick(w, modelIDs...))
	case 8:
		w.reflect()
	case 9:
		w.bring(id)
	case 10, 11:
		w.propose()
	case 12:
		w.stray(id)
	}
}

func (w *world) notes() (ids []string) {
	for id, n := range w.is {
		if n.facts != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// path is where an observation leads to by the merges in the notebooks.
func (w *world) path(id string) (ids []string) {
	for id != "" && len(ids) <= len(w.is)+1 {
		ids = append(ids, id)
		n := w.is[id]
		if n == nil {
			break
		}
		id = n.into
	}
	return ids
}

// do decides, checks the answer, and records it. want is the code of a refusal,
// or the types of the events.
func (w *world) do(id string, c Command, want ...string) Decision {
	state := w.states.Of(keyOf(id))
	before := encode(w.t, state)
	d, err := Decide(state, c)
	w.answered(fmt.Sprintf("%#v of %q", c, id), d, err, want)
	if encode(w.t, state) != before {
		w.t.Fatalf("%#v changed the state that it was decided on", c)
	}
	w.record(d.Record...)
	return d
}

func (w *world) answered(what string, d Decision, err error, want []string) {
	w.driven["commands"]++
	var got []string
	for _, e := range d.Record {
		got = append(got, string(e.Type()))
		w.driven[string(e.Type())]++
	}
	var fault schemas.Fault
	switch {
	case errors.As(err, &fault):
		got = append(got, fault.Code())
		w.driven["refused"]++
	case errors.Is(err, ErrUnsealed):
		got = append(got, "unsealed")
		w.driven["unsealed"]++
	case err != nil:
		w.t.Fatalf("%s: %v", what, err)
	case len(got) == 0:
		w.driven["nothing"]++
	}
	if !slices.Equal(got, want) || err != nil && d.Message != "" {
		w.t.Fatalf("%s: %v and %q, want %v (%v)", what, got, d.Message, want, err)
	}
}

// record appends events through the codec, and lets the view read them.
func (w *world) record(events ...schemas.Event) {
	for _, e := range events {
		e.ID, e.Source = fmt.Sprintf("event-%d", len(w.log)+1), "/writ/test"
		if e.Time.IsZero() {
			e.Time = time.Unix(int64(len(w.log)+1), 0).UTC()
		}
		message, err := schemas.Encode(e)
		if err != nil {
			w.t.Fatalf("%T cannot be encoded: %v", e.Data, err)
		}
		if bytes.Contains(message.Body, []byte("secret")) { // invariant 6
			w.t.Fatalf("the log tells %s", message.Body)
		}
		w.log = append(w.log, message)
		w.read(message, len(w.log))
	}
}

func (w *world) event(p schemas.Payload) {
	w.record(schemas.Event{Aggregate: schemas.Memory(modelScope), Data: p})
}

// read hands an event to the observations that it may name and to the others, and
// stores the states in between, as a view does.
func (w *world) read(message schemas.Message, seq int) {
	events, err := schemas.Decode(message)
	if err != nil {
		w.t.Fatal(err)
	}
	e := events[0]
	e.Position = schemas.Position{Stream: schemas.StreamMemory, Seq: uint64(seq)}
	named := map[string]bool{}
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		named[p.ObservationID] = true
	case schemas.ObservationForgotten:
		named[p.ObservationID] = true
	case schemas.MemoryShown:
		for _, hit := range p.Shown {
			if at := p.Session + "/" + hit.ObservationID; !w.seen[at] {
				w.seen[at], named[hit.ObservationID] = true, true
			}
		}
	}
	_, shown := e.Data.(schemas.MemoryShown)
	for k := range maps.Clone(w.states) {
		if !shown || named[k.ID] {
			w.fold(k, e)
			delete(named, k.ID)
		}
	}
	for id := range named {
		w.fold(keyOf(id), e)
	}
}

func (w *world) fold(k schemas.ObservationKey, e schemas.Event) {
	if s := Evolve(w.states[k], e); s.Known() {
		var stored State
		if err := json.Unmarshal([]byte(encode(w.t, s)), &stored); err != nil {
			w.t.Fatal(err)
		}
		w.states[k] = stored
	}
}

// sealed is the record of an observation, sealed under its key.
func (w *world) sealed(id, verdict string) (text string, r schemas.ObservationRecorded) {
	text = fmt.Sprintf("secret %d of %s", len(w.log), id)
	if w.keys[id] == nil {
		w.keys[id] = bytes.Repeat([]byte{byte(len(w.log))}, KeyBytes)
	}
	r = schemas.ObservationRecorded{ObservationID: id, Original: []byte(text), Text: text, Category: "secret", Reason: "secret", Verdict: verdict, Confidence: 0.5}
	sealed, err := Seal(r, modelScope, w.keys[id], bytes.Repeat([]byte{byte(len(w.log))}, NonceBytes))
	if err != nil {
		w.t.Fatal(err)
	}
	return text, sealed
}

func (w *world) remember(id string) {
	verdict := pick(w, Allow, Allow, Allow, Hold, Discard)
	if w.is[id] != nil {
		_, r := w.sealed(id, verdict)
		w.do(id, Remember{r})
		return
	}
	if w.intn(8) == 0 {
		w.do(id, Remember{schemas.ObservationRecorded{ObservationID: id, Text: "secret"}}, "unsealed")
		return
	}
	text, r := w.sealed(id, verdict)
	w.do(id, Remember{r}, "observation.recorded")
	w.is[id] = &notebook{text: text, first: verdict, sessions: map[string]bool{}}
}

func (w *world) regate(id string) {
	c := Regate{Verdict: pick(w, Allow, Allow, Hold, Discard, "perhaps"), Reason: pick(w, "r", "r", "r", " "), Scopes: pick(w, nil, []string{modelScope}, []string{modelScope, "/q"})}
	want, n := "observation.regated", w.is[id]
	switch {
	case c.Verdict == "perhaps" || c.Reason == " " || len(c.Scopes) == 2:
		want = schemas.CodeBadRequest
	case n == nil:
		want = schemas.CodeNotFound
	case n.forgotten:
		want = schemas.CodeRefused
	}
	w.do(id, c, want)
	if want == "observation.regated" {
		n.changes = append(n.changes, c.Verdict)
		w.follow(id)
	}
}

func (w *world) forget(id string) {
	c := Forget{Reason: pick(w, "f", "f", ""), Scopes: pick(w, nil, nil, []string{modelScope, "/q"})}
	want, n := "observation.forgotten", w.is[id]
	switch {
	case c.Reason == "" || len(c.Scopes) == 2:
		want = schemas.CodeBadRequest
	case n == nil:
		want = schemas.CodeNotFound
	case n.forgotten:
		want = schemas.CodeRefused
	}
	d := w.do(id, c, want)
	if want == "observation.forgotten" {
		if !strings.Contains(d.Message, "no copy of the log can be read") {
			w.t.Fatalf("forgetting %s says %q", id, d.Message)
		}
		n.forgotten = true
		w.follow(id)
	}
}

// follow lets the notes that rest on an observation follow it.
func (w *world) follow(id string) {
	strict := func(verdict string) int {
		return map[string]int{Allow: 0, "": 0, Hold: 1, Discard: 2, "perhaps": 3}[verdict]
	}
	fact := w.is[id]
	for _, note := range w.notes() {
		n := w.is[note]
		if !slices.Contains(n.facts, id) {
			continue
		}
		var want []string
		switch {
		case n.forgotten:
		case fact.forgotten:
			want, n.forgotten = []string{"observation.forgotten"}, true
			w.driven["note forgotten"]++
		case strict(n.verdict()) < strict(fact.verdict()):
			want, n.changes = []string{"observation.regated"}, append(n.changes, fact.verdict())
			w.driven["note stricter"]++
		}
		w.do(note, Follow{w.states[keyOf(id)]}, want...)
		if is := w.states[keyOf(note)]; is.Forgotten == nil && (fact.forgotten || strict(is.Verdict()) < strict(fact.verdict())) { // invariant 9
			w.t.Fatalf("%s is %+v, and rests on %+v", note, is, fact)
		}
	}
}

func (w *world) merge(id, into string) {
	n := w.is[id]
	c := Merge{Into: w.states.LeadsTo(keyOf(into)), Similarity: 0.9}
	cycle := slices.Contains(w.path(into), id)
	if cycle {
		w.driven["cycle"]++
	}
	if !n.open() || cycle {
		w.do(id, c)
		return
	}
	w.do(id, c, "observation.merged")
	n.into = into
}

// reflect reads what is open, and shows some of what there is to a session.
func (w *world) reflect() {
	name := fmt.Sprintf("reflection %d", len(w.log))
	made := schemas.ReflectionMade{ReflectionID: name, By: "embedded"}
	shown := schemas.MemoryShown{Session: pick(w, "s1", "s2", "s3")}
	for _, id := range slices.Sorted(maps.Keys(w.is)) {
		n := w.is[id]
		if s := w.states[keyOf(id)]; !s.KeptBack() && s.Reflected == "" {
			if !n.open() || n.read != "" {
				w.t.Fatalf("%s may be read, and is %+v", id, n)
			}
			made.Read, n.read = append(made.Read, id), name
		}
		if w.intn(2) == 0 {
			shown.Shown = append(shown.Shown, schemas.MemoryHit{Scope: modelScope, ObservationID: id})
			n.sessions[shown.Session] = true
		}
	}
	w.event(made)
	w.record(schemas.Event{Aggregate: schemas.Memory(schemas.MemoryGlobal), Data: shown})
}

// bring imports an observation that may be known, with what became of it.
func (w *world) bring(id string) {
	item := schemas.MemoryItem{ObservationID: id, Verdict: pick(w, modelVerdicts...), MergedInto: pick(w, append(modelIDs, "")...), MergedSimilarity: 0.9}
	for range w.intn(3) {
		item.Regated = append(item.Regated, schemas.MemoryRegate{Verdict: pick(w, Allow, Hold, "perhaps"), Reason: "r", Actor: "user", Time: time.Unix(9, 0)})
	}
	if w.intn(10) == 0 {
		item.Forgotten = &schemas.MemoryRegate{Reason: "f"}
	}
	n := w.is[id]
	if n != nil && n.forgotten { // invariant 5
		w.do(id, Import{Item: item})
		return
	}
	c := Import{Item: item, Now: time.Unix(1, 0)}
	var want []string
	if n == nil {
		n = &notebook{first: item.Verdict, sessions: map[string]bool{}}
		want = append(want, "observation.recorded")
		if n.text, c.Recorded = w.sealed(id, item.Verdict); item.Forgotten != nil {
			c.Recorded = schemas.ObservationRecorded{ObservationID: id, Verdict: item.Verdict, Text: "secret", Reason: "secret"}
		}
	}
	for i, g := range item.Regated {
		if i >= len(n.changes) {
			want, n.changes = append(want, "observation.regated"), append(n.changes, g.Verdict)
		}
	}
	c.Into = w.states.LeadsTo(keyOf(item.MergedInto))
	if item.MergedInto != "" && n.into == "" && !slices.Contains(w.path(item.MergedInto), id) {
		want, n.into = append(want, "observation.merged"), item.MergedInto
	}
	if item.Forgotten != nil {
		want, n.forgotten = append(want, "observation.forgotten"), true
	}
	w.do(id, c, want...)
	w.is[id] = n
	w.driven["imported"]++
	w.follow(id)
}

// propose makes a proposal of some observations and decides about it.
func (w *world) propose() {
	if w.made == 4 {
		return
	}
	made := schemas.ProposalMade{ProposalID: fmt.Sprintf("p%d", w.made), Sealed: []byte("x"), Kind: pick(w, schemas.ProposalNote, schemas.ProposalRule)}
	for _, id := range modelIDs {
		if w.is[id].open() && w.intn(2) == 0 {
			made.Observations = append(made.Observations, id)
		}
	}
	if len(made.Observations) == 0 {
		return
	}
	w.made++
	w.event(made)
	p := EvolveProposal(Proposal{}, schemas.Event{Aggregate: schemas.Memory(modelScope), Data: made})
	c := Triage{ID: made.ProposalID, Decision: schemas.ProposalAccepted}
	want := []string{"proposal.triaged"}
	if made.Kind == schemas.ProposalRule {
		c.Rule = &schemas.RuleProposeReply{ID: "X-Y-001", Admitted: w.intn(2) == 0}
		if !c.Rule.Admitted {
			want = nil
		}
	}
	d, err := DecideProposal(p, c)
	w.answered(fmt.Sprintf("%#v", c), d, err, want)
	w.record(d.Record...)
	if made.Kind == schemas.ProposalNote {
		id := p.Note().ID
		text, r := w.sealed(id, Allow)
		w.do(id, Remember{r}, "observation.recorded")
		w.is[id] = &notebook{text: text, first: Allow, sessions: map[string]bool{}, facts: made.Observations}
	}
}

// stray appends what no decision leads to, and what changes nothing.
func (w *world) stray(id string) {
	if w.is[id] == nil {
		w.event(schemas.ObservationRegated{ObservationID: id, Verdict: Hold, Reason: "r"})
		w.event(schemas.ObservationMerged{ObservationID: id, Into: "x"})
		return
	}
	_, again := w.sealed(id, Discard)
	w.event(again)
	if w.is[id].forgotten {
		w.event(schemas.ObservationForgotten{ObservationID: id, Reason: "again"})
	}
}

// invariants holds the states against the notebooks, and against what the
// comment of State says.
func (w *world) invariants() {
	if len(w.states) != len(w.is) {
		w.t.Fatalf("%d observations, want %d", len(w.states), len(w.is))
	}
	for id, n := range w.is {
		s := w.states[keyOf(id)]
		r := s.Recorded
		opened, err := Open(r, modelScope, w.keys[id])
		for i, holds := range []bool{
			1:  s.ID == id && s.Scope == modelScope && r.ObservationID == id && s.Position.Seq > 0 && !s.Time.IsZero(),
			2:  r.Verdict == n.first && (n.forgotten || err == nil && opened.Text == n.text && string(opened.Original) == n.text),
			3:  (s.Forgotten != nil) == n.forgotten && (s.Forgotten == nil || s.Forgotten.Reason != "again") && (!n.forgotten || len(r.Original)+len(r.Text)+len(r.Category)+len(r.Sealed)+len(r.Reason) == 0),
			4:  s.Verdict() == n.verdict() && len(s.Regated) == len(n.changes),
			8:  s.MergedInto == n.into && len(w.path(id)) <= len(w.is)+1,
			9:  n.facts == nil || n.forgotten || !slices.ContainsFunc(n.facts, func(fact string) bool { return w.is[fact].forgotten }),
			10: s.Reflected == n.read && s.Shown == len(n.sessions),
		} {
			if i > 0 && i != 5 && i != 6 && i != 7 && !holds {
				w.t.Fatalf("invariant %d of %q does not hold:\n%+v, want\n%+v (%v)", i, id, s, n, err)
			}
		}
	}
}

func encode(t interface{ Fatal(...any) }, v any) string {
	if all, is := v.(Standing); is {
		byID := map[string]State{}
		for k, s := range all {
			byID[k.ID] = s
		}
		v = byID
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What names an observation before its record or its tombstone changes nothing,
// and neither do the events of others.
func TestAnObservationsFirstEventMakesIt(t *testing.T) {
	at := func(scope string, p schemas.Payload) schemas.Event {
		return schemas.Event{Aggregate: schemas.Memory(scope), Position: schemas.Position{Seq: 1}, Data: p}
	}
	others := func(id string) []schemas.Payload {
		return []schemas.Payload{
			schemas.ObservationRegated{ObservationID: id, Verdict: Hold},
			schemas.ObservationMerged{ObservationID: id, Into: "x"},
			schemas.ReflectionMade{ReflectionID: "r", Read: []string{id}},
			schemas.DriftCleared{Alarm: "hold"},
		}
	}
	for _, p := range others("a") {
		if s := Evolve(Unknown(keyOf("a")), at(modelScope, p)); encode(t, s) != encode(t, Unknown(keyOf("a"))) {
			t.Errorf("%T made %+v", p, s)
		}
	}
	s := Evolve(State{}, at(modelScope, schemas.ObservationRecorded{ObservationID: "a", Verdict: Allow}))
	if s.ObservationKey != keyOf("a") || !s.Known() {
		t.Fatalf("recorded %+v", s)
	}
	for scope, id := range map[string]string{modelScope: "b", "/q": "a"} {
		for _, p := range append(others(id), schemas.ObservationForgotten{ObservationID: id}, schemas.ObservationRecorded{ObservationID: id, Verdict: Hold}) {
			if again := Evolve(s, at(scope, p)); encode(t, again) != encode(t, s) {
				t.Errorf("%T of %s %s made %+v", p, scope, id, again)
			}
		}
	}
}

// An observation that was forgotten before it came is not taken in later.
func TestATombstoneComesFirst(t *testing.T) {
	s := Evolve(State{}, schemas.Event{Aggregate: schemas.Memory(modelScope), Data: schemas.ObservationForgotten{ObservationID: "a", Reason: "f"}})
	r := schemas.ObservationRecorded{ObservationID: "a", Sealed: []byte("x"), Verdict: Allow}
	if d, err := Decide(s, Remember{r}); err != nil || len(d.Record) > 0 {
		t.Errorf("decided %+v, %v", d, err)
	}
	if s = Evolve(s, schemas.Event{Aggregate: schemas.Memory(modelScope), Data: r}); s.Forgotten == nil || len(s.Recorded.Sealed) > 0 || !s.KeptBack() {
		t.Errorf("it came back: %+v", s)
	}
}

func TestNothingIsRecordedInTheClear(t *testing.T) {
	for name, r := range map[string]schemas.ObservationRecorded{
		"original": {Original: []byte("x")}, "text": {Text: "x"}, "category": {Category: "x"}, "reason": {Reason: "x"},
	} {
		r.ObservationID = "a"
		for _, c := range []Command{Remember{r}, Import{Recorded: r}} {
			if d, err := Decide(Unknown(keyOf("a")), c); !errors.Is(err, ErrUnsealed) || len(d.Record) > 0 {
				t.Errorf("%s: %T recorded %+v, %v", name, c, d, err)
			}
		}
	}
	r := schemas.ObservationRecorded{ObservationID: "a", Text: "x", Reason: MissingAnnotation, Fallback: true}
	d, err := Decide(Unknown(keyOf("a")), Import{Item: schemas.MemoryItem{Forgotten: &schemas.MemoryRegate{Reason: "f"}}, Recorded: r})
	if err != nil || len(d.Record) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	if got, _ := d.Record[0].Data.(schemas.ObservationRecorded); got.Text != "" || got.Reason != MissingAnnotation {
		t.Errorf("recorded %+v of what was forgotten", got)
	}
}

// Merges that lead back change nothing, however long the way is.
func TestMergesFormNoCycle(t *testing.T) {
	all := Standing{}
	for i, id := range modelIDs {
		s := Unknown(keyOf(id))
		s.Recorded.ObservationID = id
		if i > 0 {
			s.MergedInto = modelIDs[i-1]
		}
		all[s.ObservationKey] = s
	}
	for i, into := range modelIDs {
		d, err := Decide(all[keyOf("a")], Merge{Into: all.LeadsTo(keyOf(into))})
		if err != nil || len(d.Record) > 0 || len(all.LeadsTo(keyOf(into))) != i+1 {
			t.Errorf("into %s: %+v, %v", into, d, err)
		}
	}
	round := all[keyOf("a")] // as an older log may hold
	round.MergedInto = "f"
	all[keyOf("a")] = round
	if path := all.LeadsTo(keyOf("c")); len(path) != len(modelIDs) {
		t.Errorf("a cycle leads to %v", path)
	}
}

func TestAProposalIsDecidedOnce(t *testing.T) {
	at := func(p schemas.Payload) schemas.Event {
		return schemas.Event{Aggregate: schemas.Memory(modelScope), Data: p}
	}
	made := schemas.ProposalMade{ProposalID: "p", Text: "x", Observations: []string{"a"}}
	accepted := schemas.ProposalTriaged{ProposalID: "p", Decision: schemas.ProposalAccepted}
	if p := EvolveProposal(Proposal{}, at(accepted)); p.Known() || p.Triage != nil {
		t.Errorf("a decision made %+v", p)
	}
	open := EvolveProposal(Proposal{}, at(made))
	made.Text = "y"
	for _, p := range []schemas.Payload{made, schemas.ProposalTriaged{ProposalID: "q", Decision: schemas.ProposalRejected}} {
		if again := EvolveProposal(open, at(p)); encode(t, again) != encode(t, open) {
			t.Errorf("%T made %+v", p, again)
		}
	}
	done := EvolveProposal(open, at(accepted))
	if again := EvolveProposal(done, at(schemas.ProposalTriaged{ProposalID: "p", Decision: schemas.ProposalRejected})); encode(t, again) != encode(t, done) || done.Triage == nil {
		t.Errorf("decided again: %+v", again)
	}
	if !open.RestsOn(keyOf("a")) || open.RestsOn(keyOf("b")) || open.RestsOn(schemas.ObservationKey{Scope: "/q", ID: "a"}) {
		t.Error("it rests on what it was not made of")
	}
	rule := open
	rule.Kind = schemas.ProposalRule
	for name, c := range map[string]struct {
		p    Proposal
		do   Triage
		code string
	}{
		"neither":          {open, Triage{Decision: "later"}, schemas.CodeBadRequest},
		"without a reason": {open, Triage{Decision: schemas.ProposalRejected, Reason: " "}, schemas.CodeBadRequest},
		"unknown":          {Proposal{}, Triage{Decision: schemas.ProposalAccepted}, schemas.CodeNotFound},
		"withheld":         {open, Triage{Decision: schemas.ProposalAccepted, Withheld: true}, schemas.CodeNotFound},
		"decided":          {done, Triage{Decision: schemas.ProposalAccepted}, schemas.CodeRefused},
		"not asked":        {rule, Triage{Decision: schemas.ProposalAccepted}, ""},
		"rejected":         {rule, Triage{Decision: schemas.ProposalRejected, Reason: "r"}, "recorded"},
		"a note":           {open, Triage{Decision: schemas.ProposalAccepted}, "recorded"},
	} {
		c.do.ID = "p"
		d, err := DecideProposal(c.p, c.do)
		got := ""
		if fault := (schemas.Fault{}); errors.As(err, &fault) {
			got = fault.Code()
		} else if len(d.Record) == 1 && d.Message != "" {
			got = "recorded"
		}
		if got != c.code {
			t.Errorf("%s: %q, want %q (%+v, %v)", name, got, c.code, d, err)
		}
	}
}

func TestDecideWithoutACommand(t *testing.T) {
	if d, err := Decide(State{}, nil); err == nil || len(d.Record) > 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
