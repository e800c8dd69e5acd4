package phrase

import (
	"slices"
	"strings"
)

// position is where an approving clause stands.
type position struct {
	sentence, clause int
	said             matched
}

// judge looks for approving clauses and then for anything that undoes them.
func judge(t text, waiting Gate, own phraseSets) Judgement {
	found, doubt := find(t, own)
	if len(found) == 0 {
		if doubt == "" {
			doubt = NoWording
		}
		return Judgement{Reason: doubt}
	}
	for _, p := range found {
		if p.said.gate != "" && p.said.gate != waiting {
			return Judgement{Reason: NamesOtherGate}
		}
	}
	if reason := t.undone(found, waiting); reason != "" {
		return Judgement{Reason: reason}
	}
	return Judgement{Approves: true, Reason: Explicit}
}

// find lists the approving clauses that stand for themselves. If there is
// none, the reason tells what came closest.
func find(t text, own phraseSets) (found []position, reason string) {
	note := func(r string) {
		if reason == "" {
			reason = r
		}
	}
	for i, s := range t.sentences {
		if own.approve[strings.Join(s.words(), " ")] && s.end != '?' && !s.cited {
			if r := t.unread(i, own); r != "" {
				note(r)
				continue
			}
			found = append(found, position{sentence: i, clause: len(s.clauses) - 1})
			continue
		}
		blockers := s.blockers()
		for j, c := range s.clauses {
			said, ok := c.approves()
			if !ok {
				if mentions(c.words) {
					note(mentionReason(s, c))
				}
				continue
			}
			if r := t.context(i, j, said, blockers[j]); r != "" {
				note(r)
				continue
			}
			found = append(found, position{i, j, said})
		}
	}
	return found, reason
}

// unread tells why what stands around a project's own phrase keeps it from counting.
// It is in a language that is not read, so that behind the phrase nothing but
// go-aheads is known to take nothing back.
func (t text) unread(at int, own phraseSets) string {
	for _, s := range t.sentences[:at] {
		if s.end == '?' {
			return Question
		}
	}
	for _, s := range t.sentences[at+1:] {
		if own.approve[strings.Join(s.words(), " ")] {
			continue
		}
		for _, c := range s.clauses {
			if _, ok := c.approves(); ok {
				continue
			}
			if _, weight := goAheadClause(c.words, own.goAhead); weight == 0 {
				return Condition
			}
		}
	}
	return ""
}

// mentionWords belong to the family of approving without making a form of it.
var mentionWords = set("approve approved approves approving approval lgtm unapprove unapproved disapprove disapproved")

func mentions(words []string) bool { return anyOf(words, mentionWords) }

func mentionReason(s sentence, c clause) string {
	switch {
	case anyOf(c.words, negations):
		return Negated
	case s.end == '?':
		return Question
	case anyOf(c.words, conditionWords) || anyOf(c.words, modals):
		return Condition
	}
	text := " " + c.String() + " "
	if hedge.MatchString(text) || always.MatchString(text) || exception.MatchString(text) {
		return Condition
	}
	return NoWording
}

func anyOf(words []string, m map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return m[w] })
}

// context tells why an approving clause does not speak for the user here: it
// is asked, quoted, listed, or hangs on the clauses before it.
func (t text) context(i, j int, said matched, earlier string) string {
	s := t.sentences[i]
	if s.end == '?' && !asksAfter(s.clauses[j+1:], said.onward) {
		return Question
	}
	if s.cited {
		return Quoted
	}
	if s.dangles || s.valued(j) || s.end == ':' && i == len(t.sentences)-1 {
		return Condition
	}
	if j == 0 && i > 0 {
		prev := t.sentences[i-1]
		tail := prev.clauses[len(prev.clauses)-1]
		if prev.end == ':' && !topic(tail) || prev.end == 0 && prev.line == s.line-1 && speech[tail.words[len(tail.words)-1]] {
			return Quoted
		}
	}
	if t.listed(i, said) {
		return Quoted
	}
	return s.dependent(j, earlier)
}

