package search

import (
	"encoding/binary"
	"math/bits"
)

const (
	// nearBits is how many words are found without asking the map: most of a
	// text are few words, again and again.
	nearBits  = 14
	nearBytes = 16 // of the longest of them
)

// near is a word that was met lately. It is known by its bytes and mostly leads
// to one term, so that nothing else has to be fetched to count it.
type near struct {
	nearKey
	place int32 // the term's, or one of those below
	known *known
}

// What a word leads to instead of one term.
const (
	nothing = -1 - iota
	several
)

// nearKey is a word of 1 to 16 bytes: its first and its last bytes, which may be
// the same ones, and its length. The zero value is none.
type nearKey struct {
	first, last uint64
	length      uint32
}

func newNear(key nearKey, k *known) near {
	switch len(k.places) {
	case 0:
		return near{key, nothing, k}
	case 1:
		return near{key, k.places[0], k}
	}
	return near{key, several, k}
}

func keyOf(word string) nearKey {
	n := len(word)
	var room [8]byte
	switch {
	case n >= 8:
		copy(room[:], word)
		first := binary.LittleEndian.Uint64(room[:])
		copy(room[:], word[n-8:])
		return nearKey{first, binary.LittleEndian.Uint64(room[:]), uint32(n)}
	case n >= 4:
		copy(room[:4], word)
		copy(room[4:], word[n-4:])
		return nearKey{binary.LittleEndian.Uint64(room[:]), 0, uint32(n)}
	}
	return nearKey{uint64(word[0]) | uint64(word[n/2])<<8 | uint64(word[n-1])<<16, 0, uint32(n)}
}

func (k nearKey) place() uint64 {
	const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	hi, lo := bits.Mul64(k.first^uint64(k.length)*mix, k.last^mix)
	return (hi ^ lo) * mix >> (64 - nearBits)
}
