package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/writd/verbs"
	"github.com/writbus/writ/enforcement/dialect"
)

// forgetful is a Log that keeps nothing, so that what is measured is the engine.
type forgetful struct{}

func (forgetful) Append(context.Context, Entry) error { return nil }

// busy says the same to everybody: five responses with commands, then an answer.
type busy struct{ text string }

func (m busy) Chat(_ context.Context, p Prompt, heard func(string) error) (Reply, error) {
	text := m.text
	if len(p.Messages) >= 11 {
		text = "Done.\n"
	}
	for len(text) > 0 {
		n := min(len(text), 64)
		if err := heard(text[:n]); err != nil {
			return Reply{}, err
		}
		text = text[n:]
	}
	runtime.Gosched()
	return Reply{Whole: true, Output: 100}, nil
}

// BenchmarkAgentsInParallel runs 1,000 agents at once, each with six model calls
// and results as large as they may be. It reports the most memory in use, in
// bytes for each of them, and the time of one of them.
func BenchmarkAgentsInParallel(b *testing.B) {
	const runs = 1000
	dir := b.TempDir()
	file := filepath.Join(dir, "dev.json")
	if err := os.WriteFile(file, []byte(`{"name": "dev", "capabilities": ["/read"]}`), 0o600); err != nil {
		b.Fatal(err)
	}
	page := verbs.Content(verbs.TrustFile, strings.Repeat("a line of a file\n", 1000))
	e := New(Options{
		Model: busy{"I look.\n/read a\n/read b\n/read c\n" + strings.Repeat("And I say more about it.\n", 40)}, Log: forgetful{},
		Limits: dialect.DefaultLimits(), Now: time.Now, NewID: func() string { return "id" },
		Handler: func(string) verbs.Handler {
			return verbs.HandlerFunc(func(context.Context, verbs.Call) (verbs.Result, error) { return page, nil })
		},
	})
	defer e.Close()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	n := 0
	for b.Loop() {
		n++
		var wait sync.WaitGroup
		for i := range runs {
			wait.Go(func() {
				f, err := e.Run(b.Context(), Start{Run: fmt.Sprintf("%d-%d", n, i), File: file, Workspace: dir, Message: "Look."})
				if err != nil || f.Outcome != Answered || f.Calls != 6 {
					b.Errorf("%+v %v", f, err)
				}
			})
		}
		wait.Wait()
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapSys-before.HeapSys)
	}
	b.ReportMetric(float64(most)/runs, "B-heap/run")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*runs), "µs/run")
}
