package chunk

import (
	"math/bits"
	"strings"
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
	cuts   cuts
	marks  []mark
	hollow hollow
}

// NewCounter returns a counter. It takes 3.1 MB.
func NewCounter() *Counter { return &Counter{} }

// Count is the number of tokens of a text, exactly but for pieces of more than
// 256 bytes, which count a token a byte.
func (c *Counter) Count(text string) (tokens int) {
	c.cuts = cutsOf(text, c.cuts)
	for k := range c.cuts {
		alone, others := c.cuts.alone(k)
		tokens += bits.OnesCount64(alone) + c.sum(text, k, others)
	}
	return tokens
}

// sum counts the tokens of some of the pieces that begin in a block of the text
// that was cut.
func (c *Counter) sum(text string, k int, pieces uint64) (tokens int) {
	for ; pieces != 0; pieces &= pieces - 1 {
		i := bits.TrailingZeros64(pieces)
		at := 64*k + i
		end := at + 1
		if word := c.cuts[k] >> 1 >> i; word != 0 {
			end += bits.TrailingZeros64(word)
		} else {
			end = c.cuts.behind(at, len(text))
		}
		if n := end - at; n <= mostPacked && n > 1 && at+8 <= len(text) {
			tokens += c.packed(load(text[at:at+8])&(1<<(8*n)-1), text[at:end])
		} else {
			tokens += c.piece(text[at:end])
		}
	}
	return tokens
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
