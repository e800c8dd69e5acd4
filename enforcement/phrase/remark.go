package phrase

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
	"github.com/writbus/writ/schemas/wordset"
)

//go:embed words.txt
var wordLists string

// What may stand beside an approval is a list of what is known to change nothing.
// What changes it can be said in any words ("the limit is 50", "those were her
// words", "enjoy the disaster"), what leaves it alone in few.

// plain are the words of thanks and farewells, of beginning the work, and of how
// work is done in any plan. Behind an approval a clause may be made of them. Words
// that open something (not, only, if, first, later, but) are not among them.
var plain = wordset.In(wordLists, "plain")

// craft are the things of any plan. On their own they are a part of it: "approved (docs)".
var craft = wordset.In(wordLists, "craft")

// thanked are words of what somebody is thanked or praised for. Elsewhere they tell of
// what is still open: "my comments follow", "adding a cache".
var thanked = wordset.In(wordLists, "thanked")

// asides are phrases that change nothing, with words that could elsewhere, by what
// they say.
var asides = lazyregexp.New(` (?:` + strings.Join([]string{
	// nothing is against it
	`as (?:they|it) should(?: be)?|where i would look(?: for (?:it|them))?|no joke needed|(?:with |there are |i have )?no (?:further |more |other )?(?:` + objection + `|changes?)(?: (?:needed|required|necessary|left|at all|here|from (?:me|us|my side)))*|(?:i am )?out of questions|(?:all )?(?:fail|red) (?:for the right reasons?|as (?:they should|expected|intended))|(?:i|you) (?:(?:do|will) not (?:need|have) to|need not) (?:wait|ask|explain|hurry|rush|worry|convince|apologi[sz]e|repeat|(?:see|read) (?:it|this|that) (?:again|twice|any ?more))(?: (?:(?:for |with )?(?:it|me|this|that)|again|any ?more|anything|twice))*|do not let me (?:stop|keep) you`,
	`(?:there is )?no need (?:for|of) (?:(?:any|further|another) )*(?:changes?|rounds?|reviews?)|no (?:more|further|other) (?:rounds?|reviews?) (?:needed|required|necessary)|i would (?:have )?(?:done|do|written|write|chosen) (?:it )?(?:just |exactly )?(?:the same(?: way| ones?)?|like (?:this|that)|this way)|(?:(?:i|it|this) )?(?:could|can|will) not (?:have )?(?:done|do|said|say|written|write|put|explained|be|been|get|got) (?:it )?(?:any )?(?:better|clearer|simpler|shorter)(?: (?:myself|than (?:this|that)))?|(?:i|we) can live with (?:it|that|this)|(?:this|that|it) is more than (?:i|we) (?:asked for|expected|hoped for)`,
	// there is time
	`no (?:rush|hurry|stress|need to (?:hurry|rush|wait|ask|stop|check in)(?: (?:for|with) me)?(?: again| (?:in )?between(?: steps)?)?)|do not stop until (?:it is|you are|everything is) (?:done|finished|green)|without asking(?: me)?(?: again)?|do not (?:wait for me|worry|hurry|rush|over-?(?:think|do|complicate|engineer)(?: (?:it|this|things))?)|take your time|when(?:ever)? (?:(?:you are|it is|everything is|all is) )?(?:done|finished|ready|through)|whenever you (?:like|want|can)|ready when you are`,
	// it is the agent's turn
	`(?:the floor is|over to) you(?:rs)?|crack on|get (?:to|on with) it|go wild|fire away|knock it out|work your magic|(?:code|implement|build) away|all yours|your turn|do your thing|you know what to do|ready to (?:go|start)|on to|moving on|time to|(?:show me|let me see) the (?:tests|skeletons)|let us (?:see (?:it|the (?:tests|code|result))|get (?:it|this|that) done|go|start|begin|implement|build|code|continue|proceed|keep it|make (?:it|them|the tests)(?: all)? (?:pass|green))|(?:(?:you (?:can|may)|please)(?: now)? )?(?:start|begin|go ahead|proceed|continue|go on|carry on|move on|get going)(?: with| to| on| at)? ` + unit,
	`you (?:can|may)(?: now)?(?: to)? (?:start|begin|go|proceed|continue|implement|write|code|build)|(?:start|begin) with the (?:parser|code|implementation)|write (?:the )?(?:failing )?(?:tests|skeletons) first|next (?:steps?|phase|up)|for (?:the )?implementation|(?:do|implement|build|go through|work through) (?:it all|all (?:of (?:it|them)|(?:the )?(?:steps|phases|parts))|the (?:whole|entire) (?:thing|plan))|(?:commit and )?(?:push|open (?:a|the) (?:pr|pull request))(?: it)? (?:at the end|afterwards|when(?:ever)? (?:(?:you are|it is) )?(?:done|finished|ready))`,
	// how any work is done
	`(?:do not forget|remember)(?: (?:that|to))?|(?:make|be) sure (?:to|(?:that )?(?:everything is covered by|(?:(?:all|the) )*` + checks + `))|(?:in )?(?:(?:small|tiny|short|one) )?(?:steps?|commits?|file|module) (?:by (?:step|file|module)|at a time|(?:per|(?:for|after) (?:each|every)) (?:steps?|phase|file|module|change|capability))|(?:be )?careful (?:with|about|around) the \S+|(?:mind|watch(?: out for)?|keep an eye on)(?: the)?|(?:the )?public api|(?:you|it|them|linter|formatter|tests|docs|benchmarks|readme|changelog) too`,
	`after(?:wards)? (?:run|commit|add|update|write)|(?:(?:run|commit|format|lint) (?:(?:it|them|` + theChecks + `) )?|update ` + theChecks + ` )(?:afterwards|before (?:you (?:finish|stop|commit|push|are done)|(?:each|every) commit|committing|pushing))|(?:please )?run (?:prettier|gofmt|eslint|ruff|black|mypy|clippy|rustfmt|tsc|biome|go vet)|(?:work|commit|do (?:it|this|that|the work)) (?:on|in) (?:an? |its own |your own )(?:(?:new|separate|feature|own) )?branch|use table(?:[ -]driven)? tests(?: for the \S+)?|(?:use|run) (?:the|our) (?:existing|usual) (?:logger|style|conventions|fixtures|helpers|tests)|after (?:each|every) \S+|(?:implement|follow|carry out|stick to) (?:the|this|your) plan|at the end|in the (?:tests|code|implementation)|(?:add|update) (?:(?:an?|the) )?(?:changelog|readme|docs|documentation|docstrings|type hints|release notes)(?: entry)?`,
	`(?:small|tiny|short|clear|atomic|minimal|min|smallest|separate|signed|conventional) (?:commits?(?: messages?)?|diffs?|steps)(?: possible)?|keep (?:(?:it|this|that|them|everything|all|the|your) )?(?:(?:code|tests|functions|methods|commits|diffs?|names|modules|docs|files|helpers|api) )?(?:(?:very|nice|and|small|short|simple|tidy|stable|readable|consistent|clean|minimal|boring|green) ?)+|(?:(?:have|enjoy) (?:a|the|your) |nice |good |great |lovely |happy )+(?:weekend|day|evening|afternoon|night|rest of the (?:day|week))|(?:leave|keep) (?:it|this|that|everything|them) (?:as (?:is|it is|they are)|like (?:this|that))|same as (?:last time|before|always)`,
	// when to come back
	`(?:(?:ping|tell|call|notify|message|come back to) me|report(?: back)?(?: to me)?|let me know)(?:` + reported + `)?|(?:just )?keep me (?:posted|updated|informed|in the loop)(?: (?:on|about) (?:(?:the|your) )?progress)?|(?:send|give|show|write) me (?:an? |the )?(?:short |brief )?(?:summary|report|diff|result)|(?:ask(?: me)?|shout)` + reported,
	`(?:if|in case|when) (?:anything|something|you (?:have any|have)? questions|you (?:are|get) stuck|in doubt|you need (?:anything|help|something|me))(?: (?:is|comes|seems|goes) (?:unclear|up|wrong|off))?(?: ask(?: me)?)?`,
	// the user goes, was away, is late
	`(?:i am )?(?:going|heading|driving|off|on my way) home` + spell + `|(?:coffee|tea|lunch|bed) ?time|(?:i am )?back from (?:the |a |my )?\S+|brb|bbl|(?:i am )?going to (?:bed|sleep|lunch|dinner)|(?:(?:i am )?in|got) (?:a |the )?(?:call|meetings?)` + spell + `|i (?:am|will be|will not be) (?:offline|away|out|back|afk|busy|around|in a meeting|in meetings|at lunch)` + spell + `|back` + spell + `|(?:i am )?(?:grabbing|getting|having|taking|heading to|off (?:for|to)) (?:(?:an?|some|my) )?(?:coffee|tea|lunch|dinner|breakfast|break|bed|meeting)` + spell,
	`(?:i )?(?:will|am going to) (?:check back|be back|look in|(?:review|look at|check) the (?:code|diff|result)(?: after(?:wards)?)?)` + spell + `|i (?:have to|need to|must) (?:leave|go|run)` + spell + `|(?:see|talk to) you(?: (?:later|tomorrow|soon|then|in a (?:bit|while|minute)))?`,
	`sorry (?:that )?(?:it|this) took(?: (?:me|so long|until (?:today|now)|a while))*|(?:i )?(?:only )?(?:got|came) to (?:it|this|(?:the|your) (?:plan|tests)) (?:just )?(?:now|today)|sorry(?: (?:for|about) (?:(?:the|my|taking) )?(?:(?:so|this|\S+) )?(?:delay|wait|answer|reply|response|silence|long)| (?:that )?it took(?: me)? so long| i (?:am|was) late)?|(?:sorry )?(?:i )?was (?:at|in|on) (?:(?:a|the|my) )?(?:meetings?|calls?|lunch|dinner|train|bus|plane|phone|road|dentist|doctor|holidays?|vacation)|(?:(?:finally|just|only now) )?(?:got (?:around|round)|(?:got|had|found) (?:(?:the|some|a) )?(?:time|chance|moment|minute)) to (?:read|reading|look at|review|go through)`,
	// it is as it should be
	`sorting (?:it|this|that|them) out|to the point|as far as (?:i|we) (?:can )?(?:see|tell)|(?:so )?(?:(?:much|way|far|even) )?better than (?:before|(?:what )?(?:i|we) (?:had in mind|hoped(?: for)?|thought|expected|feared))|(?:it|they|this|these(?: tests)?) would have (?:caught|found|prevented) (?:it|that|(?:the|that|our|my|this) (?:last )?(?:bug|regression|error|crash|incident|outage|failure|problem|mistake))|you (?:even )?(?:thought of|found|saw|remembered|noticed|caught) (?:\S+ ){1,3}(?:i|we) (?:forgot|missed|overlooked)|(?:thanks|thank you) for (?:explaining|clarifying|describing|pointing out|walking me through) (?:how|why|(?:the|your|that) (?:trade-?offs?|reasons?|reasoning|choices?|decisions?|design|approach|difference|details?|order|idea|logic|background|context))|(?:i|we) took (?:my|our) time(?: with (?:it|this))?|(?:i|we)? ?find (?:it|them|this|that|the (?:plan|tests)) (?:very |really )?(?:` + praised + `)|(?:that|this) is how it should be(?: done)?|(?:everything|all|it) (?:is|looks) in order|as (?:i|we) (?:want|wanted|need|like) (?:it|them|this)|(?:i am|we are) in (?:(?:full|complete|total) )?agreement|which is (?:right|what (?:i|we) (?:want|wanted|need|expect))|worth the wait|(?:i )?ask you to|(?:what|everything|all(?: that)?) (?:i|we) (?:really )?(?:want|wanted|need|needed(?: to know)?|meant|expect|expected|asked for|had in mind|agreed on|agreed|discussed|hoped for|(?:was|were) looking for)|i asked for|(?:that )?i can think of`,
	`(?:just |exactly )*(?:how|what|the way) i would (?:have )?(?:do|done|write|written|build|built)(?: (?:it|that))?(?: too)?|exactly right|(?:that|this|it) is (?:right|correct|it)|(?:that|this) is the one|this is (?:it|the way)|(?:it is |everything is )?all (?:is )?there|spot on|on point|well (?:thought (?:out|through)|(?:explain|reason|structur|argu|cover|describ|defin|organi[sz])ed)|gone through|(?:(?:my|all|the) )*(?:doubts|worries|concerns|questions|gaps|they|it) (?:are|is) (?:all )?gone`,
	`(?:(?:this|that|it)(?: one| version)? (?:is|looks|reads) (?:(?:so )?much |way |far |even )?|(?:so )?much |way |far )better(?: now| than (?:before|i (?:hoped|thought|expected|feared)|(?:the|your) (?:first|last|previous|old) (?:one|version|draft|plan)|yesterday|(?:yesterday|last week|(?:mon|tues|wednes|thurs|fri)day)'s(?: (?:one|version|draft|plan))?))?`,
	// cheer
	`(?:with )?kind(?:est)? regards|you have my blessing|good luck|have fun|you rock|you are (?:the best|awesome|amazing|great)|(?:(?:two|big) )?thumbs up(?: from me)?|i am curious(?: about the (?:tests|code|result))?|can not wait(?: to see (?:it|the \S+))?|(?:i )?hope it works(?: out)?|(?:i am )?(?:looking forward|look forward|excited) to (?:see(?:ing)? )?(?:it|that|this|the (?:result|code|tests|skeletons|implementation|demo))(?: one| live)?`,
}, "|") + `)(?: |$)`)

