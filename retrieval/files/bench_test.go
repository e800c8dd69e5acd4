package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/processor"
)

// benchProject is the project that benchmarks index: $WRIT_BENCH_PROJECT, else
// the sources of the standard library with some 7,000 documents.
func benchProject(b *testing.B) *Project {
	b.Helper()
	root := os.Getenv("WRIT_BENCH_PROJECT")
	if root == "" {
		goroot, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			b.Skipf("nothing to index: no go: %v", err)
		}
		root = filepath.Join(strings.TrimSpace(string(goroot)), "src")
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
		from := processor.Time()
		update(b, p, Update{})
		b.ReportMetric((processor.Time() - from).Seconds(), "last-cpu-s")
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

// BenchmarkTakeUp measures what the next process does with a saved index.
func BenchmarkTakeUp(b *testing.B) {
	p := benchProject(b)
	recorded := &journal{}
	p.options.Record, p.options.Saved = recorded.record, filepath.Join(b.TempDir(), "project.index")
	update(b, p, Update{})
	if err := p.Save(b.Context()); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(p.options.Saved)
	if err != nil {
		b.Fatal(err)
	}
	from := processor.Time()
	for b.Loop() {
		next := benchProject(b)
		next.options.Record, next.options.Saved, next.catalog = recorded.record, p.options.Saved, recorded.fold()
		if built := update(b, next, Update{}); built.Read != 0 {
			b.Fatalf("%+v", built)
		}
	}
	b.ReportMetric((processor.Time()-from).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(info.Size()>>20), "saved-MiB")
}

// copied is the benchmarks' project where files may be written.
func copied(b *testing.B) *Project {
	b.Helper()
	root := b.TempDir()
	if err := os.CopyFS(root, os.DirFS(benchProject(b).Root())); err != nil {
		b.Fatal(err)
	}
	p, err := Open(Options{Root: root, Now: time.Now, Workers: runtime.GOMAXPROCS(0), Record: func(context.Context, []schemas.Payload) error { return nil }})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// change writes a file that was not like this before.
func change(b *testing.B, p *Project, n int) {
	b.Helper()
	text := fmt.Appendf(nil, "package changed\n\n// Changed%d is @README.md.\nfunc Changed%[1]d() {}\n", n)
	if err := os.WriteFile(filepath.Join(p.Root(), "changed.go"), text, 0o644); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChange measures what an update works for one changed file, and for
// what is asked of the snapshot that comes of it.
func BenchmarkChange(b *testing.B) {
	p := copied(b)
	update(b, p, Update{})
	p.Current().Loose()
	n := 0
	for _, asked := range []bool{false, true} {
		b.Run(fmt.Sprintf("asked=%t", asked), func(b *testing.B) {
			from := processor.Time()
			for b.Loop() {
				n++
				change(b, p, n)
				update(b, p, Update{Paths: []string{"changed.go"}})
				if s := p.Current(); asked {
					s.References("changed.go")
					s.Loose()
					s.Index.Bytes()
				}
			}
			b.ReportMetric((processor.Time()-from).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(p.Current().Len()), "documents")
		})
	}
}

// BenchmarkOneChangedFile measures from the file's change to when it can be
// found, under Watch.
func BenchmarkOneChangedFile(b *testing.B) {
	p := copied(b)
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
		change(b, p, n)
		s = p.Await(ctx, s.Revision)
	}
	b.StopTimer()
	cancel()
	<-done
}
