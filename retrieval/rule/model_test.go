package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/integration"
	"pgregory.net/rapid"
)

// The model test drives random commands against one rule and checks every
// answer against an oracle that knows nothing of State: it remembers who wrote
// what stands, and what became of it.
func TestModel(t *testing.T) {
	integration.Checks(t)
	driven := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: rt, driven: driven, state: Unknown(modelID)}
		m.agents = m.intn(2) == 0
		for range 300 {
			m.step()
		}
		m.replay()
	})
	t.Logf("%v", driven)
	for _, event := range []string{"rule.imported", "rule.edited", "rule.retired", "rule.proposed", "rule.promoted", "rule.rejected", "rule.downweighted", "outcome.recorded", "refused", "nothing"} {
		if driven["commands"] >= 10_000 && driven[event] < driven["commands"]/1000 {
			t.Errorf("only %d of %s: the model explores too little", driven[event], event)
		}
	}
}

const modelID = "ZOO-PAINT-001"

// oracle is what somebody who kept a notebook would know of the rule.
type oracle struct {
	author string // of what stands: "", "person", "agent" or "promoted"
	fate   string // "", "active", "retired", "refused" or "rejected"
	text   string
	claim  string // the confidence
	source string
	edited bool
}

type model struct {
	t      *rapid.T
	driven map[string]int
	state  State
	states []State // by revision
	log    []schemas.Message
	clock  int
	agents bool // no person writes and nothing is imported

	is  oracle
	was []oracle // by revision
}

func (m *model) intn(n int) int { return rapid.IntRange(0, n-1).Draw(m.t, "n") }

func pick[T any](m *model, from ...T) T { return from[m.intn(len(from))] }

// complete is a node that the gate admits and a person may promote.
func (m *model) complete(text string) schemas.Rule {
	return schemas.Rule{
		ID: modelID, Title: "Paint stripes", Domain: "zoo", Severity: "high",
		Trigger: "A zebra is drawn on a plain canvas for the gazette of the zoo.", Statement: text,
		Symptoms:  []string{"the animal looks like a horse", "readers write in", "all white"},
		Violation: "draw(horse)", PassExample: "draw(horse, stripes)", Rationale: "Readers know zebras by their stripes.",
	}
}

var modelTexts = []string{
	"Every zebra carries at least 12 black stripes on its coat.", "Every zebra carries at least 14 black stripes on its coat.",
}

// do decides, checks the answer against what is expected, records and folds
// through the codec. want is the code of a refusal, "nothing", or the type of
// the event.
func (m *model) do(c Command, want string, next oracle) Decision {
	m.driven["commands"]++
	d, err := Decide(m.state, c)
	got := "nothing"
	var fault schemas.Fault
	switch {
	case errors.As(err, &fault):
		got = fault.Code()
		m.driven["refused"]++
	case err != nil:
		m.t.Fatalf("%#v: %v", c, err)
	case len(d.Record) > 1:
		m.t.Fatalf("%#v records %d events", c, len(d.Record)) // invariant 7
	case len(d.Record) == 1:
		got = string(d.Record[0].EventType())
	}
	m.driven[got]++
	if got != want {
		m.t.Fatalf("%#v of %+v: %s, want %s (%v)", c, m.is, got, want, err)
	}
	if len(d.Record) == 0 {
		if err != nil && (d.Message != "" || len(d.Record) > 0) {
			m.t.Fatalf("%#v is refused and says %q", c, d.Message)
		}
		return d
	}
	m.fold(d.Record[0])
	if want == string(schemas.OutcomeRecorded{}.EventType()) {
		return d
	}
	m.is = next
	m.was, m.states = append(m.was, next), append(m.states, m.state)
	m.compare(c)
	m.invariants(c)
	return d
}

func (m *model) fold(p schemas.Payload) {
	m.clock++
	message, err := schemas.Encode(schemas.Event{
		ID: fmt.Sprintf("event-%d", m.clock), Source: "/writ/test", Aggregate: schemas.RuleAggregate(modelID), Time: time.Unix(int64(m.clock), 0), Data: p,
	})
	if err != nil {
		m.t.Fatalf("%T cannot be encoded: %v", p, err)
	}
	m.log = append(m.log, message)
	for _, e := range m.events(message, m.clock) {
		m.state = Evolve(m.state, e)
	}
}

func (m *model) events(message schemas.Message, seq int) []schemas.Event {
	events, err := schemas.Decode(message)
	if err != nil {
		m.t.Fatal(err)
	}
	for i := range events {
		events[i].Position = schemas.Position{Stream: schemas.StreamRules, Seq: uint64(seq)}
	}
	return events
}

// compare holds the state against the notebook.
func (m *model) compare(c Command) {
	authors := map[string]string{"": "", "person": "human", "agent": "ai-provisional", "promoted": "ai-promoted"}
	got := oracle{text: m.state.Rule.Statement, fate: string(m.state.Status), claim: m.state.Rule.Confidence, source: m.state.Source, edited: m.state.Edited}
	for author, authority := range authors {
		if authority == m.state.Rule.Authority {
			got.author = author
		}
	}
	if got != m.is {
		m.t.Fatalf("after %#v:\n%+v, want\n%+v", c, got, m.is)
	}
}