// What there may be none of, and what can be settled: a remark is the reader's, a flaw
// is the plan's.
const (
	objection = `(?:` + remark + `|` + flaw + `)`
	remark    = `(?:comments?|questions?|objections?|complaints?|remarks?|notes?|concerns?|suggestions?|requests?|reservations?|findings?|doubts?|worr(?:y|ies)|wishes)`
	flaw      = `(?:issues?|problems?|typos?|bugs?|mistakes?|errors?|flaws?|gaps?|holes?|leaks?|races?|faults?|risks?|snags?|surprises?|overlaps?|duplicates?|contradictions?|differences?|weakness(?:es)?|weak points?|open (?:points?|ends?))`
)

// checks are what is run or brought up to date when any work is done.
const checks = `(?:code|tests|(?:test )?suite|linter|formatter|benchmarks|checks|docs|readme|changelog)`

// unit is the first or the next part of the work.
const unit = `(?:the )?(?:(?:first|next|test|testing|implementation|coding) (?:step|phase|stage|part)|(?:step|phase|stage|part|milestone) (?:1|one|a)|testing|implementing|coding)`

const theChecks = `(?:(?:the|all|whole|entire) )*` + checks

// reported says when to come back.
const reported = ` (?:(?:how it (?:goes|went|is going)|(?:on|about) (?:(?:the|your) )?progress)|(?:when|whenever|once|if|as soon as|in case) (?:(?:you are|it is|everything is|the tests are) (?:done|finished|ready|through|there|green)|done|ready|finished|(?:anything|something|it) (?:comes up|(?:is|seems) (?:unclear|unexpected|off)|goes wrong|breaks)|(?:i|we) can (?:look(?: at (?:it|this|that))?|(?:test|try|review|see) (?:it|this|that))|you (?:need|want) (?:anything|something|me|help)|you (?:have|have any) questions|you get stuck|i can help))`

