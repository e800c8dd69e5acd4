package retrieval

import (
	"sync"

	"github.com/writbus/writ/retrieval/lexical"
)

// fill indexes words and vectors, and takes over from a previous index, which
// may be empty, what it has of the same documents. folded are the documents' ids.
func (ix *Index) fill(previous *Index, folded []string) error {
	was := ix.carried(previous, folded)
	if err := ix.embedMissing(); err != nil {
		return err
	}
	var words sync.WaitGroup // neither needs the other
	words.Go(func() {
		ix.words = lexical.Collect(len(ix.docs), texts{ix}, previous.words, func(doc int) int { return int(was[doc]) })
	})
	err := ix.embed(previous, was)
	words.Wait()
	return err
}

// carried tells, for each document, its number in a previous index that had the
// same one in the same standing, −1 if none did. folded are the documents' ids.
func (ix *Index) carried(previous *Index, folded []string) []int32 {
	was := make([]int32, len(ix.docs))
	for i := range ix.docs {
		was[i] = -1
		old, there := previous.ids[folded[i]]
		if !there || previous.kinds[old].retrievable != ix.kinds[i].retrievable {
			continue
		}
		a, b := ix.docs[i].wording(), previous.docs[old].wording()
		if a == b || a.sum == b.sum && a.fields == b.fields && a.pairs == b.pairs {
			was[i] = old
		}
	}
	return was
}
