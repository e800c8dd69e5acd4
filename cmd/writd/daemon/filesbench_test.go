package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// BenchmarkArtifactSearch asks for the files of a project over NATS, from the
// request to the reply with the hits' text, each text once: nothing is
// remembered. The project is $WRIT_BENCH_PROJECT, else the sources of the
// standard library.
func BenchmarkArtifactSearch(b *testing.B) {
	root := os.Getenv("WRIT_BENCH_PROJECT")
	if root == "" {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Skipf("nothing to search in: no go: %v", err)
		}
		root = filepath.Join(strings.TrimSpace(string(goroot)), "src")
	}
	w := start(b, b.TempDir(), newProject(b, "mode: conversation\n"))
	status := w.build(schemas.ArtifactBuildRequest{Project: root, Watch: true})
	asks := []string{
		"how does the garbage collector decide when to start the next cycle", "reuse idle http connections", "findRunnable",
		"decode JSON into a struct, case insensitive field names", "shortest decimal representation of a float", "TLS 1.3 client handshake",
		"walk a directory tree without following links", "wait for several goroutines to finish", "type check a generic function call",
		"parse an IPv6 address", "register allocation in the compiler backend", "test that a timer fires once",
	}
	for _, method := range []string{"bm25", "two-stage"} {
		b.Run(method, func(b *testing.B) {
			var took, within []time.Duration
			stages := map[string]float64{}
			for i := 0; b.Loop(); i++ {
				request := schemas.ArtifactSearchRequest{Project: root, Method: method, Query: fmt.Sprintf("%s, case %d", asks[i%len(asks)], i)}
				began := time.Now()
				reply, err := call[schemas.ArtifactSearchReply](w, w.hook, schemas.SvcArtifact, request)
				if took = append(took, time.Since(began)); err != nil {
					b.Fatal(err)
				}
				within = append(within, time.Duration(reply.LatencyMs*float64(time.Millisecond)))
				for _, stage := range reply.Stages {
					stages[stage.Name] += stage.LatencyMs
				}
			}
			slices.Sort(took)
			slices.Sort(within)
			for name, at := range map[string]int{"p50": 50, "p95": 95} {
				b.ReportMetric(float64(took[len(took)*at/100].Microseconds())/1e3, name+"-ms")
				b.ReportMetric(float64(within[len(within)*at/100].Microseconds())/1e3, name+"-within-ms")
			}
			for name, sum := range stages {
				b.ReportMetric(sum/float64(len(took)), name+"-ms")
			}
			b.ReportMetric(float64(status.Documents), "documents")
			b.ReportMetric(0, "ns/op")
		})
	}
}
