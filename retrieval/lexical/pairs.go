package lexical

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/writbus/writ/retrieval/bm25"
)

// Words that stand beside each other say more than the same words apart:
// "lock order" is not about an order that takes a lock. An index therefore also
// holds pairs of neighbouring terms, each as one more term of BM25F, which
// counts for nothing in a field's length.
//
// Most pairs stand in one document of thousands, so there is no dictionary of
// them: a pair is the hash of its terms, whose first bits name a bucket and
// whose last tell it from the others there.

// Pair is two terms that stand beside each other in a field.
type Pair struct {
	First, Second uint32 // their places among the field's terms
	N             uint32 // how often
}

// PairFields are those whose pairs are indexed, the ones that say what a rule is
// about; they are the first fields. With the pairs of Body too there are twice as
// many, and the shipped rules are found no better.
var PairFields = [...]Field{Trigger, Name, Statement}

// CountPairs finds the pairs of the texts of which counts are the terms, sorted.
// A stop word between two terms does not part them, another text does.
func CountPairs(counts []Count, texts ...string) []Pair {
	var pairs []Pair
	for _, text := range texts {
		previous := -1
		for _, term := range Analyse(text) {
			if term.Whole {
				continue // its parts are words of the text
			}
			at, _ := slices.BinarySearchFunc(counts, Count{Term: term.Text}, byTerm)
			if previous >= 0 {
				pairs = append(pairs, Pair{First: uint32(previous), Second: uint32(at), N: 1})
			}
			previous = at
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second)) })
	distinct := pairs[:0]
	for _, p := range pairs {
		if n := len(distinct); n > 0 && distinct[n-1].First == p.First && distinct[n-1].Second == p.Second {
			distinct[n-1].N++
			continue
		}
		distinct = append(distinct, p)
	}
	return distinct
}

// Pairs are those of one document, packed: for each field of [PairFields] their
// number, then of each pair the places of its terms and how often it stands
// there, all as uvarints. "" is of a document that has none.
type Pairs string

// PackPairs packs the pairs of the fields that have some.
func PackPairs(pairs map[Field][]Pair) Pairs {
	var b []byte
	for _, field := range PairFields {
		b = binary.AppendUvarint(b, uint64(len(pairs[field])))
		for _, p := range pairs[field] {
			b = binary.AppendUvarint(b, uint64(p.First))
			b = binary.AppendUvarint(b, uint64(p.Second))
			b = binary.AppendUvarint(b, uint64(p.N))
		}
	}
	return Pairs(b)
}

// CutPairs takes the pairs off the front of what was packed; terms tells how
// many the document's fields have. It is false of what [PackPairs] cannot have
// written of such a document.
func CutPairs(packed string, terms [NumFields]int) (pairs Pairs, rest string, ok bool) {
	r := packedReader{rest: packed}
	for _, field := range PairFields {
		last := Pair{}
		n := r.uvarint(uint64(len(packed)))
		for i := uint64(0); i < n && !r.bad; i++ {
			most := uint64(terms[field])
			p := Pair{First: uint32(r.uvarint(most)), Second: uint32(r.uvarint(most)), N: uint32(r.uvarint(math.MaxUint32))}
			ascends := i == 0 || p.First > last.First || p.First == last.First && p.Second > last.Second
			if uint64(p.First) >= most || uint64(p.Second) >= most || p.N == 0 || !ascends {
				r.bad = true
			}
			last = p
		}
	}
	if r.bad {
		return "", "", false
	}
	return Pairs(packed[:len(packed)-len(r.rest)]), r.rest, true
}

// packedReader takes numbers off the front of a string; after a bad one it only
// returns zero.
type packedReader struct {
	rest string
	bad  bool
}

func (r *packedReader) uvarint(limit uint64) uint64 {
	var v uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		c := r.rest[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			if v > limit {
				break
			}
			return v
		}
	}
	r.rest, r.bad = "", true
	return 0
}

// pairIndex finds the documents of a pair. The zero value has none.
type pairIndex struct {
	shift  int      // of a hash: what is left names its bucket
	starts []int32  // of the buckets in list, and its end
	list   []posted // sorted in each bucket
	// units is, of each document and field, what a pair counts that stands there
	// once: boosted and normalised by the field's length.
	units [][len(PairFields)]float32
}

// posted is a document that holds a pair: the rest of the pair's hash, the
// document, and how often the pair stands in each field, as far as four bits
// tell.
type posted uint64

const (
	countBits = 4
	mostCount = 1<<countBits - 1
	docShift  = countBits * len(PairFields)
	restShift = 38 // 26 bits are left for a document, and 26 of a hash: with those of its bucket, 43 at 10,000 rules
	restMask  = 1<<(64-restShift) - 1
)

