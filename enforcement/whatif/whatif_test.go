package whatif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

// recorder writes a log the way the daemon does: decide, encode, fold.
type recorder struct {
	t       testing.TB
	state   enforcement.State
	records []schemas.Record
}

func (r *recorder) decide(c enforcement.Command, also ...schemas.Payload) {
	r.t.Helper()
	d, err := enforcement.Decide(r.state, c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.append(append(d.Record, also...)...)
}

func (r *recorder) append(data ...schemas.Payload) {
	r.t.Helper()
	seq := uint64(len(r.records) + 1)
	m, err := schemas.Encode(schemas.Event{
		ID: fmt.Sprint("e", seq), Time: time.Unix(int64(seq), 0).UTC(), Source: "/writ/test", Actor: schemas.ParseActor("agent"), Aggregate: schemas.Session("s1"), Data: data[0],
	}, data[1:]...)
	if err != nil {
		r.t.Fatal(err)
	}
	record := schemas.Record{Stream: schemas.StreamSessions, Seq: seq, Message: m}
	events, err := record.Events()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range events {
		r.state = enforcement.Evolve(r.state, e)
	}
	r.records = append(r.records, record)
}

func (r *recorder) run(c Change) Report {
	run := New(c)
	for _, record := range r.records {
		run.Record(record)
	}
	report := run.Report()
	report.Change = []string{"a <test>"}
	return report
}

func policy(mode string, change func(*Policy)) Policy {
	p := Policy{Settings: enforcement.DefaultSettings(), Mode: mode, Findings: enforcement.DefaultFindings}
	p.Settings.DenyToAsk = true
	if change != nil {
		change(&p)
	}
	return p
}

func today(p Policy) func(string) Project {
	return func(root string) Project {
		return Project{Policy: p, Layout: enforcement.Layout{Project: root, Findings: p.Findings}, Domains: func(*retrieval.Index, string) []string { return nil }, Band: func(*retrieval.Index, enforcement.State) string { return "" }}
	}
}

// session is a log in work mode: refused writes, one after the other, a command
// that reads and one that nobody can judge.
func recorded(t testing.TB, p Policy) *recorder {
	t.Helper()
	r := &recorder{t: t}
	r.append(schemas.SessionStarted{Host: "claude", Project: "/p", Dir: "/p", Mode: p.Mode})
	write := func(rel, class string) enforcement.RequestTool {
		return enforcement.RequestTool{Tool: "Write", Targets: []schemas.Target{{Path: "/p/" + rel, Rel: rel, Class: class}}, Settings: p.Settings}
	}
	r.decide(write("a.go", enforcement.ClassCode))
	r.decide(write("b.go", enforcement.ClassCode))
	r.decide(write("plan.md", enforcement.ClassPlan))
	r.decide(write("notes.md", enforcement.ClassCode))
	for _, command := range []string{"ls -l", "python x.py", "echo hi > c.go"} {
		shell := enforcement.Inspect(enforcement.Layout{Project: "/p"}, "/p", command, nil, func(string) (string, bool) { return "", false })
		r.decide(enforcement.RequestTool{Tool: "Bash", Shell: shell, Settings: p.Settings})
	}
	r.decide(enforcement.RequestTool{Tool: "mcp__fs__write", Settings: p.Settings})
	return r
}

// TestTheSameSettingsChangeNothing is what makes the rest worth believing.
func TestTheSameSettingsChangeNothing(t *testing.T) {
	for _, mode := range []string{"", "work", "debug", "review", "conversation"} {
		p := policy(mode, nil)
		report := recorded(t, p).run(Change{Policy: &p, Project: today(p)})
		if d := report.Decisions; d.Total != 8 || d.Again != 8 || d.Flipped != 0 || d.OtherRule != 0 {
			t.Errorf("mode %q: %+v", mode, d)
		}
	}
}

func TestAnotherPolicyFlipsDecisions(t *testing.T) {
	work := policy("work", nil)
	for name, c := range map[string]struct {
		tried Policy
		kinds map[string]int
	}{
		"free":             {policy("conversation", nil), map[string]int{"deny → allow": 2, "ask → allow": 3}},
		"no questions":     {policy("work", func(p *Policy) { p.Settings.DenyToAsk = false }), nil},
		"a writer by name": {policy("work", func(p *Policy) { p.Settings.MCPWriters = []string{"mcp__fs__*"} }), nil},
		"another findings": {policy("review", func(p *Policy) { p.Findings = "notes.md" }), nil},
	} {
		report := recorded(t, work).run(Change{Policy: &c.tried, Project: today(work)})
		d := report.Decisions
		if d.Again != d.Total || d.Flipped == 0 || len(report.Flips) != d.Flipped {
			t.Errorf("%s: %+v", name, d)
		}
		total := 0
		for _, n := range d.Kinds {
			total += n
		}
		if total != d.Flipped {
			t.Errorf("%s: the kinds are %v of %d", name, d.Kinds, d.Flipped)
		}
		if name == "free" && d.Kinds["deny → allow"]+d.Kinds["ask → allow"] != d.Flipped {
			t.Errorf("freedom refuses: %v", d.Kinds)
		}
		flipped := func(target string) bool {
			for _, f := range report.Flips {
				if f.Target == target || f.Tool == target {
					return f.Was.Verdict != f.Would.Verdict && (f.Was.Verdict == "allow") == (f.Was.Reason == "")
				}
			}
			return false
		}
		if name == "a writer by name" && !flipped("mcp__fs__write") || name == "another findings" && !flipped("notes.md") {
			t.Errorf("%s: %+v", name, report.Flips)
		}
	}
}

// TestWhatTheLogDoesNotHoldIsSaid records an answer that rested on something
// that no log has.
func TestWhatTheLogDoesNotHoldIsSaid(t *testing.T) {
	p := policy("conversation", nil)
	r := &recorder{t: t}
	r.append(schemas.SessionStarted{Host: "claude", Project: "/p", Mode: "conversation"})
	r.decide(enforcement.RequestTool{
		Tool: "Write", Targets: []schemas.Target{{Path: "/p/a", Rel: "a", Class: enforcement.ClassCode}}, Settings: p.Settings,
		Private: []string{"/home/u/.local/state/writ/credentials/admin.json"},
	})
	r.decide(enforcement.RequestTool{Tool: "ExitPlanMode", Plan: []byte("x"), Settings: p.Settings})
	tried := policy("work", nil)
	report := r.run(Change{Policy: &tried, Project: today(p)})
	if d := report.Decisions; d.Total != 2 || d.Again != 0 || d.Flipped != 0 || d.Cannot[cannotPlan] != 1 || d.Cannot[cannotMatch] != 1 {
		t.Errorf("%+v", d)
	}
}

func index(t testing.TB, e retrieval.Embedder, rules ...schemas.Rule) *retrieval.Index {
	t.Helper()
	documents, err := retrieval.AnalyseAll(rules, e)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := retrieval.NewIndex(documents, retrieval.Options{Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func shippedRules(t testing.TB) (rules []schemas.Rule) {
	t.Helper()
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		rules = append(rules, f.Rule)
	}
	return rules
}

func clock() func() int64 {
	now := int64(0)
	return func() int64 { now += 1000; return now }
}

func TestAnotherCorpusChangesWhatPromptsBring(t *testing.T) {
	rules := shippedRules(t)
	now := index(t, nil, rules...)
	const lost = "HTTP-RETRY-IDEMPOTENT-001"
	var fewer []schemas.Rule
	for _, r := range rules {
		if r.ID != lost {
			fewer = append(fewer, r)
		}
	}
	r := &recorder{t: t}
	r.append(schemas.SessionStarted{Host: "claude", Project: "/p"})
	for range 2 { // the second time it was shown already
		r.append(schemas.PromptSubmitted{Prompt: "retry the payment request"}, schemas.RulesShown{Trigger: "prompt", Rules: []schemas.ShownRule{{ID: lost}}})
	}
	p := policy("", nil)
	same := r.run(Change{Now: now, Then: index(t, nil, rules...), Project: today(p), Clock: clock()})
	if same.Prompts.Total != 2 || same.Prompts.Changed != 0 || same.Prompts.AsRecorded != 1 || same.Prompts.TokensNow != same.Prompts.TokensThen || same.Prompts.Now.P50 != 1 {
		t.Errorf("the same corpus: %+v", same.Prompts)
	}
	report := r.run(Change{Now: now, Then: index(t, nil, fewer...), Project: today(p), Clock: clock()})
	if report.Prompts.Changed == 0 || report.Prompts.Lost == 0 || len(report.Rules) == 0 || report.Prompted[0].Lost[0] != lost || report.Prompted[0].Recorded[0] != lost {
		t.Errorf("a corpus without %s: %+v", lost, report)
	}
	if strings.Contains(fmt.Sprint(report.Prompted[1:]), "Lost:["+lost) {
		t.Error("what was shown before is missed again")
	}
	none := r.run(Change{
		Now: now, Then: index(t, nil, fewer...), Project: today(p), Clock: clock(),
		Filter: Filter{Session: "none of these"},
	})
	if none.Prompts.Total != 0 || len(none.Prompted) != 0 {
		t.Errorf("unwanted: %+v", none.Prompts)
	}
}

// TestWhatFilesBroughtIsHeldAndSaid has a write and a read bring rules, one of
// which the corpus tried does not have.
func TestWhatFilesBroughtIsHeldAndSaid(t *testing.T) {
	rules := shippedRules(t)
	const gone, stays = "HTTP-RETRY-IDEMPOTENT-001", "GO-CTX-FIRST-001"
	fewer := slices.DeleteFunc(slices.Clone(rules), func(r schemas.Rule) bool { return r.ID == gone })
	r := &recorder{t: t}
	r.append(schemas.SessionStarted{Host: "claude", Project: "/p"})
	r.append(schemas.RulesShown{Trigger: "file", Tokens: 100, Rules: []schemas.ShownRule{{ID: gone}, {ID: stays}}})
	r.append(schemas.RulesShown{Trigger: "read", Tokens: 50, Rules: []schemas.ShownRule{{ID: gone}}})
	r.append(schemas.PromptSubmitted{Prompt: "retry the payment request"})
	p := policy("", nil)
	report := r.run(Change{Now: index(t, nil, rules...), Then: index(t, nil, fewer...), Project: today(p), Clock: clock()})
	if h := report.Held; h.Times != 2 || h.Rules != 3 || h.Tokens != 150 || !slices.Equal(h.Gone, []string{gone}) {
		t.Errorf("held %+v", h)
	}
	// It had been shown by the write: neither search brings it again.
	if slices.ContainsFunc(report.Prompted, func(c PromptChange) bool { return slices.Contains(c.Lost, gone) }) {
		t.Errorf("what a write had brought is missed with the prompt: %+v", report.Prompted)
	}
	said := strings.Join(report.Notes, "\n")
	for _, want := range []string{"graduation, 0 rules at the last one", "brought 3 rules in 2 answers (150 tokens)", "lacks " + gone} {
		if !strings.Contains(said, want) {
			t.Errorf("the report does not say %q:\n%s", want, said)
		}
	}
	unwanted := r.run(Change{
		Now: index(t, nil, rules...), Then: index(t, nil, fewer...), Project: today(p), Clock: clock(),
		Filter: Filter{Session: "none of these"},
	})
	if unwanted.Held.Times != 0 || strings.Contains(strings.Join(unwanted.Notes, " "), "Held") {
		t.Errorf("unwanted: %+v", unwanted.Held)
	}
}

// TestGraduationCounts has two rules on the same matter, of which outcomes have
// lifted the lesser one.
func TestGraduationCounts(t *testing.T) {
	rule := func(id string) schemas.Rule {
		return schemas.Rule{ID: id, Severity: "medium", Confidence: "speculative", Trigger: "Retrying a payment request.", Statement: "Send the same key with every attempt of a payment request."}
	}
	documents, err := retrieval.AnalyseAll([]schemas.Rule{rule("A-1"), rule("B-1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	build := func(confidence func(string) (float64, bool)) *retrieval.Index {
		ix, err := retrieval.NewIndex(documents, retrieval.Options{Confidence: confidence})
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	first := func(ix *retrieval.Index) string {
		answer := ix.Search(retrieval.Query{Text: "retry the payment request"})
		if len(answer.Rules) != 2 {
			t.Fatalf("found %+v", answer.Rules)
		}
		return answer.Rules[0].ID
	}
	stated, graduated := build(nil), build(func(id string) (float64, bool) { return 0.98, id == "B-1" })
	if first(stated) != "A-1" || first(graduated) != "B-1" {
		t.Errorf("first by stated confidence %s, by outcomes %s", first(stated), first(graduated))
	}
}

// memoryView is as much of a view as counting outcomes takes.
type memoryView map[string][]byte

func (m memoryView) Get(key []byte) ([]byte, bool, error) { v, ok := m[string(key)]; return v, ok, nil }

func (m memoryView) Set(key, value []byte) error  { m[string(key)] = bytes.Clone(value); return nil }
func (m memoryView) Delete(key []byte) error      { delete(m, string(key)); return nil }
func (memoryView) Position(schemas.Stream) uint64 { return 0 }
func (memoryView) Version() int                   { return 1 }
func (memoryView) Close() error                   { return nil }
func (memoryView) Scan([]byte) iter.Seq2[projections.Entry, error] {
	return func(func(projections.Entry, error) bool) {}
}

// TestOutcomesAreCountedAsTheViewCountsThem stops at every moment of a random
// log.
func TestOutcomesAreCountedAsTheViewCountsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcomes, view, frequency := NewOutcomes(), memoryView{}, projections.NewFrequency(nil)
		rules := []string{"A-1", "B-1"}
		var events []schemas.Event
		for i := range rapid.IntRange(0, 300).Draw(t, "outcomes") {
			events = append(events, schemas.Event{
				Aggregate: schemas.Aggregate{Kind: schemas.KindRule, ID: rapid.SampledFrom(rules).Draw(t, "rule")}, Time: time.Unix(int64(i), 0), Position: schemas.Position{Seq: uint64(i + 1)},
				Data: schemas.OutcomeRecorded{Session: rapid.SampledFrom([]string{"", "", "s", "t"}).Draw(t, "session"), Positive: rapid.IntRange(0, 4).Draw(t, "good") > 0, Evidence: "feedback"},
			})
			outcomes.Add(events[i])
		}
		for i, e := range events {
			outcomes.Until(e.Time)
			if err := frequency.Apply(view, e); err != nil {
				t.Fatal(err)
			}
			for _, id := range rules {
				want, err := frequency.Rule(view, id)
				if err != nil {
					t.Fatal(err)
				}
				weight, is := outcomes.Confidence(id)
				if g := want.Graduate(""); g.Graduated != is || g.Weight != weight {
					t.Fatalf("after %d outcomes %s weighs %v, %t, and in the view %+v", i+1, id, weight, is, g)
				}
			}
		}
	})
}

// TestPromptsAreWeighedByWhatWasKnown has a rule graduate between two prompts.
func TestPromptsAreWeighedByWhatWasKnown(t *testing.T) {
	rule := func(id string) schemas.Rule {
		return schemas.Rule{ID: id, Severity: "medium", Confidence: "speculative", Trigger: "Retrying a payment request.", Statement: "Send the same key with every attempt of a payment request."}
	}
	documents, err := retrieval.AnalyseAll([]schemas.Rule{rule("A-1"), rule("B-1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stated, err := retrieval.NewIndex(documents, retrieval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A budget of one rule shows which of the two is the first.
	p := policy("", func(p *Policy) { p.BudgetTokens = 40 })
	for second, graduated := range map[int]int{2: 0, 4: 1} {
		r := &recorder{t: t}
		r.append(schemas.SessionStarted{Host: "claude", Project: "/p"})
		for len(r.records) < second-1 {
			r.append(schemas.HookObserved{Host: "claude", Hook: "Notification"})
		}
		r.append(schemas.PromptSubmitted{Prompt: "retry the payment request"})
		outcomes := NewOutcomes()
		for i := range projections.GraduationOutcomes {
			outcomes.Add(schemas.Event{
				Aggregate: schemas.Aggregate{Kind: schemas.KindRule, ID: "B-1"}, Time: time.Unix(3, int64(i)), Data: schemas.OutcomeRecorded{Positive: true, Evidence: "feedback"},
			})
		}
		now, err := retrieval.NewIndex(documents, retrieval.Options{Confidence: outcomes.Confidence})
		if err != nil {
			t.Fatal(err)
		}
		report := r.run(Change{Now: now, Then: stated, Outcomes: outcomes, Project: today(p), Clock: clock()})
		if report.Graduated != graduated || report.Prompts.Changed != graduated || report.Prompts.TokensNow == 0 {
			t.Errorf("at second %d: %d graduated, %+v %+v", second, report.Graduated, report.Prompts, report.Prompted)
		}
	}
}

func TestForms(t *testing.T) {
	work, free := policy("work", nil), policy("conversation", nil)
	report := recorded(t, work).run(Change{Policy: &free, Project: today(work), Listed: 1})
	report.Prompts, report.Rules = Prompts{Total: 3, Changed: 1, Gained: 1}, []RuleChange{{ID: "<R&D>", Gained: 1}}
	var text bytes.Buffer
	if err := report.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What if: a <test>", "was    deny", "would  allow", "more; --list 0", "3 prompts", "<R&D>"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	raw, err := json.Marshal(report)
	if err != nil || !bytes.Contains(raw, []byte(`"kinds":{`)) {
		t.Errorf("%s: %v", raw, err)
	}
}

// BenchmarkPrompts runs one recorded prompt again in two indexes.
func BenchmarkPrompts(b *testing.B) {
	e, err := static.Default()
	if err != nil {
		b.Fatal(err)
	}
	rules := shippedRules(b)
	r := &recorder{t: b}
	r.append(schemas.SessionStarted{Host: "claude", Project: "/p"})
	for i, text := range []string{
		"retry the payment request until it works", "look users up by their address in the database", "write a test for the parser",
		"why is this goroutine leaking?", "add a flag to the command line", "store the password of a user",
	} {
		r.append(schemas.PromptSubmitted{Prompt: fmt.Sprint(text, " ", i)})
	}
	p := policy("", nil)
	began := time.Now()
	run := New(Change{Now: index(b, e, rules...), Then: index(b, e, rules[:len(rules)/2]...), Project: today(p), Clock: func() int64 { return int64(time.Since(began)) }, Listed: 20})
	run.Record(r.records[0])
	for i := 0; b.Loop(); i++ {
		run.Record(r.records[1+i%(len(r.records)-1)])
	}
}
