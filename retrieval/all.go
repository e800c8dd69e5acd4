package retrieval

import "iter"

// All lists the documents, in the order of their ids.
func (ix *Index) All() iter.Seq[Document] {
	return func(yield func(Document) bool) {
		for _, doc := range ix.docs {
			if !yield(doc) {
				return
			}
		}
	}
}
