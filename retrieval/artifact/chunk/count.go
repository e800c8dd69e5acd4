package chunk

import (
	"strings"
	"sync"
)

const (
	// longestPiece is up to where a piece is encoded. What is longer, such as a
	// line of base64, counts a token a byte, which is never too few: the time
	// to encode a piece grows with the square of its length.
	longestPiece = 256
	// sharedPieces bounds how many pieces' counts all counters keep together.
	sharedPieces = 1 << 17
)

// Counter counts tokens in the cl100k_base encoding. The encoding cuts a text
// into pieces and encodes each by itself, so the count of a text is the sum of
// its pieces' counts, and those repeat: a counter remembers them. It is not
// safe for concurrent use; several share what they learnt.
type Counter struct {
	near  [1 << nearBits]near
	marks []mark // room for a tally, of one text at a time
}

// NewCounter returns a counter. It takes some 800 KB.
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
		return shared.count(piece)
	}
	key := keyOf(piece)
	slot := &c.near[key.slot()]
	if slot.key != key {
		*slot = near{key, shared.count(piece)}
	}
	return slot.tokens
}

// shared is what all counters learnt.
var shared = pieces{counts: map[string]int{}}

type pieces struct {
	mu     sync.RWMutex
	counts map[string]int
}

func (p *pieces) count(piece string) int {
	p.mu.RLock()
	n, known := p.counts[piece]
	p.mu.RUnlock()
	if known {
		return n
	}
	n = vocabulary().encode(strings.ToValidUTF8(piece, "\uFFFD"))
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.counts) >= sharedPieces {
		clear(p.counts)
	}
	p.counts[strings.Clone(piece)] = n // not to keep the whole text
	return n
}
