package search

import (
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/describe"
)

// picked is a chunk on its way to a hit.
type picked struct {
	c     *candidate
	chunk int32
	order float64
	nth   int // of the candidate's
}

// emit turns the pool into hits: the best chunk of each file at its score, and
// further ones, each at a share of it, so that one file does not fill the
// answer. Of files with the same bytes the best placed one stands for all.
func (s *searching) emit() {
	again := s.weights().Again
	all := make([]picked, 0, min(s.query.PerFile, DefaultPerFile)*len(s.pool))
	first := map[string]*candidate{} // by the hash of its file
	for i := range s.pool {
		c := &s.pool[i]
		if d := c.document(); d.Hash != "" && first[d.Hash] != nil {
			first[d.Hash].copies = append(first[d.Hash].copies, d.Path)
			continue
		} else if d.Hash != "" {
			first[d.Hash] = c
		}
		chunks := s.chunksOf(c)
		share := 1.0
		for n, chunk := range chunks {
			if n > 0 {
				share *= again * chunk.order / chunks[0].order
			}
			all = append(all, picked{c: c, chunk: chunk.chunk, order: c.score * share, nth: n})
		}
	}
	slices.SortFunc(all, func(a, b picked) int {
		switch {
		case a.order > b.order:
			return -1
		case a.order < b.order:
			return 1
		case a.c != b.c:
			return strings.Compare(a.c.document().Path, b.c.document().Path)
		}
		return a.nth - b.nth
	})
	chance := s.chances()
	s.answer.Sure = s.sure()
	if len(s.pool) > 0 {
		s.answer.Best = s.pool[0].score
	}
	if s.query.MinShare > 0 && s.answer.Sure < LeastSure {
		return
	}
	enough := s.enough()
	for _, p := range all {
		if len(s.answer.Hits) == s.query.Limit {
			break
		}
		if score := chance(p.order); score >= s.query.MinScore && enough(p.c) {
			s.answer.Hits = append(s.answer.Hits, s.hit(p, score))
		}
	}
}

// enough tells which candidates have enough of the best one's sum. Of each type
// that the filter names the best file needs half as much, and what kind of file it
// is takes nothing away: who asks for code and tests wants one of either.
func (s *searching) enough() func(*candidate) bool {
	best, firsts := 0.0, map[artifact.Type]*candidate{}
	for i := range s.pool {
		c := &s.pool[i]
		best = max(best, c.score)
		t := c.document().Type
		if first := firsts[t]; slices.Contains(s.query.Filter.Types, t) && (first == nil || before(c, first)) && (t != artifact.Test || !describe.Data(c.document().Language)) {
			firsts[t] = c
		}
	}
	least := s.query.MinShare * best
	return func(c *candidate) bool {
		return c.score >= least || firsts[c.document().Type] == c && c.score/c.penalty >= least/2
	}
}

// chunksOf lists the best of a candidate's chunks that matched, as many as a
// file may have hits: the first is what was found, then those that declare a
// name or hold most of the words.
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
	list := append(make([]picked, 0, min(s.query.PerFile, len(c.sums)+1)), first)
	for i, sum := range c.sums {
		if chunk := from + int32(i); sum > 0 && chunk != first.chunk {
			list = insertChunk(list, picked{chunk: chunk, order: float64(sum)})
		}
	}
	if len(list) > 1 {
		list[0].order = max(first.order, list[1].order)
	}
	return list
}

// insertChunk puts a chunk in its place behind the first one, if there is room
// or a worse one; of equals the earlier is better.
func insertChunk(list []picked, p picked) []picked {
	if len(list) == cap(list) {
		if list[len(list)-1].order >= p.order {
			return list
		}
		list = list[:len(list)-1]
	}
	at := len(list)
	list = append(list, p)
	for ; at > 1 && list[at-1].order < p.order; at-- {
		list[at] = list[at-1]
	}
	list[at] = p
	return list
}

func (s *searching) hit(p picked, score float64) Hit {
	c := p.c
	h := c.view.hit(c.doc, p.chunk, score)
	h.Copies = c.copies
	if s.query.Explain {
		h.Why = map[string]float64{
			"bm25": c.words, "chunk": c.chunkWords, "coherence": c.coherence, "path": c.stem, "folders": c.dirs,
			"names": c.names, "penalty": c.penalty, "order": c.score,
		}
		if c.meaningRank > 0 {
			h.Why["cosine"], h.Why["cosine_rank"] = c.cosine, float64(c.meaningRank)
		}
	}
	return h
}
