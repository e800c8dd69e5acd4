package projections_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// script appends events one after the other.
type script struct {
	*memoryLog
	n int
}

func (s *script) add(a schemas.Aggregate, p schemas.Payload, also ...schemas.Payload) schemas.Position {
	s.n++
	return s.publish(schemas.Event{
		ID: fmt.Sprintf("e%d", s.n), Time: epoch.Add(time.Duration(s.n) * time.Minute),
		Aggregate: a, Actor: schemas.ParseActor("user"), Data: p,
	}, also...)
}

// view runs a projector over a log and returns a reader of it.
func view(t *testing.T, l *memoryLog, p projections.Projector) projections.Reader {
	t.Helper()
	s := openStore(t, vfs.NewMem())
	r := start(t, l, s, projections.Options{}, p)
	r.caughtUp()
	rd := r.reader(p.Name())
	t.Cleanup(func() {
		r.stop()
		if err := rd.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return rd
}

func rule(id string, change ...func(*schemas.Rule)) schemas.Rule {
	r := schemas.Rule{ID: id, Severity: "high", Trigger: "when", Statement: "do"}
	for _, c := range change {
		c(&r)
	}
	return r
}

func imported(id string, change ...func(*schemas.Rule)) schemas.RuleImported {
	return schemas.RuleImported{Rule: rule(id, change...), Source: "embedded", Hash: "h-" + id}
}

func supersedes(target string) func(*schemas.Rule) {
	return func(r *schemas.Rule) { r.Edges = append(r.Edges, schemas.Edge{Type: "SUPERSEDES", Target: target}) }
}

func mandatory(r *schemas.Rule) { r.Mandatory = true }

// ruleNow is a rule as these tests fold it.
type ruleNow struct {
	Rule      schemas.Rule `json:"rule"`
	Active    bool         `json:"active"`
	Proposed  bool         `json:"proposed"`
	Source    string       `json:"source"`
	Revisions int          `json:"revisions"`
}

func (s ruleNow) Standing() (r schemas.Rule, shown bool) { return s.Rule, s.Active && !s.Proposed }

func (s ruleNow) Origin() (source string, revision int) { return s.Source, s.Revisions }

func evolveRule(s ruleNow, e schemas.Event) ruleNow {
	switch p := e.Data.(type) {
	case schemas.RuleImported:
		s.Rule, s.Source, s.Active, s.Proposed = p.Rule, p.Source, true, false
	case schemas.RuleEdited:
		s.Rule = p.Rule
	case schemas.RuleProposed:
		s.Rule, s.Active, s.Proposed = p.Rule, p.Admitted, true
	case schemas.RulePromoted:
		s.Proposed = false
	case schemas.RuleRetired, schemas.RuleRejected:
		s.Active = false
	}
	s.Rule.ID = e.Aggregate.ID
	s.Revisions++
	return s
}

func TestRulesKeepTheirHistory(t *testing.T) {
	const id = "GO-ERR-001"
	events := []schemas.Payload{
		imported(id),
		schemas.RuleEdited{Rule: rule(id), Reason: "better"},
		schemas.RuleRetired{Reason: "old"},
		imported(id),
		schemas.RuleProposed{Rule: rule(id)},
		schemas.RulePromoted{Reason: "good"},
		schemas.RuleRejected{Reason: "no"},
		schemas.RuleDownweighted{Confidence: "speculative", Reason: "wrong"},
	}
	reasons := []string{"", "better", "old", "", "", "good", "no", "wrong"}
	l := &script{memoryLog: newMemoryLog()}
	for _, p := range events {
		l.add(schemas.RuleAggregate(id), p)
	}
	w := projections.NewRules(evolveRule)
	r := view(t, l.memoryLog, w)
	got, found, err := w.Rule(r, id)
	if err != nil || !found || got.Revisions != len(events) {
		t.Fatalf("%+v, %t, %v", got, found, err)
	}
	n := 0
	for rev, err := range w.History(r, id) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if rev.Revision != n || rev.Position.Seq != uint64(n) || rev.Type != events[n-1].EventType() || rev.Actor != "user" || rev.Reason != reasons[n-1] {
			t.Errorf("revision %s", asJSON(t, rev))
		}
	}
	if n != len(events) {
		t.Errorf("history of %d", n)
	}
}

func TestRulesAreFoundByTheirSource(t *testing.T) {
	from := func(id, source string) schemas.RuleImported {
		i := imported(id)
		i.Source = source
		return i
	}
	l := &script{memoryLog: newMemoryLog()}
	for _, p := range []struct {
		id string
		schemas.Payload
	}{
		{"A-1", from("A-1", "team/go/a.md")},
		{"B-1", from("B-1", "team2/b.md")},
		{"C-1", from("C-1", "team/c.md")},
		{"D-1", from("D-1", "team/d.md")},
		{"D-1", from("D-1", "embedded")}, // moved
		{"C-1", schemas.RuleRetired{Reason: "old"}},
		{"E-1", schemas.RuleRetired{Reason: "?"}}, // from nowhere
	} {
		l.add(schemas.RuleAggregate(p.id), p.Payload)
	}
	w := projections.NewRules(evolveRule)
	r := view(t, l.memoryLog, w)
	for prefix, want := range map[string]string{
		"team/": "C-1 A-1", "team": "B-1 C-1 A-1", "embedded": "D-1", "tea/": "", "": "D-1 B-1 C-1 A-1",
	} {
		var got []string
		for id, err := range w.From(r, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, id)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("from %q: %v, want %s", prefix, got, want)
		}
	}
}

