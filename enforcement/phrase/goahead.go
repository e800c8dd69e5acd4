package phrase

import (
	"cmp"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// A go-ahead is made of strong phrases, of which one suffices, and of
// politeness, which never suffices.
var (
	strongGoAhead = lazyregexp.New(`^(?:` +
		`yes|yep|yeah|yea|yeh|ya|yup|y|k|kk|\+1|thumbs up|aye|ok|okay|sure|sure thing|alright|alrighty|all right|agreed|accepted|accept|confirmed|confirm|absolutely|definitely|certainly|of course|by all means|affirmative` +
		`|(?:just )?go|(?:just )?go ahead|go for it|go on|keep going|get going|(?:run|roll|go) with it|have at it|full (?:speed|steam) ahead|knock yourself out|(?:just )?(?:proceed|continue)|carry on|move on|(?:just )?do it|ship (?:it|the code)|send it|make it so|do that|let us (?:get going(?: with (?:it|this|that))?|go|move|roll|(?:ship|build|implement|code) (?:it|this))|let us do (?:it|this|that)|let us (?:start|begin|proceed|continue|code|move on)|start|begin|get started|let us get started|start now|go now` +
		`|(?:you (?:can|may|should)|feel free to) (?:go ahead|proceed|start|begin|continue|go on|go)(?: now)?|can (?:go ahead|proceed|start|begin|continue)|(?:off|on) you go|go (?:right|straight) ahead|get (?:to work|on with it|it done)|start (?:it|(?:the )?work)|(?:(?:you|we) are )?(?:good|clear|cleared|free) to (?:go|start|begin|proceed)|permission granted|let us get (?:this|it) done|please (?:do|proceed|go ahead|continue|start|begin)` +
		`|signed off|(?:you have (?:got )?(?:the|a|my) )?green light|i agree|i accept|i confirm|(?:fine|good|great|ok|okay) (?:by|with|for|from) (?:me|us|my side)|for (?:me|us) (?:(?:it|this|that|everything|all) )?is (?:all )?(?:ok|okay|fine|good)|(?:that )?works|sounds like a plan|i am happy with (?:it|this|that)` +
		`|make it happen|(?:it |that )is a (?:yes|go)|you (?:have|have got|got) (?:my|the|a) (?:go|ok|okay)|(?:good|fine|great|perfect|nice) (?:as (?:is|it is|they are)|like (?:this|that))|` + looks + `|(?:it |this |that |everything )?(?:is )?all (?:good|clear)|happy with it` +
		`)(?: (?:` + asIs + `|please|now|then|thanks|thank you|claude|sir|mate|team|everyone|(?:from|for|by|with) (?:me|us|my side)))*$`)

	// beginning asks for the work itself.
	beginning = lazyregexp.New(`^(?:you (?:can|may) (?:now )?(?:implement|build|code) (?:it|this|that)(?: now| please| then)*|(?:you (?:can|may) (?:now )?)?(?:(?:implement|build|code) (?:the|this|your) plan(?: now| please| then)*|(?:start|begin|continue|proceed|go on|carry on|keep going|get going|move on|go ahead)(?: now)? (?:implementing|coding|building|working|writing (?:code|the code)|(?:the )?implementation|(?:with|to) (?:it|that|(?:the )?(?:implementation(?: of the plan)?|work|coding|code|next (?:step|phase)))|to (?:implement|code|build|work|write the code))(?: (?:it|this|that|the (?:plan|code)|on it))?(?: ` + asIs + `| now| please| then)*))$`)
	work      = lazyregexp.New(`^(?:to |you (?:can|may) (?:now )?)?(?:(?:implement|code|build|make|write|do|ship)(?: (?:it|this|that|them|exactly|everything|the code|the implementation|the (?:failing )?tests|the (?:test )?skeletons))?|(?:implement|build|code) (?:the|this|your) plan|make (?:it|them|the tests) (?:pass|green)|write the (?:failing )?(?:tests|skeletons) first|run (?:all )?(?:the |your )?tests(?: after)?|(?:implement|build|code) what the plan (?:says|describes|promises)|go|start|begin)(?: ` + asIs + `| now| next| please| then| today)*$`)

	thanking   = lazyregexp.New(`^(?:many )?(?:thanks|thank you) (?:again |so much |a lot )?for `)
	politeness = lazyregexp.New(`^(?:aha?|ack|aight|finally|at last|much appreciated|(?:(?:i|we) )?(?:really )?appreciate (?:it|that)|all set|(?:(?:i am|we are) )?(?:all )?good|(?:(?:that|this|it) )?(?:will|should) (?:do|work)|(?:much |way |even |far )?better(?: now)?|(?:i )?(?:have )?(?:got|seen|saw) (?:it|this|that|them|everything|` + named + `)|sorry for the (?:delay|wait)|(?:dear|hi|hello|hey|good morning) (?:all|both|everyone|everybody|colleagues|assistant|agent)|good (?:day|afternoon)|dear|top|nice one|@claude|morning|that will do|(?:many )?(?:thanks|thank you) for (?:the|this|your) (?:\S+ ){0,2}(?:plan|tests|skeletons|version|update|summary|heads-up)|nothing to (?:add|change)|no (?:(?:further|more|other) )?(?:` + remark + `|issues|problems)(?: from me)?|thanks|thank you|thank you very much|thanks a lot|many thanks|cheers|please|great|perfect|(?:` + named + ` )?` + mild + `|(?:(?:(?:that|this|it) is|its) )?(?:very )?(?:good|great|nice|cool|fine|ok|okay|alright|perfect|correct|solid|reasonable|fair|fair enough)|(?:` + named + ` )?makes (?:(?:total|perfect|complete|good) )?sense(?: to me)?|(?:i )?(?:like|love) (?:it|this|` + named + `)|excellent|awesome|amazing|wonderful|lovely|brilliant|super|well done|good job|good work|great work|nice work|great job|(?:good|great|nice|clean|solid|excellent|perfect|cool|neat|wonderful|lovely) (?:idea|` + named + `)|sweet|neat|dope|wow|yay|hooray|woohoo|(?:hi|hello|hey)(?: again| there)?|that is the plan|(?:this|that|it) is (?:exactly |just |precisely )*what (?:i|we) (?:want|wanted|need|needed|meant|asked for|had in mind)|claude|team|good (?:morning|evening|night)|now|hmm ok|um|uh|erm|comma|period|full stop|exclamation (?:mark|point))$`)

	// acknowledging takes note of what the agent said; with a yes it may only answer.
	acknowledging = lazyregexp.New(`\b(?:sense|idea|wow|better|got (?:it|that|this|them|everything)|seen|saw|correct|fair|(?:will|should) (?:do|work))\b`)
	setsGoing     = lazyregexp.New(`\b(?:go|proceed|continue|start|begin|carry on|ship|do it|implement|build|code|let us|with it)\b`)

	// A gate named beside a go-ahead: "go ahead with the plan", "the tests look good".
	goAheadGate = lazyregexp.New(`^(?:(?:(?:you (?:can|may|should) )?(?:go ahead|proceed|continue|go on|carry on|start|begin|go)|let us (?:go|proceed|start)|(?:i am )?(?:very |quite |really )?(?:happy|fine|ok|okay|good|satisfied|pleased|agree)|i (?:(?:sign|signed)|am signing) off|signing off) (?:with|on) (?:it|this|that|everything|all(?: of (?:it|this|that))?|` + named + `)` +
		`|(?:i (?:hereby |fully )?(?:accept|agree with|agree to|confirm)|yes to) ` + named + `|go ahead with the implementation|` + named + ` (?:ok|okay|fine|good)` +
		`|` + named + ` (?:(?:looks?|sounds?|seems?|reads?) (?:very |really |all )?` + sound + `(?: to me| to us)?|(?:(?:is|are) )?good to go` +
		`|(?:is|are) (?:all )?(?:fine|good|great|ok|okay|perfect|excellent)(?: (?:by|with|for) (?:me|us))?|works?(?: (?:fine|well))? for (?:me|us)|(?:(?:is|are) )?(?:accepted|confirmed)|(?:has|have|gets?) my (?:blessing|green light)))(?: ` + asIs + `)?$`)

	// What is said so in other languages; it counts where nothing else is said, since
	// only English is read.
	otherLanguages = lazyregexp.New(`^(?:` +
		`(?:(?:der |den |dieser )?plan (?:ist )?|(?:die |alle )?tests (?:sind )?)?(?:hiermit )?(?:genehmigt|freigegeben)|freigabe erteilt|einverstanden|ich genehmige (?:den plan|die tests|das|es|ihn|sie)|ich gebe (?:den plan|die tests|das|es|ihn|sie) frei` +
		`|(?:(?:le |ce )?plan (?:est )?|c'est )?(?:approuvé|validé)|(?:les |ces )?tests (?:sont )?(?:approuvés|validés)|(?:j'approuve|je valide)(?: (?:le plan|ce plan|les tests|ces tests|tout))?|je (?:l'approuve|le valide)` +
		`|(?:(?:el |este )?plan (?:está |queda )?)?aprobado|(?:(?:los )?tests|(?:las )?pruebas) (?:están |quedan )?aprobad[oa]s|(?:lo )?apruebo(?: (?:el plan|este plan|los tests|las pruebas|todo))?` +
		`|(?:(?:il |questo )?piano (?:è )?)?approvato|(?:i |questi )?test (?:sono )?approvati|(?:lo )?approvo(?: (?:il piano|questo piano|i test|tutto))?` +
		`|(?:この)?(?:計画|プラン|テスト)?[はを]?承認(?:です|する|します|いたします|しました|済みです)?` +
		`|(?:我|(?:这个)?(?:计划|方案|测试))?(?:已经?)?(?:同意|批准)(?:了|(?:这个)?(?:计划|方案|测试))?|(?:这个)?(?:计划|方案)通过了?|可以的?|好的?|没问题|(?:请|那就)?(?:开始|继续|执行|实施)(?:吧)?|就这么做(?:吧)?` +
		`|ja|oui|sí|sì|はい|是的?|進めてください` +
		`|(?:mach|macht) (?:bitte )?(?:weiter|(?:das|es)(?: so)?)|leg (?:bitte )?los|los geht's|vas-y|allez-y|on y va|adelante|dale|hazlo|procede|procedi(?: pure)?)$`)
	otherPoliteness = lazyregexp.New(`^(?:(?:(?:der plan|das) )?passt(?: so)?|danke(?: dir| schön)?(?: für den plan)?|bitte|weiter|alles klar|los|perfekt|sehr gut|gut|prima|sieht gut aus|umsetzen|loslegen|anfangen|du kannst (?:loslegen|anfangen)` +
		`|merci(?: beaucoup)?(?: pour le plan)?|parfait|d'accord|c'est bon(?: pour moi)?|(?:ça|le plan) me va|le plan me convient|très bien|tu peux (?:coder|continuer|commencer|y aller)` +
		`|si|vale|de acuerdo|(?:muchas )?gracias(?: por el plan)?|por favor|perfecto|sigue|continúa|muy bien|(?:ya )?puedes (?:empezar|comenzar|continuar)` +
		`|grazie(?: mille)?|perfetto|va bene|per favore|puoi (?:iniziare|cominciare|procedere)` +
		`|了解(?:です|しました)?|ありがとう(?:ございます)?|(?:よろしく)?お願いします|問題(?:ありません|ないです|なし)|(?:計画|プラン|テスト)はokです)$`)
	otherTests = lazyregexp.New(`pruebas|テスト|测试`)
	otherPlan  = lazyregexp.New(`計画|プラン|piano|计划|方案`)
)

const named = `(?:(?:the|this|that|these|those|your) )?` + adjective + `(?:` + planNoun + `|` + testsNoun + `)`

// maxGoAhead bounds what can be a bare go-ahead; a longer one says something.
const maxGoAhead = 24

// goAhead tells whether the prompt consists of go-aheads only, and which gate
// it names, if any.
func goAhead(t text, own map[string]bool) (Gate, bool) {
	if t.doubtful {
		return "", false
	}
	if len(t.sentences) == 0 {
		return "", t.thumbs
	}
	if all := t.words(); acknowledging.MatchString(all) && !setsGoing.MatchString(all) {
		return "", false
	}
	strong, words, named := t.thumbs, 0, Gate("")
	for _, s := range t.sentences {
		if s.end == '?' || s.end == '~' || s.end == ':' || s.bullet || s.cited || s.dangles {
			return "", false
		}
		if own[strings.Join(s.words(), " ")] {
			strong = true
			continue
		}
		for _, c := range s.clauses {
			words += len(c.words)
			if c.conj != "" && c.conj != "and" && c.conj != "so" && c.conj != "then" || c.colon || words > maxGoAhead {
				return "", false
			}
			gate, weight := c.weighs(own)
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

// weighs is [goAheadClause] of the clause.
func (c clause) weighs(own map[string]bool) (Gate, int) {
	if len(own) == 0 {
		return c.weight()
	}
	return goAheadClause(c.words, own)
}

// goAheadClause weighs a clause: 0 is no go-ahead, 1 politeness, 2 a go-ahead.
// A clause without commas may hold several: "yes please go ahead".
func goAheadClause(words []string, own map[string]bool) (Gate, int) {
	if len(words) > maxGoAhead || goodStart.MatchString(strings.Join(words, " ")) {
		return "", 0
	}
	gates, weights, read := make([]Gate, len(words)+1), make([]int, len(words)+1), make([]bool, len(words)+1)
	weights[len(words)], read[len(words)] = 1, true
	var from func(i int)
	from = func(i int) { // weighs the words from the i-th on, where one begins a phrase
		read[i] = true
		for n := len(words); n > i && weights[i] == 0; n-- {
			gate, weight := goAheadPhrase(strings.Join(words[i:n], " "), own)
			if weight == 0 || i > 0 && words[n-1] == "better" {
				continue
			}
			if !read[n] {
				from(n)
			}
			if weights[n] > 0 {
				weights[i], gates[i] = max(weight, weights[n]), cmp.Or(gate, gates[n])
			}
		}
	}
	from(0)
	return gates[0], weights[0]
}

// goodStart is praise of a beginning: no "start" behind a "good".
var goodStart = lazyregexp.New(`^(?:(?:(?:it|this|that) is|an?|very|really|quite|pretty) )*(?:good|great|nice|fine|perfect|excellent|cool|super|lovely|solid|awesome|amazing|wonderful|brilliant) (?:start|try)$`)

func goAheadPhrase(s string, own map[string]bool) (Gate, int) {
	if own[s] || strongGoAhead.MatchString(s) {
		return "", 2
	}
	switch {
	case goAheadGate.MatchString(s):
		return namedGate(s), 2
	case otherLanguages.MatchString(s):
		switch {
		case otherTests.MatchString(s):
			return Tests, 2
		case otherPlan.MatchString(s):
			return Plan, 2
		}
		return namedGate(s), 2
	case beginning.MatchString(s):
		return "", 2
	case work.MatchString(s), thanking.MatchString(s) && harmless(clause{words: strings.Fields(s)}):
		return "", 1
	case politeness.MatchString(s) || otherPoliteness.MatchString(s):
		return namedGate(s), 1
	}
	return "", 0
}
