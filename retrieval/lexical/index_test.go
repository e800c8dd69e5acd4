package lexical

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/bm25"
)

var vocabulary = strings.Fields("retry timeout mutex goroutine channel lock index cache query token error context " +
	"handler buffer stream socket parser thread atomic deadline backoff payload cursor ledger shard")

// sentence draws words, the early ones more often.
func sentence(r *rand.Rand, most int) string {
	words := make([]string, r.Intn(most+1))
	for i := range words {
		words[i] = vocabulary[min(r.Intn(len(vocabulary)), r.Intn(len(vocabulary)))]
	}
	return strings.Join(words, " ")
}

func randomDocuments(r *rand.Rand, n int) []Fields {
	docs := make([]Fields, n)
	for i := range docs {
		docs[i] = Fields{
			Trigger: CountTerms(sentence(r, 8)), Name: CountTerms(sentence(r, 4)), Statement: CountTerms(sentence(r, 12)),
			Tags: CountTerms(sentence(r, 3)), Body: CountTerms(sentence(r, 60)),
		}
	}
	return docs
}

// textbook computes the documented formula term by term, from the raw counts.
func textbook(docs []Fields, query string) []float64 {
	scores := make([]float64, len(docs))
	counts := map[string]float64{}
	for _, term := range Analyse(query) {
		counts[term.Text]++
	}
	for text, n := range counts {
		holding := 0
		for _, doc := range docs {
			if slices.ContainsFunc(doc[:], func(c []Count) bool { return tf(c, text) > 0 }) {
				holding++
			}
		}
		weight := math.Log(1 + (float64(len(docs)-holding)+0.5)/(float64(holding)+0.5))
		for d, doc := range docs {
			var frequency float64
			for field := range doc {
				if tf := tf(doc[field], text); tf > 0 {
					frequency += Boosts[field] * tf / (1 - bm25.B + bm25.B*words(doc[field])/averageOf(docs, field))
				}
			}
			scores[d] += (9 * n / (8 + n)) * weight * frequency * (bm25.K1 + 1) / (frequency + bm25.K1)
		}
	}
	return scores
}

func tf(counts []Count, term string) float64 {
	for _, c := range counts {
		if c.Term == term {
			return float64(c.N)
		}
	}
	return 0
}

func words(counts []Count) (n float64) {
	for _, c := range counts {
		n += float64(c.N)
	}
	return n
}

func averageOf(docs []Fields, field int) float64 {
	var sum, having float64
	for _, doc := range docs {
		if n := words(doc[field]); n > 0 {
			sum += n
			having++
		}
	}
	return sum / having
}

func TestScoresAreTextbookBM25(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	docs := randomDocuments(r, 150)
	ix := indexed(docs)
	for range 60 {
		query := sentence(r, 10) + " unseen"
		want := textbook(docs, query)
		got := ix.Search(ix.Resolve(query, 0), len(docs), nil)
		met := 0
		for _, m := range got {
			met++
			if diff := math.Abs(m.Score - want[m.Doc]); diff > 1e-6 {
				t.Fatalf("%q, document %d: %.9f, textbook %.9f", query, m.Doc, m.Score, want[m.Doc])
			}
		}
		for _, score := range want {
			if score > 0 {
				met--
			}
		}
		if met != 0 {
			t.Fatalf("%q met %d documents too many or too few", query, met)
		}
	}
}

// What a text says again ranks, and proves nothing.
func TestRepeatedTermsRankAndProveNothing(t *testing.T) {
	ix := indexed([]Fields{{Statement: CountTerms("mutex lock")}, {Statement: CountTerms("cache store")}})
	once, again := ix.Resolve("mutex cache", 0), ix.Resolve("mutex cache mutex", 0)
	if ratio := again.Score(0) / once.Score(0); math.Abs(ratio-1.8) > 1e-12 {
		t.Errorf("twice counts %v, want 1.8", ratio)
	}
	if again.Score(1) != once.Score(1) || again.Most() <= once.Most() {
		t.Errorf("the other word %v and %v, most %v and %v", once.Score(1), again.Score(1), once.Most(), again.Most())
	}
	wantProof, wantCoverage := once.Judge(0, once.Score(0))
	proof, coverage := again.Judge(0, again.Score(0))
	if math.Abs(proof-wantProof) > 1e-12 || coverage != wantCoverage {
		t.Errorf("proof %v of %v, coverage %v of %v", proof, wantProof, coverage, wantCoverage)
	}
}