// bands describes what a reader of the retrieval view finds: "id" retrieved,
// "id!" mandatory.
func bands(t *testing.T, x *projections.RetrievalIndex, r projections.Reader) string {
	t.Helper()
	var all []string
	sums := map[string][16]byte{}
	for s, err := range x.Sums(r) {
		if err != nil {
			t.Fatal(err)
		}
		sums[s.ID] = s.Sum
	}
	for d, err := range x.Documents(r) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(d.Bytes), d.ID+"\x00") {
			t.Errorf("%s: %q", d.ID, d.Bytes)
		}
		if whole := sha256.Sum256(d.Bytes); sums[d.ID] != [16]byte(whole[:16]) {
			t.Errorf("%s has the sum %x, not %x", d.ID, sums[d.ID], whole)
		}
		delete(sums, d.ID)
		all = append(all, d.ID)
	}
	if len(sums) > 0 {
		t.Errorf("sums of no documents: %v", sums)
	}
	for m, err := range x.Mandatory(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m.ID+"!")
	}
	return strings.Join(all, " ")
}

func TestRetrievalFollowsTheCorpus(t *testing.T) {
	l, s := &script{memoryLog: newMemoryLog()}, openStore(t, vfs.NewMem())
	defer s.Close()
	on := schemas.RuleAggregate
	l.add(on("A-A-001"), imported("A-A-001"))
	l.add(on("B-B-001"), imported("B-B-001", mandatory))

	var changes []string
	index := projections.NewRetrievalIndex(evolveRule, analyse, 1, func(c projections.IndexChange) error {
		changes = append(changes, fmt.Sprintf("%d %v +%v -%v", c.Seq, c.Rebuilt, c.Put, c.Removed))
		for range c.Documents() {
		}
		for _, id := range c.Put {
			if _, found, err := c.Rule(id); err != nil || !found {
				t.Errorf("%s was put and is not there: %v", id, err)
			}
		}
		return nil
	})
	r := start(t, l, s, projections.Options{}, index)
	r.caughtUp()
	steps := []struct {
		id     string
		event  schemas.Payload
		bands  string
		change string
	}{
		{"C-C-001", imported("C-C-001"), "A-A-001 C-C-001 B-B-001!", "3 false +[C-C-001] -[]"},
		{"C-C-001", imported("C-C-001"), "A-A-001 C-C-001 B-B-001!", ""},
		{"A-A-001", schemas.RuleRetired{Reason: "old"}, "C-C-001 B-B-001!", "5 false +[] -[A-A-001]"},
		{"D-D-001", schemas.RuleProposed{Rule: rule("D-D-001", supersedes("C-C-001")), Admitted: true}, "C-C-001 B-B-001!", ""},
		{"D-D-001", schemas.RulePromoted{}, "C-C-001 D-D-001 B-B-001!", "7 false +[D-D-001] -[]"},
		{"C-C-001", schemas.RuleEdited{Rule: rule("C-C-001", mandatory)}, "D-D-001 B-B-001! C-C-001!", "8 false +[C-C-001] -[]"},
		{"D-D-001", schemas.RuleRetired{Reason: "no"}, "B-B-001! C-C-001!", "9 false +[] -[D-D-001]"},
		{"B-B-001", schemas.RuleEdited{Rule: rule("B-B-001")}, "B-B-001 C-C-001!", "10 false +[B-B-001] -[]"},
	}
	want := []string{"2 true +[] -[]"}
	for i, step := range steps {
		pos := l.add(on(step.id), step.event)
		if err := r.WaitFor(t.Context(), index.Name(), pos); err != nil {
			t.Fatal(err)
		}
		rd := r.reader(index.Name())
		if got := bands(t, index, rd); got != step.bands {
			t.Errorf("step %d: %s, want %s", i, got, step.bands)
		}
		if err := rd.Close(); err != nil {
			t.Fatal(err)
		}
		if step.change != "" {
			want = append(want, step.change)
		}
		if !slices.Equal(changes, want) {
			t.Errorf("step %d: changes %q, want %q", i, changes, want)
		}
	}
}

