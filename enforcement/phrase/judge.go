package phrase

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/language"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// part is a clause of a prompt, or a sentence that is a project's own phrase.
type part struct {
	sentence sentence
	at       int // the sentence's index
	clause   clause
	lead     string // the clause before it in its sentence
	next     clause // the clause behind it in its sentence
	approves bool
	gate     Gate            // the gate that it names, if any
	goAhead  map[string]bool // a project's own phrases
	letter   bool            // an approval that ends a letter
	reason   bool            // says why
}

// judge looks for approving clauses and then accounts for everything else: what
// is neither an approval nor known to change nothing beside one leaves a doubt.
func judge(t text, waiting Gate, own phraseSets) Judgement {
	parts := t.parts(own)
	first := -1
	for i, p := range parts {
		switch {
		case !p.approves:
			continue
		case p.gate != "" && p.gate != waiting:
			return Judgement{Reason: NamesOtherGate}
		case p.sentence.cited:
			return Judgement{Reason: Quoted}
		case first < 0:
			first = i
		}
	}
	if first < 0 && len(parts) > 1 && parts[0].weight() == 2 && !parts[0].sentence.cited && t.sentences[len(t.sentences)-1].end != '?' {
		at := max(1, slices.IndexFunc(parts, func(p part) bool { return p.weight() == 0 }))
		return Judgement{Reason: Beside, Left: parts[at].clause.String()} // a go-ahead, and something that is none
	}
	if first < 0 {
		return Judgement{Reason: NoWording}
	}
	if t.doubtful {
		return Judgement{Reason: Beside}
	}
	parts[first].letter = t.letter(parts[first])
	for i, p := range parts {
		if reason := t.accounts(p, i < first, parts[first], waiting); reason != "" {
			return Judgement{Reason: reason, Left: p.clause.String()}
		}
	}
	return Judgement{Approves: true, Reason: Explicit}
}

var (
	predicate = lazyregexp.New(`^(?:is|are) ` + adverb + `approved` + after + `$`)
	ofGate    = lazyregexp.New(`^(?:` + phrase + `|it|this|they|these) `)
)

// parts takes a prompt apart.
func (t text) parts(own phraseSets) []part {
	var parts []part
	for i, s := range t.sentences {
		if own.approve[strings.Join(s.words(), " ")] {
			parts = append(parts, part{sentence: s, at: i, clause: s.clauses[0], approves: true})
			continue
		}
		for j, c := range s.clauses {
			p := part{sentence: s, at: i, clause: c, goAhead: own.goAhead}
			if j+1 < len(s.clauses) {
				p.next = s.clauses[j+1]
			}
			p.reason = c.conj == "because" || reasons.MatchString(c.String())
			if j > 0 {
				p.lead = s.clauses[j-1].String()
				p.reason = p.reason || c.conj == "and" && parts[len(parts)-1].reason
			}
			if c.conj == "and" && predicate.MatchString(c.String()) && ofGate.MatchString(p.lead) { // "the plan is clear and is approved"
				p.gate, p.approves = namedGate(ofGate.Regexp().FindString(p.lead)), true
			} else {
				p.gate, p.approves = c.form()
			}
			parts = append(parts, p)
		}
	}
	return parts
}

// weight is what the part weighs as a go-ahead; what approves by its form is none.
func (p part) weight() int {
	if p.approves {
		return 0
	}
	_, weight := p.clause.weighs(p.goAhead)
	return weight
}

