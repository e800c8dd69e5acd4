package search

import "math/bits"

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
	if n >= 8 {
		return nearKey{eight(word[:8]), eight(word[n-8:]), uint32(n)}
	}
	return nearKey{shortOf(word), 0, uint32(n)}
}

// eight reads 8 bytes as a number.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// shortOf is a word of 1 to 8 bytes as a number.
func shortOf(word string) uint64 {
	n := len(word)
	switch {
	case n == 8:
		return eight(word)
	case n >= 4:
		low := uint64(word[0]) | uint64(word[1])<<8 | uint64(word[2])<<16 | uint64(word[3])<<24
		end := word[n-4:]
		return low | (uint64(end[0])|uint64(end[1])<<8|uint64(end[2])<<16|uint64(end[3])<<24)<<(8*(n-4))
	}
	return uint64(word[0]) | uint64(word[n/2])<<(8*(n/2)) | uint64(word[n-1])<<(8*(n-1))
}

const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio

func (k nearKey) hash() uint64 {
	hi, lo := bits.Mul64(k.first^uint64(k.length)*mix, k.last^mix)
	return (hi ^ lo) * mix >> 20
}