// A cold start takes the documents as they were analysed.
func TestColdStartAnalysesNothing(t *testing.T) {
	l, s := &script{memoryLog: newMemoryLog()}, openStore(t, vfs.NewMem())
	defer s.Close()
	for i := range 20 {
		id := fmt.Sprintf("A-A-%03d", i)
		l.add(schemas.RuleAggregate(id), imported(id))
	}
	analysed, seen := 0, 0
	counting := func(r schemas.Rule) ([]byte, error) { analysed++; return analyse(r) }
	for _, version := range []int{1, 1, 2} {
		seen = 0
		r := start(t, l, s, projections.Options{}, projections.NewRetrievalIndex(evolveRule, counting, version, func(c projections.IndexChange) error {
			for _, err := range c.Documents() {
				if err != nil {
					return err
				}
				seen++
			}
			return nil
		}))
		r.caughtUp()
		r.stop()
		if seen != 20 {
			t.Errorf("%d documents", seen)
		}
	}
	if analysed != 40 {
		t.Errorf("analysed %d times, want once for each version", analysed)
	}
}

func TestSessionList(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	a, b := schemas.Session("a/1"), schemas.Session("b 2")
	l.add(a, schemas.SessionStarted{Host: "claude", Project: "/p", Mode: "work"})
	l.add(b, schemas.SessionStarted{Host: "cursor", Project: "/q"}, schemas.PhaseChanged{To: "planning"})
	l.add(a, schemas.PromptSubmitted{Prompt: "x"}, schemas.ToolDecided{Tool: "Edit", Verdict: "deny"})
	l.add(b, schemas.GateApproved{Gate: "plan", Fingerprint: "f", Channel: "command", ActID: "1", NextPhase: "testing"})
	l.add(b, schemas.SessionEnded{}, schemas.ToolAccepted{Tool: "mcp__ide__start", Channel: "answer"})
	w := projections.NewSessions(nil)
	r := view(t, l.memoryLog, w)
	var got []string
	for s, err := range w.List(r) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s/%s %d/%d/%d %v", s.ID, s.Host, s.Mode, s.Phase, s.Events, s.Prompts, s.Denied, s.Ended))
	}
	if want := []string{"b 2 cursor /testing 5/0/0 true", "a/1 claude work/ 3/1/1 false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s, found, err := w.Session(r, "a/1")
	if err != nil || !found || s.Seq != 3 || !s.Started.Equal(epoch.Add(time.Minute)) {
		t.Errorf("%v %v %s", found, err, asJSON(t, s))
	}
	if _, found, err := w.Session(r, "c"); found || err != nil {
		t.Errorf("a session without events: %v %v", found, err)
	}
	for project, want := range map[string]bool{"/q": true, "/p": false, "/q/sub": false} {
		if is, err := w.Accepted(r, project, "mcp__ide__start"); is != want || err != nil {
			t.Errorf("let in at %s: %v %v", project, is, err)
		}
	}
	if is, err := w.Accepted(r, "/q", "mcp__ide__stop"); is || err != nil {
		t.Errorf("another tool is let in: %v %v", is, err)
	}
}

func TestFoldLoads(t *testing.T) {
	l := &script{memoryLog: newMemoryLog()}
	l.add(schemas.Session("a"), schemas.PromptSubmitted{Prompt: "x"})
	l.add(schemas.Session("b"), schemas.PromptSubmitted{Prompt: "x"})
	l.add(schemas.Session("a"), schemas.ModeChanged{To: "debug"}, schemas.ModeChanged{To: "work"})
	f := sessionFold()
	r := view(t, l.memoryLog, f)
	state, last, found, err := f.Load(r, schemas.Session("a"))
	if err != nil || !found || last != 3 || state.Prompts != 1 || !slices.Equal(state.Modes, []string{"debug", "work"}) {
		t.Errorf("%v %v %d %+v", found, err, last, state)
	}
	if _, last, found, err := f.Load(r, schemas.Session("c")); found || err != nil || last != 0 {
		t.Errorf("an aggregate without events: %v %v", found, err)
	}
	var all []string
	for d, err := range f.All(r) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(d.Aggregate, d.Last.Seq, d.Last.Part, d.State.Prompts))
	}
	if want := []string{"session:a 3 1 1", "session:b 2 0 1"}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
}