// spell says for how long, or until when, somebody is away.
const spell = `(?: (?:now|later|tonight|today|soon|this (?:morning|afternoon|evening|week)|(?:for|until|till|in|at|by|after) (?:(?:an|a|the|half an|one|two|three|few|some) )*\S+(?: (?:hours?|minutes?|pm|am))?))*`

// prepositions begin what belongs to the approval before it: "approved, for staging".
var prepositions = set("than for in on with by as of from per at to without under minus")

// bound begins a time or a case. On its own it is one of the approval before it:
// "approved, once it is finished".
var bound = lazyregexp.New(`^(?:(?:if|in case|when|once|after|as soon as) |(?:at the end|in the (?:tests|code|implementation)) $)`)

// bounds tells whether a clause gives the approval a time or a case: it neither asks to
// be told nor belongs to what its own sentence goes on with.
func bounds(p part, approval part) bool {
	goesOn := p.at != approval.at && p.lead == "" && len(p.sentence.clauses) > 1
	return bound.MatchString(p.clause.String()+" ") && !slices.Contains(p.clause.words, "ask") && !goesOn
}

// harmless tells whether a clause behind an approval changes nothing.
func harmless(c clause) bool {
	text := " " + c.String() + " "
	if len(c.words) > maxClause || mentions(c.words) || !joins[c.conj] && c.conj != "but" {
		return false
	}
	rest := remainder(c)
	switch {
	case c.conj == "but":
		return len(rest) == 0
	case tail.MatchString(text[:len(text)-1]):
		return true
	case praising.MatchString(text):
		return stated(c, c.words, false)
	case len(rest) > 0 && prepositions[rest[0]], objectOnly.MatchString(c.String()):
		return false
	}
	if len(rest) == len(c.words) && names(rest) {
		return false
	}
	return !slices.ContainsFunc(rest, func(w string) bool { return !plain[w] && !craft[w] })
}

// names tells whether words only name something: "docs and tests", "the small suite",
// "my weekend".
func names(words []string) bool {
	alone := func(w string) bool { return craft[w] || determiners[w] || w == "and" }
	return !slices.ContainsFunc(words, func(w string) bool { return !alone(w) }) || namely[words[0]] && !anyOf(words, acts)
}

var (
	namely = set("a an the my our your its all every each both these those existing document style job work stuff effort team format code")
	acts   = set("is are be have it")
)

// praise are adjectives of what is good about a plan.
var (
	praise  = wordset.In(wordLists, "praise")
	praised = strings.Join(slices.Sorted(maps.Keys(praise)), "|")
)

// praising begins a remark that may stand behind an approval, too.
var praising = lazyregexp.New(`^ (?:(?:(?:very |really |so )*(?:nice|good|great|clear|clean|solid|thorough|short|simple|perfect|excellent)|(?:i )?(?:really |especially |particularly |also )?(?:like|love)|(?:many )?thanks|thank you|(?:i|we) (?:have )?(?:just )?(?:(?:read|reviewed|checked|verified|compared|studied)|(?:went|gone|read|looked) (?:through|over|at)) (?:(?:through|over) )?(?:it|this|them|everything|all|every|each|the (?:plan|tests|whole))) |(?:the|your) (?:\S+ ){1,4}(?:convinced|persuaded) (?:me|us) $|(?:the|your) (?:\S+ ){1,3}(?:is|are|was) an? (?:very |really )?(?:nice|good|great|lovely|clever|neat|welcome) (?:touch|addition|find|catch) $|` +
	`(?:the|all) (?:steps|sections|tests|files) are in the right (?:order|place) $|(?:it|this|that|they|the (?:plan|tests)) (?:covers?|does|do|has|have|is|are) (?:what|everything|all(?: that)?) (?:i|we) (?:asked for|wanted|want|need|needed|had in mind) $|` +
	`(?:that|this|it)(?: one)? was (?:a )?(?:good|nice|easy|quick|pleasant|clear|pleasure)(?: (?:read|one|plan|to read))? $|` +
	`(?:(?:this|that|it|they|these|those|everything|(?:the|your) (?:plan|tests|skeletons|structure|naming|analysis|reasoning|design|scope|write-up|order|split|steps|approach|explanation|wording)) (?:is|are|looks?|reads?|seems?) )?(?:(?:very|really|so|quite|pretty|all) )*(?:` + praised + `)(?: now| to me)? $)`)

