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
	var next atomic.Int64
	work := func() {
		a := NewAnalyser(e)
		for i := int(next.Add(1)) - 1; i < len(docs); i = int(next.Add(1)) - 1 {
			entries[i], failed[i] = a.Analyse(docs[i])
		}
	}
	var wg sync.WaitGroup
	for range min(workers, len(docs)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("analyse %s: %w", docs[i].Path, err)
		}
	}
	return entries, nil
}
