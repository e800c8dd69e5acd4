package phrase

import (
	"maps"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/language"
	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
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
	interjected = `(?:(?:no|hm+|wait|hold on|hang on|alternatively|sorry|oh|ok|okay|well|but|and|so|then|please)\b[\s,;:–—-]*)*`
	// together is a wish for how to go on, without and with how something is to be.
	together = `(?:go with|(?:switch|migrate|move) (?:over )?to|let'?s|let us|(?:can|could) (?:we|(?:the (?:\w+ ){1,2}|it |they )be)|(?:i|we)(?:'d| would)? (?:(?:now|really|also|still) )?(?:want|like|rather|prefer|meant|need|should|must)|(?:my|our|the) \w+ (?:(?:now|also) )?wants?)\b`
	shall    = `(?:` + together + `|(?:it|this|that|they|the (?:\w+ ){1,3}?) ?(?:should|must|has to|have to|needs? to)\b|make (?:it|that|this)\b)`
)

var (
	sentenceEnd = lazyregexp.New(`[.!\n]+(?:\s|$)`)
	// leadIn are words before the wish itself.
	leadIn  = lazyregexp.New(`^(?:(?:ok|okay|great|thanks|thank you|thx|perfect|nice|good|cool|awesome|excellent|done|right|alright|now|next|then|so|and|also|finally|please|hi|hey|hello|well|sure|additionally|in addition|besides|one more thing|on top of (?:that|it)|while you(?:'re| are) (?:at it|there)|let'?s|let us|go ahead and|(?:can|could|would|will) you|i(?: would|'d)? (?:want|need|like) you to|i(?: would|'d)? (?:want|need|like) to|we (?:need|want|have|should)(?: to)?|you should)\b[\s,;:–—-]*)+`)
	another = lazyregexp.New(`^(?:(?:(?:(?:here is|here's|i have|we have|(?:(?:move on|switch|turn|go on) )?(?:on |over )?to|start|do)\s+)?(?:a|the)?|forget (?:about )?(?:that|this|it)[\s,;:]+)\s*)?\b(?:new|next|another|other|different|unrelated|separate|one more|additional|further)\s+(?:task|feature|topic|job|ticket|story|issue|request|requirement|project|thing)\b|^(?:(?:move on|switch|turn|go on|on|over) to |do |start )?something (?:completely |entirely |totally |quite )?(?:else|different|new)\b`)
	dropped = lazyregexp.New(`^(?:forget(?: about)?|drop|scrap|abandon) (?:the|this|that) (?:old |current |approved )?plan\b`)
	change  = lazyregexp.New(`^(?:add|implement|create|build|write|make|introduce|develop|refactor|rewrite|migrate|port|replace|support|include|extend|integrate|remove|delete|drop|rename|convert|upgrade|optimi[sz]e|redesign|design|set up|wire|change|switch|move|extract|split|expose|allow|enable|disable|show|display|hide|send|cache|store|persist|sort|limit|set|cap|restrict|lower|raise|bump|double|halve|increase|reduce|validate|generate|provide|speed up|encrypt|track|notify|paginate|filter|schedule|sync|work on)\s+((\S+).*)`)
	// wants is a wish by a noun, and offers one by who is to be served.
	wants  = lazyregexp.New(`^(?:(?:ok|okay|great|thanks|thank you|now|next|then|so|and|also|finally)\b[\s,;:–—-]*)*(?:(?:i|we)(?: also| still| now| really)?(?: (?:want|need)|(?: would|'d) (?:want|need|like))|(?:can|could) (?:i|we) (?:also )?(?:have|get)|(?:it|this) (?:would|'d) be (?:nice|good|great|cool|lovely|useful) to (?:also )?have|there should (?:also )?be|(?:and|plus) (?:an?|another|one more)) ((\S+).*)`)
	serves = lazyregexp.New(`^(?:let (?:users?|people|customers?|clients?|admins?|everyone|visitors?)|do the same (?:for|with|in)|turn .* into|make it possible|change (?:it|this) so that|(?:port|migrate|extend|apply) (?:it|this|that) to) \S|^(?:the |an? |all |our )?\w+s? (?:should|must) (?:also|be able to)\b|^from now on\b`)
	// inPlace, exchanged, left and refused name what something else is to take the place
	// of, or nothing.
	inPlace   = lazyregexp.New(`(?:\binstead of |\brather than |, not )((?:\S+ ){0,4}\S+)`)
	exchanged = lazyregexp.New(`^` + interjected + `(?:(?:let'?s|let us) )?(?:replace|swap|exchange|change|(?:switch|move|migrate)(?: .{1,40}?)? from) (.{1,60}?) (?:with|for|by|to) `)
	left      = lazyregexp.New(`^` + interjected + `(?:(?:let'?s |let us )?(?:forget|scratch|scrap|drop|skip|leave out|never mind|get rid of|(?:(?:i|we) )?(?:do not|don'?t|no longer) (?:use|do|build|want|need)|stop (?:using|doing|building)|(?:we|product) (?:dropped|decided against))(?: about)? |no )(.{1,40}?)(?:[,;:]|$)`)
	refused   = lazyregexp.New(`^` + interjected + `(?:do not|don'?t) \w+ (.{1,40}?), \w+ `)
	// turned says that somebody thought again, turning and prefers may say so: always
	// with some words, with others of what the plan speaks of.
	turned     = lazyregexp.New(`^` + interjected + `(?:on (?:second thoughts?|reflection)|(?:(?:i|we)(?:'ve| have)? )?changed (?:my|our) minds?|changes? of plans?|scrap (?:that|this)|(?:restrict|limit|confine|extend) (?:it|this|that) to|.{1,40} (?:from the|out of) scope|(?:new|different|other|another|better) (?:plan|idea|approach))\b`)
	kept       = lazyregexp.New(`\bnames?\b|\bkeep (?:it|this|that|the(?: old)? \w+)\W*$`)
	turning    = lazyregexp.New(`^` + interjected + `(?:actually\b[\s,;:–—-]*(?:` + shall + `|.*(?:\d|\b(?:instead|rather|as well|too)\W*$))|instead\b,? (?:let'?s|let us|we)\b|(?:let'?s|let us) not\b.*\bafter all\b)`)
	prefers    = lazyregexp.New(`^` + interjected + together)
	chooses    = lazyregexp.New(`\b(?:use|do|be|(?:can|could) we|have|require|support|send|go with|take|offer|allow|store|keep)\b`)
	always     = lazyregexp.New(`\b(?:go with|wants|also)\b`)
	prescribes = lazyregexp.New(shall)
	// more asks for something besides.
	more    = lazyregexp.New(`\b(?:also|too|as well|additionally|in addition|besides|on top(?: of (?:that|it))?|while you(?:'re| are) (?:at it|there)|(?:we|i) (?:\w+ )?(?:need|want|like)|let'?s|let us|so that|from now on|be able to|make it possible)\b|^(?:and|plus) (?:please )?(?:add|an?|another|one more)\b`)
	besides = lazyregexp.New(`^(?:(?:please|and|but|then|oh|ok|so)\b[\s,]*)*(?:also|actually|additionally|in addition|besides|on top of (?:that|it)|while you(?:'re| are) (?:at it|there))\b|\b(?:too|as well)\W*$`)
	builds  = lazyregexp.New(`\b(?:add|create|build|implement|write|make|do)\b`)
	// postponed is about when or where in the code, not what, and told about what is.
	postponed = lazyregexp.New(`\b(?:for now|later|first|until|yet|tomorrow|for a (?:moment|minute|second)|around (?:it|that|this))\b|\b(?:here|there)\W*$`)
	told      = lazyregexp.New(`^` + interjected + `(?:it|this|that|they|the|your?|there|i|why|what|how|is|are|does|did)\b`)
	// inCode are parts of code and steps of the work, whose change is a correction.
	inCode = lazyregexp.New("[`(){}_]|\\w\\.\\w|" + `\b(?:functions?|methods?|variables?|helpers?|imports?|class(?:es)?|structs?|interfaces?|types?|packages?|modules?|switch (?:statement|case)|loops?|chain|maps?|slices?|arrays?|dicts?|lists?|tuples?|sets?|pointers?|strings?|u?ints?\d*|floats?\d*|decimals?|regex(?:es)?|constants?|tabs|spaces|indentation|files?|tests?|mocks?|fixtures?|assert(?:ion)?s?|comments?|docstrings?|commits?|branch|diff|linter|the plan|step|capabilit(?:y|ies)|errors?|exceptions?|panics?|throws?|nil|null|none|undefined|stdout|stderr|build|compiles?|pass|checks?|handles?|callers?|close|catch|wrap|raises?|defer|await|push|mutex|dataclass|green|red|coverage|suite|benchmarks?|calls|option|proposal|suggestion|(?:first|second|third|last|your) idea|readme|docs|src|lib|utils|flags?|const|static|async|camelcase|snake_case|faster|slower|shorter|longer|simpler|cleaner|generic|readable|careful|review|later|wrong|reuse|existing|should have been)\b|\b(?:exported|internal|public|private)\W*$|[^d] lines?\b|\binstead of (?:me|you|\w+ing)\b|\b(?:let'?s|us|like|want|need|prefer|rather|to) (?:not )?(?:to )?(?:go (?:on|ahead|back|through|over|step|home)|keep (?:going|on)|move on|take a|do (?:it|that|this|so|the|more|one)|leave|skip|continue|see|look|show|run|commit|push|start|finish|try|talk|wait|stop|proceed|explain|discuss|be (?:careful|clear|sure|consistent))\b|\bkeep (?:going|the old|the name)\b|\b(?:keep|use|take) (?:it|that|this|them)$`)
	known  = lazyregexp.New(`^(?:it|that|this|they|these|those|you|i|we|(?:the|this|that|your) (?:function|method|class|test|tests|variable|name|code))\b`)
	// underWay are words of a correction, and of the plan itself.
	underWay = lazyregexp.New(`\bback[.!]*$|\bto (?:git|the (?:commit|index|repo|repository|branch))\b|\b(?:instead|fix|fixe[sd]|fixing|bugs?|wrong|broken|does(?:n't| not) work|still|again|undo|revert|forgot|forgotten|missed|missing|fail(?:s|ed|ing|ure)?|typos?|plan|planned|capabilit(?:y|ies)|as discussed)\b`)
	// small are objects of work beside the code, which asks for no new plan.
	small = lazyregexp.New(`\b(?:docstrings?|comments?|tests?|test cases?|coverage|changelog|readme|docs|documentation|type hints|formatting|lint(?:er)?|commits?|pr|pull request|branch|tag|release|summary|notes?|list|step|blank lines?|log(?:ging)? lines?)\b`)
	// parts are of the code that was just written: what alters them corrects it.
	parts   = lazyregexp.New(`\b(?:imports?|prints?|variables?|helpers?|functions?|methods?|param(?:eter)?s?|arguments?|constants?|lines?|loops?|if|conditions?|exceptions?|semicolons?|whitespace|spaces|quotes|brackets|names?|diff|output|results?|code|files?|errors?|traceback|value|todos?|structs?|fields?)\b|\w\.\w|[(){}_]`)
	altered = lazyregexp.New(`^(?:remove|delete|drop|move|make|change|replace|split|convert|hide|sort|limit|show|store|cache|send) `)
	renamed = lazyregexp.New(`^(?:rename|extract) `)
	wide    = lazyregexp.New(`\b(?:everywhere|throughout|across|whole|entire|all)\b`)
	// objectEnd ends the object of a wish.
	objectEnd = lazyregexp.New(`\s(?:with|to|for|in|on|of|that|which|so|and|from|into|using)\s|[,;:]`)
	// pointing are objects that stand for the work under way.
	pointing = map[string]bool{"it": true, "them": true, "that": true, "this": true, "those": true, "these": true, "sure": true, "sense": true, "me": true, "us": true, "you": true, "to": true, "more": true, "your": true}
)

