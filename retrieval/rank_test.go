package retrieval

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/vector"
	"github.com/writbus/writ/schemas"
)

// topical embeds a text as how often it holds each of a few words.
type topical struct {
	words []string
	fail  string // texts that hold this fail
}

func (topical) Name() string { return "topical@1" }

func (e topical) Embed(text string) ([]float32, error) {
	if e.fail != "" && strings.Contains(text, e.fail) {
		return nil, errors.New("out of order")
	}
	v := make([]float32, len(e.words))
	for i, word := range e.words {
		v[i] = float32(strings.Count(strings.ToLower(text), word)) + 0.01
	}
	return v, nil
}

// fixedVectors answers with a given list.
type fixedVectors []vector.Match

func (f fixedVectors) Nearest(_ []float32, k int, keep func(int32) bool) []vector.Match {
	var out []vector.Match
	for _, m := range f {
		if len(out) < k && (keep == nil || keep(m.Doc)) {
			out = append(out, m)
		}
	}
	return out
}

func (f fixedVectors) Cosines(_ []float32, docs []int32, out []float64) {
	for i, doc := range docs {
		out[i] = 0
		for _, m := range f {
			if m.Doc == doc {
				out[i] = m.Cosine
			}
		}
	}
}

func withVectors(list ...vector.Match) Options {
	return Options{
		Embedder: topical{words: []string{"mutex"}},
		Vectors:  func([]vector.View) (VectorIndex, error) { return fixedVectors(list), nil },
	}
}

// lockRules are numbered by id; the words of the first fit "mutex" best.
func lockRules() []schemas.Rule {
	return []schemas.Rule{
		{ID: "A-1", Severity: "low", Confidence: "speculative", Trigger: "mutex mutex", Statement: "mutex"},
		{ID: "B-1", Severity: "critical", Confidence: "battle-tested", Trigger: "mutex", Statement: "lock before use"},
		{ID: "C-1", Severity: "high", Confidence: "peer-reviewed", Trigger: "an unrelated thing", Statement: "say nothing here"},
	}
}

func scores(a Answer) map[string]float64 {
	out := make(map[string]float64)
	for _, h := range a.Rules {
		out[h.ID] = h.Score
	}
	return out
}

