package retrieval

import (
	"strings"
	"sync"
)

// DefaultBudget is the budget, in tokens, of a query that names none.
const DefaultBudget = 4000

// The modes: how much of each rule is rendered, by budget.
const (
	ModeSummary  = "summary"  // below 2,000 tokens: WHEN and RULE, up to ten rules
	ModeStandard = "standard" // to 8,000: and VIOLATION and CORRECT, up to five
	ModeFull     = "full"     // above: and WHY and RELATED, up to ten
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

func modeLimit(mode string) int {
	if mode == ModeStandard {
		return 5
	}
	return 10
}

// piece is rendered text and its cost.
type piece struct {
	text   string
	tokens int
}

func measured(text string) piece { return piece{text, countTokens(text)} }

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
// gets its core first, in rank order; what is left of the budget then goes to
// the details of the best, so that one long example cannot push out a rule.
func (s *search) render(chosen []int) {
	for _, at := range chosen {
		s.answer.Rules = append(s.answer.Rules, s.hit(at))
	}
	f := frame()
	room := s.answer.Budget - f.start.tokens - f.end.tokens
	parts, room := s.cores(chosen, room)
	titles, room := s.titles(chosen, room)
	upgrade(parts, room)
	s.assemble(parts, titles)
	s.done(StageRender, len(parts))
}

// cores takes the rules of the upper tier that fit, shortened to the title line
// if need be.
func (s *search) cores(chosen []int, room int) ([]part, int) {
	var parts []part
	for i, at := range chosen {
		c := &s.pool[at]
		if s.answer.Rules[i].Tier != TierInject {
			continue
		}
		p := s.part(c, i)
		if cost(p.must) > room {
			p.must, p.optional, p.short = p.must[:2], nil, true
		}
		if cost(p.must) <= room {
			room -= cost(p.must)
			parts = append(parts, p)
		}
	}
	return parts, room
}

// part lists a rule's pieces: title and score, WHEN and RULE, what it displaced;
// then what its mode adds.
func (s *search) part(c *candidate, hit int) part {
	doc := &s.ix.docs[c.doc]
	p := part{hit: hit, must: []piece{
		doc.piece(segTitle), {scoreLine(c.score), frame().score.tokens}, doc.piece(segWhen), doc.piece(segRule),
	}}
	if len(c.leftOut) > 0 {
		p.must = append(p.must, measured("CONFLICTS WITH, left out: "+oneLine(strings.Join(c.leftOut, ", "))+"\n"))
	}
	if s.answer.Mode != ModeSummary {
		p.optional = append(p.optional, doc.piece(segViolation), doc.piece(segCorrect))
	}
	if s.answer.Mode == ModeFull {
		p.optional = append(p.optional, doc.piece(segWhy), s.ix.relatedLine(c.doc))
	}
	return p
}

// piece renders a segment at the cost counted when the rule was analysed.
func (d *Document) piece(s segment) piece { return piece{s.render(&d.Rule), d.tokens[s]} }

// titles takes the title lines of the middle tier that fit.
func (s *search) titles(chosen []int, room int) ([]part, int) {
	var titles []part
	for i, at := range chosen {
		if s.answer.Rules[i].Tier != TierTitles {
			continue
		}
		line := s.ix.docs[s.pool[at].doc].piece(segTitle)
		need := line.tokens
		if len(titles) == 0 {
			need += frame().titles.tokens
		}
		if need <= room {
			room -= need
			titles = append(titles, part{hit: i, must: []piece{line}})
		}
	}
	return titles, room
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
func (s *search) assemble(parts, titles []part) {
	if len(parts)+len(titles) == 0 {
		return
	}
	f := frame()
	pieces := []piece{f.start}
	for _, p := range parts {
		pieces = append(pieces, p.must...)
		pieces = append(pieces, p.optional[:p.used]...)
		s.answer.Rules[p.hit].Rendered = RenderedWhole
		if p.short {
			s.answer.Rules[p.hit].Rendered = RenderedShort
		}
	}
	if len(titles) > 0 {
		pieces = append(pieces, f.titles)
	}
	for _, p := range titles {
		pieces = append(pieces, p.must...)
		s.answer.Rules[p.hit].Rendered = RenderedTitle
	}
	pieces = append(pieces, f.end)
	s.answer.Block, s.answer.Tokens = join(pieces), cost(pieces)
}

func join(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}
