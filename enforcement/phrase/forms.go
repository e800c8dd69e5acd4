package phrase

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// The forms of an approving clause are regular expressions over its words,
// composed from the parts below. RE2 keeps them linear.
const (
	planNoun  = `(?:plan\.md|plan)(?: (?:gate|file|document|itself))?`
	testsNoun = `(?:(?:test|tests|testing) (?:skeletons?|files?|cases?|gate|suite)|skeleton (?:tests?|files?)|skeletons?|tests?)(?: themselves)?`
	gateWord  = `gate`

	adjective = `(?:(?:new|updated|revised|current|present|latest|corrected|reworked|second|third|final|whole|entire|full|complete|attached|above|proposed|failing|written|remaining|detailed|excellent|good|great|nice|lovely|very|red|generated|test-first) )*`
	det       = `(?:(?:the|this|that|these|those|your|our|said) )?`
	quantity  = `(?:(?:all|both|each|every one) (?:of )?)?`
	version   = `(?:(?:the|this|that|your) ` + adjective + `(?:version|draft|revision|state|form) of )?`

	noun     = `(?:(?:` + planNoun + `)|(?:` + testsNoun + `)|` + gateWord + `)`
	phrase   = quantity + version + det + adjective + noun + `(?: as (?:shown|written|proposed|presented|described|it is|they are))?`
	pronoun  = `(?:it all|all of (?:it|this|that|them|these|those)|both of (?:them|these)|(?:the|this) (?:whole|entire) (?:thing|lot)|the lot|(?:this|that) one|its?|this|that|these|those|them|they|everything|both|all)`
	object   = `(?:` + det + adjective + `(?:version|draft|revision)|` + phrase + `|` + pronoun + `)`
	adverb   = `(?:(?:hereby|fully|completely|entirely|officially|formally|definitely|absolutely|gladly|happily|certainly|wholeheartedly|now|also|both|explicitly|herewith|clearly|finally|thereby|totally|really|do|strongly|unreservedly|unconditionally|already|still) )*`
	approved = `(?:approved|approve|approving|lgtm)`
	mine     = `(?:my|our) (?:(?:full|explicit|formal|official|unconditional|final) )?`
)

// asIs says that nothing is to change.
const asIs = `(?:(?:exactly )?(?:as|like) (?:is|it is|it stands|they are|they stand|that|written|proposed|planned|described|presented|submitted|posted|shown|agreed|discussed|usual|always|promised|expected|this|(?:i )?(?:imagined|hoped)))`

// after are remarks that may stand behind an approval without changing it.
const after = `(?: (?:` + asIs +
	`|(?:that |which )?you (?:have )?(?:wrote|written|posted|sent|showed|shown|presented|made|prepared|proposed|drafted|submitted|described)` +
	`|in (?:its|their|this) (?:(?:present|current|final|latest) )?(?:form|version)|above|here|now|today|again|finally|at last|once more|too|as well|also|completely|fully|entirely|in full|in its entirety|wholeheartedly|unconditionally|unreservedly|indeed` +
	`|(?:without|with no) (?:any )?(?:further )?(?:` + objection + `|changes?|hesitation|conditions?|reserve|second thoughts?)|without a second thought|with (?:pleasure|thanks)` +
	`|(?:from|for|by|on) (?:me|us|myself|(?:my|our) (?:side|part|end)|here)|for (?:the )?implementation|for this (?:task|session)))*`

var lead = `(?:(?:yes|yea|yeh|aye|now|@claude|aight|ya|\+1|thumbs up|ja|oui|sí|sim|tak|um|uh|erm|comma|k|kk|yep|yeah|yup|ok|okay|sure|fine|great|perfect|good|nice|cool|alright|all right|right|well|thanks|thank you|thank you very much|many thanks|cheers|please|therefore|thus|hence|finally|wow|awesome|excellent|amazing|hi|hello|hey|of course|lovely|wonderful|brilliant|super|all good|all fine|agreed|absolutely|definitely|certainly|done|happy with it|` + looks + `|` + named + ` (?:is|are|looks?|sounds?|reads?) (?:very |really |all )?` + sound + `(?: (?:to|for) (?:me|us))?|` + mild + `|(?:i|we) (?:(?:hereby|herewith|gladly) )?(?:(?:wish|am writing|would like) to )?(?:inform you|confirm|say|declare) that|this is to (?:inform you|confirm|say) that|(?:from|for) (?:me|us|(?:my|our) side)|i would say(?: that)?|(?:i think )?we are (?:all )?good(?: here)?|i think (?:(?:it|this|that)|` + named + `) (?:is|looks) (?:very |really )?` + sound + `|with this|period|full stop|y|ack|go ahead|go for it|claude|team|as such|as planned|with that|in short|overall|all in all|in that case|verdict|today|this time|by now|meanwhile|result|conclusion|decision|my verdict|my answer|answer|again|once more) )*`

const looks = `(?:(?:it|this|that|these|those|they|all|everything) )?(?:looks?|sounds?|reads?|seems?) (?:very |really |all )?` + sound + `(?: to me| to us)?`

// mild praise is no go-ahead of its own.
const mild = `(?:(?:it|this|that|these|those|they|all|everything) )?(?:looks?|sounds?|reads?|seems?) (?:very |really |all )?(?:solid|reasonable|sensible|clean|alright|awesome|amazing|lovely|legit)(?: to me| to us)?`

const sound = `(?:good|great|fine|ok|okay|perfect|right|well|excellent|nice)`

