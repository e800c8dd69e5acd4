package chunk

import "math/bits"

const (
	// nearBits is how many pieces a counter remembers: to fetch one from a cache
	// of the processor's, however far, is far less than to encode it again.
	nearBits  = 16
	nearBytes = 24 // of the longest piece that a counter keeps by itself
)

// near is a piece whose count a counter remembers. It holds no pointer, so that
// the garbage collector has nothing to look at.
type near struct {
	nearKey
	tokens uint32
}

// nearKey is a piece of 8 to 24 bytes: its first and its last bytes, those in
// between, which may be some of them once more, and its length.
type nearKey struct {
	first, between, last uint64
	length               uint32
}

func keyOf(piece string) nearKey {
	n := len(piece)
	between := min(8, n-8)
	return nearKey{load(piece[:8]), load(piece[between : between+8]), load(piece[n-8:]), uint32(n)}
}

// load reads 8 bytes as a number.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// slot is where a counter keeps the piece.
func (k nearKey) slot() uint64 {
	hi, lo := bits.Mul64(k.first^uint64(k.length)*mix, k.last^bits.RotateLeft64(k.between, 31)^mix)
	return (hi ^ lo) * mix >> (64 - nearBits)
}

// packed is a piece of 2 to 7 bytes with its length and its tokens: the bytes,
// the first of them lowest, 4 bits of tokens and 4 bits of length.
type packed uint64

const (
	packedBits   = 16 // how many of them a counter remembers
	mostPacked   = 7
	tokensAt     = 56
	tokensPacked = packed(0xF) << tokensAt
)

func packedKey(bytes uint64, n int) packed { return packed(bytes | uint64(n)<<60) }

func (p packed) slot() uint64 { return uint64(p) * mix >> (64 - packedBits) }

// numbered is a piece of 2 to 7 bytes as a number.
func numbered(piece string) uint64 {
	n := len(piece)
	if n >= 4 {
		_ = piece[3]
		low := uint64(piece[0]) | uint64(piece[1])<<8 | uint64(piece[2])<<16 | uint64(piece[3])<<24
		return low | uint64(piece[n-3])<<(8*(n-3)) | uint64(piece[n-2])<<(8*(n-2)) | uint64(piece[n-1])<<(8*(n-1))
	}
	return uint64(piece[0]) | uint64(piece[1])<<8 | uint64(piece[n-1])<<(8*(n-1))
}