// tail is a clause that could stand in the approval without its comma: "as discussed".
var tail = lazyregexp.New(`^` + after + `$`)

// maxClause bounds how many words of a clause are read.
const maxClause = 60

// leadsTo tells whether what stands before the approval only leads to it: a
// statement about what the user read, made of few words and some nouns, or in a
// letter free.
func leadsTo(p, approval part) bool {
	same := p.at == approval.at
	if p.sentence.cited || mentions(p.clause.words) {
		return false
	}
	if !same && approval.letter && joins[p.clause.conj] {
		first := firstWord(p.clause)
		return (p.next.colon || p.clause.colon || p.sentence.end == ':' || subjects[first] || agreeing[first] || determiners[first] || prepositions[first] || thanks[first] ||
			p.lead != "" && ownDeed.MatchString(p.lead) && anyOf(p.clause.words, agreeing)) && !demands(p.clause)
	}
	if p.next.colon || p.sentence.end == ':' || !joins[p.clause.conj] && p.clause.conj != "but" {
		return false
	}
	if tail.MatchString(" " + p.clause.String()) {
		return true
	}
	further := p.clause.conj != "but" && slices.ContainsFunc(p.sentence.near(), func(c clause) bool {
		return !mentions(c.words) && c.words[0] != "sorry" && (statement(c, false) || examining.MatchString(c.String()))
	})
	return statement(p.clause, further) || examining.MatchString(p.clause.String()) && !anyOf(p.clause.words, contrary) && !anyOf(p.clause.words, reports) && !against(p.clause.String())
}

// examining tells what the user did to see for himself.
var examining = lazyregexp.New(`^(?:i|we) (?:have )?(?:(?:just|also|even) )?(?:tried|tested|ran|measured|looked (?:at|through)|went (?:over|through)|(?:grepped|searched)(?: for)?|opened|mutated|examined|traced|diffed) (?:it|them|this|that|each|every|all|both|the|your|steps?)` +
	`(?: (?:of|the|that|your|\d+|files?|callers?|code|tests?|steps?|cases?|commands?|query|numbers?|you (?:name|named|list|listed)|by hand|myself|on my (?:own )?machine|locally|here|once|twice|again|in my (?:head|editor)))*$`)

// foreign are things of other hands that get approved, too. An approval that names
// nothing is of what was named before it.
var foreign = lazyregexp.New(`(?:^| )(?:prs?|mrs?|(?:pull|merge) requests?|branch|commits|release|deployment|invoice|budget|expenses|vacation|holidays?|#\d+)(?: |$)`)

// demands tells whether a clause of a letter bounds the approval below it, or asks for
// something else. Remarks of what comes later, and as it should, do neither.
func demands(c clause) bool {
	rest := remainder(c)
	text := strings.Join(rest, " ")
	return !grasped.MatchString(text) && (demanding.MatchString(text) || against(text)) || slices.ContainsFunc(rest, func(w string) bool { return contrary[w] && !mildly[w] })
}

var (
	demanding = lazyregexp.New(`(?:^|[^t] )once\b|\b(?:as soon as|after|should \w|(?:has|have|had) to (?:be|go|use|stay|come|have|do|change|wait)|(?:is|are) out\b|can not|mistake)|^no `)
	grasped   = lazyregexp.New(`^(?:(?:and|so|now) )*(?:i|we) (?:now )?(?:see|understand|get) (?:now )?(?:why|how) `)
	tally     = lazyregexp.New(` (?:one|two|three|four|five|six|\d+) (?:tests?|cases?)$`)
	mildly    = set("part later no nothing when")
)

// letter tells whether the approval ends a text of some length, each sentence of which
// speaks of reading and agreeing, or is in a list, and none of somebody else's words.
func (t text) letter(approval part) bool {
	var words []string
	for _, s := range t.sentences[:approval.at] {
		of := s.words()
		said := strings.Join(of, " ")
		if (!s.bullet || len(s.clauses) > 1 && !tally.MatchString(said)) && !anyOf(of, agreeing) && !anyOf(of, thanks) && !red.MatchString(said) && !grasped.MatchString(said) && !s.accepts() && !slices.Contains(of, "nothing") && !strings.HasSuffix(said, "as they should") {
			return false
		}
		words = append(words, of...)
	}
	if len(words) < 12 || anyOf(words, reports) {
		return false
	}
	last := t.sentences[approval.at-1]
	agrees := last.line > t.sentences[0].line+1 && statement(last.clauses[len(last.clauses)-1], false)
	return approval.sentence.line > last.line+1 && last.end != ':' || agrees || len(words) > 40
}

// accepts tells whether a sentence holds a phrase that changes nothing, or heads a list.
func (s sentence) accepts() bool {
	return s.end == ':' && topic(s.clauses[0]) || slices.ContainsFunc(s.clauses, func(c clause) bool { return len(remainder(c)) < len(c.words) || settled.MatchString(c.String()) })
}

// leadingUp begins what leads to an approval, and says nothing against it.
var leadingUp = lazyregexp.New(`^(?:even|on behalf of (?:the|my|our) \S+|despite its (?:length|size)|paid (?:special|close|particular) attention to|having (?:read|reviewed|examined|studied|checked|gone through|looked at)(?: (?:it|the (?:plan|tests)|everything))?(?: in full)?|(?:after|following|once more through|per) (?:(?:an?|some|the|much|my|your|our) )?(?:(?:careful|closer?|second|long) )?(?:look|read|reading|reviewing|review|thought|discussion|list|talk|chat|note|thinking|considering|consideration|checking)` +
	`(?: with (?:the|my|our) team)?(?: (?:it|the (?:whole )?plan|everything|all of it))?(?: (?:twice|again|carefully|over))?` +
	`|(?:unlike|different from) (?:the|your|my) (?:last|previous|first|old) (?:one|plan|version|draft|tests?)` +
	`|with (?:the|these|your|all)(?: (?:latest|new|last|recent|these|the))* (?:changes?|updates?|sections?|version|revision|answers?|explanations?)` +
	`|(?:many )?(?:thanks|thank you)(?: (?:again|so much|a lot))? for (?:dropping|removing|taking (?:out|off)|splitting(?: up)?|moving|renaming|keeping|shortening|adding|rewording|reworking|cutting|spelling out|checking)` +
	`|you (?:have )?(?:added|removed|dropped|moved|renamed|shortened|reduced|fixed|reworked|reworded|reordered|changed|updated|simplified|explained|listed|took|kept|split|made|put|left) (?:\S+ ){1,6}(?:as|like|where|the way) (?:i|we) (?:asked|wanted|suggested|hoped|agreed|discussed)` +
	`|(?:every|each) (?:\S+ ){1,2}has (?:its|a|an|one) (?:own )?tests?|there is (?:a|one) test for (?:each|every) \S+|(?:after|having) (?:a night's sleep|(?:sleeping|slept) (?:on|over) it)|it took (?:me |us )?(?:\S+ ){1,3}to (?:read|get through|go through|understand|see)(?: (?:it|them|this|everything|all|of|through|the (?:plan|tests)))*|unlike (?:yesterday|last time|before)|after (?:\S+ ){1,2}(?:rounds?|versions?|drafts?|tries|attempts)|(?:everything|both|all (?:of (?:it|them)|two|three|four|five)) (?:is|are) (?:now )?in(?: there| place|$)` +
	`|(?:as|like) (?:we )?(?:discussed|agreed)(?: (?:yesterday|earlier|before))?)(?: |$)`)

