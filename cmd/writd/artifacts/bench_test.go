package artifacts

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// benchProject is the project that benchmarks index: $WRIT_BENCH_PROJECT, else
// the sources of the standard library with some 7,000 documents.
func benchProject(b *testing.B) *Project {
	b.Helper()
	root := os.Getenv("WRIT_BENCH_PROJECT")
	if root == "" {
		root = filepath.Join(runtime.GOROOT(), "src") //nolint:staticcheck // any sources will do
	}
	p, err := Open(Options{
		Root: root, Now: time.Now, Workers: runtime.GOMAXPROCS(0),
		Record: func(context.Context, []schemas.Payload) error { return nil },
	})
	if err != nil {
		b.Skipf("nothing to index: %v", err)
	}
	return p
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		p := benchProject(b)
		update(b, p, Update{})
		b.ReportMetric(float64(p.Current().Len()), "documents")
		b.ReportMetric(float64(p.Current().Index.Chunks()), "chunks")
		b.ReportMetric(float64(p.Current().Index.Bytes()>>20), "MiB")
	}
}

func BenchmarkRebuildWithoutChanges(b *testing.B) {
	p := benchProject(b)
	update(b, p, Update{})
	for b.Loop() {
		if built := update(b, p, Update{}); built.Read != 0 {
			b.Fatalf("%+v", built)
		}
	}
}

// BenchmarkOneChangedFile measures from the file's change to when it can be
// found, under Watch.
func BenchmarkOneChangedFile(b *testing.B) {
	root := b.TempDir()
	source := benchProject(b)
	if err := os.CopyFS(root, os.DirFS(source.Root())); err != nil {
		b.Fatal(err)
	}
	p, err := Open(Options{Root: root, Now: time.Now, Workers: runtime.GOMAXPROCS(0), Record: func(context.Context, []schemas.Payload) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Watch(ctx, nil)
	}()
	s := p.Await(ctx, 0)
	b.ResetTimer()
	n := 0
	for b.Loop() {
		n++
		if err := os.WriteFile(filepath.Join(root, "changed.go"), fmt.Appendf(nil, "package changed\n\nfunc Changed%d() {}\n", n), 0o644); err != nil {
			b.Fatal(err)
		}
		s = p.Await(ctx, s.Revision)
	}
	b.StopTimer()
	cancel()
	<-done
}
