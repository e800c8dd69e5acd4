package search

import (
	"math/bits"
	"unsafe"
)

// lexicon numbers the terms that an analyser has met, from 0.
type lexicon struct {
	text  []byte // of all terms, one after the other
	ends  []uint32
	table []int32 // places by hash, from 1; 0 is free
}

func newLexicon() *lexicon { return &lexicon{table: make([]int32, 1<<10)} }

// empty makes a lexicon a new one, in the same memory.
func (l *lexicon) empty() {
	l.text, l.ends = l.text[:0], l.ends[:0]
	clear(l.table)
}

func (l *lexicon) len() int { return len(l.ends) }

// term is valid for as long as the lexicon is.
func (l *lexicon) term(place int32) string {
	from := uint32(0)
	if place > 0 {
		from = l.ends[place-1]
	}
	return asText(l.text[from:l.ends[place]])
}

// asText is bytes that never change as a text.
func asText(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// place is that of a term, which it adds where it is new.
func (l *lexicon) place(term string) int32 {
	at := l.slot(term)
	if l.table[at] > 0 {
		return l.table[at] - 1
	}
	if 2*len(l.ends) >= len(l.table) {
		l.grow()
		at = l.slot(term)
	}
	l.text = append(l.text, term...)
	l.ends = append(l.ends, uint32(len(l.text)))
	l.table[at] = int32(len(l.ends))
	return int32(len(l.ends)) - 1
}

// slot is where the table has a term, or would.
func (l *lexicon) slot(term string) uint64 {
	mask := uint64(len(l.table) - 1)
	at := hash(term) & mask
	for l.table[at] > 0 && l.term(l.table[at]-1) != term {
		at = (at + 1) & mask
	}
	return at
}

func (l *lexicon) grow() {
	l.table = make([]int32, 2*len(l.table))
	for place := range int32(len(l.ends)) {
		l.table[l.slot(l.term(place))] = place + 1
	}
}

// dictionary leads from words, as they are written, to the places of their
// terms.
type dictionary struct {
	few   []metShort // words of up to 8 bytes, by hash; free where they are 0
	met   []met      // of up to 16, by hash; free where the length is 0
	n     [2]int     // that are not free, of both
	long  lexicon    // of the words that are too long for a key
	far   []int32    // of these, what met has of the others
	lists []int32    // of the places of words with several: how many, then they
}

// met is a word that was met, and its term's place or one of those below.
type met struct {
	nearKey
	place int32
}

// metShort is a word of up to 8 bytes, the first of them lowest. No word has a
// zero byte.
type metShort struct {
	bytes uint64
	place int32
}

// What a word leads to instead of one term; below these, the dictionary lists
// several.
const (
	nothing = -1 - iota
	unknown
	first
)

func newDictionary() dictionary {
	return dictionary{few: make([]metShort, 1<<12), met: make([]met, 1<<12), long: *newLexicon()}
}

// empty makes a dictionary a new one, in the same memory.
func (d *dictionary) empty() {
	clear(d.few)
	clear(d.met)
	d.long.empty()
	d.n, d.far, d.lists = [2]int{}, d.far[:0], d.lists[:0]
}

func (d *dictionary) len() int { return d.n[0] + d.n[1] + d.long.len() }

// find returns what a word leads to, unknown where it was not met before. That
// is for the caller to change, before it asks again.
func (d *dictionary) find(word string) *int32 {
	switch {
	case len(word) <= 8:
		return d.findShort(shortOf(word))
	case len(word) > nearBytes:
		at := d.long.place(word)
		if int(at) == len(d.far) {
			d.far = append(d.far, unknown)
		}
		return &d.far[at]
	}
	key := keyOf(word)
	mask := uint64(len(d.met) - 1)
	for at := key.hash() & mask; ; at = (at + 1) & mask {
		m := &d.met[at]
		if m.nearKey == key {
			return &m.place
		}
		if m.length > 0 {
			continue
		}
		if 4*d.n[1] >= 3*len(d.met) {
			d.grow()
			return d.find(word)
		}
		d.n[1]++
		*m = met{key, unknown}
		return &m.place
	}
}

// findShort is find for a word of up to 8 bytes.
func (d *dictionary) findShort(bytes uint64) *int32 {
	mask := uint64(len(d.few) - 1)
	for at := bytes * mix >> 32 & mask; ; at = (at + 1) & mask {
		m := &d.few[at]
		if m.bytes == bytes {
			return &m.place
		}
		if m.bytes != 0 {
			continue
		}
		if 4*d.n[0] >= 3*len(d.few) {
			d.growShort()
			return d.findShort(bytes)
		}
		d.n[0]++
		*m = metShort{bytes, unknown}
		return &m.place
	}
}

func (d *dictionary) growShort() {
	old := d.few
	d.few = make([]metShort, 2*len(old))
	mask := uint64(len(d.few) - 1)
	for _, m := range old {
		if m.bytes == 0 {
			continue
		}
		at := m.bytes * mix >> 32 & mask
		for d.few[at].bytes != 0 {
			at = (at + 1) & mask
		}
		d.few[at] = m
	}
}

func (d *dictionary) grow() {
	old := d.met
	d.met = make([]met, 2*len(old))
	mask := uint64(len(d.met) - 1)
	for _, m := range old {
		if m.length == 0 {
			continue
		}
		at := m.hash() & mask
		for d.met[at].length > 0 {
			at = (at + 1) & mask
		}
		d.met[at] = m
	}
}

// several is what leads to places.
func (d *dictionary) several(places []int32) int32 {
	switch len(places) {
	case 0:
		return nothing
	case 1:
		return places[0]
	}
	at := len(d.lists)
	d.lists = append(append(d.lists, int32(len(places))), places...)
	return first - int32(at)
}

// list are the places of a word with several.
func (d *dictionary) list(place int32) []int32 {
	at := first - place
	return d.lists[at+1 : at+1+d.lists[at]]
}

// hash spreads terms and words over tables.
func hash(s string) uint64 {
	h := uint64(len(s)) * mix
	for len(s) > nearBytes {
		h = keyOf(s[:nearBytes]).hash() ^ bits.RotateLeft64(h, 5)*mix
		s = s[nearBytes:]
	}
	if s != "" {
		h ^= keyOf(s).hash()
	}
	return h
}
