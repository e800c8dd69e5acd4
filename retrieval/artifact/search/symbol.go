package search

import (
	"slices"
	"strings"
	"unicode"
)

// name is a declared name that a query looks like.
type name struct {
	asked
	words   int    // of the query that make it up
	exact   bool   // the query asks for it by name, and few declare it
	spelled bool   // as the query writes it
	written string // by the query, of one word
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
			a, holding, begins := s.ix.look(key.String())
			if !begins { // nor does any with the words that follow
				break
			}
			if holding == 0 {
				continue
			}
			n := name{asked: a, holding: holding, words: j + 1 - i, exact: holding <= mostDefining && s.named(i, j)}
			if n.spelled = n.exact; i == j {
				n.written = s.written[i]
			}
			found = append(found, n)
		}
	}
	return found
}

// weightOf is the idf of the rarest form that the index holds of a word.
func (q *question) weightOf(word string) (best float64) {
	for _, t := range q.terms {
		if t.text == word || !t.whole && t.text == normal(word) {
			best = max(best, t.idf)
		}
	}
	return best
}

// declares is what a document declares of the names that a query looks like: the
// one of most words, before all one that it asks for by name, and the first chunk that
// declares it.
type declares struct {
	name
	chunk int32
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
					s.pool = append(s.pool, candidate{view: v, doc: doc, words: s.scratch.scores[number]})
				}
				n := n
				if n.exact && n.written != "" {
					n.exact, n.spelled = v.spells(chunk, n.written)
				}
				if d := found[number]; n.exact && !d.exact || n.exact == d.exact && n.words > d.words {
					found[number] = declares{n, chunk}
				}
			})
		}
	}
	return found
}

// spells tells whether a chunk declares a name in as many parts as the written one
// has, as get_user_name is of getUserName and Sqlite is not of SQLite, and whether it
// is written so.
func (v *view) spells(chunk int32, written string) (alike, same bool) {
	var buffer [2][8][2]int
	parts, whole := len(partsOf(written, buffer[0][:0])), wholeOf(written)
	for symbol := range strings.SplitSeq(v.chunks[chunk].symbols, "\n") {
		last := symbol[strings.LastIndexAny(symbol, ".:#/ ")+1:]
		same = same || last == written
		alike = alike || same || wholeOf(last) == whole && len(partsOf(last, buffer[1][:0])) == parts
	}
	return alike, same
}

// eachHolding calls f for each posting of a declared name, with the first chunk
// that declares it, within the view.
func (v *view) eachHolding(term int, f func(doc, chunk int32)) {
	b := v.list(term)
	doc := int32(-1)
	for at := 0; at < len(b); {
		gap, start := varint(b, at)
		doc += int32(gap)
		_, next := chunkCount(b, start+1, uint32(b[start]>>4)) // of names only chunks are counted
		gap, _ = varint(b, next)
		f(doc, v.first[doc]+int32(gap>>1))
		at = skipPayload(b, start)
	}
}

// addNames adds up, for each chunk of the candidates, the query's words in what
// it declares or is headed with.
func (s *searching) addNames(order [][]int32) {
	for _, t := range s.terms {
		if t.whole {
			continue
		}
		a, holding, _ := s.ix.look(partMark + t.text)
		if holding == 0 {
			continue
		}
		for i, v := range s.ix.views {
			if a.place[i] >= 0 {
				s.addNamesOf(order[v.number], v.list(int(a.place[i])), float32(t.idf))
			}
		}
	}
}

// addNamesOf walks a list of postings beside candidates of its view.
func (s *searching) addNamesOf(order []int32, b []byte, idf float32) {
	p := reading{b: b, doc: -1}
	for _, i := range order {
		c := &s.pool[i]
		if p.to(c.doc) {
			for w := walkChunks(b, p.payload); w.next(); {
				c.named[w.chunk] += idf
			}
		}
	}
}

// bestNames is the heaviest of those sums of a candidate's chunks.
func (c *candidate) bestNames() (best float64, chunk int32) {
	chunk = -1
	for i, sum := range c.named {
		if float64(sum) > best {
			best, chunk = float64(sum), c.view.first[c.doc]+int32(i)
		}
	}
	return best, chunk
}

// nameFiles takes down how documents would keep the names of files that are
// called what the query's words are.
func (q *question) nameFiles() {
	for i, word := range q.written {
		stem := joined(Words(word))
		q.alike[stem] = q.weightOf(q.words[i])
		if q.named(i, i) {
			q.identifiers[stem] = true
			q.identifiers[strings.TrimPrefix(stem, q.words[i]+" ")] = true // as in create-logger
		}
	}
}

// named says whether the words from one place to another are a name rather than
// prose: several without a blank, as in os.path.join, Store::open and save-buffer;
// one with humps or underscores; one with a capital behind a word such as class or
// trait. Digits make no name: http2 and sha256 say what a text is about.
func (q *question) named(from, to int) bool {
	if from < to {
		return !slices.Contains(q.joined[from+1:to+1], false)
	}
	word := q.written[from]
	var buffer [8][2]int
	return len(q.terms) == 0 || strings.Contains(word, "_") || len(partsOf(word, buffer[:0])) > 1 ||
		from > 0 && q.behind[from] && declaring[q.words[from-1]] && unicode.IsUpper(rune(word[0]))
}

// declaring are words before the name of what is declared.
var declaring = map[string]bool{
	"class": true, "struct": true, "trait": true, "interface": true, "protocol": true, "enum": true, "record": true, "type": true, "object": true,
	"module": true, "macro": true, "method": true, "function": true, "func": true, "fn": true, "def": true,
}
