package chunk

import (
	"math/bits"

	"github.com/writbus/writ/retrieval/artifact/glyph"
)

// cuts has a bit for each byte of a text with which a piece begins, as
// [pieceLen] cuts it, 64 of them in a number.
type cuts []uint64

// cutsOf are the cuts of a text, in the room of what was cut before.
//
// Where a piece begins follows from what stands before it and from one byte
// behind, so that it can be told for 64 bytes at once. With characters of several
// bytes it is more, and pieces are cut one by one until there are no more of
// these.
func cutsOf(text string, room cuts) cuts {
	n := (len(text) + 63) / 64
	if cap(room) < n {
		room = make(cuts, n+n/2)
	}
	c := room[:n]
	clear(c)
	var block glyph.Block
	var before edge
	from := 0 // no piece that is not known yet begins before
	for k := 0; from < len(text) && k < n; {
		block.Read(text, 64*k)
		if block.Wide != 0 {
			from = c.slowly(text, k)
			k, before = from/64, edge{}
			continue
		}
		if from > 64*k {
			without(&block, 1<<(from-64*k)-1)
		}
		c[k] |= before.begin(&block, text, 64*k)
		k++
	}
	return c
}

// without takes bytes out of all kinds.
func without(b *glyph.Block, bytes uint64) {
	b.Letter &^= bytes
	b.Number &^= bytes
	b.Blank &^= bytes
	b.Space &^= bytes
	b.End &^= bytes
	b.Apostrophe &^= bytes
	b.Underscore &^= bytes
	b.Wide |= bytes // so that they are no marks
}

// slowly cuts piece by piece to the end of a block at least, from the last piece
// that is known to begin before it. It returns where the next one begins.
func (c cuts) slowly(text string, block int) (at int) {
	for k := block; k >= 0; k-- {
		if c[k] != 0 {
			at = 64*k + 63 - bits.LeadingZeros64(c[k])
			break
		}
	}
	for at < len(text) {
		c[at/64] |= 1 << (at % 64)
		if at >= 64*(block+1) {
			break
		}
		at += pieceLen(text[at:])
	}
	return at
}

// begins says whether a piece begins at a place.
func (c cuts) begins(at int) bool { return c[at/64]>>(at%64)&1 != 0 }

// before is where the piece begins that goes over a place at which none begins.
func (c cuts) before(at int) int {
	k := at / 64
	word := c[k] & (1<<(at%64) - 1)
	for word == 0 {
		k--
		word = c[k]
	}
	return 64*k + 63 - bits.LeadingZeros64(word)
}

// behind is where the first piece begins behind a place, or the text's end.
func (c cuts) behind(at, end int) int {
	k := at / 64
	word := c[k] >> 1 >> (at % 64)
	if word != 0 {
		return at + 1 + bits.TrailingZeros64(word)
	}
	for k++; k < len(c); k++ {
		if c[k] != 0 {
			return 64*k + bits.TrailingZeros64(c[k])
		}
	}
	return end
}

// alone are the pieces of one byte that begin in a block, and the others. The
// text's last one is among the others.
func (c cuts) alone(k int) (alone, others uint64) {
	next := c[k] >> 1
	if k+1 < len(c) {
		next |= c[k+1] << 63
	}
	return c[k] & next, c[k] &^ next
}

// edge is what the bytes behind a block need to know of those before: of the last
// byte, a bit for each kind; and where pieces begin that it leads to.
type edge struct {
	letter, number, blank, space, end, mark uint64
	lead                                    uint64 // a mark with which a piece begins
	digits                                  int    // that the number before has, modulo 3
	starts                                  uint64
}

// begin says where pieces begin in a block without wide characters.
func (e *edge) begin(b *glyph.Block, text string, at int) uint64 {
	inside, ends := ^uint64(0), b.End
	blankBehind, letterBehind := uint64(0), uint64(0)
	switch left := len(text) - at; {
	case left < 64:
		inside = 1<<left - 1
		ends |= 1 << left // what is blank up to there is one piece
	case left == 64:
		blankBehind = 1
	default:
		switch asciiClass[text[at+64]] {
		case letter:
			letterBehind = 1
		case space, wide: // that may be one: whoever cuts the next block will see
			blankBehind = 1
		}
	}
	marks := inside &^ (b.Letter | b.Number | b.Blank | b.End | b.Wide)
	afterBlank, afterMark := b.Blank<<1|e.blank, marks<<1|e.mark
	// Of white space within a line the last one belongs to what follows.
	starts := b.Blank &^ afterBlank
	starts |= b.Blank &^ ((b.Blank|ends)>>1 | blankBehind<<63)
	starts |= b.End &^ (b.End<<1 | e.end) &^ afterBlank &^ afterMark
	leads := marks &^ afterMark &^ (b.Space<<1 | e.space)
	starts |= leads
	starts |= b.Letter &^ (b.Letter<<1 | e.letter) &^ afterBlank &^ (leads<<1 | e.lead)
	starts |= b.Number &^ (b.Number<<1 | e.number)
	starts |= e.threes(b.Number) | e.starts
	e.starts = 0
	for quotes := b.Apostrophe & leads & (b.Letter>>1 | letterBehind<<63); quotes != 0; quotes &= quotes - 1 {
		i := bits.TrailingZeros64(quotes)
		n := suffix(text[at+i:])
		if next := at + i + n; n == 0 || next >= len(text) || asciiClass[text[next]] != letter {
			continue
		}
		if n += i; n < 64 {
			starts |= 1 << n
		} else {
			e.starts |= 1 << (n - 64)
		}
	}
	e.letter, e.number, e.blank, e.space = b.Letter>>63, b.Number>>63, b.Blank>>63, b.Space>>63
	e.end, e.mark, e.lead = b.End>>63, marks>>63, leads>>63
	return starts
}

// threes are the fourth, seventh, … of the digits of each number.
func (e *edge) threes(digits uint64) (starts uint64) {
	after := 0 // digits of the number before that go on here
	if e.number&digits != 0 {
		after = bits.TrailingZeros64(^digits)
		for i := (3 - e.digits) % 3; i < after; i += 3 {
			starts |= 1 << i
		}
	} else {
		e.digits = 0
	}
	rest := digits &^ (1<<after - 1)
	for long := rest & (rest >> 1) & (rest >> 2) & (rest >> 3); long != 0; {
		i := bits.TrailingZeros64(long)
		end := i + bits.TrailingZeros64(^(rest >> i))
		for i += 3; i < end; i += 3 {
			starts |= 1 << i
		}
		long &^= 1<<end - 1
	}
	if last := bits.LeadingZeros64(^digits); last == 64 {
		e.digits = (e.digits + last) % 3
	} else {
		e.digits = last % 3
	}
	return starts
}
