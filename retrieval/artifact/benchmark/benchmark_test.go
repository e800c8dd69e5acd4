package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/search"
)

func TestReadQueries(t *testing.T) {
	got, err := ReadQueries(strings.NewReader("\ufeff" + `{"id":"a","query":"one","relevant":["x.go","y.go"]}

{"id":"b","query":"two","relevant":{"z.go":2},"project":"std@go1.26.8"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Relevant["y.go"] != 1 || got[1].Relevant["z.go"] != 2 || got[1].Project != "std@go1.26.8" {
		t.Errorf("got %+v", got)
	}
}

func TestABadLineNamesItsNumber(t *testing.T) {
	good := `{"id":"a","query":"q","relevant":["x"]}` + "\n"
	for line, want := range map[string]string{
		`{"id":"b","query":"q"`:                                    "line 2: the JSON object does not end on its line",
		`{"id":"b","query":"q","relevant":["x"]} {}`:               "line 2: more than one value",
		`{"id":"b","query":"q","relevant":[]}`:                     "line 2: b: no path is relevant",
		`{"id":"b","query":" ","relevant":["x"]}`:                  "line 2: b: the query is blank",
		`{"query":"q","relevant":["x"]}`:                           "line 2: the id is missing",
		`{"id":"a","query":"q","relevant":["x"]}`:                  `line 2: id "a" is that of line 1`,
		`{"id":"b","query":"q","relevant":["x"],"kind":"nothing"}`: "line 2: b: paths are relevant, but its kind is nothing",
		`{"id":"b","query":"q","relevant":{"x":0}}`:                "line 2: b: the grade of x is 0, not above 0",
		`{"id":"b","query":"q","relevant":[""]}`:                   "line 2: b: a relevant path is blank",
		`{"id":"b","query":"q","relevant":"x"}`:                    "line 2: relevant is neither a list of paths nor an object",
		`{"id":"b","query":"q","relevant":["x"],"rel":[]}`:         `line 2: json: unknown field "rel"`,
		`nonsense`: "line 2: no JSON object: invalid character",
	} {
		_, err := ReadQueries(strings.NewReader(good + line + "\n"))
		if !errors.Is(err, ErrQueries) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", line, err, want)
		}
	}
}

func FuzzReadQueries(f *testing.F) {
	f.Add([]byte(`{"id":"a","query":"one","relevant":["x.go"]}` + "\n\n" + `{"id":"b","query":"two","relevant":{"z":2}}`))
	f.Add([]byte("{\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		queries, err := ReadQueries(bytes.NewReader(b))
		if err != nil && !errors.Is(err, ErrQueries) {
			t.Fatal(err)
		}
		for _, q := range queries {
			if q.ID == "" || len(q.Relevant) == 0 {
				t.Fatalf("accepted %+v", q)
			}
		}
	})
}

func TestMeasure(t *testing.T) {
	ideal := 2 + 1/math.Log2(3)
	for name, c := range map[string]struct {
		ranking string
		want    Measures
	}{
		"perfect":   {"a b c", Measures{1, 1, 1, 1, 1, 1}},
		"swapped":   {"b a", Measures{(1 + 2/math.Log2(3)) / ideal, 1, 1, 1, 1, 1}},
		"one, late": {"x y z u v b", Measures{1 / math.Log2(7) / ideal, 1.0 / 6, 0.5, 0.5, 0, 0}},
		"none":      {"x y", Measures{}},
		"beyond 10": {"1 2 3 4 5 6 7 8 9 10 a", Measures{0, 1.0 / 11, 0, 0.5, 0, 0}},
	} {
		got := Measure(strings.Fields(c.ranking), Grades{"a": 2, "b": 1})
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: %s is %.6f, want %.6f", name, MeasureNames[i], got[i], c.want[i])
			}
		}
	}
}

func document(path, text string) *artifact.Document {
	return &artifact.Document{Path: path, Type: artifact.Code, Chunks: []artifact.Chunk{{Lines: [2]int{1, 1}, Text: text}}}
}

func config(queries ...Query) Config {
	now := int64(0)
	return Config{
		Queries: queries, Methods: []search.Method{search.BM25, search.TwoStage}, Seed: 1,
		Build: func(_ string, e search.Embedder) (*search.Index, error) {
			a := search.NewAnalyser(e)
			var entries []*search.Entry
			for _, d := range []*artifact.Document{
				document("first.go", "mutex lock"), document("other_test.go", "lock lock mutex lock mutex"), document("c.go", "cache"),
			} {
				entry, err := a.Analyse(d)
				if err != nil {
					return nil, err
				}
				entries = append(entries, entry)
			}
			return search.New(entries, e), nil
		},
		Clock: func() int64 { now += 1000; return now },
	}
}

func TestRun(t *testing.T) {
	r, err := Run(config(
		Query{ID: "a", Query: "lock", Relevant: Grades{"first.go": 1}},
		Query{ID: "b", Query: "mutex", Relevant: Grades{"first.go": 1, "gone.go": 1}},
	))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) != 1 || r.Missing[0] != (Missing{"b", "gone.go"}) {
		t.Errorf("missing: %v", r.Missing)
	}
	if got := r.Methods[1].Measures["recall@10"].Mean; got != 0.75 {
		t.Errorf("a path that is not indexed is a miss: recall %.2f", got)
	}
	if d := r.Differences[0]; d.Method != search.TwoStage || d.Over != search.BM25 || d.Measures["ndcg@10"].Mean <= 0 {
		t.Errorf("the penalty for tests does not show: %+v", d)
	}
	if p := r.Projects[0]; p.Documents != 3 || p.Chunks != 3 || p.Index == 0 || len(p.NDCG10) != 2 {
		t.Errorf("project: %+v", p)
	}
	if e := r.Methods[1].Calibration; e <= 0 || e >= 1 {
		t.Errorf("scores are chances with an error of %.3f", e)
	}
	var table, raw bytes.Buffer
	if err := errors.Join(r.WriteTable(&table), r.WriteJSON(&raw)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"two-stage − bm25", "this project", "b  gone.go", "P95 µs", "total", "CALIBRATION ERROR"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &table)
		}
	}
	if !json.Valid(raw.Bytes()) {
		t.Error("no JSON")
	}
}

func TestTheSameSeedGivesTheSameIntervals(t *testing.T) {
	queries := []Query{
		{ID: "a", Query: "lock", Relevant: Grades{"first.go": 1}},
		{ID: "b", Query: "cache", Relevant: Grades{"c.go": 1}},
		{ID: "c", Query: "mutex", Relevant: Grades{"c.go": 1}},
	}
	one, err := Run(config(queries...))
	if err != nil {
		t.Fatal(err)
	}
	two, err := Run(config(queries...))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := one.Methods[1].Measures["mrr"], two.Methods[1].Measures["mrr"]; a != b || a.Low >= a.High {
		t.Errorf("%v and %v", a, b)
	}
}

// The judged queries that are shipped can be read, and no query is in both
// halves.
func TestShippedQueries(t *testing.T) {
	halves, seen := map[string]int{}, map[string]bool{}
	for _, half := range []string{"tune", "held"} {
		f, err := os.Open("testdata/" + half + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		queries, err := ReadQueries(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if seen[q.Query] {
				t.Errorf("%q is asked twice", q.Query)
			}
			seen[q.Query] = true
			halves[half]++
		}
	}
	if halves["tune"] < 60 || halves["held"] < 60 {
		t.Errorf("queries: %v", halves)
	}
}
