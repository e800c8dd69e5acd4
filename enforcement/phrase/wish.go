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
	OtherTask              // something else than the work under way, or otherwise than agreed, by its own word
)

// maxWish bounds how much of a prompt is read, in bytes: what it asks for stands
// at its beginning.
const maxWish = 2000

const (
	// interjected are words before a change of mind.
	interjected = `(?:(?:no|hm+|wait|sorry|oh|ok|okay|well|but|and|so|then|please)\b[\s,;:–—-]*)*`
	// shall says how something is to be.
	shall   = `let'?s|let us|(?:i|we)(?:'d| would)? (?:now )?(?:want|like|rather|prefer|meant|need)|(?:it|this|that|they|the (?:\w+ ){1,3}?) ?(?:should|must|has to|have to|needs? to)|make (?:it|that|this)`
	inPlace = `(?:\binstead\b|\brather than\b|, not\b|\bafter all\b)`
	verb    = `keep|take|charge|cap|set|round|sort|return|export|apply|use`
)

var (
	sentenceEnd = lazyregexp.New(`[.!\n]+(?:\s|$)`)
	// leadIn are words before the wish itself.
	leadIn  = lazyregexp.New(`^(?:(?:ok|okay|great|thanks|thank you|thx|perfect|nice|good|cool|awesome|excellent|done|right|alright|now|next|then|so|and|also|finally|please|hi|hey|hello|well|sure|let'?s|let us|go ahead and|(?:can|could|would|will) you|i(?: would|'d)? (?:want|need|like) you to|i(?: would|'d)? (?:want|need|like) to|we (?:need|want|have|should)(?: to)?|you should)\b[\s,;:–—-]*)+`)
	another = lazyregexp.New(`^(?:(?:(?:(?:here is|here's|i have|we have|(?:(?:move on|switch|turn|go on) )?(?:on |over )?to|start|do)\s+)?(?:a|the)?|forget (?:about )?(?:that|this|it)[\s,;:]+)\s*)?\b(?:new|next|another|other|different|unrelated|separate)\s+(?:task|feature|topic|job|ticket|story|issue|request|requirement|project|thing)\b`)
	other   = lazyregexp.New(`^(?:(?:move on|switch|turn|go on|on|over) to |do |start )?something (?:completely |entirely |totally |quite )?(?:else|different|new)\b`)
	dropped = lazyregexp.New(`^(?:forget(?: about)?|drop|scrap|abandon) (?:the|this|that) (?:old |current |approved )?plan\b`)
	change  = lazyregexp.New(`^(?:add|implement|create|build|write|make|introduce|develop|refactor|rewrite|migrate|port|replace|support|extend|integrate|remove|delete|drop|rename|convert|upgrade|optimi[sz]e|redesign|design|set up|wire|change|switch|move|extract|split|expose|allow|enable|disable|show|display|hide|send|cache|store|persist|sort|limit|validate|generate|provide|speed up|encrypt|track|notify|paginate|filter|schedule|sync|work on)\s+((\S+).*)`)
	// wants is a wish by a noun, and offers one by who is to be served.
	wants  = lazyregexp.New(`^(?:(?:ok|okay|great|thanks|thank you|now|next|then|so|and|also|finally)\b[\s,;:–—-]*)*(?:(?:i|we)(?: also| still| now| really)?(?: (?:want|need)|(?: would|'d) (?:want|need|like))|(?:can|could) (?:i|we) (?:also )?(?:have|get)|(?:it|this) (?:would|'d) be (?:nice|good|great|cool|lovely|useful) to (?:also )?have|there should (?:also )?be) ((\S+).*)`)
	serves = lazyregexp.New(`^(?:let (?:users?|people|customers?|clients?|admins?|everyone|visitors?)|do the same (?:for|with|in)|turn .* into|make it possible|(?:port|migrate) (?:it|this|that) to) \S|^(?:the |an? |all |our )?\w+s? (?:should|must) (?:also|be able to)\b|^from now on\b`)
	// turned is how it shall be after a change of mind, otherwise how it shall be in place
	// of something else: both change what was agreed. Without a word of turning only a
	// number, which is seldom a matter of the code alone, tells it from a correction.
	turned    = lazyregexp.New(`^` + interjected + `(?:(?:on second thoughts?|(?:i|we)(?:'ve| have)? changed (?:my|our) minds?|change of plans?|scrap (?:that|this)|forget (?:about )?the \w+)\b[\s,;:–—-]*(?:` + shall + `|` + verb + `)\b.*|actually\b[\s,;:–—-]*(?:let'?s\b.*|let us\b.*|(?:` + shall + `|` + verb + `)\b.*(?:\d|\b(?:instead|rather)\b|, not\b|\b(?:as well|too)\W*$).*))$`)
	otherwise = lazyregexp.New(`^` + interjected + `(?:(?:` + shall + `)\b.*(?:\d.*` + inPlace + `|` + inPlace + `.*\d).*|instead of [^,]+, .*)$`)
	// inCode are parts of code and steps of the work, whose change is a correction.
	inCode = lazyregexp.New("[`(){}_]|\\w\\.\\w|" + `\b(?:functions?|methods?|variables?|helpers?|imports?|class(?:es)?|structs?|interfaces?|types?|packages?|modules?|switch (?:statement|case)|loops?|chain|maps?|slices?|arrays?|dicts?|lists?|tuples?|sets?|pointers?|strings?|ints?|floats?|decimals?|regex(?:es)?|constants?|lines?|tabs|spaces|indentation|files?|tests?|mocks?|fixtures?|assert(?:ion)?s?|comments?|docstrings?|commits?|branch|diff|linter|the plan|step|capabilit(?:y|ies)|errors?|exceptions?|panics?|throws?|nil|null|none|undefined|stdout|stderr|build|compiles?|pass|green|red|coverage|suite|benchmarks?|readme|docs|src|lib|utils|flags?|exported|internal|public|private|const|static|async|camelcase|snake_case|faster|slower|shorter|longer|simpler|cleaner|generic|readable|careful|review|later|wrong|reuse|existing|should have been)\b|\binstead of (?:me|you|\w+ing)\b|\b(?:let'?s|us|like|want|need|prefer|rather|to) (?:not )?(?:to )?(?:go|keep (?:going|on)|move on|take a|do|leave|skip|continue|see|look|show|run|commit|push|start|finish|try|talk|wait|stop|proceed|explain|discuss|be)\b|\bkeep (?:going|the old|the name)\b|\b(?:keep|use|take) (?:it|that|this|them)$`)
	known  = lazyregexp.New(`^(?:it|that|this|they|these|those|you|i|we|(?:the|this|that|your) (?:function|method|class|test|tests|variable|name|code))\b`)
	// underWay are words of a correction, and of the plan itself.
	underWay = lazyregexp.New(`\bback[.!]*$|\bto (?:git|the (?:commit|index|repo|repository|branch))\b|\b(?:instead|fix|fixe[sd]|fixing|bugs?|wrong|broken|does(?:n't| not) work|still|again|undo|revert|forgot|forgotten|missed|missing|fail(?:s|ed|ing|ure)?|typos?|plan|planned|capabilit(?:y|ies)|as discussed)\b`)
	// small are objects of work beside the code, which asks for no new plan.
	small = lazyregexp.New(`\b(?:docstrings?|comments?|tests?|test cases?|coverage|changelog|readme|docs|documentation|type hints|formatting|lint(?:er)?|commits?|pr|pull request|branch|tag|release|summary|notes?|list|step|blank lines?|log(?:ging)? lines?)\b`)
	// parts are of the code that was just written: what alters them corrects it.
	parts   = lazyregexp.New(`\b(?:imports?|prints?|variables?|helpers?|functions?|methods?|param(?:eter)?s?|arguments?|constants?|lines?|loops?|if|conditions?|exceptions?|semicolons?|whitespace|spaces|quotes|brackets|names?|diff|output|results?|code|files?|errors?|traceback|value|todos?)\b`)
	altered = lazyregexp.New(`^(?:remove|delete|drop|move|extract|change|replace|split|convert|hide|sort|limit|show|store|cache|send) `)
	renamed = lazyregexp.New(`^rename `)
	wide    = lazyregexp.New(`\b(?:everywhere|throughout|across|whole|entire|all)\b`)
	// objectEnd ends the object of a wish.
	objectEnd = lazyregexp.New(`\s(?:with|to|for|in|on|of|that|which|so|and|from|into|using)\s|[,;:]`)
	// pointing are objects that stand for the work under way.
	pointing = map[string]bool{"it": true, "them": true, "that": true, "this": true, "those": true, "these": true, "sure": true, "sense": true, "me": true, "us": true, "you": true, "to": true, "more": true, "your": true}
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
	for _, changed := range []*lazyregexp.Regexp{turned, otherwise} {
		if changed.MatchString(s) && !strings.HasSuffix(s, "?") && !inCode.MatchString(s) {
			return OtherTask
		}
	}
	if m := wants.Regexp().FindStringSubmatch(s); m != nil && !underWay.MatchString(s) && !pointing[m[2]] && !small.MatchString(wishedFor(m[1])) && !parts.MatchString(wishedFor(m[1])) {
		return Change
	}
	lead := leadIn.Regexp().FindString(s)
	rest := s[len(lead):]
	switch {
	case dropped.MatchString(rest):
		return OtherTask
	case underWay.MatchString(rest):
		return Nothing
	case another.MatchString(rest), another.MatchString(s), other.MatchString(rest):
		return OtherTask
	case strings.HasSuffix(s, "?") && !strings.Contains(lead, "you"):
		return Nothing
	case serves.MatchString(rest) && !known.MatchString(rest):
		return Change
	}
	if topic, wish, found := strings.Cut(rest, ": "); found && len(strings.Fields(topic)) < 4 {
		rest = wish
	}
	m := change.Regexp().FindStringSubmatch(rest)
	if m == nil || pointing[strings.Trim(m[2], ",;:")] || small.MatchString(wishedFor(m[1])) || corrects(rest, wishedFor(m[1])) {
		return Nothing
	}
	return Change
}

// wishedFor is what a wish is about, from its beginning.
func wishedFor(text string) string { return objectEnd.Regexp().Split(text, 2)[0] }

// corrects tells whether a wish alters a part of the code that was just written.
func corrects(wish, about string) bool {
	return !wide.MatchString(wish) && (renamed.MatchString(wish) || altered.MatchString(wish) && parts.MatchString(about))
}

// Wishes tells whether a prompt asks for something to be built or changed.
func Wishes(prompt string) bool { return Wish(prompt) != Nothing }
