package search

import "github.com/writbus/writ/retrieval/artifact"

// Meanings are the texts that stand for a document's chunks when they are
// embedded, in their order.
func Meanings(d *artifact.Document) []string {
	texts := make([]string, len(d.Chunks))
	for i := range d.Chunks {
		texts[i] = meaning(d, &d.Chunks[i])
	}
	return texts
}

// meaning is the text that stands for a chunk when it is embedded.
func meaning(d *artifact.Document, c *artifact.Chunk) string {
	return d.Path + "\n" + c.Heading + "\n" + c.Text
}

// Lacking lists the documents with chunks of which none has a vector, segment by
// segment. There are none where the index has no embedder.
func (ix *Index) Lacking() (paths []string) {
	if ix.embedder == nil {
		return nil
	}
	for _, v := range ix.views {
		for doc := range v.docs {
			if !v.isDead(int32(doc)) && v.lacks(int32(doc)) {
				paths = append(paths, v.docs[doc].Path)
			}
		}
	}
	return paths
}

func (s *segment) lacks(doc int32) bool {
	for at := s.first[doc]; at < s.first[doc+1] && s.codes != nil; at++ {
		if _, scale := s.codes.Row(int(at)); scale > 0 {
			return false
		}
	}
	return s.first[doc] < s.first[doc+1]
}
