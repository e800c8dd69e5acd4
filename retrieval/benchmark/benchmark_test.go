package benchmark

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

func shipped(t testing.TB) []schemas.Rule {
	t.Helper()
	files, err := corpus.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rules := make([]schemas.Rule, len(files))
	for i, f := range files {
		rules[i] = f.Rule
	}
	return rules
}

func truthOf(t testing.TB, name string) []Query {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := ReadTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

func TestReadTruth(t *testing.T) {
	got, err := ReadTruth(strings.NewReader("\ufeff" + `{"id":"a","query":"x","relevant":["R-1"],"kind":"vague"}` + "\n\n" + `{"id":"b","query":"y"}`))
	if err != nil || len(got) != 2 || got[0].Kind != "vague" || got[1].Kind != KindOffTopic || !got[1].OffTopic() {
		t.Errorf("%+v, %v", got, err)
	}
	for text, line := range map[string]string{
		"{}": "line 1", "\n\nnonsense": "line 3", `{"id":"a","query":"x"}` + "\n" + `{"id":"a","query":"y"}`: "line 2",
		`{"id":"a","query":" "}`: "line 1", `{"id":"a","query":"x","relevent":[]}`: "line 1", `{"id":"a","query":"x"} {}`: "line 1",
		`{"id":"a","query":"x","relevant":[""]}`: "line 1", `{"id":"a","query":"x","kind":"direct"}`: "line 1",
		`{"id":"a","query":"x","relevant":["R"],"kind":"offtopic"}`: "line 1",
	} {
		if _, err := ReadTruth(strings.NewReader(text)); !errors.Is(err, ErrTruth) || !strings.Contains(err.Error(), line+":") {
			t.Errorf("%q: %v, want %s", text, err, line)
		}
	}
	for text, says := range map[string]string{
		"": "there is no query in it", "\n \n": "there is no query in it", "id,query,relevant\n": "line 1: no JSON object", `[{"id":"a","query":"x"}]`: "line 1: a JSON array, where an object",
		`{"id":"a","query":"x","relevant":"R-1"}`: "relevant is a string, where a []string", `{"id":"a",`: "does not end on its line",
	} {
		if _, err := ReadTruth(strings.NewReader(text)); !errors.Is(err, ErrTruth) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), `"relevant":["GO-`) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
	broken := io.MultiReader(strings.NewReader(`{"id":"a","query":"x"}`+"\n"), brokenReader{})
	if _, err := ReadTruth(broken); !errors.Is(err, ErrTruth) || !errors.Is(err, errBroken) {
		t.Errorf("a reader that breaks: %v", err)
	}
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func FuzzReadTruth(f *testing.F) {
	f.Add([]byte(`{"id":"a","query":"x","relevant":["R-1"],"kind":"vague"}`))
	f.Add([]byte("\r\n{}\n\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		truth, err := ReadTruth(bytes.NewReader(raw))
		if err != nil && !errors.Is(err, ErrTruth) {
			t.Fatal(err)
		}
		for _, q := range truth {
			if q.ID == "" || q.Query == "" || q.OffTopic() != (q.Kind == KindOffTopic) {
				t.Fatalf("%+v", q)
			}
		}
	})
}

func TestMeasure(t *testing.T) {
	log2 := math.Log2
	for name, c := range map[string]struct {
		ranking, relevant string
		want              Measures
	}{
		"first":      {"a b c", "a", Measures{1, 1, 1, 1, 1, 1}},
		"second":     {"b a c", "A", Measures{0, 1, 0.5, 0.5, 1 / log2(3), 1}},
		"sixth":      {"1 2 3 4 5 a", "a", Measures{0, 0, 0, 1.0 / 6, 1 / log2(7), 1}},
		"eleventh":   {"1 2 3 4 5 6 7 8 9 10 a", "a", Measures{}},
		"two of two": {"a x b", "a b", Measures{1, 1, 1, 1, (1 + 1/log2(4)) / (1 + 1/log2(3)), 1}},
		"one of two": {"x a", "a b", Measures{0, 1, 0.5, 0.5, (1 / log2(3)) / (1 + 1/log2(3)), 0.5}},
		"a repeat":   {"a a", "a", Measures{1, 1, 1, 1, 1, 1}},
		"nothing":    {"", "a", Measures{}},
		"none right": {"a b", "", Measures{}},
	} {
		got := Measure(strings.Fields(c.ranking), strings.Fields(c.relevant)).values()
		for i, v := range c.want.values() {
			if math.Abs(got[i]-v) > 1e-12 {
				t.Errorf("%s: %s is %.4f, want %.4f", name, MeasureNames[i], got[i], v)
			}
		}
	}
}

func TestBootstrap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var values []float64
	var apart, together []string
	for i := range 400 {
		values = append(values, float64(i/40%2)) // runs of forty alike
		apart = append(apart, fmt.Sprint(i))
		together = append(together, fmt.Sprint(i/40))
	}
	narrow, wide := Bootstrap(values, apart, 7), Bootstrap(values, together, 7)
	if narrow.Mean != 0.5 || wide.Mean != 0.5 || narrow != Bootstrap(values, apart, 7) {
		t.Errorf("%v, %v", narrow, wide)
	}
	// The standard error of 400 fair coins is 0.025, that of ten clusters 0.158.
	if math.Abs(narrow.High-narrow.Low-2*1.96*0.025) > 0.015 || math.Abs(wide.High-wide.Low-2*1.96*0.158) > 0.12 {
		t.Errorf("apart %v, in clusters %v", narrow, wide)
	}
	if got := Bootstrap(nil, nil, 1); got != (Interval{}) {
		t.Errorf("of nothing: %v", got)
	}
	covered := 0
	for trial := range 200 {
		var sample []float64
		var clusters []string
		for i := range 100 {
			sample = append(sample, random.NormFloat64())
			clusters = append(clusters, fmt.Sprint(i))
		}
		if b := Bootstrap(sample, clusters, uint64(trial)); b.Low <= 0 && 0 <= b.High {
			covered++
		}
	}
	if covered < 175 || covered > 199 {
		t.Errorf("200 intervals of 95 %% hold the truth %d times", covered)
	}
}

