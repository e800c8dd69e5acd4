package memory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/retrieval/embed/choice"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
)

// manyObserved is an index of so many observations of words that are drawn like
// those of a language: few often, most seldom.
func manyObserved(b *testing.B, n int) (*Store, func() string) {
	b.Helper()
	m := NewStore(choice.Open(choice.Settings{Name: "static"}), limits)
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
		state := observation.State{
			ObservationKey: schemas.ObservationKey{Scope: "global", ID: fmt.Sprint(i)}, Time: time.Unix(int64(i), 0),
			Recorded: schemas.ObservationRecorded{Text: sentence(12), Verdict: []string{"allow", "hold", "discard"}[i%3]},
		}
		if err := m.index.put(m, state); err != nil {
			b.Fatal(err)
		}
	}
	if err := m.index.publish(); err != nil {
		b.Fatal(err)
	}
	return m, func() string { return sentence(8) }
}

// BenchmarkRecallOf100000 is a recall's search, embedding of the query
// included.
func BenchmarkRecallOf100000(b *testing.B) {
	m, query := manyObserved(b, 100_000)
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = query()
	}
	took := newTook(b)
	for i := 0; b.Loop(); i++ {
		took.one(func() {
			q := m.query(texts[i%len(texts)])
			q.now = time.Unix(200_000, 0)
			m.index.current.Load().search(q)
		})
	}
	took.report(0.95, "p95-ms")
}

// BenchmarkRecallAfterObserving is that search when something was observed just
// before: what is new is taken into the index first.
func BenchmarkRecallAfterObserving(b *testing.B) {
	m, query := manyObserved(b, 100_000)
	text := query()
	took := newTook(b)
	for i := 0; b.Loop(); i++ {
		state := observation.State{
			ObservationKey: schemas.ObservationKey{Scope: "global", ID: fmt.Sprint("new", i)}, Time: time.Unix(int64(i), 0),
			Recorded: schemas.ObservationRecorded{Text: query(), Verdict: "allow"},
		}
		took.one(func() {
			if err := errors.Join(m.index.put(m, state), m.index.publish()); err != nil {
				b.Fatal(err)
			}
			q := m.query(text)
			q.now = time.Unix(200_000, 0)
			m.index.current.Load().search(q)
		})
		if err := m.index.merge(); err != nil {
			b.Fatal(err)
		}
	}
	took.report(0.95, "p95-ms")
}

// BenchmarkObserve is one observation through redaction, gate, seal and log,
// without fsync of the log or the keys; every tenth is classified.
func BenchmarkObserve(b *testing.B) {
	d, _ := inside(b, b.TempDir())
	d.ReflectAfter = 0
	took := newTook(b)
	for i := 0; b.Loop(); i++ {
		request := schemas.ObserveRequest{Classify: i%10 == 0, Observations: []schemas.Observation{{Input: []byte("[gate=allow] the tests need the race detector")}}}
		if request.Classify {
			request.Observations[0].Input = []byte("the tests need the race detector because the cache is shared")
		}
		took.one(func() {
			if _, err := d.observe(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		})
	}
	took.report(0.99, "p99-ms")
}

// BenchmarkMemoryIndex builds the index of 100,000 observations anew, as a
// start does.
func BenchmarkMemoryIndex(b *testing.B) {
	for b.Loop() {
		manyObserved(b, 100_000)
	}
}

// took keeps how long each of many operations took, and the processor's share:
// on a machine that does other work only that is a measure.
type took struct {
	b     *testing.B
	began time.Duration
	each  []time.Duration
}

func newTook(b *testing.B) *took {
	b.Helper()
	b.ResetTimer()
	return &took{b: b, began: processor.Time()}
}

func (t *took) one(do func()) {
	began := time.Now()
	do()
	t.each = append(t.each, time.Since(began))
}

func (t *took) report(share float64, name string) {
	t.b.ReportMetric(float64(processor.Time()-t.began)/float64(len(t.each))/1000, "cpu-µs/op")
	slices.Sort(t.each)
	t.b.ReportMetric(float64(t.each[min(int(share*float64(len(t.each))), len(t.each)-1)])/1e6, name)
}
