package lexical

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/bm25"
)

// written are documents as they are written: texts of a field, of each field.
type written [][NumFields][]string

func (t written) Fields(doc int, into *Fields) {
	for field, own := range t[doc] {
		into[field] = CountTerms(own...)
	}
}

func (written) Aside(int) bool { return false }

func (t written) Pairs(doc int) Pairs {
	pairs := map[Field][]Pair{}
	for _, field := range PairFields {
		pairs[field] = CountPairs(CountTerms(t[doc][field]...), t[doc][field]...)
	}
	return PackPairs(pairs)
}

func randomWritten(r *rand.Rand, n int) written {
	docs := make(written, n)
	for i := range docs {
		docs[i] = [NumFields][]string{
			Trigger: {sentence(r, 8), sentence(r, 4), sentence(r, 4)}, Name: {sentence(r, 4)}, Statement: {sentence(r, 12)},
			Tags: {sentence(r, 3)}, Body: {sentence(r, 30)},
		}
	}
	return docs
}

// neighbours are the pairs of a text as strings.
func neighbours(text string) (pairs []string) {
	terms := Analyse(text)
	terms = slices.DeleteFunc(terms, func(t Term) bool { return t.Whole })
	for i := range terms[:max(len(terms)-1, 0)] {
		pairs = append(pairs, terms[i].Text+" "+terms[i+1].Text)
	}
	return pairs
}

// byPairs computes what pairs add to each document, from the texts.
func byPairs(docs written, query string) []float64 {
	scores := make([]float64, len(docs))
	fields := make([]Fields, len(docs))
	for d := range docs {
		docs.Fields(d, &fields[d])
	}
	queried := neighbours(query)
	slices.Sort(queried)
	for _, pair := range slices.Compact(queried) {
		frequencies, holding := make([]float64, len(docs)), 0
		for d := range docs {
			for _, field := range PairFields {
				for _, text := range docs[d][field] {
					for _, p := range neighbours(text) {
						if p == pair {
							frequencies[d] += Boosts[field] / (1 - bm25.B + bm25.B*words(fields[d][field])/averageOf(fields, int(field)))
						}
					}
				}
			}
			if frequencies[d] > 0 {
				holding++
			}
		}
		weight := math.Log(1 + (float64(len(docs)-holding)+0.5)/(float64(holding)+0.5))
		for d, f := range frequencies {
			scores[d] += weight * f * (bm25.K1 + 1) / (f + bm25.K1)
		}
	}
	return scores
}

func TestPairsAddTheirOwnBM25(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomWritten(r, rapid.IntRange(1, 60).Draw(t, "documents"))
		ix := Collect(len(docs), docs, nil, nil)
		query := sentence(r, 12) + " unseen " + sentence(r, 6)
		bare, paired := ix.Resolve(query, 0), ix.Resolve(query, 0.5)
		added := byPairs(docs, query)
		found := ix.Search(paired, len(docs), nil)
		for _, m := range found {
			want := bare.Score(m.Doc) + 0.5*added[m.Doc]
			if math.Abs(m.Score-want) > 1e-5 || paired.Score(m.Doc) != m.Score {
				t.Fatalf("%q, document %d: found %.7f, alone %.7f, want %.7f", query, m.Doc, m.Score, paired.Score(m.Doc), want)
			}
			a, _ := paired.Judge(m.Doc, m.Score)
			if b, _ := bare.Judge(m.Doc, bare.Score(m.Doc)); math.Abs(a-b) > 1e-9 {
				t.Fatalf("%q, document %d: proof %.9f, of its words %.9f", query, m.Doc, a, b)
			}
			var sum float64
			for _, part := range paired.Explain(m.Doc) {
				sum += part.Score
			}
			if math.Abs(sum-m.Score) > 1e-9 {
				t.Fatalf("document %d: parts %.6f, found %.6f", m.Doc, sum, m.Score)
			}
		}
		if len(found) != len(ix.Search(bare, len(docs), nil)) {
			t.Fatal("pairs find other documents than their words")
		}
	})
}

// Of two documents with the same words the one with the query's order comes first.
func TestWordsInOrderRankFirst(t *testing.T) {
	docs := written{
		{Statement: {"the order that takes a lock"}},
		{Statement: {"a lock order that takes"}},
		{Statement: {"cache"}},
	}
	ix := Collect(len(docs), docs, nil, nil)
	got := ix.Search(ix.Resolve("which lock order", 0.2), 3, nil)
	if len(got) != 2 || got[0].Doc != 1 || got[0].Score <= got[1].Score {
		t.Errorf("%+v", got)
	}
	parts := ix.Resolve("which lock order", 0.2).Explain(1)
	if !slices.ContainsFunc(parts, func(c Contribution) bool { return c.Term == "lock order" }) {
		t.Errorf("%+v", parts)
	}
	if got := ix.Search(ix.Resolve("which lock order", 0), 3, nil); got[0].Score != got[1].Score {
		t.Errorf("without pairs %+v", got)
	}
	// Two symptoms are not one text.
	ix = Collect(1, written{{Trigger: {"a lock", "order"}}}, nil, nil)
	if q := ix.Resolve("lock order", 1); len(q.pairs) != 0 {
		t.Errorf("%+v", q.pairs)
	}
}

// Pairs of a pasted log are bounded as its terms are.
func TestLongQueriesHaveAsManyPairsAsTerms(t *testing.T) {
	var log []string
	for i := range 400 {
		log = append(log, vocabulary[i%len(vocabulary)]+strings.Repeat("x", i/len(vocabulary)))
	}
	text := strings.Join(log, " ")
	ix := Collect(1, written{{Statement: {text}}}, nil, nil)
	if q := ix.Resolve(text, 0.2); len(q.pairs) != maxQueryTerms {
		t.Errorf("%d pairs", len(q.pairs))
	}
}

func TestPackedPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomWritten(r, 1)
		var fields Fields
		docs.Fields(0, &fields)
		var terms [NumFields]int
		for field, counts := range fields {
			terms[field] = len(counts)
		}
		packed := docs.Pairs(0)
		got, rest, ok := CutPairs(string(packed)+"more", terms)
		if !ok || got != packed || rest != "more" {
			t.Fatalf("%q, %q, %v of %q", got, rest, ok, packed)
		}
		for n := range packed {
			if _, _, ok := CutPairs(string(packed[:n]), terms); ok {
				t.Fatalf("the first %d of %d bytes are taken", n, len(packed))
			}
		}
	})
	terms := [NumFields]int{Trigger: 2}
	for name, packed := range map[string]string{
		"a place there is not": "\x01\x00\x02\x01\x00\x00", "no times": "\x01\x00\x01\x00\x00\x00", "twice": "\x02\x00\x01\x01\x00\x01\x01\x00\x00",
		"not in order": "\x02\x01\x00\x01\x00\x01\x01\x00\x00", "more than there are": "\xff\x01\x00\x01\x01\x00\x00",
		"a number without an end": strings.Repeat("\xff", 12), "a field without terms": "\x00\x01\x00\x00\x01\x00",
	} {
		if _, _, ok := CutPairs(packed, terms); ok {
			t.Errorf("%s: taken", name)
		}
	}
	if _, _, ok := CutPairs("\x02\x00\x01\x01\x01\x00\x01\x00\x00", terms); !ok {
		t.Error("good pairs are not taken")
	}
}
