package enforcement

import (
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxClaim bounds how much of an agent's last message is read, in bytes: what
// it claims stands at its beginning or end.
const maxClaim = 8 << 10

// Wordings by which agents say that work is done and works. They are matched
// against one sentence, lower case.
var claims = []*lazyregexp.Regexp{
	lazyregexp.New(`\b(all|the|every|each|both|unit|existing|new|\d+)( \w+){0,3} (tests?|checks?|specs?|cases?|suites?)( \w+){0,2} (pass|passes|passed|passing|green|succeed|succeeds|succeeded)\b`),
	lazyregexp.New(`\b(tests?|test suite|build|everything|all|it) (is|are|now|all)? ?(pass|passes|passing|green|works|working|compiles)\b`),
	lazyregexp.New(`\b(everything|it|this|that|all of it|the \w+( \w+)?) (now )?(works|is working)\b`),
	lazyregexp.New(`\b(task|feature|fix|work|implementation|bug|issue|change|refactoring|migration|everything|it|this|that|all)( \w+)? (is|are|has been|have been) (now |all |fully )?(done|complete|completed|fixed|resolved|finished|implemented|ready|working|solved)\b`),
	lazyregexp.New(`\b(i|i've|i have|we|we've|we have) (now |successfully |just |fully )*(implemented|fixed|completed|finished|resolved|solved|verified|tested)\b`),
	lazyregexp.New(`\bsuccessfully (implemented|fixed|completed|added|resolved|refactored|migrated|tested|verified)\b`),
	lazyregexp.New(`^(all )?(done|finished|complete|completed|fixed|implemented|verified|ready)[.!: ]*$`),
	lazyregexp.New(`^(done|fixed|implemented|completed)\b[ :–—-]`),
	lazyregexp.New(`\b(production|merge)[- ]ready\b`),
}

// hedges are the words of a sentence that claims nothing.
var hedges = lazyregexp.New(`\b(not|never|cannot|without|unless|until|once|if|when|should|would|could|might|may|will|todo|yet|remaining|except|please|try|fail|fails|failed|failing|nothing|partly|partially|half|plan|plans|next)\b|n't\b|\?$`)

// unverified are the words of an agent that says itself that it verified
// nothing: it claims nothing either.
var unverified = lazyregexp.New(`\b(untested|unverified|not (yet )?(been )?(tested|verified|run|compiled|checked)|(did|could|have|was|were)( not|n't) (run|test|verify|check|able to (run|test|verify))|(couldn't|didn't|haven't|wasn't able to|unable to) (run|test|verify|check|verified|tested|checked|be tested|been tested)|no (way|tests) to (run|verify|test)|please (run|verify|test)|without (running|testing|verifying))\b`)

var sentences = lazyregexp.New(`[.!?](\s|$)|\n+|;\s`)

// claimsSuccess finds the sentence by which an agent says that its work is done
// and works; "" where it says no such thing, or says itself that nothing was
// verified.
func claimsSuccess(message string) string {
	if len(message) > maxClaim {
		message = message[:maxClaim/2] + "\n" + message[len(message)-maxClaim/2:]
	}
	message = strings.ToValidUTF8(withoutCode(message), " ")
	lower := strings.NewReplacer("’", "'", "*", "", "_", " ", "`", "", "✅", "", "#", "").Replace(strings.ToLower(message))
	if unverified.MatchString(lower) {
		return ""
	}
	at := 0
	for at < len(lower) {
		end, next := len(lower), len(lower)
		if loc := sentences.Regexp().FindStringIndex(lower[at:]); loc != nil {
			end, next = at+loc[0]+1, at+loc[1]
			if lower[end-1] == '\n' {
				end--
			}
		}
		sentence := strings.Trim(lower[at:end], " \t\r\n-•>|")
		at = next
		if sentence == "" || hedges.MatchString(sentence) {
			continue
		}
		for _, claim := range claims {
			if claim.MatchString(sentence) {
				return excerpt.Runes(sentence, 120)
			}
		}
	}
	return ""
}

// withoutCode leaves out fenced blocks: what is in them was printed, not said.
func withoutCode(text string) string {
	var kept []string
	fenced := false
	for line := range strings.Lines(text) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			fenced = !fenced
			continue
		}
		if !fenced {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
