package neo4jmirror

import (
	"testing"
)

// BenchmarkPush measures 10,000 nodes and 50,000 edges into an empty database,
// and the next push, of ten changes.
func BenchmarkPush(b *testing.B) {
	s := generate("log", 31, 10_000)
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			m := server(b)
			b.StartTimer()
			r, err := m.Push(b.Context(), s, PushOptions{})
			if err != nil || !r.Done {
				b.Fatal(r, err)
			}
			b.ReportMetric(float64(r.NodesWritten), "nodes")
			b.ReportMetric(float64(r.EdgesWritten), "edges")
		}
	})
	b.Run("changes", func(b *testing.B) {
		target, set := serverTarget()
		if !set {
			b.Skip(serverURL + " is not set")
		}
		m := open(b, target)
		for b.Loop() {
			for i := range 10 {
				s.put(s.nodes[nodeID(i*7)])
			}
			if r, err := m.Push(b.Context(), s, PushOptions{}); err != nil || r.Full {
				b.Fatal(r, err)
			}
		}
	})
}

// BenchmarkShrink measures a full pass that deletes nearly everything.
func BenchmarkShrink(b *testing.B) {
	large, small := generate("log", 32, 10_000), generate("log", 33, 200)
	for b.Loop() {
		b.StopTimer()
		m := server(b)
		if _, err := m.Push(b.Context(), large, PushOptions{}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		r, err := m.Push(b.Context(), small, PushOptions{})
		if err != nil || r.NodesRemoved != 9_800 {
			b.Fatal(r, err)
		}
	}
}
