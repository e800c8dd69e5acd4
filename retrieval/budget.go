package retrieval

import (
	"strings"
	"sync"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// DefaultBudget is the budget, in tokens, of a query that names none.
const DefaultBudget = 4000

// The modes: how much of each rule is rendered, by budget.
const (
	ModeSummary  = "summary"  // below 2,000 tokens: id, title and RULE, and WHEN where there is room
	ModeStandard = "standard" // to 8,000: and the score, VIOLATION and CORRECT
	ModeFull     = "full"     // above: and WHY and RELATED
)

const (
	standardFrom = 2000
	fullAbove    = 8000
)

func budget(asked int) int {
	if asked == 0 {
		return DefaultBudget
	}
	return max(asked, 0)
}

func mode(budget int) string {
	switch {
	case budget < standardFrom:
		return ModeSummary
	case budget <= fullAbove:
		return ModeStandard
	}
	return ModeFull
}

// piece is a text, or a rule's segment that is rendered when it is written, and
// what it costs.
type piece struct {
	text    string
	rule    *schemas.Rule
	segment segment
	score   *float64 // of a score line
	tokens  int
}

func measured(text string) piece { return piece{text: text, tokens: countTokens(text)} }

func (p *piece) append(b []byte) []byte {
	switch {
	case p.rule != nil:
		return p.segment.append(b, p.rule)
	case p.score != nil:
		return appendScore(b, *p.score)
	}
	return append(b, p.text...)
}

// frame is what every block costs beside its rules.
var frame = sync.OnceValue(func() (f struct{ start, end, score, titles piece }) {
	f.start, f.end = measured(blockStart), measured(blockEnd)
	f.score, f.titles = measured(scoreLine(0.5)), measured(titlesLine)
	return f
})

// part is a rule on its way into the block: its first pieces always, the
// optional ones as far as the budget goes.
type part struct {
	hit      int // place in the answer's rules
	must     []piece
	optional []piece
	used     int // how many of optional
	short    bool
}

// render fills the answer: the hits, and the block. Every rule worth injecting
// gets its core first, in rank order, then those of a line theirs; what is left
// of the budget goes to the details of the best, so that one long example cannot
// push out a rule.
func (s *search) render(chosen []int) {
	s.answer.Rules = make([]Hit, len(chosen))
	for i, at := range chosen {
		s.hit(&s.answer.Rules[i], at)
	}
	f := frame()
	room := s.answer.Budget - f.start.tokens - f.end.tokens
	already := s.already(chosen)
	room -= already.tokens
	room = s.cores(chosen, room)
	cores := len(s.parts)
	room = s.titles(chosen, room)
	upgrade(s.parts, room)
	s.assemble(already, s.parts[:cores], s.parts[cores:])
	s.done(StageRender, cores)
}

// linesKept is how many lines a second rule in full may not displace where room is
// scarce: it becomes a line itself, at a third of the cost.
const linesKept = 3

// reserve is the room that these lines take.
func (s *search) reserve(chosen []int) (tokens int) {
	lines := 0
	for i, at := range chosen {
		if s.answer.Rules[i].Tier == TierTitles && lines < linesKept {
			lines++
			tokens += s.ix.titleLine(s.pool[at].doc).tokens
		}
	}
	if lines > 0 {
		tokens += frame().titles.tokens
	}
	return tokens
}

// cores adds the parts of the rules of the upper tier that fit, shortened to the title line
// if need be.
func (s *search) cores(chosen []int, room int) int {
	reserve, title := 0, 2 // its title is two pieces, with the score
	if s.answer.Mode == ModeSummary {
		title = 1
		if s.q.Limit == 0 {
			reserve = s.reserve(chosen)
		}
	}
	for i, at := range chosen {
		c := &s.pool[at]
		if s.answer.Rules[i].Tier != TierInject || s.had(c) {
			continue
		}
		p := s.part(c, i)
		if len(s.parts) > 0 && cost(p.must) > room-reserve && c.pinned == 0 && reserve > 0 {
			s.answer.Rules[i].Tier = TierTitles
			continue
		}
		if cost(p.must) > room {
			p.must, p.optional, p.short = p.must[:title], nil, true
		}
		if cost(p.must) <= room {
			room -= cost(p.must)
			s.parts = append(s.parts, p)
		}
	}
	return room
}

// already names the rules that won and that the reader has.
func (s *search) already(chosen []int) piece {
	var ids []string
	for i, at := range chosen {
		if s.answer.Rules[i].Tier == TierInject && s.had(&s.pool[at]) {
			s.answer.Rules[i].Rendered = RenderedAlready
			ids = append(ids, excerpt.Line(s.answer.Rules[i].ID))
		}
	}
	line := labelled("ALREADY GIVEN: ", strings.Join(ids, ", "))
	if tokens := countTokens(line); tokens <= s.answer.Budget-frame().start.tokens-frame().end.tokens {
		return piece{text: line, tokens: tokens}
	}
	return piece{}
}

// part lists a rule's pieces: its title – in a summary the line that it is by itself –,
// RULE, what it displaced; then what its mode adds.
func (s *search) part(c *candidate, hit int) part {
	doc := &s.ix.docs[c.doc]
	start := len(s.pieces)
	if s.answer.Mode == ModeSummary {
		s.pieces = append(s.pieces, s.ix.titleLine(c.doc))
	} else {
		s.pieces = append(s.pieces, doc.piece(segTitle), piece{score: &c.score, tokens: frame().score.tokens}, doc.piece(segWhen))
	}
	s.pieces = append(s.pieces, doc.piece(segRule))
	if doc.Rule.Abstraction != nil {
		s.pieces = append(s.pieces, doc.piece(segCorrect)) // COVERS
	}
	if len(c.leftOut) > 0 {
		s.pieces = append(s.pieces, measured("CONFLICTS WITH, left out: "+excerpt.Line(strings.Join(c.leftOut, ", "))+"\n"))
	}
	must := len(s.pieces)
	if s.answer.Mode == ModeSummary {
		s.pieces = append(s.pieces, doc.piece(segWhen))
	} else {
		s.pieces = append(s.pieces, doc.piece(segViolation), doc.piece(segCorrect))
	}
	if s.answer.Mode == ModeFull {
		s.pieces = append(s.pieces, doc.piece(segWhy), s.ix.relatedLine(c.doc))
	}
	return part{hit: hit, must: s.pieces[start:must], optional: s.pieces[must:]}
}

// piece is a segment at the cost counted when the rule was analysed.
func (d *Document) piece(s segment) piece {
	return piece{rule: d.Rule, segment: s, tokens: int(d.wording().tokens[s])}
}

// titles adds the lines of the middle tier that fit.
func (s *search) titles(chosen []int, room int) int {
	first := len(s.parts)
	for i, at := range chosen {
		if s.answer.Rules[i].Tier != TierTitles {
			continue
		}
		line := s.ix.titleLine(s.pool[at].doc)
		need := line.tokens
		if len(s.parts) == first {
			need += frame().titles.tokens
		}
		if need <= room {
			room -= need
			start := len(s.pieces)
			s.pieces = append(s.pieces, line)
			s.parts = append(s.parts, part{hit: i, must: s.pieces[start : start+1]})
		}
	}
	return room
}

// upgrade spends what is left on details, field by field, the best rule first.
func upgrade(parts []part, room int) {
	for i := range parts {
		p := &parts[i]
		for p.used < len(p.optional) && p.optional[p.used].tokens <= room {
			room -= p.optional[p.used].tokens
			p.used++
		}
		for _, rest := range p.optional[p.used:] {
			p.short = p.short || rest.tokens > 0
		}
	}
}

func cost(pieces []piece) int {
	sum := 0
	for _, p := range pieces {
		sum += p.tokens
	}
	return sum
}

// assemble writes the block and marks on each hit how much of it is there.
func (s *search) assemble(already piece, parts, titles []part) {
	if len(parts)+len(titles) == 0 && already.tokens == 0 {
		return
	}
	f := frame()
	tokens := f.start.tokens + f.end.tokens
	b := f.start.append(s.block[:0])
	write := func(pieces []piece) {
		for i := range pieces {
			b = pieces[i].append(b)
			tokens += pieces[i].tokens
		}
	}
	said := [...]piece{already}
	write(said[:])
	for _, p := range parts {
		write(p.must)
		write(p.optional[:p.used])
		s.answer.Rules[p.hit].Rendered = RenderedWhole
		if p.short {
			s.answer.Rules[p.hit].Rendered = RenderedShort
		}
	}
	if len(titles) > 0 {
		titlesLine := [...]piece{f.titles}
		write(titlesLine[:])
	}
	for _, p := range titles {
		write(p.must)
		write(p.optional[:p.used])
		s.answer.Rules[p.hit].Rendered = RenderedTitle
	}
	b = f.end.append(b)
	s.block = b
	s.answer.Block, s.answer.Tokens = string(b), tokens
}

func join(pieces []piece) string {
	var b []byte
	for i := range pieces {
		b = pieces[i].append(b)
	}
	return string(b)
}
