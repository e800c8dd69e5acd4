package phrase

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// place is a clause beside an approval.
type place struct {
	t        text
	s        sentence
	c        clause
	waiting  Gate
	named    bool // the approval names the waiting gate
	next     bool // further clauses follow in the sentence
	leads    bool // it begins its sentence
	behind   bool // right behind the approval, or a sentence of its own behind it
	after    bool // it stands behind the approval
	same     bool // in the sentence of an approval
	whenever bool // its sentence begins with a condition
}

// undoes tells why the clause undoes the approval; empty if it does not.
func (p place) undoes() string {
	text := " " + p.c.String() + " "
	if p.c.conj != "then" && alternative.MatchString(p.c.String()) { // a menu: "approve / decline"
		return Quoted
	}
	if mentions(p.c.words) {
		if r := p.mention(); r != "" {
			return r
		}
	}
	if (p.same || p.after) && (anyOf(p.c.words, foreignDoubt) || otherScript.MatchString(text)) {
		return Condition
	}
	if pendingReview.MatchString(text) && !laterWork.MatchString(text) {
		return Condition
	}
	if (p.same || len(p.c.words) <= 4) && irony.MatchString(text) {
		return Retracted
	}
	if p.after && (p.same || len(p.c.words) <= 4) && attributed.MatchString(text) && !anyOf(p.c.words, firstPerson) {
		return Quoted
	}
	if (p.same || p.after && len(p.s.clauses) == 1) && aside.MatchString(p.c.String()) {
		return Condition
	}
	if narration.MatchString(p.c.String()) {
		return Quoted
	}
	if p.foreign(text) {
		return ForeignObject
	}
	if !p.after {
		return p.before(text)
	}
	switch {
	case p.retracts(text):
		return Retracted
	case p.conditions(text):
		return Condition
	case p.objects(text):
		return Objection
	case p.unknown():
		return Condition
	}
	return ""
}

// unknown tells whether a word or two behind the approval, right behind a comma or
// a sentence of their own, are nothing that is known to go with one. What takes an
// approval back in two words can be anything ("misclick", "stand by"), what
// confirms it is one of few.
func (p place) unknown() bool {
	c := p.c
	if p.behind && p.same && len(c.words) > 1 && c.words[1] == "of" {
		return c.words[0] != "all" && c.words[0] != "both" // "most of it"
	}
	if p.behind && p.same && partial.MatchString(c.String()+" ") {
		return true
	}
	if !p.behind || c.name || len(c.words) > 2 || p.s.bullet || c.colon || asking(p) || objectOnly.MatchString(c.String()) {
		return false
	}
	return !restricting[c.words[0]] && !proceeds(c) && !c.urges() && !anyOf(c.words, familiar)
}

// mention judges a clause that speaks of approving without doing it.
func (p place) mention() string {
	words := p.c.words
	switch {
	case anyOf(words, negations) || anyOf(words, set("unapprove unapproved disapprove disapproved")):
		return Negated
	case anyOf(words, revoking):
		return Retracted
	case p.s.end == '?':
		if p.after && (p.same || p.c.conj == "or" || len(p.s.words()) <= 3) {
			return Question
		}
		return ""
	case anyOf(words, modals) || anyOf(words, conditionWords):
		return Condition
	}
	return ""
}

// before judges a clause that precedes every approval.
func (p place) before(text string) string {
	if changeVerbs[firstWord(p.c)] && !proceeds(p.c) && p.s.end != '?' && !p.c.colon && (p.c.conj == "" || p.c.conj == "then") && !p.s.bullet {
		return Condition
	}
	if p.same && hedge.MatchString(text) && !strings.Contains(text, " for now ") {
		return Condition
	}
	return ""
}

func (p place) foreign(text string) bool {
	if foreignObject.MatchString(text) {
		return !opens.MatchString(text) && (!p.named || p.same && p.c.colon)
	}
	return p.same && !p.named && mergeIt.MatchString(text)
}

