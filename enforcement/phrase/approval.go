// Package phrase judges whether what a user typed approves the gate that
// waits.
//
// The whole prompt is read: code and quotations become one word each, the rest is cut
// into sentences and clauses. An approval is a clause of one of the forms people approve
// in ("approved", "I approve the plan", "you have my approval", "lgtm"), about the waiting
// gate or about nothing named. It counts only where every other clause is known to change
// nothing: a go-ahead or thanks; a phrase of a few classes (there is time, how any work is
// done, when to come back, where the user goes); a statement of the user's own reading or
// praise, whose unknown words stand where nouns do and whose known ones do not negate,
// bound, compare, report or put off; a reason in the plan's favour; and, before it, a fault
// or a doubt that is gone, a remark that is settled, that nothing is wrong or missing, of
// tests that they are red. What takes an approval back can be said in any words,
// so an unknown one elsewhere is asked about. A bare go-ahead ("yes", "go ahead") counts
// only when the prompt says nothing else, beside the question it quotes.
// `/writ-approve`, alone or with the gate's name, is the typed command.
//
// Guarantees: when in doubt the answer is no, with the cause; the same prompt
// always gets the same answer; time grows with the length of the prompt only.
// The language is English. The shortest forms of German, French, Spanish, Italian, Chinese and Japanese
// are go-aheads, which count only where nothing else is said; a project's own phrases
// come in Phrases, with nothing but go-aheads behind them.
//
// It does not know who typed the prompt or whether anything valid waits: a
// caller must ask it only for text that is a user's act, and count a bare
// go-ahead (Reason BareGoAhead) only while a valid plan or valid tests wait.
package phrase

import (
	"strings"
	"sync"
)

// Gate is what waits for approval (persisted; never change).
type Gate string

// The gates.
const (
	Plan  Gate = "plan"
	Tests Gate = "tests"
)

// Reasons of a judgement (recorded; never change).
const (
	Explicit     = "approval"      // yes: approval wording
	BareGoAhead  = "bare_go_ahead" // yes: the whole prompt is a go-ahead
	SlashCommand = "slash_command" // yes: the typed command

	NoWording        = "no_wording"        // nothing in it approves anything
	NamesOtherGate   = "names_other_gate"  // approves the gate that does not wait
	Question         = "question"          // "approved?"
	Beside           = "beside"            // an approval beside something that may change it
	Quoted           = "quoted"            // somebody's words or a program's output
	CommandMentioned = "command_mentioned" // talks about the slash command
	TooLong          = "too_long"          // has wording of approval, and more text than is judged
)

// Judgement is the answer for one prompt.
type Judgement struct {
	Approves bool
	Reason   string // one of the reasons above
	Left     string // the words that it was for; with Beside, they are not known to change nothing
}

// Phrases are approval wordings of a project's own language. An Approve phrase
// counts when it is a sentence of its own, a GoAhead phrase when the prompt
// consists of go-aheads only. Case and punctuation do not matter.
type Phrases struct {
	Approve []string
	GoAhead []string
}

// Judge tells whether the whole prompt is an approval of the waiting gate, with
// a project's phrases beside the English ones.
func Judge(prompt string, waiting Gate, extra Phrases) Judgement {
	return Read(prompt).Judge(waiting, extra)
}

// Reading is a prompt that is read once, however many gates it is judged for.
type Reading struct {
	prompt string
	text   func() (text, Judgement) // with a reason where the text is too long
}

// Read reads a prompt when it is first judged.
func Read(prompt string) Reading {
	return Reading{prompt, sync.OnceValues(func() (text, Judgement) {
		if len(prompt) > maxPrompt {
			return text{}, tooLong(prompt)
		}
		rest := setAside(prompt)
		if len(rest) > maxText {
			return text{}, tooLong(rest)
		}
		return readText(rest), Judgement{}
	})}
}

// Judge is [Judge] for the prompt that was read.
func (r Reading) Judge(waiting Gate, extra Phrases) Judgement {
	if waiting != Plan && waiting != Tests {
		return Judgement{Reason: NoWording}
	}
	if j, ok := judgeCommand(r.prompt, waiting); ok {
		return j
	}
	t, long := r.text()
	if long.Reason != "" {
		return long
	}
	own := compilePhrases(extra)
	if named, ok := goAhead(t, own.goAhead); ok {
		if named != "" && named != waiting {
			return Judgement{Reason: NamesOtherGate}
		}
		return Judgement{Approves: true, Reason: BareGoAhead}
	}
	return judge(t, waiting, own)
}

// Bounds of what is judged, in bytes: of a prompt, and of what is left of it
// without code and quotations. Who writes more than some thousand words has the
// typed command.
const (
	maxPrompt = 64 << 10
	maxText   = 8 << 10
)

func tooLong(text string) Judgement {
	lower := strings.ToLower(text)
	if strings.Contains(lower, "approv") || strings.Contains(lower, "lgtm") {
		return Judgement{Reason: TooLong}
	}
	return Judgement{Reason: NoWording}
}

const command = "/writ-approve"

// judgeCommand handles a prompt that contains the slash command; it approves
// only alone or with the gate's name.
func judgeCommand(prompt string, waiting Gate) (Judgement, bool) {
	lower := strings.ToLower(prompt)
	if !strings.Contains(lower, command) {
		return Judgement{}, false
	}
	switch f := strings.Fields(lower); {
	case f[0] != command || len(f) > 2:
		return Judgement{Reason: CommandMentioned}, true
	case len(f) == 1 || f[1] == string(waiting):
		return Judgement{Approves: true, Reason: SlashCommand}, true
	case f[1] == string(Plan) || f[1] == string(Tests):
		return Judgement{Reason: NamesOtherGate}, true
	}
	return Judgement{Reason: CommandMentioned}, true
}

type phraseSets struct{ approve, goAhead map[string]bool }

func compilePhrases(p Phrases) phraseSets {
	set := func(list []string) map[string]bool {
		m := map[string]bool{}
		for _, s := range list {
			if words := read(s).words(); words != "" {
				m[words] = true
			}
		}
		return m
	}
	return phraseSets{set(p.Approve), set(p.GoAhead)}
}