// maxNear is in how many clauses of a sentence its agreement is looked for.
const maxNear = 8

func (s sentence) near() []clause { return s.clauses[:min(len(s.clauses), maxNear)] }

// maxNouns is how many words a statement may hold that are not known: the nouns of a plan.
const maxNouns = 3

// statement tells whether the clause says, of the user's own reading, that it
// agrees. A further clause of a sentence that does need not say so again.
func statement(c clause, further bool) bool {
	return absent.MatchString(c.String()) || !ellipsis.MatchString(c.String()) && stated(c, strings.Fields(leadingUp.ReplaceAllString(c.String(), "")), further)
}

// absent says that there is no fault, that a part has none, or that nothing is left to do.
var absent = lazyregexp.New(`^(?:(?:and|so|here) )?(?:` + strings.Join([]string{
	`(?:(?:there (?:is|are|was|were)|found|(?:i|we) (?:(?:can|could|do|did|have|had|see|saw|find|found) )*) ?)?(?:no|zero|none|not (?:(?:have|see|find|found|spot|think of) )?(?:any|an?|a single|one))(?: (?:open|further|other|real|more))* (?:` + objection + `|points left|reason to (?:wait|object|refuse|hesitate))(?: (?:of (?:mine|any kind)|left|open|any ?more|here|in (?:it|them|this|there)|at all|with (?:it|this|them)))*`,
	`(?:(?:none|not one|neither)(?: of (?:them|these|those|(?:the|these|those|my) (?:\S+ )?` + gateParts + `))?|nothing(?: in (?:it|them|there|the ` + gateParts + `))?|no (?:\S+ )?(?:detail|edge|corner|` + gateParts + `)|(?:(?:it|they|this|these) (?:is|are) )?not) ?(?:(?:is|are|was|were|seems?|feels?|looks?) )?(?:at all )?(?:too (?:big|large|small|long|short|many|much|complicated|clever|strict|loose)|(?:worries|bothers|surprises) me|strikes me as (?:odd|strange|wrong)|stands out|depends? on (?:another|each other|order)|redundant|superfluous|trivial|missing|wrong|bad|flaky|unclear|vague|weak|blocking|open|left (?:out|open|over)|forgotten|tested twice|repeated)(?: (?:any ?more|as far as i (?:can )?(?:see|tell)|in (?:it|there|this)|here|yet))*`,
	`(?:i|we) (?:do|can) not (?:see|know|think of) what else (?:could be (?:tested|added|said)|to (?:test|add|say|ask|change))|(?:they|it) (?:all )?holds?(?: up)?`,
	`(?:there (?:is|are) |(?:i|we) (?:have|had|see|saw|find|found) )?nothing (?:left )?(?:against (?:it|this|them)|to (?:discuss|criticise|criticize|clarify|explain|see here|(?:add|object) to (?:it|them|the (?:plan|tests)))|(?:that )?(?:could|can) go wrong)`,
}, "|") + `)$`)

// gateParts are what a plan and tests are made of.
const gateParts = `(?:tests?|steps?|files?|cases?|sections?|capability|capabilities|skeletons?|names?|rules?|points?|questions?|remarks?|comments?|concerns?)`

// stated judges what is left of a clause without what leads up to its statement.
func stated(c clause, words []string, further bool) bool {
	rest := remainder(clause{words: words})
	for len(rest) > 1 && (softeners[rest[0]] && rest[0] != "oh" || rest[0] == "many" && thanks[rest[1]]) {
		rest = rest[1:]
	}
	if len(c.words) > maxClause || anyOf(rest, contrary) || !further && len(rest) == len(c.words) && !anyOf(rest, agreeing) && !thanks[rest[0]] {
		return false
	}
	if said := strings.Join(rest, " "); against(said) || further && indefinite.MatchString(c.String()) && !anyOf(rest, agreeing) || len(rest) > 0 && !slices.ContainsFunc(rest, func(w string) bool { return !number(w) }) {
		return false
	}
	if first := firstWord(clause{words: rest}); first != "" && !(further && !prepositions[first]) && (rest[0] == words[0] || prepositions[rest[0]]) && !subjects[first] && !agreeing[first] && first != "think" && !thanks[rest[0]] {
		return false
	}
	nouns, noun := 0, false
	for _, w := range rest {
		switch known := plain[w] || craft[w] || thanks[rest[0]] && thanked[w] || agreeing[w] || reading[w] || subjects[w] || determiners[w] || number(w); {
		case known:
			noun = determiners[w] || noun && !breaking[w]
		case !noun || nouns == maxNouns || thanks[rest[0]]:
			return false
		default:
			nouns++
		}
	}
	return true
}

// number tells of a word that is a number: "8080", "three".
func number(w string) bool { return w[0] >= '0' && w[0] <= '9' || numbers[w] }

var numbers = set("one two three four five six seven eight nine ten")