func (p place) retracts(text string) bool {
	words := p.c.words
	for len(words) > 1 && stumbles[words[0]] {
		words = words[1:]
	}
	switch first := words[0]; {
	case retraction.MatchString(strings.Join(words, " ")):
		return !p.whenever
	case len(words) == 1 && denials[first], len(words) < 4 && words[len(words)-1] == "not":
		return true
	case first == "not" && !p.same && !p.leads:
		return false // "use tabs, not spaces"
	case first == "no" || first == "nope" || first == "nah" || first == "not":
		return len(words) == 1 || first != "no" || afterNo[words[1]]
	case p.s.end == '?' && len(p.s.words()) <= 3 && (p.c.conj == "or" || anyOf(p.s.words(), asks) || tags[strings.Join(p.s.words(), " ")] || isIt.MatchString(strings.Join(p.s.words(), " "))):
		return true
	}
	return false
}

func (p place) conditions(text string) bool {
	words := p.c.words
	first := firstWord(p.c)
	switch {
	case contrasts[p.c.conj] || contrasts[first]:
		return !harmless.MatchString(text) && !proceeds(p.c)
	case (p.c.conj == "or" || p.c.conj == "because") && p.same, p.s.dangles:
		return true
	case harmless.MatchString(text):
		return false
	case onlyIf.MatchString(text), exception.MatchString(text), beforeStart.MatchString(text), always.MatchString(text):
		return true
	case strings.Contains(text, " first ") && !startVerbs[first] && !asking(p):
		return true
	case p.same && hedge.MatchString(text), provisional.MatchString(text):
		return true
	case conditionStart(p.c):
		return p.same || !p.next
	case asking(p):
		return p.waiting == Plan && planPart.MatchString(text) && anyOf(words, changeVerbs)
	case startVerbs[first] || strings.HasPrefix(text, " you can ") || strings.HasPrefix(text, " you may "):
		return anyOf(words[1:], conditionWords) && !untilDone.MatchString(text)
	case p.changesGate(text), p.same && p.c.words[0] == "just" && changeVerbs[first] && !laterWork.MatchString(text):
		return true
	}
	return false
}

// changesGate tells whether the clause asks for a change of the very thing
// that is approved.
func (p place) changesGate(text string) bool {
	if !must.MatchString(text) && !changeVerbs[firstWord(p.c)] || laterWork.MatchString(text) {
		return false
	}
	if p.waiting == Plan {
		return planParts.MatchString(text)
	}
	return testParts.MatchString(text)
}

func (p place) objects(text string) bool {
	if p.s.end == '?' || harmless.MatchString(text) {
		return false
	}
	if p.waiting == Plan && planPart.MatchString(text) && !startVerbs[firstWord(p.c)] && (!anyOf(p.c.words, praise) || anyOf(p.c.words, negations)) && !anyOf(p.c.words, settled) {
		return true // what is said of a part of the plan, unless it praises it
	}
	if !objection.MatchString(text) {
		return false
	}
	if unsure.MatchString(text) {
		return true
	}
	for _, w := range p.s.words() {
		if negations[w] || settled[w] {
			return false
		}
	}
	return true
}

func asking(p place) bool { return p.s.end == '?' }

func onwardUndoes(words []string) string {
	text := " " + strings.Join(words, " ") + " "
	for i, w := range words {
		if conditionWords[w] && i > 0 && !untilDone.MatchString(text) && !harmless.MatchString(text) {
			return Condition
		}
		if changeVerbs[w] && i <= 2 {
			return Condition
		}
		if negations[w] {
			return Negated
		}
	}
	if beforeStart.MatchString(text) || hedge.MatchString(text) || foreignObject.MatchString(text) {
		return Condition
	}
	return ""
}

func conditionStart(c clause) bool {
	text := c.String() + " "
	return conditionLead.MatchString(text)
}

