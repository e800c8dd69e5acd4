package phrase

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// The forms of an approving clause are regular expressions over its words,
// composed from the parts below. RE2 keeps them linear.
const (
	planNoun  = `(?:plan\.md|plan)(?: (?:gate|file|document|itself))?`
	testsNoun = `(?:(?:test|tests|testing) (?:skeletons?|files?|cases?|gate|suite)|skeleton (?:tests?|files?)|skeletons?|tests?)(?: themselves)?`
	gateWord  = `gate`

	adjective = `(?:(?:new|updated|revised|current|present|latest|corrected|reworked|second|third|final|whole|entire|full|complete|attached|above|proposed|failing|written|remaining|short|little|long|detailed|excellent|good|great|nice|lovely|very|red|generated|test-first) )*`
	det       = `(?:(?:the|this|that|these|those|your|our|said) )?`
	quantity  = `(?:(?:all|both|each|every one) (?:of )?)?`
	version   = `(?:(?:the|this|that|your) ` + adjective + `(?:version|draft|revision|state|form) of )?`

	noun     = `(?:(?:` + planNoun + `)|(?:` + testsNoun + `)|` + gateWord + `)`
	phrase   = quantity + version + det + adjective + noun + `(?: as (?:shown|written|proposed|presented|described|it is|they are))?`
	pronoun  = `(?:it all|all of (?:it|this|that|them|these|those)|both of (?:them|these)|(?:the|this) (?:whole|entire) (?:thing|lot)|the lot|(?:this|that) one|it|this|that|these|those|them|they|everything|both|all)`
	object   = `(?:` + det + adjective + `(?:version|draft|revision)|` + phrase + `(?: (?:for|to|of|about) (?:\S+)(?: \S+){0,7}?)?|` + pronoun + `)`
	adverb   = `(?:(?:hereby|fully|completely|entirely|officially|formally|definitely|absolutely|gladly|happily|certainly|wholeheartedly|now|also|both|explicitly|herewith|clearly|finally|thereby|totally|really|do|strongly|unreservedly|unconditionally|already) )*`
	approved = `(?:approved|approve|approving|lgtm)`
	mine     = `(?:my|our) (?:(?:full|explicit|formal|official|unconditional|final) )?`
)

// after are remarks that may stand behind an approval without changing it.
const after = `(?: (?:as (?:is|it is|it stands|they are|they stand|written|proposed|planned|described|presented|posted|shown|agreed|discussed|usual|always|promised)` +
	`|(?:that |which )?you (?:have )?(?:wrote|written|posted|sent|showed|shown|presented|made|prepared|proposed|drafted|submitted|described)` +
	`|above|here|now|today|again|too|as well|also|completely|fully|entirely|in full|in its entirety|wholeheartedly|unconditionally|unreservedly|indeed` +
	`|(?:without|with no) (?:any )?(?:further )?(?:changes?|reservations?|hesitation|objections?|conditions?|comments?|remarks?|reserve)` +
	`|no (?:further |more )?(?:changes?|comments?|questions?|objections?|complaints?|remarks?|issues?|problems?|notes?)(?: (?:needed|required|necessary|from me|from my side|left|at all))?` +
	`|from (?:me|us|my side|my end|our side|here)|by (?:me|us|myself)|ok|okay|(?:on|from) my (?:side|part|end)|with pleasure|with thanks` +
	`|for (?:me|us|implementation|the implementation|this task|this session)|everyone|team|claude|mate|bro|dude|man|buddy|(?:my )?friend|pal|boss|sir|then` +
	`|thanks(?: a lot| so much| a million| again)?|thank you(?: very much| so much)?|please|danke(?: dir| euch| sehr| schön)?|merci beaucoup|muchas gracias|grazie mille|bitte|por favor|s'il te plaît|merci|gracias|obrigad[oa]|grazie|tack|takk|bedankt|period|full stop|exclamation (?:mark|point)))*`

// onward are the beginnings of a continuation behind an approval without a
// comma: "approved go ahead and implement it".
const onward = `( (?:to (?:proceed|start|begin|continue|go|implement|code|write)|please|go|proceed|continue|start|begin|carry on|move on|keep going|let us|you (?:can|may|are free to|are clear to|are good to|should)|thanks|thank you|ship|do it|implement|write|build|on to|onwards?|next(?:$| (?:please|steps?|up|phase|write|go|the|you|we))|ready to|good to go|time to)\b.*)?`

var lead = `(?:(?:yes|aight|ya|\+1|thumbs up|ja|oui|sí|sim|tak|um|uh|erm|comma|k|kk|yep|yeah|yup|ok|okay|sure|fine|great|perfect|good|nice|cool|alright|all right|right|well|thanks|thank you|thank you very much|many thanks|cheers|please|therefore|thus|hence|finally|wow|awesome|excellent|amazing|hi|hello|hey|of course|lovely|wonderful|brilliant|super|all good|all fine|agreed|absolutely|definitely|certainly|done|happy with it|` + looks + `|go ahead|go for it|claude|team|as such|with that|in short|overall|all in all|in that case|verdict|today|this time|by now|meanwhile|result|conclusion|decision|my verdict|my answer|answer|again|once more) )*`

