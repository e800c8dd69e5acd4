package dialect

import (
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/excerpt"
)

// Taint remembers what the untrusted results of a conversation said, so that a
// command that one of them dictated does not run because an agent quotes it.
// The zero value is a conversation without results.
type Taint struct {
	texts []string // with blanks folded
	lines map[string]bool
}

// Add takes an untrusted result.
func (t *Taint) Add(body string) {
	if !strings.Contains(body, "/") {
		return
	}
	t.texts = append(t.texts, fold(body))
	if t.lines == nil {
		t.lines = map[string]bool{}
	}
	for text := range strings.Lines(body) {
		if bare := undecorate(text); strings.HasPrefix(bare, "/") {
			t.lines[bare] = true
		}
	}
}

// Clone returns a copy that further results do not change: what a child starts
// with, whose caller may quote to it what an untrusted result said.
func (t *Taint) Clone() Taint {
	return Taint{texts: slices.Clone(t.texts), lines: maps.Clone(t.lines)}
}

// Check decides about a command that is granted: Ask where the same command
// line stands in an untrusted result, Allow otherwise. A command with arguments
// is found anywhere in a result, one without only on a line of its own. Blanks
// are compared folded. /help is always allowed.
func (t *Taint) Check(verb, args string) Decision {
	if verb == "help" {
		return Decision{Verdict: Allow}
	}
	command := fold("/" + verb + " " + args)
	found := t.lines[command]
	if strings.TrimSpace(args) != "" {
		for _, text := range t.texts {
			found = found || holds(text, command)
		}
	}
	if !found {
		return Decision{Verdict: Allow}
	}
	return Decision{Verdict: Ask, Reason: "WARN: /" + verb + " stands word for word in an untrusted result of this conversation; " +
		"it runs only after the user confirmed it."}
}

// holds finds a command that nothing continues on the left; on the right its
// argument may go on in the text, as a sentence does.
func holds(text, command string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], command)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(command)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordByte(b byte) bool {
	return b == '/' || b == '_' || b == '-' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}

// undecorate takes off what quoting, lists and code put around a line.
func undecorate(s string) string {
	s = strings.Trim(s, " \t\r\n>*-+•`\"'“”„")
	s = strings.TrimLeft(strings.TrimLeft(s, "0123456789"), ".) \t`\"'")
	return fold(s)
}

// fold makes every run of blanks and line ends one blank.
func fold(s string) string { return excerpt.Line(s) }
