package daemon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/writd/config"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// manyObserved is an index of so many observations of words that are drawn like
// those of a language: few often, most seldom.
func manyObserved(b *testing.B, n int) (*memorySearch, func() string) {
	b.Helper()
	settings := config.DefaultSettings()
	m := newMemoryStore(openEmbedder(settings), settings.Memory.Drift)
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.2, 5, 20_000)
	sentence := func(words int) string {
		var s []string
		for range words {
			s = append(s, fmt.Sprintf("w%d", zipf.Uint64()))
		}
		return strings.Join(s, " ")
	}
	for i := range n {
		state := projections.ObservationState{
			ObservationKey: projections.ObservationKey{Scope: "global", ID: fmt.Sprint(i)}, Time: time.Unix(int64(i), 0),
			Recorded: schemas.ObservationRecorded{Text: sentence(12), Verdict: []string{"allow", "hold", "discard"}[i%3]},
		}
		if err := m.index.put(m, state); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.index.publish(); err != nil {
		b.Fatal(err)
	}
	return m.index.current.Load(), func() string { return sentence(8) }
}

// BenchmarkRecallOf100000 is a recall's search, embedding of the query apart.
func BenchmarkRecallOf100000(b *testing.B) {
	search, query := manyObserved(b, 100_000)
	embedder := openEmbedder(config.DefaultSettings())
	queries := make([]memoryQuery, 64)
	for i := range queries {
		q := memoryQuery{text: query(), limit: recallLimit, minScore: defaultMinScore, now: time.Unix(200_000, 0)}
		q.vector, _ = embedder.Embed(q.text)
		queries[i] = q
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		search.search(queries[i%len(queries)])
	}
}

// BenchmarkObserve is one observation through gate, seal and log, without
// fsync of the log; the key's fsync is in it.
func BenchmarkObserve(b *testing.B) {
	d, _ := inside(b, b.TempDir())
	for b.Loop() {
		if _, err := d.observe(b.Context(), schemas.ObserveRequest{Observations: []schemas.Observation{{Input: []byte("[gate=allow] the tests need the race detector")}}}); err != nil {
			b.Fatal(err)
		}
	}
}
