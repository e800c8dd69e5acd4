package chunk

import (
	"strings"
	"unicode/utf8"
)

// longestPiece is up to where a piece is encoded. What is longer, such as a
// line of base64, counts a token a byte, which is never too few: the time to
// encode a piece grows with the square of its length.
const longestPiece = 256

// Counter counts tokens in the cl100k_base encoding. The encoding cuts a text
// into pieces and encodes each by itself, so the count of a text is the sum of
// its pieces' counts, and those repeat: a counter remembers them. It is not
// safe for concurrent use.
type Counter struct {
	few  [1 << packedBits]packed
	near [1 << nearBits]near
	room room
	// Room for what is found out about one text at a time.
	starts []int
	marks  []mark
	hollow hollow
}

// NewCounter returns a counter. It takes 3.1 MB.
func NewCounter() *Counter { return &Counter{} }

// Count is the number of tokens of a text, exactly but for pieces of more than
// 256 bytes, which count a token a byte.
func (c *Counter) Count(text string) int {
	sum := 0
	for at := 0; at < len(text); {
		end, tokens := c.next(text, at)
		sum += tokens
		at = end
	}
	return sum
}

// next is where the piece that begins at a place ends, and how many tokens it
// has.
func (c *Counter) next(text string, at int) (end, tokens int) {
	// Most pieces are short words of ASCII letters, with a mark or a blank before
	// them: these are looked at eight bytes at a time.
	if at+16 <= len(text) {
		bytes, lead := load(text[at:at+8]), leads[text[at]]
		switch n := wordIn(bytes, lead); {
		case n == 8:
			if n += wordIn(load(text[at+8:at+16]), 0); n < 16 && text[at+n] < utf8.RuneSelf {
				return at + n, c.piece(text[at : at+n])
			}
		case text[at+n] >= utf8.RuneSelf:
		case n > 1:
			return at + n, c.packed(bytes&(1<<(8*n)-1), text[at:at+n])
		case n == 1 && lead == 0:
			return at + 1, 1
		case beginsPiece[text[at]]&aloneBefore[text[at+1]] != 0:
			return at + 1, 1
		}
	}
	end = at + pieceLen(text[at:])
	return end, c.piece(text[at:end])
}

func (c *Counter) piece(piece string) int {
	n := len(piece)
	switch {
	case n == 1:
		return 1 // every byte is a token
	case n <= mostPacked:
		return c.packed(numbered(piece), piece)
	case n > nearBytes:
		return c.encode(piece)
	}
	key := keyOf(piece)
	slot := &c.near[key.slot()]
	if slot.nearKey != key {
		*slot = near{key, uint32(c.encode(piece))}
	}
	return int(slot.tokens)
}

// packed counts a piece of 2 to 7 bytes, which are given as a number too.
func (c *Counter) packed(bytes uint64, piece string) int {
	key := packedKey(bytes, len(piece))
	slot := &c.few[key.slot()]
	if *slot&^tokensPacked != key {
		*slot = key | packed(c.encode(piece))<<tokensAt
	}
	return int(*slot & tokensPacked >> tokensAt)
}

// encode counts the tokens of a piece, in which U+FFFD stands for each run of
// bytes that are not UTF-8.
func (c *Counter) encode(piece string) int {
	piece = strings.ToValidUTF8(piece, "\uFFFD")
	if len(piece) > longestPiece {
		return len(piece)
	}
	return vocabulary().encode(piece, &c.room)
}
