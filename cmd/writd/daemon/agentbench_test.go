//go:build linux

package daemon

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
)

// pageModel streams an OpenAI-compatible answer with commands until a
// conversation has five batches of results, then a last one. Each 32nd answer
// comes byte by byte.
func pageModel(b *testing.B) string {
	looks := streamed("I look.\n/read a.txt\n/read b.txt\n/read c.txt\n" + strings.Repeat("And I say more about it.\n", 40))
	done := streamed("Done.\n")
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text := looks
		if bytes.Count(raw, []byte(`"role":"assistant"`)) >= 5 {
			text = done
		}
		if calls.Add(1)%32 != 0 {
			_, _ = io.WriteString(w, text)
			return
		}
		for i := range len(text) {
			_, _ = io.WriteString(w, text[i:i+1])
			w.(http.Flusher).Flush()
		}
	}))
	b.Cleanup(server.Close)
	return server.URL
}

// BenchmarkAgentsInParallel has a daemon run that many agents at once against a
// model server on loopback, each with six model calls and fifteen commands whose
// results are as large as they may be, all of it in the log. It reports the most
// memory of the process, server and log included: the heap's objects, and what
// the kernel counts, over what there was before.
func BenchmarkAgentsInParallel(b *testing.B) {
	for _, runs := range []int{100, 1000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			m := &modelServer{Server: &httptest.Server{URL: pageModel(b)}}
			w, dir := agentWorld(b, b.TempDir(), m, map[string]string{"dev": `{"name": "dev", "capabilities": ["/read"]}`})
			for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
				put(b, filepath.Join(dir, "work", name), strings.Repeat("a line of a file\n", 1000))
			}
			debug.FreeOSMemory()
			if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
				b.Skipf("the peak of memory cannot be reset: %v", err)
			}
			heap, resident, used := heapBytes(), residentPeak(b), processor.Time()
			most, stop := watchHeap()
			n := 0
			for b.Loop() {
				n++
				runAgents(b, w, dir, n, runs)
			}
			stop()
			b.ReportMetric(float64(most.Load()-heap)/(1<<20), "MiB-heap")
			b.ReportMetric(float64(residentPeak(b)-resident)/(1<<20), "MiB-resident")
			b.ReportMetric(float64((processor.Time()-used).Microseconds())/float64(n*runs)/1000, "cpu-ms/run")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// runAgents starts runs at once and follows each of them to its end.
func runAgents(b *testing.B, w *world, dir string, n, runs int) {
	var wait sync.WaitGroup
	for i := range runs {
		wait.Go(func() {
			id := fmt.Sprintf("%d-%d", n, i)
			request := schemas.AgentRunRequest{Run: id, File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"), Message: "Look."}
			if _, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request); err != nil {
				b.Error(err)
				return
			}
			for after := uint64(0); ; {
				reply, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: id, After: after})
				if err != nil {
					b.Error(err)
					return
				}
				for _, f := range reply.Frames {
					after = f.Seq
				}
				if reply.Done {
					if reply.Finished.Outcome != agent.Answered || reply.Finished.Calls != 6 {
						b.Errorf("%+v", reply.Finished)
					}
					return
				}
			}
		})
	}
	wait.Wait()
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// watchHeap keeps the most that the heap held.
func watchHeap() (most *atomic.Uint64, stop func()) {
	most = &atomic.Uint64{}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			most.Store(max(most.Load(), heapBytes()))
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	return most, func() { close(end); <-ended }
}

// residentPeak is the most memory that the kernel counted, in bytes.
func residentPeak(b *testing.B) uint64 {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib << 10
		}
	}
	b.Fatal("the kernel counts no peak")
	return 0
}
