package chunk

import (
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// Scratch is memory for what is found out about one text at a time. It is not safe
// for concurrent use.
type Scratch struct {
	starts []int
}

// Split cuts a text that is valid UTF-8. The language is one of those that
// [github.com/writbus/writ/retrieval/artifact/describe] names; one that is not
// known is cut by blank lines.
func Split(language, text string, scratch *Scratch) ([]artifact.Chunk, []artifact.Symbol) {
	if text == "" {
		return nil, nil
	}
	t := linesOf(text, scratch.starts)
	scratch.starts = t.starts
	var o outline
	switch {
	case language == "go":
		o = goOutline(t)
	case language == "markdown":
		o = markdownOutline(t)
	case grammars()[language] != nil:
		o = grammars()[language].outline(t)
	}
	if len(o.sections) == 0 {
		o.sections, o.least = blocks(t, 0, t.count()), blockTokens
	}
	slices.SortStableFunc(o.symbols, func(a, b artifact.Symbol) int { return a.Line - b.Line })
	p := packer{lines: t, symbols: o.symbols}
	p.pack(o.sections, o.least)
	return p.chunks, o.symbols
}

// outline is how a text is put together.
type outline struct {
	sections []section // of all lines, in order
	symbols  []artifact.Symbol
	least    int // neighbours are put together up to so many tokens
}

// section is a run of lines that belong together. Lines are counted from 0 and
// the end is not included.
type section struct {
	from, to int
	heading  string
	bare     bool      // nothing by itself: it belongs to what follows
	parts    []section // what a section that is too large is cut into, if known
}

// lines is a text with the places where its lines begin.
type lines struct {
	text   string
	starts []int // of each line, and the text's end
}

// linesOf finds the lines of a text; the buffer is kept for the places.
func linesOf(text string, buffer []int) lines {
	if n := 2 + strings.Count(text, "\n"); cap(buffer) < n {
		buffer = make([]int, 0, n+n/2)
	}
	starts := append(buffer[:0], 0)
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
		if at < len(text) {
			starts = append(starts, at)
		}
	}
	return lines{text, append(starts, len(text))}
}

func (l lines) count() int { return len(l.starts) - 1 }

// cut is the text of some lines.
func (l lines) cut(from, to int) string { return l.text[l.starts[from]:l.starts[to]] }

// line is one line without its end.
func (l lines) line(i int) string { return strings.TrimRight(l.cut(i, i+1), "\r\n") }

func (l lines) blank(i int) bool { return strings.TrimSpace(l.cut(i, i+1)) == "" }

// at is the line that holds a byte.
func (l lines) at(offset int) int {
	i, found := slices.BinarySearch(l.starts, offset)
	if found {
		return min(i, l.count()-1)
	}
	return i - 1
}

// blockTokens is up to where blocks between blank lines are put together. Half
// of a chunk's limit: whoever reads a hit wants what is around it, not a page.
const blockTokens = 256

// blocks cuts lines after each run of blank lines.
func blocks(t lines, from, to int) (all []section) {
	start := from
	for i := from + 1; i < to; i++ {
		if t.blank(i-1) && !t.blank(i) {
			all = append(all, section{from: start, to: i})
			start = i
		}
	}
	if start < to {
		all = append(all, section{from: start, to: to})
	}
	return all
}
