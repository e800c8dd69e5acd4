package dialect

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/writbus/writ/schemas/excerpt"
)

// Taint remembers what the untrusted results of a conversation said, so that a
// command that one of them dictated does not run because an agent quotes it.
// The zero value is a conversation without results.
type Taint struct {
	texts   []string // with blanks folded, as they are and bare
	lines   map[string]bool
	outside bool
}

// Outside notes that text from outside is in the conversation: what it dictated
// need not stand in it word for word, so no command line runs unasked any more.
func (t *Taint) Outside() { t.outside = true }

// FromOutside reports whether text from outside is in the conversation.
func (t *Taint) FromOutside() bool { return t.outside }

// Add takes an untrusted result.
func (t *Taint) Add(body string) {
	if !strings.Contains(body, "/") {
		return
	}
	t.texts = append(t.texts, fold(body), bare(body))
	if t.lines == nil {
		t.lines = map[string]bool{}
	}
	for text := range strings.Lines(body) {
		if line := bare(undecorate(text)); strings.HasPrefix(line, "/") {
			t.lines[line] = true
		}
	}
}

// Clone returns a copy that further results do not change: what a child starts
// with, whose caller may quote to it what an untrusted result said.
func (t *Taint) Clone() Taint {
	return Taint{texts: slices.Clone(t.texts), lines: maps.Clone(t.lines), outside: t.outside}
}

// Check decides about a command that is granted: Ask for a command line where text
// from outside is in the conversation, and for what stands in an untrusted result;
// Allow otherwise. A command with arguments is found anywhere in a result, one
// without only on a line of its own. Blanks are compared folded, quotes, escapes,
// case and forms of letters not at all. /help is always allowed.
func (t *Taint) Check(verb, args string) Decision {
	if verb == "help" {
		return Decision{Verdict: Allow}
	}
	if t.outside && verb == "exec" {
		return Decision{Verdict: Ask, Reason: "WARN: text from outside is in this conversation; /exec runs only after the user confirmed it."}
	}
	command := "/" + verb + " " + args
	found := t.lines[bare(command)]
	if strings.TrimSpace(args) != "" {
		for _, text := range t.texts {
			found = found || holds(text, fold(command)) || holds(text, bare(command))
		}
	}
	if !found {
		return Decision{Verdict: Allow}
	}
	return Decision{Verdict: Ask, Reason: "WARN: /" + verb + " stands word for word in an untrusted result of this conversation; " +
		"it runs only after the user confirmed it."}
}

// Dictated reports whether a text holds a command that would be asked for.
func (t *Taint) Dictated(text string) bool {
	for line := range strings.Lines(text) {
		for i := range line {
			if line[i] != '/' {
				continue
			}
			verb, args := cutWord(line[i+1:])
			if Lookup(verb) != nil && t.Check(verb, args).Verdict != Allow {
				return true
			}
		}
	}
	return false
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

// bare is a text without what leaves a command the same: quotes and escapes, and
// marks that are not seen. Letters are small and of one form.
func bare(s string) string {
	return fold(strings.Map(func(r rune) rune {
		if strings.ContainsRune("\"'`\\“”„‘’", r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(s)))
}