func TestVerdictTallies(t *testing.T) {
	l := newMemoryLog()
	n := 0
	add := func(minute int, scope string, p schemas.Payload) {
		n++
		l.publish(schemas.Event{
			ID: fmt.Sprint(n), Time: epoch.Add(time.Duration(minute) * time.Minute),
			Aggregate: schemas.Memory(scope), Data: p,
		})
	}
	recorded := func(id, verdict, fallback string) schemas.ObservationRecorded {
		return schemas.ObservationRecorded{ObservationID: id, Verdict: verdict, Fallback: fallback != "", Reason: fallback}
	}
	add(0, "p", recorded("1", "allow", ""))
	add(1, "p", recorded("2", "", ""))
	add(2, "p", recorded("3", "hold", ""))
	add(70, "p", recorded("4", "discard", ""))
	add(70, "p", recorded("5", "allow", "missing_annotation"))
	add(71, "p", recorded("6", "allow", "classifier_error"))
	add(71, "p", recorded("7", "allow", "classifier_error"))
	add(72, "p", recorded("8", "perhaps", ""))
	add(72, "q/r", recorded("1", "hold", ""))
	add(73, "p", recorded("1", "discard", "")) // an id that is there already
	add(99, "p", schemas.ObservationRegated{ObservationID: "3", Verdict: "allow", Reason: "useful"})
	add(99, "p", schemas.ObservationRegated{ObservationID: "7", Verdict: "hold", Reason: "noise"})
	add(99, "p", schemas.ObservationRegated{ObservationID: "none", Verdict: "hold", Reason: "noise"})

	w := projections.NewVerdicts()
	r := view(t, l, w)
	check := func(name, want string, got projections.Tally, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if asJSON(t, got) != want {
			t.Errorf("%s: %s, want %s", name, asJSON(t, got), want)
		}
	}
	all := `{"allow":5,"hold":1,"discard":1,"unknown":1,"fallback":2,"reasons":{"classifier_error":1,"missing_annotation":1}}`
	window := func(scope string, from, to int) (projections.Tally, error) {
		return w.Window(r, scope, epoch.Add(time.Duration(from)*time.Minute), epoch.Add(time.Duration(to)*time.Minute))
	}
	got, err := window("p", -100000, 100000)
	check("a window over everything", all, got, err)
	if got.Total() != 7 {
		t.Errorf("total %d", got.Total())
	}
	got, err = window("p", 1, 3)
	check("two minutes", `{"allow":2,"hold":0,"discard":0,"fallback":0}`, got, err)
	got, err = window("", 71, 73)
	check("two scopes", `{"allow":1,"hold":2,"discard":0,"unknown":1,"fallback":1,"reasons":{"classifier_error":1}}`, got, err)
}

// Windows of every size and place hold exactly the minutes between their ends.
func TestWindowsHoldTheirMinutes(t *testing.T) {
	l := newMemoryLog()
	const around = 28_000_000 &^ 0xFF // a minute where a block of 256 begins
	for m := around - 300; m < around+600; m++ {
		l.publish(schemas.Event{
			ID: fmt.Sprint(m), Time: time.Unix(int64(m)*60+59, 0), Aggregate: schemas.Memory("p"),
			Data: schemas.ObservationRecorded{ObservationID: fmt.Sprint(m), Verdict: "hold"},
		})
	}
	w := projections.NewVerdicts()
	r := view(t, l, w)
	for _, span := range [][2]int{{0, 0}, {0, 1}, {0, 100}, {0, 255}, {0, 256}, {0, 257}, {-1, 1}, {-300, 600}, {-7, 513}, {255, 512}, {5, 2}} {
		got, err := w.Window(r, "", time.Unix(int64(around+span[0])*60, 0), time.Unix(int64(around+span[1])*60, 0))
		if err != nil {
			t.Fatal(err)
		}
		if want := max(span[1]-span[0], 0); got.Hold != uint64(want) {
			t.Errorf("%v: %d, want %d", span, got.Hold, want)
		}
	}
}