// One field at boost 1 is the formula of the textbook; these numbers were
// computed by hand from it.
func TestOneFieldIsPlainBM25(t *testing.T) {
	docs := []Fields{
		{Statement: CountTerms("mutex mutex lock")},
		{Statement: CountTerms("mutex cache")},
		{Statement: CountTerms("cache cache cache cache")},
	}
	ix := indexed(docs)
	got := ix.Search(ix.Resolve("mutex", 0), 10, nil)
	idf := math.Log(1 + 1.5/2.5)
	want := []Match{
		{Doc: 0, Score: idf * 2 * 2.2 / (2 + 1.2)},
		{Doc: 1, Score: idf * 1 * 2.2 / (1 + 1.2*(0.25+0.75*2/3))},
	}
	if len(got) != 2 {
		t.Fatalf("got %v", got)
	}
	for i, m := range want {
		if got[i].Doc != m.Doc || math.Abs(got[i].Score-m.Score) > 1e-12 {
			t.Errorf("place %d: got %+v, want %+v", i, got[i], m)
		}
	}
}

func TestFiltersNeverStarveTheCandidates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomDocuments(r, rapid.IntRange(1, 40).Draw(t, "documents"))
		k := rapid.IntRange(1, 20).Draw(t, "k")
		admitted := make([]bool, len(docs))
		for i := range admitted {
			admitted[i] = r.Intn(10) < 3
		}
		query := sentence(r, 6)
		ix := indexed(docs)
		got := ix.Search(ix.Resolve(query, 0), k, func(doc int32) bool { return admitted[doc] })
		var want []Match
		for doc, score := range textbook(docs, query) {
			if score > 0 && admitted[doc] {
				want = append(want, Match{Doc: int32(doc), Score: score})
			}
		}
		slices.SortFunc(want, func(a, b Match) int {
			if math.Abs(a.Score-b.Score) < 1e-9 {
				return cmp.Compare(a.Doc, b.Doc)
			}
			return cmp.Compare(b.Score, a.Score)
		})
		want = want[:min(k, len(want))]
		if len(got) != len(want) {
			t.Fatalf("got %d matches, the filter leaves %d", len(got), len(want))
		}
		for i := range want {
			if math.Abs(got[i].Score-want[i].Score) > 1e-6 {
				t.Fatalf("place %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
	})
}

func TestExplainAddsUp(t *testing.T) {
	docs := randomDocuments(rand.New(rand.NewSource(3)), 50)
	ix := indexed(docs)
	q := ix.Resolve("mutex lock cache deadline", 0)
	for _, m := range ix.Search(q, 50, nil) {
		var sum float64
		for _, part := range q.Explain(m.Doc) {
			sum += part.Score
		}
		if alone := q.Score(m.Doc); math.Abs(sum-m.Score) > 1e-9 || math.Abs(alone-m.Score) > 1e-9 {
			t.Errorf("document %d: parts %.6f, alone %.6f, found %.6f", m.Doc, sum, alone, m.Score)
		}
	}
}

func coverage(q Query, doc int32) float64 {
	_, share := q.Judge(doc, 0)
	return share
}

func TestCoverage(t *testing.T) {
	ix := indexed([]Fields{{Statement: CountTerms("mutex lock")}, {Statement: CountTerms("cache")}})
	if got := coverage(ix.Resolve("mutex cache", 0), 0); got != 0.5 {
		t.Errorf("one of two words of equal weight covers %.3f", got)
	}
	if got := coverage(ix.Resolve("mutex_lock", 0), 0); got != 1 {
		t.Errorf("an unknown whole lowers the coverage of its parts to %.3f", got)
	}
	if got := coverage(ix.Resolve("mutex zebra", 0), 0); got <= 0 || got >= 0.5 {
		t.Errorf("an unknown word weighs more than a known one; covers %.3f", got)
	}
	if got := coverage(ix.Resolve("", 0), 0); got != 0 {
		t.Errorf("nothing covers %.3f", got)
	}
}

func TestLongQueriesKeepTheRarestTerms(t *testing.T) {
	var docs []Fields
	var query []string
	for i := range 300 {
		word := fmt.Sprintf("w%dx", i)
		docs = append(docs, Fields{Statement: CountTerms("common " + word)})
		query = append(query, word)
	}
	ix := indexed(docs)
	q := ix.Resolve("common "+strings.Join(query, " "), 0)
	if q.Known() != 301 || len(q.terms) != maxQueryTerms {
		t.Fatalf("known %d, kept %d", q.Known(), len(q.terms))
	}
	for _, term := range q.terms {
		if term.text == "common" {
			t.Error("the commonest term was kept")
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	ix := indexed(nil)
	if got := ix.Search(ix.Resolve("anything", 0), 5, nil); got != nil {
		t.Errorf("got %v", got)
	}
}

// indexed indexes documents without pairs.
func indexed(docs []Fields) *Index {
	return Collect(len(docs), Unpaired(func(doc int, into *Fields) { *into = docs[doc] }), nil, nil)
}
