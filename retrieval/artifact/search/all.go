package search

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/writbus/writ/retrieval/artifact"
)

// AnalyseAll analyses many documents with so many workers at once. The entries
// are in the order of the documents. The error is the embedder's, of the first
// document it failed on.
func AnalyseAll(docs []*artifact.Document, e Embedder, workers int) ([]*Entry, error) {
	entries, failed := make([]*Entry, len(docs)), make([]error, len(docs))
	each(len(docs), workers, func() func(int) {
		a := NewAnalyser(e)
		return func(i int) { entries[i], failed[i] = a.Analyse(docs[i]) }
	})
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("analyse %s: %w", docs[i].Path, err)
		}
	}
	return entries, nil
}

// each calls what worker returns for every number below n, in so many
// goroutines, each with a function of its own.
func each(n, workers int, worker func() func(int)) {
	var next atomic.Int64
	work := func() {
		f := worker()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	}
	var wg sync.WaitGroup
	for range min(workers, n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}