// adverse are a question or a condition without its mark, a wish for something else,
// and praise of another version than the one that waits.
var adverse = lazyregexp.New(strings.Join([]string{
	// a question, an order, a wish for something else
	`^(?:is|are|was|were|did|do|does|had|has|have|should|can) (?:i|we|you|it|that|this|they|there)\b|\bplease$|^(?:i|we) (?:fixed|shortened|reworked|reworded|simplified|replaced) |^(?:the|our) (?:\S+ )+(?:is|are) (?:fixed|closed)$`,
	`^(?:go|use|run|follow|commit|make|write|keep|take|add|split|fix|move) |^(?:check|answer|match|cover|review|fit|explain|describe|examine|verify|compare|look at|help) (?:the|my|our|your|all|both|each|every|it|this|that|them|those|these|steps?|for|with|again|once)\b`,
	`\b(?:has|have|is|are|needs?) to (?:be|go|change|wait|stay)\b|\b(?:could (?:be|have|work)|(?:expected|wanted) (?:an?|the|that|this|your|my|our) )|\b(?:another|one more) (?:round|version|try|draft|pass|review)\b`,
	// a doubt
	`\b(?:(?:i|we) thought|(?:i|we|there) (?:still )?(?:have|see|are) (?:\S+ )?(?:doubts|questions|problems?|risks?|concerns|issues|comments|gaps)|(?:i|we|it|plan) (?:\S+ )?never|(?:am|is|are|was|were|agreed) against|against (?:it|this|that|the plan)|(?:am|are|still) (?:\S+ )?(?:sceptical|skeptical|worried|unsure))\b`,
	`\b(?:looks?|sounds?|reads?|feels?) like (?:an? \S+$|you|we|your|more|less|another)|\b(?:noticed|suspected) (?:an?|some|another|one|two)\b|\bsee the (?:\S+ )?(?:flaw|bug|gap|mistake|error|problem|issue|risk)s?$|\b(?:good|nice|fine|great) to (?:split|move|merge|add|make|do|use|take|keep|have|change) |\bwith .* (?:on|off)$|\bthere (?:it is|they are)\b|\bunderstood (?:it|this|that) as\b|\bopposite\b|^(?:(?:is|are|was|were|has been|have been) )?(?:answered|resolved|settled|fixed|addressed|closed|solved)$`,
	// a part, a beginning
	`\b(?:covers?|solves?|fixes|answers?|addresses|fits?) (?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)\b|\bfirst (?:question|remark|comment|point)\b|[^g] for (?:now|the moment|(?:an?|the|this|that) (?:\S+ )?(?:cases?|prototype|try|draft|start))$`,
	`\b(?:is|as) (?:an? )?(?:\S+ )?(?:draft|sketch|start|beginning|prototype)$|^(?:an? )?good (?:draft|start|beginning)$|^you are (?:clear|free|good|ok) to |\b(?:want|wanted|like|liked) .*\bfirst$`,
	`\b(?:up|down|close) to (?:[^d]|d[^a])|\bto (?:step|section|page|point|capability|heading|line)\b|\b(?:first|second|last|other|latter|former) (?:option|variant|choice|idea|alternative)\b`,
	`\bfirst (?:two|three|four|few|\d+) (?:steps|points|sections|parts|files|capabilities|tests)\b|\b(?:(?:one|two|\d+)(?: to | through |-)\w+|(?:as far|half ?way|part ?way|mid ?way)\b|page (?:one|1)|(?:first|last) (?:pages?|steps?|sections?|lines?|headings?|paragraphs?)|(?:` + studied + `|looked at|through|over) (?:\S+ )?(?:first|last|title|start|beginning|end|top|summary|intro|tables?|diagrams?))\b|\b(?:followed|seen|look(?:ed)? at|went (?:over|through)|` + studied + `) (?:steps? (?:one|two|three|\d+)|(?:one|two|three|four|\d+) (?:tests?|steps?|files?|sections?|cases?))\b|\b(?:like|love|for|of) the rest$`,
	// somebody else's reading, another plan or version
	`^(?:the|an?|my|our|your) (?:\S+ )?\S+ (?:has |have )?(?:read|reviewed|checked|agrees?|agreed|went|looked|likes?|liked|loves?|loved|understood|skimmed|verified)\b|\bagreement|\b(?:ran|passed|showed|sent) (?:it|this|the plan) (?:past|by|to)\b`,
	`\b(?:other|another) (?:plan|session|project|repo|branch|window|chat)\b|\bplan (?:[a-hj-z]|of|by|from)\b|\b(?:the|that|this) one (?:for|of|from|by|about|in|on|with|without) |^(?:the|your|my) other (?:is|are)\b|\bversion of (?:[^t]|t[^h])`,
	`(?:(?:like|likes|liked|love|loved|wanted|expected|for|` + studied + `|through|over|at|of) (?:\S+ )?|^(?:the|your|my|our) )(?:old|older|previous|first|other|another|earlier|original|former) (?:(?:plan|version|draft|one|approach|idea|design|team|session)(?:'s)?)\b|\b(?:plan|version|draft|one) (?:\S+ )?(?:had|was|were) (?:\S+ )?(?:yesterday|before)\b`,
}, "|"))

// studied are words of reading a thing, of which a part can be read.
const studied = `read|reviewed|checked|skimmed|studied|examined|scanned|verified|validated|listened to`

// indefinite begins a thing that nobody spoke of.
var indefinite = lazyregexp.New(`^(?:an?|another|yet another|one more) `)

// against tells whether words before an approval speak against it, bound it, or tell of
// somebody else's content: "my lead is happy with it". A team's is its member's.
func against(words string) bool {
	m := content.FindStringSubmatch(words)
	return adverse.MatchString(words) || m != nil && m[1] != "team" && !strings.HasSuffix(words, " too")
}

var content = lazyregexp.New(`^(?:the|an?|my|our|your) (?:(?:whole|entire) )?(?:\S+ )?(\S+) (?:(?:is|are|was|were|seems?) (?:\S+ )?(?:happy|content|convinced|satisfied|pleased|impressed|confident|glad|on board|(?:okay|ok|fine|good) with)|finds?|sees|supports|trusts|wants)\b` +
	`|\b(?:good|great|fine|clear|okay|ok|right) (?:(?:to|by) (?:the|my|our)|with (?:my|our)) (\S+)`)

// reasoned tells whether a clause is a reason that speaks for the plan.
func reasoned(c clause) bool {
	text := merit.ReplaceAllString(strings.TrimPrefix(strings.TrimPrefix(c.String(), "since "), "as "), "fine")
	return !mentions(c.words) && !strings.Contains(text, " last ") && (merit.MatchString(c.String()) || anyOf(c.words, breaking)) && statement(clause{words: strings.Fields(text)}, false)
}

var (
	reasons = lazyregexp.New(`^(?:since (?:it|they|this|that|these|everything|nothing|all|every|each|the|you|i|we) |as (?:it|they|this|that|these|everything|the (?:\S+ )?\S+) (?:is|are|keeps?|covers?|fits?|makes?|changes?|solves?|fixes|helps?|addresses) )`)
	// merit is what only a reason says in praise of a change.
	merit = lazyregexp.New(`\b(?:alive|untouched|unchanged|intact|easy to (?:undo|revert|roll back|review|test|read)|stable|compatible|reversible|low|isolated|can be (?:undone|reverted|rolled back)|(?:changes|breaks|touches) nothing(?: (?:for|in|outside) (?:(?:the|our) )?\S+)?|nothing (?:(?:else|new)|outside (?:the )?\S+) (?:changes|breaks|moves|is (?:lost|touched)))\b`)
)