// valued tells whether the clause is the key of a value that is no assent:
// "approved: false", "approved: pending".
func (s sentence) valued(j int) bool {
	if j+1 >= len(s.clauses) || !s.clauses[j+1].colon {
		return false
	}
	value := s.clauses[j+1]
	return !proceeds(value) && !value.urges() && !objectOnly.MatchString(value.String())
}

// asksAfter tells whether the question of a sentence belongs to a clause of
// its own behind the approval: "approved, can you start today?"
func asksAfter(later []clause, onward string) bool {
	for _, c := range later[:min(len(later), nearby)] {
		if len(c.words) > 2 && interrogatives[c.words[0]] {
			return true
		}
	}
	return false
}

// topic tells whether what stands before a colon can be the user's own lead
// to a verdict: "plan: approved", "we checked all of it: approved".
func topic(c clause) bool {
	s := c.String()
	if topics[titled.ReplaceAllString(s, "")] || objectOnly.MatchString(s) {
		return true
	}
	if _, ok := c.approves(); ok {
		return true
	}
	own := anyOf(c.words, speaker) && !anyOf(c.words, reports) || ownSide.MatchString(" "+s+" ") || proceeds(c)
	return len(c.words) > 1 && own && !anyOf(c.words, speech) && !anyOf(c.words, negations)
}

// listed tells whether a bare word stands in a pasted list of values rather
// than as a sentence.
func (t text) listed(i int, said matched) bool {
	s := t.sentences[i]
	if len(s.clauses) != 1 || said.gate != "" || len(s.clauses[0].words) != 1 {
		return false
	}
	if i > 0 && t.sentences[i-1].value(s.line-1) {
		return true
	}
	if i+1 < len(t.sentences) && t.sentences[i+1].value(s.line+1) {
		if signature := i+2 == len(t.sentences) && t.sentences[i+1].clauses[0].name; !signature {
			return true
		}
	}
	if !s.bullet {
		return false
	}
	for k, o := range t.sentences {
		if k != i && o.bullet {
			return true
		}
	}
	return false
}

// value tells whether the sentence is a bare word on the line that is no assent.
func (s sentence) value(line int) bool {
	words := s.words()
	return s.line == line && len(words) == 1 && s.end == 0 && !proceeds(clause{words: words}) && !mentions(words)
}

// dependent tells why the clause hangs on an earlier one of its sentence;
// earlier is what blockers says for it.
func (s sentence) dependent(j int, earlier string) string {
	c := s.clauses[j]
	switch c.conj {
	case "then", "or", "nor", "because", "yet":
		return Condition
	}
	if earlier != "" {
		return earlier
	}
	if j > 0 && c.conj == "and" && len(c.words) > 0 && c.words[0] == "approve" && !proceeds(s.clauses[j-1]) && !finished.MatchString(s.clauses[j-1].String()) {
		return Condition
	}
	return ""
}

// blockers tells for each clause why an earlier one of the sentence keeps it
// from standing for itself.
func (s sentence) blockers() []string {
	out := make([]string, len(s.clauses))
	for k := 1; k < len(out); k++ {
		before := s.clauses[k-1]
		if out[k] = out[k-1]; out[k] == "" {
			out[k] = before.blocks()
		}
		if out[k] == "" && s.clauses[k].colon && !topic(before) {
			out[k] = Quoted // what somebody or something says, to its end
		}
	}
	return out
}

// blocks tells why nothing behind this clause in its sentence is the user's
// unconditional word.
func (c clause) blocks() string {
	first, last := firstWord(c), c.words[len(c.words)-1]
	switch {
	case conditionStart(c) && !remark.MatchString(c.String()), hypothetical[first]:
		return Condition
	case changeVerbs[first] && !proceeds(c) || c.conj == "" && first == "first":
		return Condition
	case speech[last] && !topic(c), hearsay.MatchString(c.String()+" ") && !anyOf(c.words, firstPerson):
		return Quoted
	case asks[first] && len(c.words) > 1:
		return Question
	case negations[last] && len(c.words) > 1:
		return Negated
	case strings.Contains(" "+c.String()+" ", " only ") && anyOf(c.words, conditionWords):
		return Condition
	}
	return ""
}

// urges tells whether the clause asks to begin or to do something.
func (c clause) urges() bool {
	first := firstWord(c)
	return startVerbs[first] || changeVerbs[first]
}