var (
	negations      = set("not no never none nothing neither nobody without hardly nowhere nor")
	conditionWords = set("if unless until till once when whenever provided providing assuming after before as-long-as except only pending")
	modals         = set("would will could should might may must shall can")
	interrogatives = set("can could will would what which how when where why who whose is are do does did should shall may have has")
	revoking       = set("revoke revoked retract retracted withdraw withdrawn withdrew undo undone cancel cancelled canceled rescind rescinded annul annulled void")
	praise         = set("like love good great nice fine well thanks thank appreciate helpful clear excellent especially")
	asks           = set("what whats which how why who whom whose where does did")
	speaker        = set("i we")
	familiar       = set("thanks thank thx ty good great nice cool well fine perfect job work luck fun enjoy next step steps forward onwards ahead going on done over you all everything same here finally now today please claude team cheers mate again before earlier night morning bye ciao talk hurry rush link <code> no btw fyi regards best greetings")
	firstPerson    = set("i me my mine we us our")
	pronouns       = set("it this that they them these those")
	reports        = set("told tells quote quoting heard hear got get received sent")
	speech         = set("say says said saying write writes wrote written type types typed typing read reads show shows shown print prints printed return returns returned mean means called named titled labelled labeled reply replies replied answer answers answered states stated output outputs log logs status value message word text")
	hypothetical   = set("suppose supposing imagine pretend assume assuming hypothetically whether")
	softeners      = set("please also just then now and so maybe kindly yes ok okay well oh no-rush thanks")
	stumbles       = set("oh um uh hm hmm ah argh sorry well please and but so now just still")
	contrasts      = set("but however though although yet nor except whereas still")
	startVerbs     = set("start begin go proceed continue implement write do build code tackle")
	changeVerbs    = set("fix change rename move add drop remove delete rework shorten split update correct replace rewrite address mention clarify explain include extend cover reword adjust amend revise reorder merge improve expand swap put adapt redo undo revert throw cut reduce convert tidy clean sort simplify rephrase specify note")
	afterNo        = set("wait the this that it i you we not dont do there they these sorry actually stop change fix hold undo")
	tags           = set("right ok okay correct yes no or yeah huh agreed what really why eh true or-not")
	settled        = set("fixed closed gone resolved solved later afterwards addressed corrected mended before earlier yesterday was were")
	topics         = set("verdict decision answer result conclusion summary so plan tests skeletons final tldr yes ok okay review outcome both approval")
	foreignDoubt   = set("aber nicht kein keine sobald falls wenn ausser außer jedoch sondern mais pas sauf seulement lorsque quand pero sino cuando solamente però quando solo-se niet maar tenzij если но не только когда noch erst vorher bevor solange avant jamais todavía todavia aún nunca salvo excepto não nao ainda apenas ancora tranne niet nog wanneer geen nooit inte ikke ikkje först først når innan hvis mutta ei vasta jos ale nie dopiero kiedy jeśli jesli jeszcze tylko až když pokud ještě není nem csak még dar încă dacă doar ama değil degil ancak fakat eğer henüz tapi tidak belum kalau jika nhưng không chưa lakini morgen später spaeter mañana demain tard domani amanhã morgon imorgen senare straks ora")
	denials        = set("false null nil none undefined 0 denied declined rejected refused nein non nej nie nee niet não nao")
)