// invariants are those of the package comment.
func (m *model) invariants(c Command) {
	s := m.state
	_, shown := s.Standing()
	for i, holds := range []bool{
		1: s.Revisions == len(m.was) && s.Last.Seq == uint64(m.clock),
		2: s.Rule.ID == modelID,
		3: s.Status != "",
		4: !s.Proposal() || !shown,
		5: (s.Status != Refused && s.Status != Rejected || s.Proposal()) && (!s.Proposal() || s.Rule.Confidence == "speculative"),
		6: s.Status != Active || len(s.Reasons) == 0,
	} {
		if i > 0 && !holds {
			m.t.Fatalf("invariant %d does not hold after %#v: %+v", i, c, s)
		}
	}
}

func (m *model) step() {
	stands := m.is.fate != ""
	active := m.is.fate == "active"
	n := m.intn(13)
	if m.agents {
		n = []int{11, 1, 2, 3, 4, 5, 6, 7, 11, 6, 10, 11, 12}[n]
	}
	switch n {
	case 0:
		m.add()
	case 1:
		m.edit(stands)
	case 2:
		m.retire(stands, active)
	case 3, 4:
		m.revert(stands)
	case 5:
		m.promote(stands, active)
	case 6:
		m.reject(stands, active)
	case 7:
		m.downweight(active)
	case 8, 9:
		m.bring(active)
	case 10:
		next := m.is
		next.fate = "retired"
		m.do(Prune{Reason: "gone"}, choose(active, "rule.retired", "nothing"), next)
	case 11:
		m.propose(active)
	case 12:
		m.feedback(active)
	}
}