var forms = compileForms(
	// approved · lgtm · approve · approved by me
	adverb+approved+`(?: `+approved+`)*`,
	// the plan is approved · tests approved · everything has been approved
	object+` (?:(?:is|are|has been|have been|gets|get|stands?|counts? as|is hereby|are hereby|(?:(?:is|are) )?all) )?`+adverb+`(?:approved|lgtm)`,
	// I approve · we approve these skeletons · I'm approving this plan
	`(?:i|we) `+adverb+`(?:approve|approved|have `+adverb+`approved|(?:am|are) `+adverb+`approving|(?:am|are) (?:happy|glad|pleased) to approve)(?: of)?(?: `+object+`)?`,
	// approve the tests · approved all of them
	adverb+`(?:approve|approving) `+object,
	adverb+`approved (?:`+quantity+version+`(?:the|this|that|these|those|your|our) `+adjective+noun+`|all of (?:it|this|them)|it|them)`,
	// lgtm for the plan
	`lgtm (?:(?:on|for|to|with|about) )?`+object,
	// you have my approval · the plan gets our approval
	`(?:you|`+object+`) (?:have|has|got|have got|gets|get|now have|meets with) `+mine+`approval(?: (?:for|of|on|to) (?:`+object+`|proceed|start|go ahead|continue|implement|begin))?`,
	`(?:(?:i|we) )?(?:(?:am|are) (?:happy|glad|pleased) to )?`+adverb+`(?:give|grant|confirm|am giving|are giving) (?:(?:you|`+object+`) )?`+mine+`approval(?: (?:for|of|on|to) `+object+`)?`,
	`(?:i|we) `+adverb+`(?:give|grant) (?:full |formal )?approval (?:for|of|on|to) `+object,
	`(?:`+mine+`|plan |test |tests )?approval (?:is )?(?:hereby |now )?(?:given|granted)`,
	`(?:this is|here is|giving(?: you)?|consider this|(?:take|accept) this(?: message)? as|here you have) `+mine+`approval(?: (?:for|of|on) `+object+`)?`,
	// consider the plan approved
	`(?:you can |you may |kindly )?(?:consider|count|regard|mark|treat|take) `+object+` (?:as )?approved`,
	// that is an lgtm from me
	`(?:(?:it|this|that) is )?(?:an? )?(?:lgtm|approved|full approval) from (?:me|us|my side)`,
	`you are (?:hereby |now )?approved`,
	// happy to approve
	`(?:(?:very |really |more than )?(?:happy|glad|pleased)|(?:it is )?(?:my|our|a) pleasure) to approve(?: `+object+`)?`,
	// you have the approval for the plan
	`you (?:have|have got|got) (?:the )?approval(?: (?:for|of) `+object+`)?`,
)

// compileForms prepares forms. Each is compiled when a clause is first held
// against it: all of them take some 20 ms and 2 MB, and most approvals are of
// the first.
func compileForms(cores ...string) []*lazyregexp.Regexp {
	var out []*lazyregexp.Regexp
	for _, core := range cores {
		out = append(out, lazyregexp.New(`^`+lead+`(?:`+core+`)`+after+`$`))
	}
	return out
}

// othersApprove tells of somebody else's approval.
var othersApprove = lazyregexp.New(`^(?:they|claude|team) (?:has |have )?approve[ds]?\b`)

var approvalWord = lazyregexp.New(`(?:^| )(?:approved|approve|approving|approval|lgtm)(?: |$)`)

// approvalForm tells whether the words of a clause are an approval by their form, and which
// gate it names. Go-aheads may follow without a comma: "approved go ahead and implement it".
func approvalForm(words []string) (Gate, bool) {
	s := strings.Join(words, " ")
	// "please approve" asks somebody else to.
	if len(words) > maxClause || !approvalWord.MatchString(s) || strings.Contains(s+" ", "please approve ") || othersApprove.MatchString(s) {
		return "", false
	}
	for n := len(words); n > 0; n-- {
		if head := strings.Join(words[:n], " "); !ofForm(head) {
			continue
		} else if rest := (clause{words: words[n:]}); n == len(words) || goesOn(rest, words[n-1]) {
			gate := Gate("")
			if named := gateMention.FindStringSubmatch(head); named != nil && named[1] != "" {
				gate = Plan
			} else if named != nil {
				gate = Tests
			}
			return gate, true
		}
	}
	return "", false
}

func ofForm(s string) bool {
	return slices.ContainsFunc(forms, func(f *lazyregexp.Regexp) bool { return f.MatchString(s) })
}

// goesOn tells whether what follows an approval in its clause changes nothing. Right
// behind the verb stands what is approved: "approve small commits".
func goesOn(rest clause, behind string) bool {
	return !prepositions[rest.words[0]] && !bound.MatchString(rest.String()+" ") && (goAheadWeight(rest.words) > 0 || behind != "approve" && behind != "approving" && harmless(rest)) ||
		reasons.MatchString(rest.String()) && reasoned(rest)
}

var gateMention = lazyregexp.New(`(?:^| )(?:(` + planNoun + `)|(` + testsNoun + `))(?: |$)`)

// namedGate is the gate whose noun the words hold; empty for none or both.
func namedGate(words string) Gate {
	var plan, tests bool
	for _, m := range gateMention.Regexp().FindAllStringSubmatch(words, -1) {
		plan = plan || m[1] != ""
		tests = tests || m[2] != ""
	}
	switch {
	case plan && !tests:
		return Plan
	case tests && !plan:
		return Tests
	}
	return ""
}