func (p posted) doc() int32 { return int32(p >> docShift & (1<<(restShift-docShift) - 1)) }

// frequency is a pair's in a document, as BM25F adds it up.
func (x *pairIndex) frequency(p posted) float64 {
	var f float64
	for field, unit := range x.units[p.doc()] {
		f += float64(float64(p>>(countBits*field)&mostCount) * float64(unit))
	}
	return f
}

// perBucket is about how many postings a bucket has.
const perBucket = 4

// hashPair joins the hashes of a pair's terms, in order.
func hashPair(first, second uint64) uint64 {
	h := (bits.RotateLeft64(first, 29) ^ second) * 0x9e3779b97f4a7c15 // 2⁶⁴ over the golden ratio
	return h ^ h>>32
}

func (x *pairIndex) bucket(hash uint64) uint64 { return hash >> x.shift }

func rest(hash uint64) posted { return posted(hash&restMask) << restShift }

// pair indexes the pairs of all documents, whose terms have been read.
func (ix *Index) pair() {
	ix.hashes = make([]uint64, len(ix.terms))
	for term, at := range ix.terms {
		ix.hashes[at] = xxhash.Sum64String(term)
	}
	x := &ix.pairs
	x.shift = 64 - max(bits.Len(uint(ix.postings/perBucket)), 1)
	ends := make([]int32, 1<<(64-x.shift))
	total := int32(0)
	ix.eachPair(func(hash uint64, _ posted) { ends[x.bucket(hash)]++; total++ })
	if total == 0 {
		return
	}
	x.starts = make([]int32, len(ends)+1)
	at := int32(0)
	for i, n := range ends {
		x.starts[i], ends[i] = at, at
		at += n
	}
	x.list = make([]posted, total)
	ix.eachPair(func(hash uint64, p posted) {
		b := x.bucket(hash)
		x.list[ends[b]] = rest(hash) | p
		ends[b]++
	})
	x.settle(ends)
	x.units = ix.units()
}

// settle sorts the buckets, and joins the postings of a pair that stands in
// several fields of a document.
func (x *pairIndex) settle(ends []int32) {
	to := int32(0)
	for b, end := range ends {
		from := x.starts[b]
		x.starts[b] = to
		slices.Sort(x.list[from:end])
		for _, p := range x.list[from:end] {
			if to > x.starts[b] && x.list[to-1]>>docShift == p>>docShift {
				x.list[to-1] |= p
				continue
			}
			x.list[to] = p
			to++
		}
	}
	x.starts[len(ends)] = to
	x.list = x.list[:to]
}

// find are the postings of a pair, by document.
func (x *pairIndex) find(hash uint64) []posted {
	if len(x.list) == 0 {
		return nil
	}
	b := x.bucket(hash)
	list := x.list[x.starts[b]:x.starts[b+1]]
	from, _ := slices.BinarySearch(list, rest(hash))
	list = list[from:]
	if len(list) == 0 || list[len(list)-1]>>restShift == posted(hash&restMask) {
		return list
	}
	to, _ := slices.BinarySearch(list, rest(hash)+1<<restShift)
	return list[:to]
}

// eachPair tells of every pair of every field the hash, and the document and the
// count as they are posted.
func (ix *Index) eachPair(visit func(hash uint64, p posted)) {
	var places [len(PairFields)][]uint32 // of the document's terms
	for doc, pairs := range ix.paired {
		if pairs == "" {
			continue
		}
		e := entries(ix.forward[doc])
		for i := range PairFields {
			places[i] = places[i][:0]
			for range e.next() {
				places[i] = append(places[i], e.next())
				e.next()
			}
		}
		r := packedReader{rest: string(pairs)}
		for i := range PairFields {
			for range r.uvarint(uint64(len(pairs))) {
				first, second := ix.hashes[places[i][r.uvarint(math.MaxUint32)]], ix.hashes[places[i][r.uvarint(math.MaxUint32)]]
				n := min(r.uvarint(math.MaxUint32), mostCount)
				visit(hashPair(first, second), posted(doc)<<docShift|posted(n)<<(countBits*i))
			}
		}
	}
}

func (ix *Index) units() [][len(PairFields)]float32 {
	units := make([][len(PairFields)]float32, ix.size)
	for doc, raw := range ix.forward {
		e := entries(raw)
		for i, field := range PairFields {
			length := 0.0
			for range e.next() {
				e.next()
				length += float64(e.next())
			}
			units[doc][i] = float32(Boosts[field] / bm25.Norm(length, ix.averages[field]))
		}
	}
	return units
}