// accounts gives no reason if the part cannot change what the approval says.
func (t text) accounts(p part, before bool, approval part, waiting Gate) string {
	c, s := p.clause, p.sentence
	other := p.gate
	if !p.approves {
		other, _ = c.weighs(p.goAhead)
	}
	if other == "" && objectOnly.MatchString(titled.ReplaceAllString(c.String(), "")) {
		other = namedGate(c.String())
	}
	switch {
	case s.end == '?' && (before || !asksToStart(s.clauses[len(s.clauses)-1])):
		return Question
	case s.dangles, c.conj == "or", c.conj == "then" && (before || p.approves) && goAheadWeight(strings.Fields(p.lead)) == 0, p.approves && s.end == ':' && p.at == len(t.sentences)-1:
		return Beside
	case p.approves && p.joined():
		return ""
	case p.approves:
	case before && other != "" && other != waiting && approval.gate == "":
		return NamesOtherGate
	case before && (approval.gate == "" && foreign.MatchString(c.String()) || handedIn.MatchString(c.String())):
	case p.reason && reasoned(c), waiting == Tests && red.MatchString(strings.TrimPrefix(c.String(), "since ")), before && t.overcome(p):
		return ""
	case other == waiting && (before && p.heads(approval) || !before && p.ends(approval)):
		return ""
	case before && (p.next.colon || s.end == ':'):
		if topic(c) || leadsTo(p, approval) {
			return ""
		}
	case p.weight() > 0 && joins[c.conj], before && leadsTo(p, approval), s.end == '?' && asksToStart(c):
		return ""
	case !before && bounds(p, approval):
	case !before && (t.signs(p) || harmless(c) || (p.lead == "next" || p.lead == "next step") && (objectOnly.MatchString(c.String()) || c.words[len(c.words)-1] == "implementation" && len(c.words) < 3)):
		return ""
	}
	return Beside
}

// joins are the conjunctions with which what changes nothing may begin.
var joins = map[string]bool{"": true, "and": true, "so": true, "then": true}

// joined tells whether the approval may begin as it does: "read it again and
// approve" asks for one, "show me the diff and I approve" makes a condition.
func (p part) joined() bool {
	c := p.clause
	return (joins[c.conj] || c.conj == "but") && (c.conj != "and" || (c.words[0] != "approve" || ownDeed.MatchString(p.lead)) && !ordering.MatchString(p.lead))
}

var (
	ordering = lazyregexp.New(`^(?:(?:please|just|first|now|then|also) )*(?:let me know|(?:ping|tell|call|notify|message|ask|keep|send|give|show|write) me|come back|report|ask|shout|run|commit|update|format|lint|work|do|keep|use|add|clean|remember|mind|follow|make|be|\S+ (?:commits?|diffs?|steps))(?: |$)`)
	handedIn = lazyregexp.New(`^(?:(?:please|just|first|now|then|also) )*(?:send|give|show|write) me `)
)

// heads tells whether the approval is the verdict on what the part names: "plan - approved".
func (p part) heads(approval part) bool {
	return p.at == approval.at && p.lead == "" && approval.clause.conj == "" && p.next.String() == approval.clause.String() && objectOnly.MatchString(p.clause.String())
}

// ends tells whether the part names what the verdict right before it is on: "approved, the plan".
func (p part) ends(approval part) bool {
	c := p.clause
	return p.at == approval.at && p.lead == approval.clause.String() && c.conj == "" && !c.colon && p.next.String() == "" && objectOnly.MatchString(c.String())
}

// asksToStart tells of a question behind an approval that is a request:
// "approved, can you start today?"
func asksToStart(c clause) bool {
	return asking.MatchString(c.String()) && goAheadWeight(c.words[2:]) > 0
}

var asking = lazyregexp.New(`^(?:would|will|could|can) you \S`)

// signs tells whether the part is the name behind the farewell that ends a letter.
func (t text) signs(p part) bool {
	c, before, last := p.clause, p.lead, t.sentences[len(t.sentences)-1]
	if before == "" && p.at > 0 {
		before = t.sentences[p.at-1].clauses[0].String()
	}
	return c.name && c.String() == last.clauses[len(last.clauses)-1].String() && len(c.words) <= 2 && (farewell.MatchString(before) || p.lead == "" && thankful.MatchString(before)) && !slices.ContainsFunc(c.words, noName)
}

// noName tells of words that are nobody's name: "cheers, Friday", "best, Kidding",
// "regards, Redis".
func noName(w string) bool {
	return language.Technology(w) || contrary[w] || plain[w] || craft[w] || reading[w] || strings.HasSuffix(w, "day") || strings.HasSuffix(w, "ing")
}

var (
	farewell = lazyregexp.New(`^(?:with )?(?:(?:kind|best|many|warm) )?(?:regards|greetings|best|cheers|yours|sincerely)$`)
	thankful = lazyregexp.New(`^(?:many )?(?:thanks|thank you)$|^all the best$`)
)
