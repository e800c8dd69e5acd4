package search_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/describe"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/embed/static"
	"github.com/writbus/writ/test/processor"
)

// corpus reads the sources of the standard library, and repeats them under other
// folders until there are so many documents.
func corpus(b *testing.B, n int) []*artifact.Document {
	b.Helper()
	docs := slices.Clone(standard())
	if len(docs) < 1000 {
		b.Skip("the sources of the standard library are not there: go env GOROOT says where")
	}
	for own := len(docs); len(docs) < n; {
		again := *docs[len(docs)%own]
		again.Path = fmt.Sprintf("copy%d/%s", len(docs)/own, again.Path)
		docs = append(docs, &again)
	}
	return docs[:n]
}

var standard = sync.OnceValue(func() (docs []*artifact.Document) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	scratch := new(chunk.Scratch)
	_ = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".s") && !strings.HasSuffix(file, ".md") {
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil || len(raw) > artifact.MaxFileBytes || describe.Binary(raw) {
			return nil
		}
		path, _ := filepath.Rel(root, file)
		d := describe.Describe(describe.File{Path: filepath.ToSlash(path), Bytes: raw}, scratch).Document
		docs = append(docs, &d)
		return nil
	})
	return docs
})

func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func embedder(b *testing.B, with bool) search.Embedder {
	if !with {
		return nil
	}
	e, err := static.Default()
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// What analysing and indexing takes of documents that are read and cut.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1_500, 10_000, 100_000} {
		for _, vectors := range []bool{false, true} {
			b.Run(fmt.Sprintf("documents=%d/vectors=%v", n, vectors), func(b *testing.B) {
				docs := corpus(b, n)
				e := embedder(b, vectors)
				before := inUse()
				from := processor.Time()
				var ix *search.Index
				for b.Loop() {
					entries, err := analyseAll(docs, e)
					if err != nil {
						b.Fatal(err)
					}
					ix = search.New(entries, e)
				}
				b.ReportMetric((processor.Time()-from).Seconds()/float64(b.N), "cpu-s/op")
				b.ReportMetric((inUse()-before)/1e6, "heap-MB")
				b.ReportMetric(float64(ix.Bytes())/1e6, "index-MB")
				b.ReportMetric(float64(ix.Chunks()), "chunks")
			})
		}
	}
}

var questions = []string{
	"how does the garbage collector decide when to start the next cycle", "reuse idle http connections", "findRunnable",
	"decode JSON into a struct, case insensitive field names", "shortest decimal representation of a float", "TLS 1.3 client handshake",
	"walk a directory tree without following links", "wait for several goroutines to finish", "type check a generic function call",
	"parse an IPv6 address", "register allocation in the compiler backend", "test that a timer fires once",
}

// analyseAll analyses documents in two goroutines.
func analyseAll(docs []*artifact.Document, e search.Embedder) ([]*search.Entry, error) {
	entries := make([]*search.Entry, len(docs))
	half := func(from int) (err error) {
		a := search.NewAnalyser(e)
		for i := from; i < len(docs) && err == nil; i += 2 {
			entries[i], err = a.Analyse(docs[i])
		}
		return err
	}
	var odd error
	var other sync.WaitGroup
	other.Go(func() { odd = half(1) })
	even := half(0)
	other.Wait()
	return entries, errors.Join(even, odd)
}

func indexOf(b *testing.B, n int, e search.Embedder) *search.Index {
	entries, err := analyseAll(corpus(b, n), e)
	if err != nil {
		b.Fatal(err)
	}
	return search.New(entries, e)
}

// What a search takes that is not remembered.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_500, 10_000, 100_000} {
		index := sync.OnceValue(func() *search.Index { return indexOf(b, n, embedder(b, true)) })
		for _, m := range search.Methods() {
			b.Run(fmt.Sprintf("documents=%d/%s", n, m), func(b *testing.B) {
				ix, at := index(), 0
				from := processor.Time()
				for b.Loop() {
					if _, err := ix.Search(search.Query{Text: questions[at%len(questions)], Method: m}); err != nil {
						b.Fatal(err)
					}
					at++
				}
				b.ReportMetric((processor.Time()-from).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

// What one changed file takes until it can be found.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{1_500, 10_000, 100_000} {
		e := embedder(b, true)
		index := sync.OnceValue(func() *search.Index { return indexOf(b, n, e) })
		d := func() *artifact.Document { return standard()[len(standard())/2] }
		b.Run(fmt.Sprintf("documents=%d/one", n), func(b *testing.B) {
			ix, d, a := index(), d(), search.NewAnalyser(e)
			from := processor.Time()
			for b.Loop() {
				entry, err := a.Analyse(d)
				if err != nil {
					b.Fatal(err)
				}
				ix.Update([]*search.Entry{entry}, nil)
			}
			b.ReportMetric((processor.Time()-from).Seconds()*1e3/float64(b.N), "cpu-ms/op")
		})
		b.Run(fmt.Sprintf("documents=%d/compact", n), func(b *testing.B) {
			entry, err := search.NewAnalyser(e).Analyse(d())
			if err != nil {
				b.Fatal(err)
			}
			changed := index().Update([]*search.Entry{entry}, nil)
			for b.Loop() {
				changed.Compact()
			}
		})
	}
}
