package enforcement

import (
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/enforcement/phrase"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// maxKept bounds the prompts for later that a session keeps in mind.
const maxKept = 256

var textQueued = wording{
	"a prompt that approves, or that changes the mode, is typed by the user; none is scheduled, sent or queued.",
	"Hand in a text that says what to do, without words of approval, and wait for the user's.",
}

// queues judges prompts that a tool would hand in for later. What could act and is
// more than is kept in mind is handed in by nobody.
func (st stance) queues(prompts []string, set Settings) ruling {
	if keys := acting(prompts, set); len(keys) > 0 && len(st.Queued)+len(keys) > maxKept {
		return ruling{verdict: Deny, rule: RuleProtected, text: textQueued}
	}
	for _, prompt := range prompts {
		if st.wouldApprove(prompt, set) {
			return ruling{verdict: Deny, rule: RuleProtected, text: textQueued}
		}
	}
	return allowed
}

// What tools put around a prompt: when it is due, the command that takes it,
// quotation marks.
var (
	wrapper = lazyregexp.New(`(?is)^\s*(?:["'` + "`" + `“”]+|/[\w:.-]+\s|(?:[\d*/,-]+\s+){5}|(?:every|in|after|at)?\s*\d+(?:[.:]\d+)?\s*(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|am|pm)?\b[,:;-]?\s+)`)
	due     = lazyregexp.New(`(?is)(?:["'` + "`" + `“”]+|\s+(?:every|each|in|after|at)\s[^.\n]{1,40})\s*$`)
)

// withoutDue takes the time at which it is due from the end of a prompt. What due finds
// has at most 256 bytes between the white space or quotation marks before and behind it.
func withoutDue(prompt string) string {
	end := max(0, len(strings.TrimRight(prompt, "\t\n\f\r "))-256)
	end = len(strings.TrimRight(prompt[:end], "\t\n\f\r \"'`“”"))
	return prompt[:end] + due.ReplaceAllString(prompt[end:], "")
}

// wouldApprove tells whether a prompt, or what it is without its wrapping, would
// act for the user. A bare go-ahead does while a plan or tests wait; otherwise it
// is what loops are made of.
func (st stance) wouldApprove(prompt string, set Settings) bool {
	lower := strings.ToLower(prompt)
	if strings.Contains(lower, CommandApprove) || strings.Contains(lower, "/"+CommandMode) || strings.Contains(lower, ":"+CommandMode) {
		return true
	}
	for range 8 {
		if bare := strings.TrimSpace(prompt); addition.MatchString(bare) || resumption.MatchString(bare) {
			return true
		}
		read := phrase.Read(prompt)
		for _, gate := range []string{GatePlan, GateTests, GateImplementation} {
			j := judgeWording(read, gate, set.Phrases)
			if j.Approves && (j.Reason != phrase.BareGoAhead || st.Mode == ModeWork && (st.Phase() == PhasePlanning || st.Phase() == PhaseTesting)) {
				return true
			}
		}
		inner := withoutDue(wrapper.ReplaceAllString(prompt, ""))
		if inner == prompt {
			break
		}
		prompt = inner
	}
	return false
}

// promptKey is the digest of a prompt's letters and digits, whatever stands
// between them.
func promptKey(prompt string) string {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return ""
	}
	return Hash([]byte(strings.Join(words, " ")))
}

// acting are the digests of those among some prompts that a user's act could be;
// others need not be kept in mind.
func acting(prompts []string, set Settings) []string {
	var keys []string
	for _, prompt := range prompts {
		if key := promptKey(prompt); key != "" && MayAct(prompt, set) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// MayAct reports whether a prompt could be a user's act, whatever waits.
func MayAct(prompt string, set Settings) bool {
	waits := stance{State: State{Mode: ModeWork, Work: Work{Phase: PhasePlanning}}}
	return waits.wouldApprove(prompt, set)
}

// HandedIn reports whether a tool of a session handed in a prompt for later.
func HandedIn(s State, prompt string) bool { return slices.Contains(s.Queued, promptKey(prompt)) }

// queued keeps in mind what tools handed in for later.
func (s State) queued(keys []string) State {
	for _, key := range keys {
		if len(s.Queued) < maxKept && !slices.Contains(s.Queued, key) {
			s.Queued = append(slices.Clip(s.Queued), key)
		}
	}
	return s
}
