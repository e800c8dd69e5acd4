package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
)

// packer makes chunks of sections.
type packer struct {
	lines   lines
	counter *Counter
	tally   tally
	symbols []artifact.Symbol // in the order of their lines
	passed  int               // symbols that belong to earlier chunks
	chunks  []artifact.Chunk
}

// pack puts neighbours together as long as they have at most least tokens, and
// cuts what has more than a chunk may have.
func (p *packer) pack(sections []section, least int) {
	counts := make([]int, len(sections))
	for i, s := range sections {
		counts[i] = p.tokens(s.from, s.to)
	}
	for i := 0; i < len(sections); {
		s, tokens := sections[i], counts[i]
		next := i + 1
		for ; next < len(sections) && (s.bare || tokens < least); next++ {
			sum := tokens + counts[next]
			if sum > artifact.MaxChunkTokens || !s.bare && sum > least {
				break
			}
			s, tokens = together(s, sections[next]), sum
		}
		if next > i+1 {
			tokens = p.tokens(s.from, s.to)
		}
		i = next
		switch {
		case s.from >= s.to:
		case tokens <= artifact.MaxChunkTokens:
			p.add(s.from, s.from, s.to, s.heading, tokens)
		case len(s.parts) > 0:
			p.pack(s.parts, least)
		default:
			p.cut(s)
		}
	}
}

// together is one section of two neighbours.
func together(a, b section) section {
	joined := section{from: a.from, to: b.to, heading: b.heading, bare: a.bare && b.bare}
	if !a.bare {
		joined.heading = joinHeadings(a.heading, b.heading)
	}
	return joined
}

// headingNames bounds how many names a heading is made of.
const headingNames = 4

func joinHeadings(a, b string) string {
	switch {
	case a == "" || strings.HasPrefix(b, a):
		return b
	case b == "" || strings.HasPrefix(a, b) || strings.HasSuffix(a, ", …"):
		return a
	case strings.Count(a, ", ") >= headingNames-1:
		return a + ", …"
	}
	return a + ", " + b
}

// tokens counts some lines. A count above the limit says only that much.
func (p *packer) tokens(from, to int) int {
	if p.lines.starts[to]-p.lines.starts[from] > 16*artifact.MaxChunkTokens {
		return artifact.MaxChunkTokens + 1 // no text has so long tokens on average, but for blanks
	}
	return p.tally.count(from, to)
}

// cut cuts one section into chunks that overlap, at blank lines where there are
// some.
func (p *packer) cut(s section) {
	for own := s.from; own < s.to; {
		from := p.overlap(s.from, own)
		to := p.fitting(from, own, s.to)
		if to == own && from < own {
			from = own
			to = p.fitting(from, own, s.to)
		}
		if to == own {
			p.cutLine(own, s.heading)
			own++
			continue
		}
		if to < s.to {
			to = p.blankBefore(own, to)
		}
		p.add(from, own, to, s.heading, p.tally.count(from, to))
		own = to
	}
}

// overlap is where the chunk that goes on at a line begins.
func (p *packer) overlap(first, own int) int {
	from, tokens := own, 0
	for from > first {
		tokens += p.tally.count(from-1, from)
		if tokens > artifact.OverlapTokens {
			break
		}
		from--
	}
	return from
}

// fitting is how far a chunk that begins at a line may go.
func (p *packer) fitting(from, own, end int) int {
	to, tokens := own, p.tally.count(from, own)
	for to < end {
		tokens += p.tally.count(to, to+1)
		if tokens > artifact.MaxChunkTokens {
			break
		}
		to++
	}
	// Lines have as many tokens together as one by one, but for odd ones.
	for to > own && p.tally.count(from, to) > artifact.MaxChunkTokens {
		to--
	}
	return to
}

// blankBefore moves an end back to behind a blank line in its last third.
func (p *packer) blankBefore(own, to int) int {
	for i := to; i > own && i > to-(to-own)/3; i-- {
		if p.lines.blank(i - 1) {
			return i
		}
	}
	return to
}

// cutLine cuts a line that is too long for one chunk.
func (p *packer) cutLine(i int, heading string) {
	text := p.lines.cut(i, i+1)
	for first := true; text != ""; first = false {
		end, tokens := 0, 0
		for end < len(text) {
			n := pieceLen(text[end:])
			count := p.counter.piece(text[end : end+n])
			if tokens+count > artifact.MaxChunkTokens {
				break
			}
			end, tokens = end+n, tokens+count
		}
		if end == 0 {
			end = runeStart(text, artifact.MaxChunkTokens)
		}
		piece := text[:end]
		// Cut off from what follows, white space is encoded in another way.
		for tokens = p.counter.Count(piece); tokens > artifact.MaxChunkTokens; tokens = p.counter.Count(piece) {
			piece = piece[:runeStart(piece, len(piece)-1)]
		}
		text = text[len(piece):]
		chunk := artifact.Chunk{Lines: [2]int{i + 1, i + 1}, Heading: heading, Text: piece, Tokens: tokens}
		if first {
			chunk.Symbols = p.declared(i, i+1)
		}
		p.chunks = append(p.chunks, chunk)
	}
}

// runeStart is the last place up to at where a character begins.
func runeStart(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for at > 1 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// add makes a chunk of lines, of which those from own on were in none before.
func (p *packer) add(from, own, to int, heading string, tokens int) {
	p.chunks = append(p.chunks, artifact.Chunk{
		Lines: [2]int{from + 1, to}, Heading: heading, Text: p.lines.cut(from, to), Tokens: tokens, Symbols: p.declared(own, to),
	})
}

// declared lists the names that lines declare, each once.
func (p *packer) declared(from, to int) (names []string) {
	for p.passed < len(p.symbols) && p.symbols[p.passed].Line <= from {
		p.passed++
	}
	for ; p.passed < len(p.symbols) && p.symbols[p.passed].Line <= to; p.passed++ {
		name := p.symbols[p.passed].Name
		if n := len(names); n == 0 || names[n-1] != name {
			names = append(names, name)
		}
	}
	return names
}