func choose(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func (m *model) add() {
	text := pick(m, modelTexts...)
	rule := m.complete(text)
	rule.Confidence = pick(m, "", "battle-tested", "peer-reviewed")
	free := m.is.fate == "" || m.is.fate == "refused"
	m.do(Add{Rule: rule, Content: text}, choose(free, "rule.imported", schemas.CodeRefused),
		oracle{author: "person", fate: "active", text: text, claim: rule.Confidence, source: "terminal"})
}

func (m *model) edit(stands bool) {
	text := pick(m, modelTexts...)
	rule := m.complete(text)
	rule.Authority, rule.Confidence = "human", pick(m, "", "battle-tested", "peer-reviewed")
	next := m.is
	next.text, next.claim, next.edited, next.author = text, rule.Confidence, true, "person"
	if m.is.author == "agent" {
		next.author, next.claim = "agent", "speculative"
	}
	seen := pick(m, 0, len(m.was), len(m.was)+1)
	want := choose(stands, "rule.edited", schemas.CodeNotFound)
	if seen > len(m.was) {
		want = schemas.CodeConflict
	}
	m.do(AsSeen{Revision: seen, Command: Edit{Rule: rule, Content: text}}, want, next)
}

func (m *model) retire(stands, active bool) {
	reason := pick(m, "old", " ")
	want := "rule.retired"
	switch {
	case !stands:
		want = schemas.CodeNotFound
	case !active:
		want = schemas.CodeRefused
	case reason == " ":
		want = schemas.CodeBadRequest
	}
	next := m.is
	next.fate = "retired"
	m.do(Retire{Reason: reason}, want, next)
}

func (m *model) revert(stands bool) {
	c := Revert{To: m.intn(len(m.was) + 2), Unfit: pick(m, "", "", "too large")}
	want := "rule.edited"
	var next oracle
	if c.To > 0 && c.To <= len(m.was) {
		c.Then, next = m.states[c.To-1], m.was[c.To-1]
	}
	switch {
	case !stands:
		want = schemas.CodeNotFound
	case c.To == 0 || c.To > len(m.was):
		want = schemas.CodeBadRequest
	case c.Unfit != "":
		want = schemas.CodeRefused
	}
	next.fate, next.source, next.edited = "active", m.is.source, true
	m.do(c, want, next)
}

func (m *model) promote(stands, active bool) {
	c := Promote{Unfit: pick(m, "", "", "", "too large")}
	want := "rule.promoted"
	switch {
	case !stands:
		want = schemas.CodeNotFound
	case m.is.author != "agent" || !active || c.Unfit != "":
		want = schemas.CodeRefused
	}
	next := m.is
	next.author, next.claim = "promoted", "peer-reviewed"
	m.do(c, want, next)
}

func (m *model) reject(stands, active bool) {
	c := Reject{Reason: pick(m, "no", "")}
	want := "rule.rejected"
	switch {
	case !stands:
		want = schemas.CodeNotFound
	case m.is.author != "agent" || !active:
		want = schemas.CodeRefused
	case c.Reason == "":
		want = schemas.CodeBadRequest
	}
	next := m.is
	next.fate = "rejected"
	m.do(c, want, next)
}

func (m *model) downweight(active bool) {
	lower := map[string]string{"battle-tested": "production-validated", "production-validated": "peer-reviewed", "peer-reviewed": "speculative"}[m.is.claim]
	want := "rule.downweighted"
	switch {
	case !active:
		want = schemas.CodeNotFound
	case lower == "":
		want = schemas.CodeRefused
	}
	next := m.is
	next.claim, next.edited = lower, true
	m.do(Downweight{Reason: "it was wrong twice"}, want, next)
}

// bring imports the rule, of a corpus or as it ships.
func (m *model) bring(active bool) {
	text, source := pick(m, modelTexts...), pick(m, "embedded", "team/zoo.md")
	rule := m.complete(text)
	rule.Confidence = "production-validated"
	changes := !active || m.state.Hash != Hash(text)
	if source == "embedded" && m.is.fate != "" && (m.is.source != "embedded" || !active || m.is.edited) {
		changes = false
	}
	m.do(Import{Rule: rule, Source: source, Hash: Hash(text)}, choose(changes, "rule.imported", "nothing"),
		oracle{author: "person", fate: "active", text: text, claim: "production-validated", source: source})
}

// propose puts a node before the gate that is good, vague, or claims to be a
// person's.
func (m *model) propose(active bool) {
	text := pick(m, modelTexts...)
	rule := m.complete(text)
	rule.Authority, rule.Confidence = "human", "battle-tested"
	good := m.intn(4) > 0
	if !good {
		rule.Trigger = "A zebra is drawn, as needed."
	}
	against := curation.Corpus{}
	switch {
	case active:
		against.Nodes = []schemas.Rule{m.state.Rule}
	case m.is.fate == "retired":
		against.Taken = []string{modelID}
	}
	free := !active && m.is.fate != "retired"
	next := m.is
	if free {
		next = oracle{author: "agent", fate: choose(good, "active", "refused"), text: text, claim: "speculative", source: m.is.source, edited: m.is.edited}
	}
	proposal := curation.Of(rule)
	d := m.do(Propose{Proposal: proposal, Gate: curation.Gate{Thresholds: curation.Reference}, Against: against, By: "agent"}, "rule.proposed", next)
	if d.Finding.Admitted != (free && good) || ProposalID(proposal, text) != modelID {
		m.t.Fatalf("admitted %t of %+v: %v", d.Finding.Admitted, m.is, d.Finding.Texts())
	}
}

func (m *model) feedback(active bool) {
	c := Feedback{Shown: m.intn(3) > 0, Outcome: schemas.OutcomeRecorded{Session: "s", Positive: true, Evidence: "feedback"}}
	want := "outcome.recorded"
	switch {
	case !c.Shown:
		want = schemas.CodeRefused
	case !active:
		want = schemas.CodeNotFound
	}
	m.do(c, want, m.is)
}

// replay folds the log again, and stores the state.
func (m *model) replay() {
	s := Unknown(modelID)
	for i, message := range m.log {
		for _, e := range m.events(message, i+1) {
			s = Evolve(s, e)
		}
	}
	live, replayed := encode(m.t, m.state), encode(m.t, s)
	if live != replayed {
		m.t.Fatalf("the live state and its replay differ:\n%s\n%s", live, replayed)
	}
	var stored State
	if err := json.Unmarshal([]byte(live), &stored); err != nil {
		m.t.Fatal(err)
	}
	if again := encode(m.t, stored); again != live {
		m.t.Fatalf("a state changes by being stored:\n%s\n%s", live, again)
	}
}

func encode(t interface{ Fatal(...any) }, s State) string {
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDecideWithoutACommand(t *testing.T) {
	for _, c := range []Command{nil, AsSeen{}} {
		if d, err := Decide(Unknown(testID), c); err == nil || len(d.Record) > 0 {
			t.Errorf("%#v: %+v, %v", c, d, err)
		}
	}
}

func TestPromotionNeedsAWholeRule(t *testing.T) {
	short := node()
	s := folded(schemas.RuleProposed{Rule: short, Admitted: true})
	var fault schemas.Fault
	if _, err := Decide(s, Promote{}); !errors.As(err, &fault) || fault.Code() != schemas.CodeRefused || !strings.Contains(err.Error(), "complete") {
		t.Errorf("got %v", err)
	}
}

func TestAProposalWithoutAnIDIsRecordedAllTheSame(t *testing.T) {
	for _, id := range []string{"", "  ", strings.Repeat("x", 600)} {
		got := ProposalID(curation.Of(schemas.Rule{ID: id}), "content")
		if !strings.HasPrefix(got, "unnamed-") || schemas.RuleAggregate(got).Check() != nil {
			t.Errorf("%.9q became %q", id, got)
		}
	}
	d, err := Decide(Unknown("unnamed-1"), Propose{Proposal: curation.Of(schemas.Rule{}), Content: "{}"})
	if err != nil || d.Finding.Admitted || !slices.ContainsFunc(d.Record, func(p schemas.Payload) bool { return p.EventType() == "rule.proposed" }) {
		t.Errorf("%+v, %v", d, err)
	}
}
