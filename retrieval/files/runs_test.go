package files

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/test/integration"
)

// TestRunsInAnyOrderMakeOneIndex: parts of runs that end in any order, some of
// them without entries, are the index of all their documents.
func TestRunsInAnyOrderMakeOneIndex(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 12).Draw(t, "sizes")
		order := rapid.Permutation(indexes(len(sizes))).Draw(t, "order")
		g := newGathering(len(sizes), rapid.IntRange(1, 8).Draw(t, "most"))
		analyser := search.NewAnalyser(nil)
		var entries []*search.Entry
		parts := make([]*search.Part, len(sizes))
		for run, n := range sizes {
			var own []*search.Entry
			for i := range n {
				text := fmt.Sprintf("retry%d of %d words", i, run*i)
				e, err := analyser.Analyse(&artifact.Document{
					Path: fmt.Sprintf("%02d/%d.md", run, i), Title: text, Chunks: []artifact.Chunk{{Lines: [2]int{1, 1}, Text: text}},
				})
				if err != nil {
					t.Fatal(err)
				}
				own = append(own, e)
			}
			if entries = append(entries, own...); n > 0 {
				parts[run] = search.NewPart(own)
			}
		}
		for _, run := range order {
			g.add(run, parts[run])
		}
		got := search.New(nil, nil).Put(g.all(), nil)
		if want := search.New(entries, nil); !cmp.Equal(want.Compact(), got.Compact(), sameIndex) {
			t.Fatalf("%d documents, want %d: %s", got.Len(), want.Len(), cmp.Diff(want.Compact(), got.Compact(), sameIndex))
		}
	})
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestRunsCoverAllFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 4<<20), 0, 30).Draw(t, "sizes")
		entries := make([]Entry, len(sizes))
		for i, size := range sizes {
			entries[i].Size = size
		}
		next := 0
		for _, r := range runsOf(entries, rapid.IntRange(0, 4).Draw(t, "workers")) {
			if r.from != next || r.to <= r.from {
				t.Fatalf("a run of files %d to %d follows file %d", r.from, r.to, next)
			}
			next = r.to
		}
		if next != len(entries) {
			t.Fatalf("the runs end at file %d of %d", next, len(entries))
		}
	})
}