func TestGrownRulesAreDistinct(t *testing.T) {
	g := NewGrower(shipped(t), 1)
	rules := g.Rules(2000)
	seen := map[string]bool{}
	for _, r := range rules {
		text := r.Title + r.Trigger + r.Statement
		if seen[r.ID] || seen[text] || r.Validate() != nil {
			t.Fatalf("%+v", r)
		}
		seen[r.ID], seen[text] = true, true
	}
	again := NewGrower(shipped(t), 1).Rules(2000)
	if fmt.Sprint(again[1999]) != fmt.Sprint(rules[1999]) {
		t.Error("the same seed grows other rules")
	}
	for range 2000 {
		q := g.Query(rules)
		if seen[q] {
			t.Fatalf("%q was asked before", q)
		}
		seen[q] = true
	}
	if g := NewGrower(nil, 1); len(g.Rules(3)) != 3 || g.Query(nil) == "" {
		t.Error("nothing grows from nothing")
	}
}

// ticking is a clock that goes on by a microsecond each time it is read.
func ticking() func() int64 {
	var now int64
	return func() int64 { now += 1000; return now }
}

func TestRun(t *testing.T) {
	rules := shipped(t)
	var some []Query // TestVectorsHelpOnTheShippedCorpus takes them all
	for i, q := range truthOf(t, "../corpus/testdata/truth.jsonl") {
		if i%10 == 0 {
			some = append(some, q)
		}
	}
	c := Config{Rules: rules, Truth: some, Scale: []int{500}, Queries: 50, Seed: 3, Clock: ticking(), Heap: func() int64 { return 4 << 20 }}
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Speed) != 2 || r.Speed[0].Rules != len(rules) || r.Speed[1].Rules != 500 || r.Speed[1].Queries != 50 {
		t.Fatalf("%+v", r.Speed)
	}
	for _, s := range r.Speed {
		if s.P50 <= 0 || s.P95 < s.P50 || s.P99 < s.P95 || s.Build <= 0 || s.ColdStart <= 0 || s.Stored <= 0 || s.Stages.BM25 <= 0 {
			t.Errorf("%+v", s)
		}
	}
	if r.Quality[0].Kind != "all" || r.Quality[0].Measures["ndcg@10"].Mean < 0.6 || r.Profile != retrieval.ProfileLexical || r.Embedder != "none" {
		t.Errorf("%+v", r)
	}
	c.Clock = ticking()
	again, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	var one, two, table, picture bytes.Buffer
	if err := errors.Join(r.WriteJSON(&one), again.WriteJSON(&two), r.WriteTable(&table), r.WriteSVG(&picture)); err != nil {
		t.Fatal(err)
	}
	if one.String() != two.String() {
		t.Errorf("two runs by one clock differ:\n%s\n%s", one.String(), two.String())
	}
	var back Report
	if err := json.Unmarshal(one.Bytes(), &back); err != nil || len(back.Quality) != len(r.Quality) {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"paraphrase", "NDCG@10", "COLD START", "500"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, table.String())
		}
	}
	for d := xml.NewDecoder(&picture); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

func TestRunRefusesATruthOfOtherRules(t *testing.T) {
	truth := []Query{{ID: "a", Query: "x", Relevant: []string{"NO-SUCH-001"}, Kind: "direct"}}
	_, err := Run(Config{Rules: shipped(t), Truth: truth, Clock: ticking()})
	if !errors.Is(err, ErrUnknownRule) || !strings.Contains(err.Error(), "NO-SUCH-001") {
		t.Errorf("%v", err)
	}
}

