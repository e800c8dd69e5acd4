package lexical

import (
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An index that takes over what another has of its documents finds what one
// built alone does.
func TestCollectAfterAnotherIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		docs := randomWritten(r, rapid.IntRange(1, 40).Draw(t, "documents"))
		ix := Collect(len(docs), docs, nil, nil)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			// Each document is one of before, or a new one.
			next, was := make(written, rapid.IntRange(0, 40).Draw(t, "next")), make([]int, 41)
			fresh := randomWritten(r, len(next)+1)
			for i := range next {
				if was[i] = r.Intn(len(docs)+1) - 1; was[i] >= 0 && r.Intn(4) > 0 {
					next[i] = docs[was[i]]
				} else {
					next[i], was[i] = fresh[i], -1
				}
			}
			after := Collect(len(next), next, ix, func(doc int) int { return was[doc] })
			alone := Collect(len(next), next, nil, nil)
			if after.averages != alone.averages || after.postings != alone.postings || !slices.Equal(after.pairs.list, alone.pairs.list) {
				t.Fatalf("averages %v, alone %v", after.averages, alone.averages)
			}
			text := sentence(r, 12)
			a, b := after.Resolve(text, 0.3), alone.Resolve(text, 0.3)
			if a.Known() != b.Known() || !slices.Equal(after.Search(a, 20, nil), alone.Search(b, 20, nil)) {
				t.Fatalf("%q: %v after another, %v alone", text, after.Search(a, 20, nil), alone.Search(b, 20, nil))
			}
			for doc := range int32(len(next)) {
				if !slices.Equal(a.Explain(doc), b.Explain(doc)) || coverage(a, doc) != coverage(b, doc) {
					t.Fatalf("document %d: %v after another, %v alone", doc, a.Explain(doc), b.Explain(doc))
				}
			}
			if len(next) == 0 {
				return
			}
			docs, ix = next, after
		}
	})
}
