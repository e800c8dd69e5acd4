package lexical

import (
	"cmp"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The best of many scores are those that sorting finds, whatever a filter leaves
// of them.
func TestTheBestOfManyScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		scores := make([]float64, rapid.IntRange(0, 3000).Draw(t, "documents"))
		levels := rapid.SampledFrom([]int{1, 3, 1000}).Draw(t, "levels") // few make ties
		var keep func(int32) bool
		if every := rapid.SampledFrom([]int32{1, 2, 40}).Draw(t, "admitted"); every > 1 {
			keep = func(doc int32) bool { return doc%every == 0 }
		}
		var want []Match
		for doc := range scores {
			if r.Intn(3) > 0 {
				scores[doc] = float64(r.Intn(levels)) / 7
			}
			if scores[doc] > 0 && (keep == nil || keep(int32(doc))) {
				want = append(want, Match{int32(doc), scores[doc]})
			}
		}
		slices.SortFunc(want, func(a, b Match) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
		k := rapid.IntRange(1, 70).Draw(t, "k")
		got := (&accumulator{scores: scores}).best(k, keep)
		if !slices.Equal(got, want[:min(k, len(want))]) {
			t.Fatalf("%v, want %v", got, want[:min(k, len(want))])
		}
	})
}

// Of two documents the one with the query's "before" comes first, and it is not
// taken for more about the query's subject.
func TestATellingWordRanksAndProvesNothing(t *testing.T) {
	var docs [2]Fields
	docs[0][Statement] = CountTerms("sync the file after the commit")
	docs[1][Statement] = CountTerms("sync the file before the commit")
	ix := indexed(docs[:])
	q, bare := ix.Resolve("what before a commit", 0), ix.Resolve("commit", 0)
	got := ix.Search(q, 2, nil)
	if len(got) != 2 || got[0].Doc != 1 || got[0].Score <= got[1].Score {
		t.Fatalf("%+v", got)
	}
	proof, one := q.Judge(1, got[0].Score)
	if want := bare.Score(1); math.Abs(proof-want) > 1e-12 {
		t.Errorf("the proof is %v, that of the word alone %v", proof, want)
	}
	if _, other := q.Judge(0, 0); q.Words() != 1 || q.Matched(1) != 1 || one != 1 || other != 1 {
		t.Errorf("%d words, %d held, shares %v and %v", q.Words(), q.Matched(1), one, other)
	}
}

// What a score proves is what the words say that are neither kept stop words nor
// pairs, and the share is that of the idf of the query's words.
func TestJudgedByTheTermsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		texts := randomWritten(r, rapid.IntRange(1, 80).Draw(t, "documents"))
		for i := range texts {
			texts[i][Statement] = append(texts[i][Statement], "no "+sentence(r, 3)+" never")
		}
		ix := Collect(len(texts), texts, nil, nil)
		q := ix.Resolve(sentence(r, 12)+" unseen no not "+texts[0][Statement][0]+" never", 0.2)
		for doc := range int32(len(texts)) {
			var wantProof, held float64
			for _, term := range q.terms {
				impact := ix.impact(term.list, doc)
				if !term.distinctive {
					wantProof += impact
				}
				if !term.aside && impact > 0 {
					held += term.list.idf
				}
			}
			proof, coverage := q.Judge(doc, q.Score(doc))
			if math.Abs(proof-wantProof) > 1e-9 || coverage != min(held/q.mass, 1) {
				t.Fatalf("document %d: %v and %v, by its terms %v and %v", doc, proof, coverage, wantProof, held/q.mass)
			}
		}
	})
}
