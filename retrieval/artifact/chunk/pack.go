package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/retrieval/artifact"
)

// packer makes chunks of sections.
type packer struct {
	lines   lines
	symbols []artifact.Symbol // in the order of their lines
	passed  int               // symbols that belong to earlier chunks
	chunks  []artifact.Chunk
}

// pack puts neighbours together as long as they have at most least tokens, and
// cuts what has more than a chunk may have.
func (p *packer) pack(sections []section, least int) {
	sections = p.flat(nil, sections, least)
	counts := make([]int, len(sections))
	for i, s := range sections {
		counts[i] = p.count(s.from, s.to)
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
			tokens = p.count(s.from, s.to)
		}
		i = next
		switch {
		case s.from >= s.to:
		case tokens <= artifact.MaxChunkTokens:
			p.add(s.from, s.from, s.to, s.heading, tokens)
		default:
			p.cut(s)
		}
	}
}

// flat appends sections, and the parts of each that is too large in its place, with
// what belongs to it. Of a short line that opens such a section nothing is said by itself.
func (p *packer) flat(to, sections []section, least int) []section {
	for _, s := range sections {
		from := s.from
		for i := len(to); i > 0 && to[i-1].bare; i-- {
			from = to[i-1].from
		}
		if len(s.parts) == 0 || p.count(from, s.to) <= artifact.MaxChunkTokens {
			to = append(to, s)
			continue
		}
		head := s.parts[0]
		head.bare = p.count(head.from, head.to) < least
		to = p.flat(append(to, head), s.parts[1:], least)
	}
	return to
}

// together is one section of two neighbours.
func together(a, b section) section {
	joined := section{from: a.from, to: b.to, heading: b.heading, bare: (a.bare || a.from == a.to) && b.bare}
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

// Tokens are told from bytes: of source and prose in languages of the West,
// cl100k_base has three in ten bytes (3.3 bytes a token in Go, 3.7 in C and
// Markdown, 2.8 in JSON).
const (
	someTokens  = 3
	inSomeBytes = 10
	maxBytes    = artifact.MaxChunkTokens * inSomeBytes / someTokens // of a chunk
)

// tokensIn is about how many tokens a text of so many bytes has, rounded up.
func tokensIn(bytes int) int { return (bytes*someTokens + inSomeBytes - 1) / inSomeBytes }

// count is about how many tokens some lines have.
func (p *packer) count(from, to int) int {
	return tokensIn(p.lines.starts[to] - p.lines.starts[from])
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
		p.add(from, own, to, s.heading, p.count(from, to))
		own = to
	}
}

// overlap is where the chunk that goes on at a line begins.
func (p *packer) overlap(first, own int) int {
	from := own
	for from > first && p.count(from-1, own) <= artifact.OverlapTokens {
		from--
	}
	return from
}

// fitting is how far a chunk that begins at a line may go.
func (p *packer) fitting(from, own, end int) int {
	to := own
	for to < end && p.count(from, to+1) <= artifact.MaxChunkTokens {
		to++
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
		piece := text[:wordEnd(text, maxBytes)]
		text = text[len(piece):]
		chunk := artifact.Chunk{Lines: [2]int{i + 1, i + 1}, Heading: heading, Text: piece, Tokens: tokensIn(len(piece))}
		if first {
			chunk.Symbols = p.declared(i, i+1)
		}
		p.chunks = append(p.chunks, chunk)
	}
}

// wordEnd is where a text is cut that may have so many bytes: behind its last
// blank among these, or else where a character begins.
func wordEnd(text string, most int) int {
	if most >= len(text) {
		return len(text)
	}
	if blank := strings.LastIndexAny(text[:most], " \t"); blank > 0 {
		return blank + 1
	}
	for most > 1 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
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