func wantScores(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for id, w := range want {
		if math.Abs(got[id]-w) > 1e-9 {
			t.Errorf("%s scores %.6f, want %.6f", id, got[id], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReferenceWeights(t *testing.T) {
	ix := newTestIndex(t, lockRules(), withVectors(vector.Match{Doc: 2, Cosine: 0.9}, vector.Match{Doc: 0, Cosine: 0.8}))
	a := ix.Search(Query{Text: "mutex", Raw: true, Profile: ProfileReference})
	if a.Profile != ProfileReference || a.Embedder != "topical@1" {
		t.Fatalf("profile %q, embedder %q", a.Profile, a.Embedder)
	}
	second := 61.0 / 62
	wantScores(t, scores(a), map[string]float64{
		"A-1": 0.594*second + 0.198*1 + 0.099*0.25 + 0.099*0.3,
		"B-1": 0.198*second + 0.099*1 + 0.099*1,
		"C-1": 0.594*1 + 0.099*0.75 + 0.099*0.6,
	})
	literal := ix.Search(Query{Text: `"mutex"`, Raw: true, Profile: ProfileReference})
	if !literal.Literal {
		t.Error("a quoted phrase is literal")
	}
	wantScores(t, scores(literal), map[string]float64{
		"A-1": 0.396*second + 0.396*1 + 0.099*0.25 + 0.099*0.3,
		"B-1": 0.396*second + 0.099*1 + 0.099*1,
		"C-1": 0.396*1 + 0.099*0.75 + 0.099*0.6,
	})
}

func TestReferenceWithoutVectorsIsRenormalised(t *testing.T) {
	ix := newTestIndex(t, lockRules(), Options{})
	a := ix.Search(Query{Text: "mutex", Raw: true, Profile: ProfileReference})
	rest := 0.198 + 0.099 + 0.099 + 0.01
	wantScores(t, scores(a), map[string]float64{
		"A-1": (0.198*1 + 0.099*0.25 + 0.099*0.3) / rest,
		"B-1": (0.198*61/62 + 0.099*1 + 0.099*1) / rest,
	})
}

func TestConvexWeights(t *testing.T) {
	opt := withVectors(vector.Match{Doc: 2, Cosine: 0.9}, vector.Match{Doc: 1, Cosine: 0.7}, vector.Match{Doc: 0, Cosine: 0.5})
	ix := newTestIndex(t, lockRules(), opt)
	a := ix.Search(Query{Text: "mutex", Raw: true, Profile: ProfileStatic})
	words := map[string]float64{}
	for _, h := range a.Rules {
		words[h.ID] = h.Why.BM25
	}
	share := words["B-1"] / words["A-1"]
	wantScores(t, scores(a), map[string]float64{
		"A-1": 0.99 * (0.7*1 + 0.3*0) * (1 + 0.06*0.25 + 0.04*0.3) / 1.1,
		"B-1": 0.99 * (0.7*share + 0.3*0.5) * (1 + 0.06*1 + 0.04*1) / 1.1,
		"C-1": 0.99 * (0.3 * 1) * (1 + 0.06*0.75 + 0.04*0.6) / 1.1,
	})
}

// TestWordsCountAsMuchAsTheyCover: who has one of three words is no match by
// words, though nobody has more.
func TestWordsCountAsMuchAsTheyCover(t *testing.T) {
	opt := withVectors(vector.Match{Doc: 2, Cosine: 0.9}, vector.Match{Doc: 1, Cosine: 0.7}, vector.Match{Doc: 0, Cosine: 0.5})
	p := Profile{Name: "plain", Fusion: FusionConvex, Vector: 0.4, BM25: 0.6}
	opt.Profiles = append(opt.Profiles, p)
	p.Name, p.Cover = "covered", 1
	opt.Profiles = append(opt.Profiles, p)
	ix := newTestIndex(t, lockRules(), opt)
	for profile, first := range map[string]string{"plain": "B-1", "covered": "C-1"} {
		a := ix.Search(Query{Text: "mutex tzatziki moussaka", Raw: true, Profile: profile})
		if len(a.Rules) == 0 || a.Rules[0].ID != first {
			t.Errorf("%s: %v, wanted %s first", profile, scores(a), first)
		}
	}
	if a := ix.Search(Query{Text: "mutex", Raw: true, Profile: "covered"}); a.Rules[0].ID != "B-1" {
		t.Errorf("a query of one word, which it has: %v", scores(a))
	}
}

func TestPriorsNeverLiftTheIrrelevantInTheLexicalProfile(t *testing.T) {
	rules := []schemas.Rule{
		{ID: "WEAK-1", Severity: "critical", Confidence: "battle-tested", Trigger: "something else entirely", Statement: "mentions mutex once among many other words that dilute it"},
		{ID: "STRONG-1", Severity: "low", Confidence: "speculative", Trigger: "a mutex is held", Statement: "release the mutex"},
	}
	ix := newTestIndex(t, rules, Options{})
	if ids := idsOf(ix.Search(Query{Text: "mutex", Raw: true}).Rules); ids[0] != "STRONG-1" {
		t.Errorf("order %v", ids)
	}
}

func TestLiveConfidenceReplacesTheStated(t *testing.T) {
	opt := Options{Confidence: func(id string) (float64, bool) { return 0.9, id == "A-1" }}
	a := newTestIndex(t, lockRules(), opt).Search(Query{Text: "mutex", Raw: true})
	for _, h := range a.Rules {
		if want := map[string]float64{"A-1": 0.9, "B-1": 1}[h.ID]; h.Why.Confidence != want {
			t.Errorf("%s: confidence %.2f, want %.2f", h.ID, h.Why.Confidence, want)
		}
	}
}

func TestNamedRulesComeFirstInTheOrderOfTheText(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{})
	a := ix.Search(Query{Text: "compare PY-MUT-001 and (go-err-002). Wrap errors once per layer", Raw: true})
	if ids := idsOf(a.Rules); !slices.Equal(ids[:3], []string{"PY-MUT-001", "GO-ERR-002", "GO-ERR-001"}) || !a.Literal {
		t.Errorf("order %v, literal %v", ids, a.Literal)
	}
	if a.Rules[0].Tier != TierInject || a.Rules[0].Score != 1 || !a.Rules[0].Why.Pinned {
		t.Errorf("%+v", a.Rules[0])
	}
	if !ix.Search(Query{Text: "bind  PARAMETERS"}).Literal || ix.Search(Query{Text: "bind parameters please"}).Literal {
		t.Error("exactly a title is literal, more is not")
	}
}

func TestQuotedPhrasesAreLiteral(t *testing.T) {
	for text, want := range map[string]bool{
		`find "connection reset" here`: true, "the `retry` loop": true, "“so” it said": true, `""`: false, `5" screen`: false,
		`"  "`: false, "``` ```": false, `" " "word"`: true, "it's what's": false, "": false,
	} {
		if got := quotes(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAFailingEmbedderIsNamedAndWordsGoOn(t *testing.T) {
	opt := Options{Embedder: topical{words: []string{"mutex"}, fail: "unusual"}}
	a := newTestIndex(t, lockRules(), opt).Search(Query{Text: "unusual mutex", Raw: true})
	if a.Embedder != EmbedderNone || !strings.Contains(a.Problem, "topical@1") || a.Profile != ProfileLexical || len(a.Rules) == 0 {
		t.Errorf("embedder %q, problem %q, profile %q, %v", a.Embedder, a.Problem, a.Profile, idsOf(a.Rules))
	}
	opt.Embedder = topical{fail: "lock before"}
	if _, err := NewIndex(analyseAll(lockRules()), opt); err == nil || !strings.Contains(err.Error(), "B-1") {
		t.Errorf("building with a failing embedder: %v", err)
	}
}

func TestVectorsFindWhatWordsMiss(t *testing.T) {
	ix := newTestIndex(t, corpusRules(), Options{Embedder: topical{words: []string{"default", "error", "query", "context", "log"}}})
	a := ix.Search(Query{Text: "defaulting", Raw: true})
	if a.Rules[0].ID != "PY-MUT-001" || a.Rules[0].Why.Vector < 0.9 {
		t.Errorf("%v", idsOf(a.Rules))
	}
}

func TestSortedIsTheOrderOfBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Custom(func(t *rapid.T) float64 { // differs in the last bits only
			return math.Float64frombits(math.Float64bits(0.5) + rapid.Uint64Range(0, 3).Draw(t, "bits"))
		})
		score := rapid.OneOf(near, rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.01, 0.02, 1}))
		pool := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) candidate {
			return candidate{score: score.Draw(t, "score"), pinned: max(0, rapid.IntRange(-9, 3).Draw(t, "pinned"))}
		}), 0, 60).Draw(t, "pool")
		s := search{scratch: newScratch(len(pool)), ix: &Index{kinds: make([]kind, len(pool))}}
		for i, doc := range rapid.Permutation(places(len(pool))).Draw(t, "docs") {
			pool[i].doc = int32(doc)
			s.ix.kinds[doc].provisional = rapid.Bool().Draw(t, "provisional")
		}
		s.pool = pool
		for pass := range 2 {
			want := places(len(pool))
			slices.SortFunc(want, func(a, b int) int {
				key := func(at int) float64 {
					if pass == 1 && s.ix.kinds[pool[at].doc].provisional {
						return pool[at].score - nearTie
					}
					return pool[at].score
				}
				return cmp.Or(cmp.Compare(pinOrder(&pool[a]), pinOrder(&pool[b])), cmp.Compare(key(b), key(a)), cmp.Compare(pool[a].doc, pool[b].doc))
			})
			if got := s.sorted(pass, true); !slices.Equal(got, want) {
				t.Fatalf("pass %d: %v, want %v", pass, got, want)
			}
		}
	})
}

func places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