// Wish tells what a prompt asks for beside a plan's text, "" where none was agreed on. In
// doubt it asks for nothing: whoever is wrongly taken to want something new has to plan for it.
func Wish(prompt, plan string) Asked {
	prompt = strings.TrimSpace(withoutElements(prompt))
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "[") {
		return Nothing
	}
	if len(prompt) > maxWish {
		prompt = prompt[:maxWish]
	}
	asked, agreed := Nothing, spokenOf(plan)
	for _, s := range sentenceEnd.Regexp().Split(strings.ToLower(strings.ReplaceAll(prompt, "’", "'")), -1) {
		s = strings.TrimSpace(s)
		one := sentenceAsks(s)
		if one != OtherTask && agreed.changedBy(s, one) {
			one = OtherTask
		}
		if one == Nothing && underWay.MatchString(s) {
			return Nothing
		}
		asked = max(asked, one)
	}
	return asked
}

// terms are what a text speaks of, by the roots of its words.
type terms map[string]bool

// idle are words that tell nothing of what a program does: those of grammar and of the work.
var idle = wordset.In(wordLists, "idle")

func spokenOf(text string) terms {
	of := terms{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '\''
	}) {
		if w = strings.TrimSuffix(strings.Trim(w, ".-'"), "'s"); w != "" && !idle[w] && !strings.Contains(w, "'") {
			of[root(w)] = true
		}
	}
	return of
}

