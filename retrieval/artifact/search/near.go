package search

import (
	"encoding/binary"
	"math/bits"
)

// nearBytes is how long the words are that are known by a key.
const nearBytes = 16

// nearKey is a word of 1 to 16 bytes: its first and its last bytes, which may be
// the same ones, and its length. The zero value is none.
type nearKey struct {
	first, last uint64
	length      uint32
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

const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

func (k nearKey) hash() uint64 {
	hi, lo := bits.Mul64(k.first^uint64(k.length)*mix, k.last^mix)
	return (hi ^ lo) * mix >> 20
}
