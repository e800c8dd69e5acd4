package chunk

import "strings"

// longestPiece is up to where a piece is encoded. What is longer, such as a
// line of base64, counts a token a byte, which is never too few: the time to
// encode a piece grows with the square of its length.
const longestPiece = 256

// Counter counts tokens in the cl100k_base encoding. The encoding cuts a text
// into pieces and encodes each by itself, so the count of a text is the sum of
// its pieces' counts, and those repeat: a counter remembers them. It is not
// safe for concurrent use.
type Counter struct {
	near  [1 << nearBits]near
	marks []mark // room for a tally, of one text at a time
}

// NewCounter returns a counter. It takes 1.5 MB.
func NewCounter() *Counter { return &Counter{} }

// Count is the number of tokens of a text, exactly but for pieces of more than
// 256 bytes, which count a token a byte.
func (c *Counter) Count(text string) int {
	n := 0
	for text != "" {
		end := pieceLen(text)
		n += c.piece(text[:end])
		text = text[end:]
	}
	return n
}

func (c *Counter) piece(piece string) int {
	switch {
	case len(piece) == 1:
		return 1 // every byte is a token
	case len(piece) > longestPiece:
		return len(piece)
	case len(piece) > nearBytes:
		return encode(piece)
	}
	key := keyOf(piece)
	slot := &c.near[key.slot()]
	if slot.nearKey != key {
		*slot = near{key, uint32(encode(piece))}
	}
	return int(slot.tokens)
}

// encode counts the tokens of a piece, in which U+FFFD stands for each run of
// bytes that are not UTF-8.
func encode(piece string) int {
	piece = strings.ToValidUTF8(piece, "\uFFFD")
	if len(piece) > longestPiece {
		return len(piece)
	}
	return vocabulary().encode(piece)
}
