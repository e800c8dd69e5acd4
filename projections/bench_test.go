package projections_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/pebblestore"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
)

const million = 1_000_000

// millionLog holds a million records of each stream the benchmarks read.
var millionLog = sync.OnceValue(func() *memoryLog {
	l := newMemoryLog()
	for i := range million {
		at := epoch.Add(time.Duration(i) * time.Second)
		l.publish(schemas.Event{
			ID: fmt.Sprintf("0198c0de-%08d", i), Time: at, Aggregate: schemas.Memory("project"), Actor: schemas.ParseActor("agent"),
			Data: schemas.ObservationRecorded{
				ObservationID: fmt.Sprintf("obs-%08d", i), Text: "the build needs generated files first",
				Original: []byte("the build needs generated files first"),
				Verdict:  verdicts[1+i%3], Confidence: 0.8, Session: "s",
			},
		})
		l.publish(schemas.Event{
			ID: fmt.Sprintf("0198c0df-%08d", i), Time: at, Aggregate: schemas.Session(fmt.Sprintf("session-%d", i%1000)), Actor: schemas.ParseActor("agent"),
			Data: schemas.ToolDecided{Tool: "Edit", Verdict: "allow", Mode: "work", Phase: "implementation", Digest: "00", Bytes: 900},
		})
	}
	return l
})

// BenchmarkReplay replays a million events into a view. The bare consumer
// takes each record from the same log and looks at its type, the decoding one
// decodes it and keeps nothing.
func BenchmarkReplay(b *testing.B) {
	l := millionLog()
	// The processor time tells also on a machine that does other work.
	var began time.Duration
	rate := func(b *testing.B) {
		events := float64(million) * float64(b.N)
		b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
		b.ReportMetric(float64(processor.Time()-began)/events, "cpu-ns/event")
		b.ReportMetric(0, "ns/op")
	}
	bare := func(s schemas.Stream, look func(schemas.Record) error) func(*testing.B) {
		return func(b *testing.B) {
			began = processor.Time()
			for b.Loop() {
				err := l.Follow(context.Background(), s, 0, 10_000, true, func(records []schemas.Record) error {
					for _, r := range records {
						if err := look(r); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			rate(b)
		}
	}
	b.Run("bare", bare(schemas.StreamMemory, func(r schemas.Record) error {
		if r.ID() == "" {
			return fmt.Errorf("no id at %d", r.Seq)
		}
		return nil
	}))
	decode := func(r schemas.Record) error { _, err := r.Events(); return err }
	b.Run("decode-observations", bare(schemas.StreamMemory, decode))
	b.Run("decode-sessions", bare(schemas.StreamSessions, decode))
	for name, p := range map[string]func() projections.Projector{
		"tally": func() projections.Projector { return tally{types: schemas.TypesOf(schemas.KindMemory)} },
		"observations": func() projections.Projector {
			return projections.NewObservations(observation.Evolve, observation.EvolveProposal, nil)
		},
		"verdicts":      func() projections.Projector { return projections.NewVerdicts() },
		"fold":          func() projections.Projector { return sessionFold() },
		"sessions":      func() projections.Projector { return projections.NewSessions(nil) },
		"uninteresting": func() projections.Projector { return tally{types: []schemas.Type{"observation.regated"}} },
	} {
		b.Run(name, func(b *testing.B) {
			began = processor.Time()
			for b.Loop() {
				replay(b, l, p())
			}
			rate(b)
		})
	}
}

func replay(b *testing.B, l *memoryLog, p projections.Projector) {
	s, err := pebblestore.Open(b.TempDir()+"/views", pebblestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r := start(b, l, s, projections.Options{}, p)
	r.caughtUp()
	r.stop()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReadYourWrites appends one event and waits for it.
func BenchmarkReadYourWrites(b *testing.B) {
	l, s := newMemoryLog(), openStore(b, vfs.NewMem())
	defer s.Close()
	r := start(b, l, s, projections.Options{}, projections.NewSessions(nil))
	n := 0
	for b.Loop() {
		n++
		if err := r.WaitFor(context.Background(), "sessions", l.publish(prompt("s", n))); err != nil {
			b.Fatal(err)
		}
	}
}