// overcome tells of a clause that speaks of a fault or a doubt of before, beside one of
// the same or the next sentence that says it is gone, or of the latter.
func (t text) overcome(p part) bool {
	c, s := p.clause, p.clause.String()
	rest := strings.Fields(strings.ReplaceAll(s, "the missing ", "the "))
	switch old := c.faulted(); {
	case anyOf(c.words, reports):
		return false
	case settled.MatchString(s) || present.MatchString(s) && !anyOf(rest, unwelcome):
		return !anyOf(rest, contrary) && !slices.Contains(rest, "first") && !slices.Contains(rest, "last")
	case !old && !gone.MatchString(s) && !ellipsis.MatchString(s) && !wished.MatchString(s) && !unwished.MatchString(s):
		return false
	default:
		after := t.sentences[min(p.at+1, len(t.sentences)-1)].near()
		return slices.ContainsFunc(slices.Concat(p.sentence.near(), after), func(other clause) bool {
			return other.String() != s && (c.answered(other) || other.answered(c))
		}) || old && slices.ContainsFunc(slices.Concat(after, []clause{p.next}), func(other clause) bool {
			return len(other.words) > 0 && !ellipsis.MatchString(other.String()) && (other.conj == "but" && other.words[len(other.words)-1] == "approved" || !mentions(other.words) && statement(other, false))
		})
	}
}

// faulted tells of a doubt or a fault of before.
func (c clause) faulted() bool {
	s := c.String()
	return formerly.MatchString(s) && !anyOf(c.words, unresolved) && !denied.MatchString(s)
}

// answered tells of a wish or a fault of before that the other clause says is met or gone.
func (c clause) answered(by clause) bool {
	s := c.String()
	if m := ellipsis.FindStringSubmatch(by.String()); m != nil { // what was too long is not, what was not red is
		return c.faulted() && (former.MatchString(s) || m[1] != "" && !ownDeed.MatchString(s)) && (m[2] == "") == anyOf(c.words, denying)
	}
	return gone.MatchString(by.String()) && (c.faulted() || wished.MatchString(s) && !anyOf(by.words, absence) || unwished.MatchString(s) && !anyOf(by.words, presence))
}

// Parts of what is said of a doubt of before, and of what is settled.
const (
	onceBefore = `(?:(?:yesterday|on \S+day|last (?:week|time)) )?`
	fault      = `(?:too \S+|unclear|vague|weak|thin|wrong|bad|missing|confusing|incomplete)`
	those      = `(?:(?:the|my|your|both|all|each|every|that|these|those|two|three|four|five) )+`
	isNow      = `(?:is|are|has been|have been) (?:(?:all|both|now|finally|also) )*`
	byNow      = `(?: (?:now|too|today|as well))?`
)

var (
	faulty   = `(?:\S+ ){0,3}(?:not (?:red|there|right|` + praised + `)|no \S+|` + fault + `)(?: .*)?`
	formerly = lazyregexp.New(`^(?:(?:i|we) (?:was|were|had)(?: (?:a (?:bit|little|few)|some|my|rather|quite|very|first))? (?:sceptical|skeptical|unsure|worried|afraid|doubtful|undecided|confused|doubts|questions|concerns|reservations)(?: .*)?` +
		`|(?:the|your) (?:last|first|previous|earlier|old) (?:one|version|draft|round|plan|tests) (?:was|were|had) ` + faulty + `|last (?:time|week) .*\b(?:was|were|had) ` + faulty + `|(?:it|this|that|the plan|they) (?:is|are|was|may be|might be|took)(?: not)?(?: (?:a|an|the|me|us|some|bit|quite|rather|very|so|two|three|few))* (?:perfect|pretty|beautiful|short|shortest|long|longer|big|bigger|large|heavy|dry|lot|time|while|rounds|hours|days)(?: (?:of (?:work|text|tests)|plan|change|read|list|one))?)$`)
	wished   = lazyregexp.New(`^` + onceBefore + `(?:i|we) (?:asked for|missed|complained about (?:the|a) (?:missing|lack of)) .*$`)
	unwished = lazyregexp.New(`^` + onceBefore + `(?:i|we) (?:complained about|rejected|was not sure|were not sure) .*$`)
	// What was wished for is not met by an absence, what was not by a presence.
	absence, presence, denying = set("not gone"), set("in there here"), set("not no")
	// unresolved are words with which a doubt of before goes on.
	unresolved = set("still must should need needs nobody yet never remain remains have has until unless if")
	denied     = lazyregexp.New(`\bnot (?:\S+ )?` + fault + `(?: |$)`)
	ellipsis   = lazyregexp.New(`^((?:now|this time|today) )?(?:it|they|this|this one|these|the plan) (?:is|are|does|do|has|have|was|were)( not(?: any ?more)?)?$`)
	former     = lazyregexp.New(`^(?:the|your) (?:last|first|previous|earlier|old) |^last `)
	gone       = lazyregexp.New(`^(?:now|this time|today) (?:it|they|this|these|the plan) (?:is|are|has|have) (?:there|in|here|fixed|gone|approved)$|^today i am$|^this one is approved$|^you (?:have )?(?:convinced|persuaded) me$`)
	// settled says of a remark or a fault that it is dealt with, of a part that it is there.
	settled = lazyregexp.New(`^` + those + `(?:(?:\S+ ){0,4}(?:` + objection + `|points?|names?|wording) (?:\S+ ){0,5})?` + isNow + `(?:fixed|settled|solved|resolved|dealt with|answered|addressed|closed)` + byNow + `$` +
		`|^` + those + `(?:\S+ ){0,4}(?:doubts?|worr(?:y|ies)|concerns?|` + flaw + `) (?:\S+ ){0,5}` + isNow + `gone$|^` + those + `(?:\S+ ){1,6}` + isNow + `covered` + byNow + `$|^(?:the|that|those|these) (?:flaky|missing|unused|redundant|superfluous|wrong|odd|typos?|mocks?|duplicates?|constants?|todos?|bugs?)(?: \S+){0,3} (?:is|are) (?:now )?gone(?: now)?$`)
	present = lazyregexp.New(`^` + those + `(?:\S+ ){1,6}` + isNow + `(?:in|in there|there)` + byNow + `$`)
	// unwelcome is what had better not be there.
	unwelcome = set("bug bugs typo typos mistake mistakes errors flaw flaws gap gaps hole leak problem problems issue issues risk risks hate hated dislike disliked forbade rejected refused vetoed")
	// red says of tests that they fail, as they are to.
	red = lazyregexp.New(`^(?:(?:two|three|four|five|six|seven|eight|nine|ten) |(?:(?:they|these|those|tests|skeletons|(?:all|both|the|these|those)(?: (?:of (?:them|these|those)|two|three|four|five|six|seven|eight|nine|ten))?(?: (?:tests|skeletons))?|each(?: of (?:them|these|those))?|every (?:one|test))(?: all)? )+)(?:(?:is|are) )?(?:fail|fails|failed|failing|red)` +
		`(?: (?:today|now|at the moment|on my machine|as (?:they should|expected|intended|planned)|for the right reasons?|with (?:the|a) missing (?:code|implementation|function|method|type|class|module|package|symbol|handler|feature|capability)|with(?:out)? (?:the|that|this) (?:change|code|implementation|fix)))*$|^(?:none|not one)(?: of them)? (?:is )?(?:green|passes|passing)(?: yet| today| now)?$|^(?:that )?(?:each|every one|all)(?: (?:one|test|of them))? can fail$`)
)

