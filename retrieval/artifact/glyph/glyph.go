// Package glyph says what kind of characters a text has, 64 bytes at a time: to
// find where words begin and end is then some operations on bits, instead of a
// look at each byte that the processor cannot foresee.
//
// It knows ASCII alone and no language. A byte of no kind is a mark or a control
// character; what is more than a byte long is for the caller to decode.
package glyph

import "unsafe"

// BlockBytes is how many bytes a block says something about.
const BlockBytes = 64

// Block has a bit for each of 64 bytes, the first of them lowest, in each kind
// that the byte is of.
type Block struct {
	Letter     uint64 // a to z and A to Z
	Number     uint64 // 0 to 9
	Wide       uint64 // a byte of a character of several, or one that is not UTF-8
	Underscore uint64
}

// Read looks at the text from a place on. Beyond the end of the text there are
// bytes of no kind.
func (b *Block) Read(text string, at int) {
	if at+BlockBytes > len(text) {
		var buffer [BlockBytes]byte
		copy(buffer[:], text[at:])
		b.read(unsafe.String(&buffer[0], BlockBytes)) // which keeps nothing
		return
	}
	b.read(text[at : at+BlockBytes])
}

// The kinds of a byte are in the bytes of a number, one for each field of a
// block, so that eight of these make eight bits of all fields at once. Between
// two of them is room for as many bits again.
const (
	letter     = 1
	number     = 1 << 8
	wide       = 1 << 32
	underscore = 1 << 40
)

var kinds = func() (of [256]uint64) {
	for b := range of {
		switch c := byte(b); {
		case c >= 0x80:
			of[b] = wide
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			of[b] = letter
		case '0' <= c && c <= '9':
			of[b] = number
		case c == '_':
			of[b] = underscore
		}
	}
	return of
}()

// eight has in each of its bytes the bits of one kind.
func eight(s string) uint64 {
	_ = s[7]
	return kinds[s[0]] | kinds[s[1]]<<1 | kinds[s[2]]<<2 | kinds[s[3]]<<3 | kinds[s[4]]<<4 | kinds[s[5]]<<5 | kinds[s[6]]<<6 | kinds[s[7]]<<7
}

// read gathers the bytes of each kind: it transposes the rows, first within
// pairs of them, then within fours and eights.
func (b *Block) read(s string) {
	_ = s[BlockBytes-1]
	r0, r1, r2, r3 := eight(s[0:8]), eight(s[8:16]), eight(s[16:24]), eight(s[24:32])
	r4, r5, r6, r7 := eight(s[32:40]), eight(s[40:48]), eight(s[48:56]), eight(s[56:64])
	const one, four = 0x00FF00FF00FF00FF, 0x00000000FFFFFFFF
	r0, r1 = r0&one|r1&one<<8, r0>>8&one|r1&^one
	r2, r3 = r2&one|r3&one<<8, r2>>8&one|r3&^one
	r4, r5 = r4&one|r5&one<<8, r4>>8&one|r5&^one
	r6, r7 = r6&one|r7&one<<8, r6>>8&one|r7&^one
	r0, r1, r4, r5 = r0|r2<<16, r1|r3<<16, r4|r6<<16, r5|r7<<16
	b.Letter, b.Wide = r0&four|r4<<32, r0>>32|r4&^four
	b.Number, b.Underscore = r1&four|r5<<32, r1>>32|r5&^four
}
