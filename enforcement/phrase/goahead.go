package phrase

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// A go-ahead is made of strong phrases, of which one suffices, and of
// politeness, which never suffices.
var (
	strongGoAhead = lazyregexp.New(`^(?:` +
		`yes|yep|yeah|yea|yeh|ya|yup|y|k|kk|\+1|thumbs up|aye|ok|okay|sure|sure thing|alright|alrighty|all right|agreed|accepted|accept|confirmed|confirm|absolutely|definitely|certainly|of course|by all means|affirmative` +
		`|go|go ahead|go for it|go on|proceed|continue|carry on|move on|do it|ship it|make it so|do that|let us go|let us do (?:it|this)|let us (?:start|begin|proceed)|start|begin|get started|let us get started|start now|go now` +
		`|(?:you (?:can|may|should) )(?:go ahead|proceed|start|begin|continue|go on)(?: now)?|(?:you are )?(?:good|clear|free) to go|please (?:do|proceed|go ahead|continue|start|begin)` +
		`|i agree|i accept|i confirm|fine by me|fine with me|ok with me|okay with me|works for me|that works(?: for me)?|sounds like a plan|i am happy with (?:it|this|that)` +
		`|` + looks + `|(?:it |this |that |everything )?(?:is )?all good|happy with it` +
		`)(?: (?:please|now|then|thanks|thank you|claude))*$`)

	politeness = lazyregexp.New(`^(?:thanks|thank you|thank you very much|thanks a lot|many thanks|cheers|please|great|perfect|good|nice|cool|fine|excellent|awesome|amazing|wonderful|lovely|brilliant|super|well done|good job|good work|great work|nice work|great job|hi|hello|hey|claude|team|good morning|good evening|now|hmm ok|um|uh|erm|comma|period|full stop|exclamation (?:mark|point))$`)

	// A gate named beside a go-ahead: "go ahead with the plan", "the tests look good".
	goAheadGate = lazyregexp.New(`^(?:(?:go ahead|proceed|continue|go on|carry on|start|begin|go) with (?:the|this|that|your) (` + planNoun + `)|(?:go ahead|proceed|continue|carry on) with (?:it|this|that)` +
		`|(?:(?:the|this|your) )?` + adjective + `(?:(` + planNoun + `)|(` + testsNoun + `)) (?:looks?|sounds?|seems?|reads?) (?:very |really |all )?(?:good|great|fine|ok|okay|perfect|right|well|excellent)(?: to me| to us)?` +
		`|(?:(?:the|this|your) )?` + adjective + `(?:(` + planNoun + `)|(` + testsNoun + `)) (?:is|are) good to go)$`)
)

// maxGoAhead bounds what can be a bare go-ahead; a longer one says something.
const maxGoAhead = 16

// goAhead tells whether the prompt consists of go-aheads only, and which gate
// it names, if any.
func goAhead(t text, own map[string]bool) (Gate, bool) {
	if t.doubtful {
		return "", false
	}
	if len(t.sentences) == 0 {
		return "", t.thumbs
	}
	strong, words, named := t.thumbs, 0, Gate("")
	for _, s := range t.sentences {
		if s.end == '?' || s.end == '~' || s.end == ':' || s.bullet || s.cited || s.dangles {
			return "", false
		}
		if joined := strings.Join(s.words(), " "); irony.MatchString(" " + joined + " ") {
			return "", false
		} else if own[joined] {
			strong = true
			continue
		}
		for _, c := range s.clauses {
			words += len(c.words)
			if c.conj != "" && c.conj != "and" && c.conj != "so" && c.conj != "then" || c.colon || words > maxGoAhead {
				return "", false
			}
			gate, weight := goAheadClause(c.words, own)
			switch {
			case weight == 0:
				return "", false
			case weight == 2:
				strong = true
			}
			if gate != "" {
				named = gate
			}
		}
	}
	return named, strong
}

// goAheadClause weighs a clause: 0 is no go-ahead, 1 politeness, 2 a go-ahead.
// A clause without commas may hold several: "yes please go ahead".
func goAheadClause(words []string, own map[string]bool) (Gate, int) {
	if len(words) == 0 {
		return "", 1
	}
	for n := len(words); n > 0; n-- {
		head := clause{words: words[:n]}.String()
		gate, weight := goAheadPhrase(head, own)
		if weight == 0 {
			continue
		}
		restGate, rest := goAheadClause(words[n:], own)
		if rest == 0 {
			continue
		}
		if gate == "" {
			gate = restGate
		}
		return gate, max(weight, rest)
	}
	return "", 0
}

func goAheadPhrase(s string, own map[string]bool) (Gate, int) {
	if own[s] || strongGoAhead.MatchString(s) {
		return "", 2
	}
	if m := goAheadGate.FindStringSubmatch(s); m != nil {
		switch {
		case m[1] != "" || m[2] != "" || m[4] != "":
			return Plan, 2
		case m[3] != "" || m[5] != "":
			return Tests, 2
		}
		return "", 2
	}
	if politeness.MatchString(s) {
		return "", 1
	}
	return "", 0
}
