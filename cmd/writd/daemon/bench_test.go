package daemon

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/schemas"
)

// BenchmarkHook is one decision over TCP within a process: what is asked,
// decided, appended and answered. Profile it to see where the time goes.
func BenchmarkHook(b *testing.B) {
	w := start(b, b.TempDir(), newProject(b, "mode: work\n"))
	raw, err := json.Marshal(map[string]any{
		"session_id": "bench", "cwd": w.project, "hook_event_name": "PreToolUse", "tool_name": "Write",
		"tool_input": map[string]any{"file_path": filepath.Join(w.project, "plan.md"), "content": "x"},
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if reply, err := w.raw("PreToolUse", raw); err != nil || reply.Exit != 0 {
			b.Fatalf("%+v, %v", reply, err)
		}
	}
}

// BenchmarkRetrieveOverNATS asks the shipped rules with texts never seen before,
// by request and reply over TCP and in process, turn about.
func BenchmarkRetrieveOverNATS(b *testing.B) {
	w := startWith(b, b.TempDir(), newProject(b, "mode: work\n"), func(s *config.Settings) { s.ShippedRules = true })
	files, err := corpus.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	e, err := static.Default()
	if err != nil {
		b.Fatal(err)
	}
	var rules []schemas.Rule
	for _, f := range files {
		rules = append(rules, f.Rule)
	}
	docs, err := retrieval.AnalyseAll(rules, e)
	if err != nil {
		b.Fatal(err)
	}
	ix, err := retrieval.NewIndex(docs, retrieval.Options{Embedder: e})
	if err != nil {
		b.Fatal(err)
	}
	size := 0
	var over, within []time.Duration
	for i := 0; b.Loop(); i++ {
		rule := files[i%len(files)].Rule
		text := fmt.Sprintf("%s (case %d): %s", rule.Trigger, i, files[(i*7+3)%len(files)].Rule.Title)
		raw, err := json.Marshal(schemas.RetrieveRequest{Query: text})
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		reply, err := w.hook.Request(b.Context(), bus.Request{Subject: schemas.SvcRetrieve, Body: raw})
		if err != nil {
			b.Fatal(err)
		}
		size += len(reply.Body)
		over = append(over, time.Since(began))
		began = time.Now()
		ix.Search(retrieval.Query{Text: text})
		within = append(within, time.Since(began))
	}
	slices.Sort(over)
	slices.Sort(within)
	b.ReportMetric(float64(over[len(over)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(over[len(over)*95/100].Microseconds()), "p95-µs")
	b.ReportMetric(float64(over[len(over)*95/100].Microseconds()-within[len(within)*95/100].Microseconds()), "p95-more-µs")
	b.ReportMetric(float64(size)/float64(len(over)), "reply-bytes")
	b.ReportMetric(0, "ns/op")
}
