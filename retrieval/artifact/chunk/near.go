package chunk

import "math/bits"

const (
	// nearBits is how many pieces a counter remembers: to fetch one from a cache
	// of the processor's, however far, is far less than to encode it again.
	nearBits  = 16
	nearBytes = 16 // of the longest piece that a counter keeps by itself
)

// near is a piece whose count a counter remembers. It holds no pointer, so that
// the garbage collector has nothing to look at.
type near struct {
	nearKey
	tokens uint32
}

// nearKey is a piece of 2 to 16 bytes: its first and its last bytes, which may
// be the same ones, and its length.
type nearKey struct {
	first, last uint64
	length      uint32
}

func keyOf(piece string) nearKey {
	n := len(piece)
	switch {
	case n >= 8:
		return nearKey{load(piece[:8]), load(piece[n-8:]), uint32(n)}
	case n >= 4:
		return nearKey{load(piece[:4]), load(piece[n-4:]), uint32(n)}
	}
	return nearKey{uint64(piece[0]), uint64(piece[1])<<8 | uint64(piece[n-1]), uint32(n)}
}

// load reads up to 8 bytes as a number.
func load(s string) (v uint64) {
	if len(s) == 8 {
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	}
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// slot is where a counter keeps the piece.
func (k nearKey) slot() uint64 {
	const mix = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	hi, lo := bits.Mul64(k.first^uint64(k.length)*mix, k.last^mix)
	return (hi ^ lo) * mix >> (64 - nearBits)
}