// remainder is a clause without the phrases that change nothing. What stands between
// two of them is taken at the second time.
func remainder(c clause) []string {
	text := " " + c.String() + " "
	if forbids.MatchString(text) {
		return c.words
	}
	for range 2 {
		text = asides.ReplaceAllString(nothingAgainst.ReplaceAllString(text, " "), " ")
	}
	return strings.Fields(text)
}

var (
	subjects = set("here nothing two three four five six seven step whether i we they it this that these those all everything each both there the a your my you had took is very really much looks sounds reads makes every scope our did had glad plan files steps tests names cases skeletons capabilities yes questions concerns comments points")
	thanks   = set("thank thanks cheers")
	contrary = set("alternative alternatives better rather more less instead worse without absent nobody somebody anyone everyone who he she his her him their not no none nothing but if unless until when whenever would should must might may will want need win only except lacks missing wrong bad broken later tomorrow doubt wait stop hold joke objections contradictions sarcasm most mostly some almost nearly needed needs drop dropped say says said told tells wrote writes heard thinks guess suppose hope wish maybe yet half part parts")
	agreeing = wordset.In(wordLists, "agreeing")
	// reading are words about a plan, and of its reading.
	reading = wordset.In(wordLists, "reading")
	// determiners come before nouns, and so do nouns.
	determiners = set("the a an another our your my with over this")
	// breaking are words that end a noun and what stands before it.
	breaking = set("is are was were am be been do does did has have had i we you it they and to so now then here there than as reads looks makes works")
	// reports are words of somebody else's speech.
	reports = set("say says said saying write writes wrote written type types typed reply replies replied claim claims claimed tell tells told heard hear mail mailed sent quote quoted quoting log logs output outputs print prints printed message user word words <quote>")
	// nothingAgainst says that there is nothing to object to.
	nothingAgainst = lazyregexp.New(` (?:(?:(?:(?:i|we) )?(?:(?:can|could|would|do|did|have|has|had|is|are|see|find|found|there (?:is|are)) )*(?:no|none|nothing|not|zero)(?: (?:much|else|think|about|a|an|any|anything|would|single|one|of|them|further|more|other|see|have|find|found|spot|to|it|is|i|open|in|at all|that|tests?|steps?|files?|cases?|capability|capabilities))* (?:superfluous(?: ` + gateParts + `)?|surprises? me|` + objection + `|changes? (?:needed|required|necessary)|bad|missing|wrong|redundant)` +
		`|(?:(?:i|we) )?(?:(?:can|could|would|do|did|have|has|had|is|are|see|find|found|there (?:is|are)) )*(?:nothing|none|not(?: (?:have|see|find|think (?:of|about)))? (?:much|anything|an? thing|one thing))(?: (?:much|else|anything|more|further|other|of|them|that|i|is|left|open|in|it))* (?:found|else(?: (?:here|left|at all|needed|from (?:me|us|my side)))+|(?:to|would) (?:fix|correct|improve|fault|add|expect|object(?: to)?|say|complain(?: about)?|change))` +
		`|(?:no|none|zero)(?: (?:\S+ )?` + gateParts + `)? to (?:fix|correct|add|change)|(?:i|we) did not expect|(?:i|we) (?:do|did|would) not (?:object|change (?:it|this|them|anything|(?:a|one) (?:thing|word|line)))|(?:(?:i|we) )?(?:can|could) not (?:complain|object|fault (?:it|them|this)|improve (?:on )?(?:it|them|this)))(?: (?:found|to change|as far as i (?:can )?(?:see|tell)|left|here|from (?:me|us|my side|the team|any(?:one|body))|at all|with (?:it|this|that)|that i (?:can )?see|i can see))*) `)
	// forbids is an order, or tells what another did not find: what follows its "not" is
	// no fault that there is none of.
	forbids    = lazyregexp.New(`^ (?:(?:please|and|so) )*do not (?:comment|question|change|doubt|risk|surprise|object|complain) | (?:you (?:\S+ )?(?:have|had)|(?:you|they) (?:\S+ )?(?:see|saw|find|found)) (?:no|none|nothing) |^ no .* please $`)
	ownDeed    = lazyregexp.New(`^(?:\S+ )?(?:i|we) |^(?:hi |ok |okay |yes )*$|^(?:reviewed|checked)`)
	softeners  = set("please also just then now and so alright maybe kindly yes ok okay well oh ah wow")
	topics     = set("notes remarks reading verdict decision answer result conclusion summary so plan tests skeletons final tldr yes ok okay review outcome both approval")
	titled     = lazyregexp.New(`^(?:(?:my|our|the|here is|final|short|quick) )+| is$| (?:of|on|from) (?:my|the|your) (?:review|reading|plan|tests|skeletons)$`)
	ownSide    = lazyregexp.New(`^(?:from|in) (?:my|our) (?:own |personal |honest )?(?:side|opinion|view|part)$|^(?:from|for) (?:me|us)$`)
	objectOnly = lazyregexp.New(`^(?:(?:for|about|regarding|on|as for|re|and|concerning) )?` + phrase + `(?: itself| above)?$`)
)

// topic tells whether what stands before a colon can be the user's own lead to a
// verdict: "plan: approved", "from my side: approved".
func topic(c clause) bool {
	s := c.String()
	return topics[titled.ReplaceAllString(s, "")] || objectOnly.MatchString(s) || ownSide.MatchString(s) || goAheadWeight(c.words) == 2 || statement(c, false)
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

// mentionWords belong to the family of approving without making a form of it.
var mentionWords = set("approve approved approves approving approval lgtm unapprove unapproved disapprove disapproved")

func mentions(words []string) bool { return anyOf(words, mentionWords) }

func anyOf(words []string, m map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return m[w] })
}

func goAheadWeight(words []string) int {
	_, weight := goAheadClause(words, nil)
	return weight
}
