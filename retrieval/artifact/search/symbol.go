package search

import "strings"

// name is a declared name that a query looks like.
type name struct {
	asked
	weight  float64 // idf of its words
	holding int
}

// longestName is how many words of a query may make up one name.
const longestName = 4

// names finds the declared names that runs of the query's words make up:
// getUserName, get_user_name and "get user name" all look like GetUserName.
func (s *searching) names() []name {
	var found []name
	seen := map[string]bool{}
	for i := range s.words {
		var key strings.Builder
		key.WriteString(symbolMark)
		for j := i; j < min(i+longestName, len(s.words)); j++ {
			key.WriteString(s.words[j])
			if seen[key.String()] {
				continue
			}
			seen[key.String()] = true
			a, holding := s.ix.look(key.String())
			if holding == 0 {
				continue
			}
			found = append(found, name{asked: a, holding: holding, weight: s.weightOf(s.words[i : j+1])})
		}
	}
	return found
}

// weightOf is the idf of words together: of the rarest forms that the index
// holds of them.
func (s *searching) weightOf(words []string) (sum float64) {
	for _, w := range words {
		best := 0.0
		for _, t := range s.terms {
			if t.text == w || !t.whole && t.text == normal(w) {
				best = max(best, t.idf)
			}
		}
		sum += best
	}
	return sum
}

// declares is what a document declares of the names that a query looks like: the
// heaviest one, and the first chunk that declares it.
type declares struct {
	weight float64
	chunk  int32
}

// declarations looks the names up, once for all documents, and adds those that
// declare rare enough names to the pool, if words alone did not bring them up.
func (s *searching) declarations(names []name) map[int32]declares {
	in := make(map[int32]bool, len(s.pool))
	for i := range s.pool {
		in[s.pool[i].number()] = true
	}
	found := map[int32]declares{}
	for _, n := range names {
		for i, v := range s.ix.views {
			if n.place[i] < 0 {
				continue
			}
			v.eachHolding(int(n.place[i]), func(doc, chunk int32) {
				number := v.doc0 + doc
				if !in[number] {
					if n.holding > mostDefining || !s.admits(v, doc) {
						return
					}
					in[number] = true
					s.pool = append(s.pool, candidate{view: v, doc: doc, words: s.room.scores[number]})
				}
				if n.weight > found[number].weight {
					found[number] = declares{n.weight, chunk}
				}
			})
		}
	}
	return found
}

// eachHolding calls f for each posting of a declared name, with the first chunk
// that declares it, within the view.
func (v *view) eachHolding(term int, f func(doc, chunk int32)) {
	b := v.list(term)
	doc := int32(-1)
	for at := 0; at < len(b); {
		gap, start := varint(b, at)
		doc += int32(gap)
		next := start + 1 // of names only chunks are counted
		if b[start]>>4 == manyChunks {
			_, next = varint(b, next)
		}
		gap, _ = varint(b, next)
		f(doc, v.first[doc]+int32(gap>>1))
		at = skipPayload(b, start)
	}
}

// addNames adds up, for each chunk, the query's words in what it declares or is
// headed with.
func (s *searching) addNames() {
	for _, t := range s.terms {
		if t.whole {
			continue
		}
		a, holding := s.ix.look(partMark + t.text)
		if holding == 0 {
			continue
		}
		for i, v := range s.ix.views {
			if a.place[i] >= 0 {
				v.addNames(s.room.names[v.chunk0:], int(a.place[i]), float32(t.idf))
			}
		}
	}
}

func (v *view) addNames(sums []float32, term int, idf float32) {
	b := v.list(term)
	doc := int32(-1)
	for at := 0; at < len(b); {
		gap, start := varint(b, at)
		doc += int32(gap)
		n, next := uint32(b[start]>>4), start+1
		if n == manyChunks {
			n, next = varint(b, next)
		}
		for chunk := uint32(v.first[doc]); n > 0; n-- {
			var x uint32
			x, next = varint(b, next)
			chunk += x >> 1
			if x&1 != 0 {
				_, next = varint(b, next)
			}
			sums[chunk] += idf
		}
		at = next
	}
}

// bestNames is the heaviest of those sums of a candidate's chunks.
func (s *searching) bestNames(c *candidate) (best float64, chunk int32) {
	from, to := c.view.first[c.doc], c.view.first[c.doc+1]
	chunk = -1
	for i, sum := range s.room.names[c.view.chunk0+from : c.view.chunk0+to] {
		if float64(sum) > best {
			best, chunk = float64(sum), from+int32(i)
		}
	}
	return best, chunk
}