const looks = `(?:(?:it|this|that|these|those|they|all|everything) )?(?:looks?|sounds?|reads?|seems?) (?:very |really |all )?(?:good|great|fine|ok|okay|perfect|right|well|excellent|nice)(?: to me| to us)?`

var forms = compileForms(
	// approved · lgtm · approve · approved by me
	adverb+approved+`(?: `+approved+`)*`,
	// the plan is approved · tests approved · everything has been approved
	object+` (?:(?:is|are|has been|have been|gets|get|stands?|counts? as|is hereby|are hereby) )?`+adverb+`(?:approved|lgtm)`,
	// I approve · we approve these skeletons · I'm approving this plan
	`(?:i|we) `+adverb+`(?:approve|approved|have `+adverb+`approved|(?:am|are) `+adverb+`approving|(?:am|are) (?:happy|glad|pleased) to approve)(?: of)?(?: `+object+`)?`,
	// approve the tests · approved all of them
	adverb+`(?:approve|approving) `+object,
	adverb+`approved (?:`+quantity+version+`(?:the|this|that|these|those|your|our) `+adjective+noun+`|all of (?:it|this|them)|it|them)`,
	// lgtm for the plan
	`lgtm (?:(?:on|for|to|with|about) )?`+object,
	// you have my approval · the plan gets our approval
	`(?:you|`+object+`) (?:have|has|got|have got|gets|get|now have) `+mine+`approval(?: (?:for|of|on|to) (?:`+object+`|proceed|start|go ahead|continue|implement|begin))?`,
	`(?:i|we) `+adverb+`(?:give|grant|am giving|are giving) (?:(?:you|`+object+`) )?`+mine+`approval(?: (?:for|of|on|to) `+object+`)?`,
	`(?:`+mine+`|plan |test |tests )?approval (?:is )?(?:hereby |now )?(?:given|granted)`,
	`(?:this is|here is|consider this|take this as|here you have) `+mine+`approval(?: (?:for|of|on) `+object+`)?`,
	// consider the plan approved
	`(?:you can |you may )?(?:consider|count|regard|mark|treat|take) `+object+` (?:as )?approved`,
	// that is an lgtm from me
	`(?:(?:it|this|that) is )?(?:an? )?(?:lgtm|approved) from (?:me|us|my side)`,
	`you are (?:hereby |now )?approved`,
	// happy to approve
	`(?:very |really |more than )?(?:happy|glad|pleased) to approve(?: `+object+`)?`,
	// you have the approval for the plan
	`you (?:have|have got|got) the approval (?:for|of) `+object,
	// the apostrophe left out
	`its `+adverb+`(?:all )?approved`,
)

// compileForms prepares forms. Each is compiled when a clause is first held
// against it: all of them take some 20 ms and 2 MB, and most approvals are of
// the first.
func compileForms(cores ...string) []*lazyregexp.Regexp {
	var out []*lazyregexp.Regexp
	for _, core := range cores {
		out = append(out, lazyregexp.New(`^`+lead+`(?:`+core+`)`+after+onward+`$`))
	}
	return out
}

// matched is what an approving clause says.
type matched struct {
	gate   Gate   // the gate it names, empty if none
	onward string // the continuation in the same clause
	core   string // the clause without the continuation
}

// othersApprove tells of somebody else's approval.
var othersApprove = lazyregexp.New(`^(?:they|claude|team) (?:has |have )?approve[ds]?\b`)

var approvalWord = lazyregexp.New(`(?:^| )(?:approved|approve|approving|approval|lgtm)(?: |$)`)

// approves tells whether the clause is an approval by its form.
func (c clause) approves() (matched, bool) {
	s := c.String()
	// "please approve" asks somebody else to.
	if len(s) > 600 || !approvalWord.MatchString(s) || strings.Contains(s+" ", "please approve ") || othersApprove.MatchString(s) || irony.MatchString(" "+s+" ") {
		return matched{}, false
	}
	for _, form := range forms {
		m := form.Regexp().FindStringSubmatch(s)
		if m == nil {
			continue
		}
		last := m[len(m)-1] // the one group
		out := matched{onward: strings.TrimSpace(last), core: strings.TrimSpace(strings.TrimSuffix(s, last))}
		switch named := gateMention.FindStringSubmatch(out.core); {
		case named == nil:
		case named[1] != "":
			out.gate = Plan
		default:
			out.gate = Tests
		}
		return out, true
	}
	return matched{}, false
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
