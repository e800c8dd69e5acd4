package phrase

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Asked is what a prompt asks for, as far as its wording tells.
type Asked int

// What a prompt may ask for.
const (
	Nothing   Asked = iota // a question, a remark, a correction, or what cannot be told
	Change                 // something to be built or changed
	OtherTask              // something else than the work under way, by its own word
)

// maxWish bounds how much of a prompt is read, in bytes: what it asks for stands
// at its beginning.
const maxWish = 2000

var (
	sentenceEnd = lazyregexp.New(`[.!\n]+(?:\s|$)`)
	// leadIn are words before the wish itself.
	leadIn  = lazyregexp.New(`^(?:(?:ok|okay|great|thanks|thank you|thx|perfect|nice|good|cool|awesome|excellent|done|right|alright|now|next|then|so|and|also|finally|please|hi|hey|hello|well|sure|let'?s|let us|go ahead and|(?:can|could|would|will) you|i(?: would|'d)? (?:want|need|like) you to|i(?: would|'d)? (?:want|need|like) to|we (?:need|want|have|should)(?: to)?|you should)\b[\s,;:–—-]*)+`)
	another = lazyregexp.New(`^(?:(?:(?:(?:here is|here's|i have|we have|on to|start|do)\s+)?(?:a|the)?|forget (?:about )?(?:that|this|it)[\s,;:]+)\s*)?\b(?:new|next|another|different|unrelated|separate)\s+(?:task|feature|topic|job|ticket|story|issue|request|project|thing)\b`)
	dropped = lazyregexp.New(`^(?:forget(?: about)?|drop|scrap|abandon) (?:the|this|that) (?:old |current |approved )?plan\b`)
	change  = lazyregexp.New(`^(?:add|implement|create|build|write|make|introduce|develop|refactor|rewrite|migrate|port|replace|support|extend|integrate|remove|delete|drop|rename|convert|upgrade|optimi[sz]e|redesign|design|set up|wire|change|switch|move|extract|split|expose)\s+((\S+).*)`)
	wants   = lazyregexp.New(`^(?:i(?: would|'d)? (?:want|need|like)|we (?:want|need)) (?:a|an|another|the|support|two|some)\b`)
	// underWay are words of a correction, and of the plan itself.
	underWay = lazyregexp.New(`\b(?:instead|fix|fixe[sd]|fixing|bugs?|wrong|broken|does(?:n't| not) work|still|again|undo|revert|forgot|forgotten|missed|missing|fail(?:s|ed|ing|ure)?|typos?|plan|planned|capabilit(?:y|ies)|as discussed)\b`)
	// small are objects of work beside the code, which asks for no new plan.
	small = lazyregexp.New(`\b(?:docstrings?|comments?|tests?|test cases?|coverage|changelog|readme|docs|documentation|type hints|formatting|lint(?:er)?|commits?|pr|pull request|branch|tag|release|summary|notes?|list|step|blank lines?|log(?:ging)? lines?)\b`)
	// objectEnd ends the object of a wish.
	objectEnd = lazyregexp.New(`\s(?:with|to|for|in|on|of|that|which|so|and|from|into|using)\s|[,;:]`)
	// pointing are objects that stand for the work under way.
	pointing = map[string]bool{"it": true, "them": true, "that": true, "this": true, "those": true, "these": true, "sure": true, "sense": true}
)

// Wish tells what a prompt asks for. In doubt it asks for nothing: whoever is
// wrongly taken to want something new has to plan for it.
func Wish(prompt string) Asked {
	prompt = strings.TrimSpace(withoutElements(prompt))
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "[") {
		return Nothing
	}
	if len(prompt) > maxWish {
		prompt = prompt[:maxWish]
	}
	asked := Nothing
	for _, s := range sentenceEnd.Regexp().Split(strings.ToLower(strings.ReplaceAll(prompt, "’", "'")), -1) {
		switch one := sentenceAsks(strings.TrimSpace(s)); one {
		case Nothing:
			if underWay.MatchString(s) {
				return Nothing
			}
		default:
			asked = max(asked, one)
		}
	}
	return asked
}

func sentenceAsks(s string) Asked {
	if wants.MatchString(s) && !underWay.MatchString(s) {
		return Change
	}
	lead := leadIn.Regexp().FindString(s)
	rest := s[len(lead):]
	switch {
	case dropped.MatchString(rest):
		return OtherTask
	case underWay.MatchString(rest):
		return Nothing
	case another.MatchString(rest), another.MatchString(s):
		return OtherTask
	case strings.HasSuffix(s, "?") && !strings.Contains(lead, "you"):
		return Nothing
	}
	m := change.Regexp().FindStringSubmatch(rest)
	if m == nil || pointing[strings.Trim(m[2], ",;:")] || small.MatchString(objectEnd.Regexp().Split(m[1], 2)[0]) {
		return Nothing
	}
	return Change
}

// Wishes tells whether a prompt asks for something to be built or changed.
func Wishes(prompt string) bool { return Wish(prompt) != Nothing }