func proceeds(c clause) bool {
	_, weight := goAheadClause(c.words, nil)
	return weight > 0
}

// firstWord skips politeness.
func firstWord(c clause) string {
	for _, w := range c.words {
		if !softeners[w] {
			return w
		}
	}
	return ""
}

// undone tells why something in the prompt takes the approval back, makes it
// conditional or points it elsewhere.
func (t text) undone(found []position, waiting Gate) string {
	if t.doubtful {
		return Objection
	}
	last := found[len(found)-1]
	first := found[0]
	named := false
	at := map[[2]int]bool{}
	for _, p := range found {
		named = named || p.said.gate == waiting
		at[[2]int{p.sentence, p.clause}] = true
	}
	for i, s := range t.sentences {
		for j, c := range s.clauses {
			if at[[2]int{i, j}] {
				continue
			}
			here := place{
				t: t, s: s, c: c, waiting: waiting, named: named, next: j+1 < len(s.clauses), leads: j == 0,
				whenever: conditionStart(s.clauses[0]),
				behind:   j > 0 && at[[2]int{i, j - 1}] || i > first.sentence && len(s.clauses) == 1,
				after:    i > first.sentence || i == first.sentence && j > first.clause,
				same:     i == first.sentence || i == last.sentence,
			}
			if r := here.undoes(); r != "" {
				return r
			}
		}
	}
	for _, p := range found {
		if r := t.around(p, waiting); r != "" {
			return r
		}
	}
	return ""
}

// nearby is how many clauses back a pronoun may point.
const nearby = 4

// around judges the sentence of an approval as a whole.
func (t text) around(p position, waiting Gate) string {
	s := t.sentences[p.sentence]
	if next := t.behind(p); next != nil && restricts(s.clauses[p.clause], *next) {
		return Condition
	}
	if p.said.onward != "" {
		if r := onwardUndoes(strings.Fields(p.said.onward)); r != "" {
			return r
		}
	}
	other := Plan
	if waiting == Plan {
		other = Tests
	}
	for k := max(0, p.clause-nearby); k < min(len(s.clauses), p.clause+2); k++ {
		c := s.clauses[k]
		if k == p.clause || namedGate(c.String()) != other {
			continue
		}
		adjacent := k == p.clause-1 || k == p.clause+1
		gate, _ := goAheadClause(c.words, nil)
		meant := adjacent && gate == other || anyOf(s.clauses[p.clause].words, pronouns)
		if adjacent && objectOnly.MatchString(c.String()) || p.said.gate == "" && k < p.clause && meant {
			return NamesOtherGate
		}
	}
	if p.said.gate == "" && p.clause == 0 && p.sentence > 0 {
		prev := t.sentences[p.sentence-1]
		if tail := prev.clauses[len(prev.clauses)-1]; prev.end == ':' && namedGate(tail.String()) == other {
			return NamesOtherGate
		}
	}
	return ""
}

// restricting begin what belongs to the approval before it, with a comma or without.
var restricting = set("modulo sans excl w/o besides notwithstanding save with without under minus on by as like unlike for in at from of to per until till despite against given granted less bar barring still")

// behind is the clause that stands behind the approval in its sentence, or is a short
// sentence of its own: "approved. Without step 4."
func (t text) behind(p position) *clause {
	if later := t.sentences[p.sentence].clauses[p.clause+1:]; len(later) > 0 {
		return &later[0]
	}
	if p.sentence+1 == len(t.sentences) {
		return nil
	}
	next := t.sentences[p.sentence+1]
	if len(next.clauses) > 1 || len(next.clauses[0].words) > 4 || next.bullet || next.end == '?' || next.end == ':' {
		return nil
	}
	return &next.clauses[0]
}

// restricts tells whether what stands behind an approval bounds it: it begins with a
// preposition, and is not of the forms of an approval: "approved, without step 4", but
// neither "approved, without hesitation" nor "approved, in the tests use a fake clock".
func restricts(approval, tail clause) bool {
	if !restricting[tail.words[0]] || urging.MatchString(tail.String()) {
		return false
	}
	_, ok := (clause{words: slices.Concat(approval.words, tail.words)}).approves()
	return !ok
}
