package chunk

import "math/bits"

// tally counts the tokens of any run of a text's lines without counting any of
// them twice: the text is cut into pieces once, and each start of a line knows
// how many tokens the pieces before it have.
//
// A piece that goes over the start of a line is white space, or punctuation and
// the line ends behind it. Cut there, either part is a piece of its own, and
// what follows is cut as it was; so a run of lines has the tokens of the whole
// pieces in it and of the parts of the two at its ends.
type tally struct {
	lines   lines
	counter *Counter
	marks   []mark // of each line's start, and of the text's end
}

// mark is what is known of the start of a line, in bytes of a text that is far
// below 4 GiB.
type mark struct {
	open, close   uint32 // of the piece that goes over it; both are the start itself where none does
	before, after uint32 // tokens of the text before that piece, and with it
}

func newTally(l lines, c *Counter) tally {
	if cap(c.marks) < len(l.starts) {
		c.marks = make([]mark, 2*len(l.starts))
	}
	t := tally{l, c, c.marks[:len(l.starts)]}
	c.cuts = cutsOf(l.text, c.cuts)
	sum, next := 0, 0
	for k := range c.cuts {
		alone, others := c.cuts.alone(k)
		for ; l.starts[next] < 64*(k+1) && l.starts[next] < len(l.text); next++ {
			at := l.starts[next]
			before := uint64(1)<<(at%64) - 1
			sum += bits.OnesCount64(alone&before) + c.sum(l.text, k, others&before)
			alone, others = alone&^before, others&^before
			t.marks[next] = c.markAt(l.text, at, sum)
		}
		sum += bits.OnesCount64(alone) + c.sum(l.text, k, others)
	}
	for ; next < len(l.starts); next++ { // the end
		t.marks[next] = mark{uint32(len(l.text)), uint32(len(l.text)), uint32(sum), uint32(sum)}
	}
	return t
}

// markAt is the mark of a place before which pieces with so many tokens begin.
func (c *Counter) markAt(text string, at, tokens int) mark {
	if c.cuts.begins(at) {
		return mark{uint32(at), uint32(at), uint32(tokens), uint32(tokens)}
	}
	open, close := c.cuts.before(at), c.cuts.behind(at, len(text))
	return mark{uint32(open), uint32(close), uint32(tokens - c.piece(text[open:close])), uint32(tokens)}
}

// count is the number of tokens of some lines.
func (t tally) count(from, to int) int {
	if from >= to {
		return 0
	}
	start, end := uint32(t.lines.starts[from]), uint32(t.lines.starts[to])
	first, last := t.marks[from], t.marks[to]
	if first.close > end {
		return t.counter.piece(t.lines.text[start:end])
	}
	n := int(last.before) - int(first.after)
	if start < first.close {
		n += t.counter.piece(t.lines.text[start:first.close])
	}
	if last.open < end {
		n += t.counter.piece(t.lines.text[last.open:end])
	}
	return n
}