var (
	alternative   = lazyregexp.New(`^(?:(?:\d|[a-e]|or|to|please) )*(?:decline|reject|deny|refuse|cancel|abort|skip|postpone|discard|dismiss|edit|modify|revise|amend|(?:request|suggest|make|ask for) changes|ask (?:me )?(?:later|again)|keep planning|not now)(?: (?:it|this|that|them|all|(?:the )?(?:plan|tests)))?$`)
	partial       = lazyregexp.New(`^(?:(?:most|some|half|parts?|(?:the )?(?:rest|others?|remainder)) |\d+ (?:open|comments?|issues?|remarks?|notes?|changes?|nits?) |\S+ = )`)
	urging        = lazyregexp.New(`^(?:in|for|from|at|on|to) (?:(?:the|this|that|these|those|your|our|all) )?(?:now on|\S+) (?:use|keep|make|take|put|write|add|run|remember|prefer|avoid|do) (?:an?|the|this|that|these|those|it|them|your|our|all|every|each|to|not|no|only) `)
	ownSide       = lazyregexp.New(` (?:my|our) (?:own |personal |honest )?(?:side|opinion|view|part) |^ (?:as )?(?:from|for) (?:me|us) `)
	hearsay       = lazyregexp.New(`^per \S+ $|^(?:according to|quoting|citing|to quote|(?:in|from|on) (?:\S+ ){0,2}\S+'s (?:words|opinion|view|eyes|side|end|part|perspective|standpoint)) `)
	titled        = lazyregexp.New(`^(?:(?:my|our|the|here is|final) )+| is$`)
	objectOnly    = lazyregexp.New(`^(?:(?:for|about|regarding|on|as for|re|and|concerning) )?` + phrase + `(?: itself| above)?$`)
	conditionLead = lazyregexp.New(`^(?:only |but |that is |please |and |well )*(?:if|unless|until|till|once|when|whenever|provided|providing|assuming|after|as long as|as soon as|so long as|on condition|under the condition|on the condition|subject to|given that|in case|except|as far as|the moment|before|while|pending|only) `)
	remark        = lazyregexp.New(`^(?:once more|once again|only (?:good|minor|small) |after (?:(?:a|some|the|much|careful|close|all|one|two|my)\b|(?:careful(?:ly)? |re-?)?(?:reading|reviewing|checking|looking|going|thinking|discussing|talking|comparing|studying|considering|seeing|walking|reflection|consideration))|when (?:i|we) (?:first |last )?(?:read|looked|saw|checked|compared|tried))`)
	finished      = lazyregexp.New(`^(?:i|we) (?:have |had |just |really |fully )*(?:read|reviewed|checked|looked|went|gone|compared|like|love|agree|see|understand|understood|studied|walked|verified|trust|discussed)\b`)
	retraction    = lazyregexp.New(`^(?:wait\b|hold (?:on|it|up|off|your|fire)\b|hang on|(?:scratch|strike|scrap) (?:that|this|my|the)\b|actually\b|never ?mind(?:$| (?:that|it|my|the approval))|on second thoughts?|not so fast|stop(?: (?:there|here|now|it|that|please|everything))?$|undo\b|cancel\b|revert that|revert my|revoke\b|retract\b|withdraw\b|(?:i|we) (?:take|took) (?:it|that|this) back|take (?:it|that) back|(?:i|we) (?:\S+ ){0,4}(?:revoke|retract|withdraw|rescind)\b|i am (?:the )?(?:queen|king|pope|emperor|santa)\b|(?:just )?kidding|h+m+$|m+$|eh$|idk$|dunno$|i do not know$|jk\b|april fools|forget (?:it|that|what)|(?:delete|erase|remove) (?:my|the) (?:last|previous|above)|ignore (?:that|my|what)|disregard|my mistake|my bad|oops|i changed my mind|changed my mind|i was wrong|i spoke too (?:soon|early)|let us (?:wait|hold|pause|stop|not)\b|roll (?:it|that|this) back|i did not mean|that was (?:a mistake|for|meant|wrong)|wrong (?:window|chat|tab|session|terminal|button|key)|mis-?(?:click|type|typed)|stand ?by\b|stay put|hang tight|pause\b|do not (?:start|begin|proceed|do anything|write anything)\b)`)
	pendingReview = lazyregexp.New(` (?:still (?:have|need|want|must|has|needs) (?:to )?(?:check|look|read|review|verify|think|see|test|ask|talk|discuss|go|be)|let me (?:first )?(?:check|look|think|read|verify|ask|sleep|review|see)|(?:i|we) (?:want|need|have|would like|am going|must|will need)(?: to)? (?:first )?(?:check|look|think|verify|ask|review|double-check|sleep|discuss)|have not (?:yet )?(?:read|looked|checked|reviewed|seen|finished)|(?:has|have|needs?|must|should) (?:to )?(?:also )?(?:agree|approve|sign|confirm|decide|weigh in|look at)|waiting (?:for|on)|awaiting|another look|look again|check again|will (?:check|review|read|verify) (?:it|this|that|them|the rest)) `)
	laterWork     = lazyregexp.New(` (?:later|afterwards|eventually|some day|one day|next time|in the end|at the end|in a follow-up|in the implementation|while implementing|when implementing|during (?:the )?implementation|in the code|the code|the diff|the result|the implementation|as you go|when (?:you are|it is) (?:done|finished|ready)|when done|in the future|for the next) `)
	foreignObject = lazyregexp.New(` (?:pr|prs|pull request|pull requests|merge request|merge requests|pull-request|mr|#\d+) `)
	opens         = lazyregexp.New(` (?:open|create|make|prepare|raise|submit|draft|send|no) (?:\S+ ){0,3}(?:pr|prs|pull request|merge request|pull-request|mr) `)
	mergeIt       = lazyregexp.New(` (?:merge|squash|rebase|deploy|release|publish) `)
	isIt          = lazyregexp.New(`^(?:is|was|did|do|am) (?:it|that|this|i)$`)
	irony         = lazyregexp.New(` (?:sarcasm|sarcastic(?:ally)?|irony|ironic(?:ally)?|joking|kidding|jk|sike|psych|haha\w*|hehe\w*|lol|lmao|rofl|very funny|messing with you|(?:just|only) testing|as if|like (?:that|this|it) (?:would|will|could)|what could (?:possibly )?go wrong|yeah right|in your dreams|(?:when |once |if )?pigs (?:can |might |will |may )?fly|over my dead body|dream on|good luck (?:with that|explaining|selling)|totally not|said (?:nobody|no one)|(?:a|my) joke|i hate (?:it|this|that)|what an? (?:surprise|shock|joke|shame)|who needs|whatever (?:makes|keeps|gets)|you (?:clown|idiot|moron|fool)|oh (?:sure|great|yeah|right|please|wonderful)|sure jan|let us (?:break|burn|ruin|crash|nuke)|</?(?:s|sarcasm|irony|joke)>|/(?:s|j|hj|jk|sarcasm|irony|joke|joking)) `)
	attributed    = lazyregexp.New(` (?:says|said|claims|claimed|according to|dixit) `)
	aside         = lazyregexp.New(`^(?:(?:but |maybe |only |just )*(?:tomorrow|tonight|later|soon|eventually|some day|another (?:day|time)|some other time|after (?:lunch|dinner|the weekend|the meeting|work)|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|next (?:week|month|year|sprint|quarter|time|\S+day)|in (?:an?|one|two|three|some|few|\d+) (?:few )?(?:minutes?|hours?|days?|weeks?|months?|bit|while|moment|sec|second))|i (?:think|believe|hope|wish|reckon|assume|imagine)|i wish you \S+|(?:so )?i (?:was|am|have been) told|\d+(?:/\d+| (?:out )?of \d+)?|whatever|or (?:so|something|whatever)|supposedly|allegedly|apparently|theoretically|hopefully)$`)
	narration     = lazyregexp.New(`^(?:(?:i will|i am going to|i am|let me|we will) (?:now |next |first |then )?(?:writ(?:e|ing)|implement(?:ing)?|creat(?:e|ing)|proceed(?:ing)?|continu(?:e|ing) with|mov(?:e|ing) on|begin(?:ning)?|start(?:ing)? (?:with|by|to|on|writing|implementing|the implementation))\b|(?:moving|proceeding|continuing|switching|advancing) (?:on|to|with)\b|writ (?:has |now )?(?:opened|opens|recorded|records|took|accepted|moved|switched|unlocked|allows|says)\b)`)
	otherScript   = lazyregexp.New(`[^\P{L}\p{Latin}\p{Common}]`)
	onlyIf        = lazyregexp.New(` only (?:\S+ )?(?:if|after|when|once|as soon as|under|the|for|with|this|half|part|section|files?|in principle) `)
	exception     = lazyregexp.New(` (?:except|excepting|aside|apart from|aside from|other than|excluding|minus|save for|with the exception|all but|not including|barring|with one|with some|with a few|with these|with the following|with changes|the rest is not|the others are not|the other is not) `)
	beforeStart   = lazyregexp.New(` before (?:(?:you|we) (?:start|begin|continue|proceed|go|implement|do|move|write|code|touch|can)|starting|beginning|implementing|proceeding|continuing|coding|writing|doing|moving|going|anything|that|then|i do|the implementation) `)
	always        = lazyregexp.New(` (?:unless|provided|providing|assuming|as long as|so long as|on condition|on the condition|subject to|contingent|conditional|conditionally|pending) `)
	hedge         = lazyregexp.New(` (?:in principle|in theory|so far|for now|for the moment|for the time being|at first glance|at first sight|mostly|partly|partially|almost|nearly|half|tentatively|provisionally|preliminarily|preliminary|more or less|kind of|sort of|kinda|sorta|for the most part|maybe|perhaps|probably|possibly|presumably|i guess|i suppose|not sure|unsure|ish|(?:for the )?sake of (?:the )?argument) `)
	provisional   = lazyregexp.New(` (?:tentatively|provisional|provisionally|in principle|preliminary) `)
	harmless      = lazyregexp.New(` (?:no rush|no hurry|take your time|have fun|good luck|no need to hurry|when (?:you are|it is|everything is|all is) (?:done|finished|ready|through|complete)|when (?:done|finished|ready|you finish|you get there|you can|you have time)|once (?:you are|it is|everything is|all is) (?:done|finished|ready|through)|once (?:done|finished)|after that|if (?:you have|there are) (?:any )?(?:questions?|problems?|doubts?)|if (?:something|anything|one) (?:is|comes|seems|breaks|fails|goes|turns)|if (?:you are )?(?:in doubt|stuck|unsure)|if (?:you get stuck|needed|necessary|anything comes up|something comes up|possible|you need (?:anything|me|help|something)|you like|you want|in doubt)|as soon as possible|when in doubt|when(?:ever)? you (?:are ready|like|want|wish)|as you wish) `)
	untilDone     = lazyregexp.New(` (?:until (?:you are done|it is done|all|everything|the tests|done|finished|they|it)|when you are ready|whenever you are ready|when ready|if you like|after that|once ready|after lunch|when you can) `)
	must          = lazyregexp.New(` (?:must|need to|needs to|have to|should|ought to|forgot|missed) `)
	planParts     = lazyregexp.New(` (?:plan|section|sections|files|capability|capabilities|step|steps|analysis|files list|file list|list of files|rules applied|typo|wording|heading|paragraph|sentence|rollback) `)
	planPart      = lazyregexp.New(` (?:(?:steps?|sections?|capabilit(?:y|ies)|points?|items?|bullets?|parts?) (?:\d+|one|two|three|four|five|a|b)|(?:first|second|third|fourth|fifth|last) (?:step|section|capability|point|item|bullet|part)|capabilities|analysis) `)
	testParts     = lazyregexp.New(` (?:test|tests|skeleton|skeletons|case|cases|assertion|assertions|assert|typo|test\S+|time-out) `)
	objection     = lazyregexp.New(` (?:wrong|missing|incomplete|unclear|broken|incorrect|insufficient|lacks|lacking|mistake|mistakes|problematic|unacceptable|needs (?:to|a|an|another|more|work|fixing|some)|(?:must|should|has to|have to) (?:still )?be (?:changed|fixed|renamed|removed|moved|added|split|rewritten|reworded)|asserts nothing|concerned|concerns|worried|worries|worry|doubts?|disagree|reject|rejected|refuse|refused|bad|typo|not sure|not certain|unsure|not convinced|not happy|do not like|not good|not ready|not enough|not right|not ok|not okay|not done|not finished|rest is not|fails for the wrong) `)
	unsure        = lazyregexp.New(` (?:not sure|not certain|unsure|not convinced|not happy|do not like|not good|not ready|not enough|not right|not ok|not okay|not done|not finished|rest is not) `)
)
