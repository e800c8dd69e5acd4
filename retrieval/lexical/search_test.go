package lexical

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Both ways of summing scores find the same, to the bit, and leave nothing
// behind.
func TestSparseAndDenseSumsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomDocuments(r, rapid.IntRange(1, 60).Draw(t, "documents"))
		docs = append(docs, docs[:len(docs)/2]...) // equal scores
		ix := New(docs)
		q := ix.Resolve(sentence(r, 12), 0)
		k := rapid.IntRange(1, 70).Draw(t, "k")
		var keep func(int32) bool
		if rapid.Bool().Draw(t, "filter") {
			keep = func(doc int32) bool { return doc%3 != 1 }
		}
		acc := &accumulator{scores: make([]float64, len(docs))}
		for _, term := range q.terms {
			acc.addSparse(ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to])
		}
		sparse := acc.bestTouched(k, keep)
		for _, term := range q.terms {
			acc.add(ix.docs[term.list.from:term.list.to], ix.impacts[term.list.from:term.list.to])
		}
		dense := acc.best(k, keep)
		if !slices.Equal(sparse, dense) {
			t.Fatalf("sparse %v, dense %v", sparse, dense)
		}
		if len(acc.touched) > 0 || slices.ContainsFunc(acc.scores, func(s float64) bool { return s != 0 }) {
			t.Fatal("the accumulator is not empty")
		}
	})
}

// The best of many scores, most of them looked at in runs only, are those that
// sorting finds, whatever a filter leaves of them.
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
	ix := New(docs[:])
	q, bare := ix.Resolve("what before a commit", 0), ix.Resolve("commit", 0)
	got := ix.Search(q, 2, nil)
	if len(got) != 2 || got[0].Doc != 1 || got[0].Score <= got[1].Score {
		t.Fatalf("%+v", got)
	}
	if proof, want := q.Proof(1, got[0].Score), bare.Score(1); math.Abs(proof-want) > 1e-12 {
		t.Errorf("the proof is %v, that of the word alone %v", proof, want)
	}
	if q.Words() != 1 || q.Matched(1) != 1 || q.Coverage(1) != 1 || q.Coverage(0) != 1 {
		t.Errorf("%d words, %d held, shares %v and %v", q.Words(), q.Matched(1), q.Coverage(1), q.Coverage(0))
	}
}

// Coverage is the same read from a document's terms as from the terms' lists.
func TestCoverageOfLongAndShortDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomDocuments(r, rapid.IntRange(1, 20).Draw(t, "documents"))
		for i := range docs { // the numbers of these terms take several bytes, and most documents more than readBytes
			for n := range r.Intn(200) {
				docs[i][Tags] = append(docs[i][Tags], Count{Term: fmt.Sprintf("~%04d", 200*i+n), N: 1})
			}
		}
		ix := New(docs)
		q := ix.Resolve(sentence(r, 12)+" unseen ~0003", 0)
		for doc := range int32(len(docs)) {
			var held float64
			for _, term := range q.terms {
				if !term.aside && ix.impact(term.list, doc) > 0 {
					held += term.list.idf
				}
			}
			if want := min(held/q.mass, 1); q.Coverage(doc) != want {
				t.Fatalf("document %d of %d bytes: %v, by the lists %v", doc, len(ix.forward[doc]), q.Coverage(doc), want)
			}
		}
	})
}

// Documents that are judged together are judged as each alone, to the bit.
func TestJudgedTogetherAsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		texts := randomWritten(r, rapid.IntRange(1, 80).Draw(t, "documents"))
		for i := range texts {
			texts[i][Statement] = append(texts[i][Statement], "no "+sentence(r, 3)+" never")
		}
		ix := Collect(len(texts), texts, nil, nil)
		q := ix.Resolve(sentence(r, 12)+" unseen no not "+texts[0][Statement][0]+" never", 0.2)
		var docs []int32
		var judged []Judged
		for doc := range int32(len(texts)) {
			if r.Intn(1+len(texts)/3) == 0 {
				docs, judged = append(docs, doc), append(judged, Judged{Score: q.Score(doc)})
			}
		}
		for range 2 { // the second time in memory that was used
			again := slices.Clone(judged)
			q.Judge(docs, again)
			for i, doc := range docs {
				if want := (Judged{q.Proof(doc, judged[i].Score), q.Coverage(doc)}); again[i] != want {
					t.Fatalf("document %d: %v together, %v alone", doc, again[i], want)
				}
			}
		}
	})
}

func TestPeakKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		run, runs := rapid.SampledFrom([]int{1, 7, 8, 40, 48}).Draw(t, "run"), rapid.IntRange(0, 9).Draw(t, "runs")
		scores := make([]float64, run*runs)
		for i := range scores {
			if r.Intn(2) == 0 {
				scores[i] = r.ExpFloat64()
			}
		}
		got, want := make([]float64, runs), make([]float64, runs)
		peaksOf(got, scores, run)
		peaksPortable(want, scores, run)
		for i := range want {
			if highest := slices.Max(scores[i*run : (i+1)*run]); got[i] != highest || want[i] != highest {
				t.Fatalf("run %d: %v, portable %v, want %v", i, got[i], want[i], highest)
			}
		}
	})
}