func TestAnEmptyCorpusCanBeMeasured(t *testing.T) {
	r, err := Run(Config{Clock: ticking(), Queries: 3})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := errors.Join(r.WriteTable(&b), r.WriteSVG(&b), Report{}.WriteSVG(&b), Report{}.WriteTable(&b)); err != nil {
		t.Fatal(err)
	}
}

// The floors are below what was measured (DESIGN.md of retrieval), so that a
// growing corpus passes and a broken ranking does not.
func TestVectorsHelpOnTheShippedCorpus(t *testing.T) {
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	rules, truth := shipped(t), truthOf(t, "../corpus/testdata/truth.jsonl")
	words, fused := indexOf(t, rules, nil), indexOf(t, rules, e)
	by := func(s Searcher, profile string) map[string]Quality {
		kinds := map[string]Quality{}
		for _, q := range Summarise(Judge(s, truth, profile), 1) {
			kinds[q.Kind] = q
			t.Logf("%-10s %-10s hit@1 %s hit@5 %s nDCG@10 %s, injected %s, a right one %s, %.1f rules", profile, q.Kind,
				q.Measures["hit@1"], q.Measures["hit@5"], q.Measures["ndcg@10"], q.Injected, q.Found, q.Rules)
		}
		return kinds
	}
	lexical, static, reference := by(words, ""), by(fused, retrieval.ProfileStatic), by(fused, retrieval.ProfileReference)
	// What is given with vectors is fewer rules and more often right: .98 of the
	// answers in full hold a right one, .86 by words.
	for _, kind := range []string{"all", "paraphrase"} {
		w, s := lexical[kind], static[kind]
		if s.Measures["ndcg@10"].Mean < w.Measures["ndcg@10"].Mean+0.01 || s.Found.Mean/s.Injected.Mean < w.Found.Mean/w.Injected.Mean+0.05 {
			t.Errorf("%s: nDCG@10 %s by words, %s with vectors; given %s, %s, a right one %s, %s", kind, w.Measures["ndcg@10"], s.Measures["ndcg@10"], w.Injected, s.Injected, w.Found, s.Found)
		}
	}
	if s, r := static["all"].Measures["ndcg@10"], reference["all"].Measures["ndcg@10"]; s.Mean <= r.Mean {
		t.Errorf("the profile of another embedder is better: %s, its own %s", r, s)
	}
	if tasks := static["task"]; tasks.Shown.Mean < 0.7 || tasks.Found.Mean < 0.38 {
		t.Errorf("a right rule is given or named to %s of tasks of a few words, in full to %s", tasks.Shown, tasks.Found)
	}
	if off := static[KindOffTopic]; off.Injected.Mean > 0.08 {
		t.Errorf("%s of off-topic queries are given rules", off.Injected)
	}
}

// Prompts of a working session that ask for no rule.
func TestSmallTalkInjectsNothingWithVectors(t *testing.T) {
	e, err := static.Default()
	if err != nil {
		t.Fatal(err)
	}
	ix := indexOf(t, shipped(t), e)
	var given []string
	talk := []string{
		"ok", "yes please", "continue", "thanks, that looks good", "hello", "who are you", "stop", "good job",
		"what time is it", "what's the weather like in Berlin tomorrow", "write a haiku about autumn leaves",
		"can you explain what you just did", "please be more concise", "how tall is Mount Everest",
		"recommend a good restaurant near the station", "my back hurts after running",
	}
	for _, text := range talk {
		if a := ix.Search(retrieval.Query{Text: text}); a.Tier == retrieval.TierInject {
			given = append(given, fmt.Sprintf("%q (p %.2f)", text, a.Probability))
		}
	}
	if len(given) > 0 {
		t.Errorf("%d of %d were given rules: %v", len(given), len(talk), given)
	}
}

// TestTruthsMayNameWhatIsAlwaysShown: nobody has to find such a rule, so it
// counts as found and given.
func TestTruthsMayNameWhatIsAlwaysShown(t *testing.T) {
	rules := []schemas.Rule{
		{ID: "MUST-A-001", Severity: "high", Trigger: "a kiln is opened", Statement: "Wear gloves.", Mandatory: true},
		{ID: "KILN-B-001", Severity: "high", Trigger: "clay is wet", Statement: "Dry it before it is fired."},
	}
	r, err := Run(Config{Rules: rules, Truth: []Query{{ID: "q", Query: "opening the kiln", Relevant: []string{"MUST-A-001"}, Kind: "direct"}}, Queries: 1, Clock: func() int64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	if j := r.Judged[0]; j.Measures.Hit1 != 1 || !slices.Equal(j.Already, []string{"MUST-A-001"}) || r.Quality[0].Found.Mean != 1 {
		t.Errorf("%+v, %+v", j, r.Quality)
	}
	if _, err := Run(Config{Rules: rules, Truth: []Query{{ID: "q", Query: "x", Relevant: []string{"GONE-C-001"}, Kind: "direct"}}, Clock: func() int64 { return 0 }}); !errors.Is(err, ErrUnknownRule) {
		t.Errorf("%v", err)
	}
}
