package scanner

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas/spelling"
)

// Sink takes what a Scanner finds, in stream order.
type Sink interface {
	// Prose gets visible text. The bytes are valid during the call only.
	Prose(text []byte)
	// Command gets a command once its line or block is complete.
	Command(Command)
	// Diagnostic gets what looked like a command, a fence or a block and was none.
	Diagnostic(Diagnostic)
}

// Status says whether a command may be run. The zero value may not.
type Status int

const (
	// Unterminated is a block whose terminator never came.
	Unterminated Status = iota
	// Complete is a whole line or a terminated block.
	Complete
)

// String returns "unterminated" or "ok".
func (s Status) String() string {
	if s == Complete {
		return "ok"
	}
	return "unterminated"
}

// Command is one command of a stream.
type Command struct {
	Verb    string
	Args    string // after the verb, without blanks, tabs and CR at both ends
	Body    string // verbatim bytes of a terminated block, last line end included
	HasBody bool   // a terminated block, were its body empty
	Status  Status
	// Line is the opener's line, counted from 1.
	Line int
	// Start and End are the bytes of the stream that the command hides.
	Start, End int64
	// Swallowed names the first commands that stand in an unterminated block and
	// were taken for its content; SwallowedCount counts all of them.
	Swallowed      []string
	SwallowedCount int
}

// maxSwallowed bounds the names kept of swallowed commands: the number of
// commands one response may hold by default.
const maxSwallowed = 32

// Kind names a diagnostic. Persisted in events; never change a value.
type Kind string

// The kinds of diagnostics a scanner reports.
const (
	UnknownVerb       Kind = "unknown_verb"
	Indented          Kind = "indented"
	MissingArgument   Kind = "missing_argument"
	UnterminatedBlock Kind = "unterminated_block"
	UnclosedFence     Kind = "unclosed_fence"
	UnclosedThink     Kind = "unclosed_think"
	StrayTerminator   Kind = "stray_terminator"
)

// Diagnostic reports what was not run. It is never an error of the stream.
type Diagnostic struct {
	Kind Kind
	// Line is where it begins, counted from 1.
	Line int
	// Name is the verb, terminator or mark that it is about, shortened to 64 bytes.
	Name string
	// Suggestion is the known verb that an unknown one resembles; "" if none does.
	Suggestion string
}

// String is a one-line note for the agent: what, where, what to do next.
func (d Diagnostic) String() string {
	switch d.Kind {
	case UnknownVerb:
		if d.Suggestion != "" {
			return fmt.Sprintf("line %d: unknown verb /%s, not run; did you mean /%s?", d.Line, d.Name, d.Suggestion)
		}
		return fmt.Sprintf("line %d: unknown verb /%s, not run; /help lists the verbs", d.Line, d.Name)
	case Indented:
		return fmt.Sprintf("line %d: /%s is indented, not run; a command starts at column 0", d.Line, d.Name)
	case MissingArgument:
		return fmt.Sprintf("line %d: /%s lacks its argument, not run; /help %s shows its form", d.Line, d.Name, d.Name)
	case UnterminatedBlock:
		return fmt.Sprintf("line %d: the block of /%s was never closed, nothing of it was run; close it with its terminator at column 0", d.Line, d.Name)
	case UnclosedFence:
		return fmt.Sprintf("line %d: the fence %s was never closed, nothing after it was run; close it with the same marks", d.Line, d.Name)
	case UnclosedThink:
		return fmt.Sprintf("line %d: <think> was never closed, nothing after it was run; close it with </think>", d.Line)
	case StrayTerminator:
		return fmt.Sprintf("line %d: /%s closes nothing, ignored; open a block first", d.Line, d.Name)
	default:
		return fmt.Sprintf("line %d: %s", d.Line, d.Kind)
	}
}

// suggest returns the verb nearest to a name: at most two edits away, and fewer
// than half of the name's length. The first of equals wins.
func (t *Table) suggest(name string) string {
	name = strings.ToLower(name)
	best, least := "", 3
	for _, verb := range t.names {
		if d := spelling.Distance(name, verb); d < least && 2*d < len(name)+1 {
			best, least = verb, d
		}
	}
	return best
}
