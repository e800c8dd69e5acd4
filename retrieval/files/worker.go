package files

import (
	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/search"
)

// batchBytes is how much text is described before it is analysed. The
// analyser looks up what it met before in tables that fill a processor's cache by
// themselves, and would fetch them again with every file.
const batchBytes = 1 << 20

// worker turns files into entries of the index.
type worker struct {
	chunks   chunk.Scratch
	analyser *search.Analyser
	buffer   []byte               // for the file that is read
	batch    []*artifact.Document // that are not analysed yet
	size     int64                // of their files
	entries  []*search.Entry      // of the run so far
}

func newWorker(e search.Embedder) *worker {
	return &worker{analyser: search.NewAnalyser(e)}
}

// begin begins a run.
func (w *worker) begin() {
	w.batch, w.size, w.entries = nil, 0, nil
	w.analyser.Rest()
}

// take takes a document that is to be analysed.
func (w *worker) take(d *artifact.Document) {
	w.batch = append(w.batch, d)
	w.size += d.Size
}

// analyse analyses what was taken. With an error, which is the embedder's, the run
// lacks documents.
func (w *worker) analyse() error {
	defer func() {
		clear(w.batch)
		w.batch, w.size = w.batch[:0], 0
	}()
	for _, d := range w.batch {
		entry, err := w.analyser.Analyse(d)
		if err != nil {
			return err
		}
		w.entries = append(w.entries, entry)
	}
	return nil
}

// part is what came of the run, nil for nothing.
func (w *worker) part() *search.Part {
	if len(w.entries) == 0 {
		return nil
	}
	part := search.NewPart(w.entries)
	w.entries = nil
	return part
}