// root cuts the commonest endings off.
func root(w string) string {
	for _, ending := range []string{"s", "ing", "ed", "e"} {
		if short := strings.TrimSuffix(w, ending); len(short) > 2 {
			w = short
		}
	}
	return w
}

// changedBy tells whether a sentence, by what it asks for, alters what was agreed: it puts
// something in its place, leaves it out, or turns to what was not spoken of.
func (t terms) changedBy(s string, asked Asked) bool {
	about := spokenOf(s)
	fresh := about.without(t)
	again := asked == Change && besides.MatchString(s) && !builds.MatchString(s)
	switch {
	case len(fresh) == 0 && !again && !left.MatchString(s) && !(turned.MatchString(s) && len(about) > 0), strings.HasSuffix(s, "?") && !prefers.MatchString(s) && asked == Nothing:
		return false
	case turned.MatchString(s) && !kept.MatchString(s), t.outOfPlace(s):
		return true
	case postponed.MatchString(s):
		return false
	case t.hold(exchanged, s), t.hold(left, s), t.hold(refused, s):
		return true
	case inCode.MatchString(s):
		return false
	}
	return turning.MatchString(s) || len(t) > 0 && wishesFor(s, asked, fresh, len(fresh) < len(about))
}

// outOfPlace tells whether a sentence asks for something instead of what was agreed.
func (t terms) outOfPlace(s string) bool {
	m := inPlace.FindStringSubmatch(s)
	return m != nil && (prescribes.MatchString(s) || !told.MatchString(s)) && !strings.ContainsAny(s, "`(){}_") && !strings.Contains(s, "./") &&
		(t.spoken(wishedFor(m[1])) || len(t) > 0 && !strings.HasPrefix(m[0], ",") && !inCode.MatchString(s))
}

