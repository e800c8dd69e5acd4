package search

import (
	"cmp"
	"slices"
	"strings"
)

// picked is a chunk on its way to a hit.
type picked struct {
	c     *candidate
	chunk int32
	order float64
}

// emit turns the pool into hits: the best chunk of each file at its score, and
// further ones, each at a share of it, so that one file does not fill the
// answer.
func (s *searching) emit() {
	again := s.weights().Again
	var all []picked
	for i := range s.pool {
		c := &s.pool[i]
		chunks := s.chunksOf(c)
		share := 1.0
		for n, chunk := range chunks[:min(s.query.PerFile, len(chunks))] {
			if n > 0 {
				share *= again * chunk.order / chunks[0].order
			}
			all = append(all, picked{c: c, chunk: chunk.chunk, order: c.score * share})
		}
	}
	slices.SortStableFunc(all, func(a, b picked) int {
		return cmp.Or(cmp.Compare(b.order, a.order), strings.Compare(a.c.document().Path, b.c.document().Path))
	})
	chance := s.chances()
	for _, p := range all {
		if len(s.answer.Hits) == s.query.Limit {
			break
		}
		if score := chance(p.order); score >= s.query.MinScore {
			s.answer.Hits = append(s.answer.Hits, s.hit(p, score))
		}
	}
}

// chunksOf lists a candidate's chunks that matched, best first: the first is
// what was found, then those that declare a name or hold most of the words.
func (s *searching) chunksOf(c *candidate) []picked {
	first := picked{chunk: c.chunk, order: c.chunkWords}
	if c.symbolChunk >= 0 && s.query.Method == TwoStage {
		first.chunk = c.symbolChunk
	}
	from, to := c.view.first[c.doc], c.view.first[c.doc+1]
	if from == to {
		return nil
	}
	if s.query.PerFile == 1 || s.query.Method == Semantic {
		return []picked{first}
	}
	list := []picked{first}
	for i, sum := range s.room.chunks[c.view.chunk0+from : c.view.chunk0+to] {
		if chunk := from + int32(i); sum > 0 && chunk != first.chunk {
			list = append(list, picked{chunk: chunk, order: float64(sum)})
		}
	}
	slices.SortStableFunc(list[1:], func(a, b picked) int { return cmp.Compare(b.order, a.order) })
	if len(list) > 1 {
		list[0].order = max(first.order, list[1].order)
	}
	return list
}

func (s *searching) hit(p picked, score float64) Hit {
	c := p.c
	h := c.view.hit(c.doc, p.chunk, score)
	if s.query.Explain {
		h.Why = map[string]float64{
			"bm25": c.words, "chunk": c.chunkWords, "coherence": c.coherence, "path": c.stem, "folders": c.dirs,
			"symbol": c.symbol, "names": c.names, "penalty": c.penalty, "order": c.score,
		}
		if c.meaningRank > 0 {
			h.Why["cosine"], h.Why["cosine_rank"] = c.cosine, float64(c.meaningRank)
		}
	}
	return h
}