// wishesFor tells whether a sentence asks for what was not spoken of, known where it
// speaks of what was, too.
func wishesFor(s string, asked Asked, fresh terms, known bool) bool {
	return prefers.MatchString(s) && (asked == Change || fresh.choice() || known && chooses.MatchString(s) || always.MatchString(s)) ||
		asked == Change && (more.MatchString(s) || known && fresh.choice()) ||
		besides.MatchString(s) && !told.MatchString(s) && !small.MatchString(s) && !parts.MatchString(s) && !underWay.MatchString(s)
}

// without are the terms that others are not among.
func (t terms) without(others terms) terms {
	rest := maps.Clone(t)
	maps.DeleteFunc(rest, func(w string, _ bool) bool { return others[w] })
	return rest
}

// hold tells whether what an expression finds in a sentence was agreed.
func (t terms) hold(found *lazyregexp.Regexp, s string) bool {
	m := found.FindStringSubmatch(s)
	return m != nil && !parts.MatchString(m[1]) && !small.MatchString(m[1]) && !inCode.MatchString(m[1]) && t.spoken(m[1])
}

// spoken tells whether something of a text is among the terms.
func (t terms) spoken(text string) bool {
	of := spokenOf(text)
	return len(of.without(t)) < len(of)
}

// choice tells of a number or a technology among some terms.
func (t terms) choice() bool {
	for w := range t {
		if unicode.IsDigit(rune(w[0])) || language.Technology(w) || language.Technology(w+"s") || language.Technology(w+"e") || language.Technology(w+"es") {
			return true
		}
	}
	return false
}

func sentenceAsks(s string) Asked {
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
	case another.MatchString(rest), another.MatchString(s):
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
func Wishes(prompt string) bool { return Wish(prompt, "") != Nothing }
