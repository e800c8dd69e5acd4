package dialect

import (
	"cmp"
	"fmt"
	"time"
	"unicode/utf8"
)

// Limits bound what one response of an agent may do, unless said otherwise. As a
// setting, what is 0 is the language's own.
type Limits struct {
	Commands   int           `yaml:"commands"`    // all commands together
	Fetches    int           `yaml:"fetches"`     // fetch and browse together
	Searches   int           `yaml:"searches"`    // searches of the web
	Advises    int           `yaml:"advises"`     // questions to the advisor
	Children   int           `yaml:"children"`    // of one parallel block
	Body       int           `yaml:"body"`        // bytes of one result
	Batch      int           `yaml:"batch"`       // bytes of all results of a response
	Output     int           `yaml:"output"`      // bytes of one exec's output
	Exec       time.Duration `yaml:"exec"`        // how long one exec may take
	ModelCalls int           `yaml:"model_calls"` // model calls for one message
}

// DefaultLimits are the language's own.
func DefaultLimits() Limits {
	return Limits{
		Commands: 32, Fetches: 3, Searches: 4, Advises: 2, Children: 16,
		Body: 16 << 10, Batch: 32 << 10, Output: 32 << 10, Exec: 60 * time.Second, ModelCalls: 6,
	}
}

// The most that a limit can be set to: beyond these one response could take
// the daemon's memory or keep it busy for hours.
const (
	maxCount = 1000
	maxBytes = 4 << 20
	maxExec  = time.Hour
)

// Check names the first limit that cannot be set so.
func (l Limits) Check() error {
	for _, c := range []struct {
		name        string
		value, most int
	}{
		{"commands", l.Commands, maxCount},
		{"fetches", l.Fetches, maxCount},
		{"searches", l.Searches, maxCount},
		{"advises", l.Advises, maxCount},
		{"children", l.Children, maxCount},
		{"model_calls", l.ModelCalls, maxCount},
		{"body", l.Body, maxBytes},
		{"batch", l.Batch, maxBytes},
		{"output", l.Output, maxBytes},
	} {
		if c.value < 0 || c.value > c.most {
			return fmt.Errorf("%s is %d, must be 1 to %d, or 0 for the language's own", c.name, c.value, c.most)
		}
	}
	if l.Exec < 0 || l.Exec > maxExec {
		return fmt.Errorf("exec is %s, must be a duration up to %s, such as 90s", l.Exec, maxExec)
	}
	return nil
}

// OrDefault returns the limits with the language's own where nothing is set.
func (l Limits) OrDefault() Limits {
	own := DefaultLimits()
	return Limits{
		Commands: cmp.Or(l.Commands, own.Commands), Fetches: cmp.Or(l.Fetches, own.Fetches),
		Searches: cmp.Or(l.Searches, own.Searches), Advises: cmp.Or(l.Advises, own.Advises),
		Children: cmp.Or(l.Children, own.Children), Body: cmp.Or(l.Body, own.Body),
		Batch: cmp.Or(l.Batch, own.Batch), Output: cmp.Or(l.Output, own.Output),
		Exec: cmp.Or(l.Exec, own.Exec), ModelCalls: cmp.Or(l.ModelCalls, own.ModelCalls),
	}
}

// Budget is what one response has used. The zero value of its counts is a
// response that begins.
type Budget struct {
	limits   Limits
	commands int
	used     map[Class]int
}

// Budget returns the budget of one response.
func (l Limits) Budget() *Budget { return &Budget{limits: l, used: map[Class]int{}} }

// Spend counts a command that is granted. Where the budget does not suffice it
// counts nothing, ok is false and the text is the command's result.
func (b *Budget) Spend(verb string) (result string, ok bool) {
	class := ClassNone
	if v := Lookup(verb); v != nil {
		class = v.Budget
	}
	if b.commands >= b.limits.Commands {
		return skipped(verb, b.limits.Commands, "commands"), false
	}
	if limit, what := b.limits.of(class); what != "" && b.used[class] >= limit {
		return skipped(verb, limit, what), false
	}
	b.commands++
	b.used[class]++
	return "", true
}

// Children counts the children of one parallel block and returns how many may
// run; the text names those that may not and is "" where all may.
func (b *Budget) Children(n int) (allowed int, result string) {
	if n <= b.limits.Children {
		return n, ""
	}
	return b.limits.Children, fmt.Sprintf("SKIPPED: children %d to %d of /parallel: budget of %d children. Ask for them in the next response.",
		b.limits.Children+1, n, b.limits.Children)
}

func (l Limits) of(class Class) (limit int, what string) {
	switch class {
	case ClassFetch:
		return l.Fetches, "fetches and browses"
	case ClassSearch:
		return l.Searches, "searches"
	case ClassAdvise:
		return l.Advises, "questions to the advisor"
	case ClassChild:
		return l.Children, "children"
	default:
		return 0, ""
	}
}

func skipped(verb string, limit int, what string) string {
	return fmt.Sprintf("SKIPPED: /%s: budget of %d %s per response. Ask for it in the next response.", verb, limit, what)
}

// Cut shortens a text to at most limit bytes, on a rune, and says so with the
// original size. The note is part of the limit where it fits.
func Cut(text string, limit int) string { return CutBefore(text, limit, 0) }

// maxEnd bounds what CutBefore keeps of an end, in bytes.
const maxEnd = 1 << 10

// CutBefore is Cut for a text whose last bytes, end of them, say how it came out:
// what is cut stands before them.
func CutBefore(text string, limit, end int) string {
	if len(text) <= limit {
		return text
	}
	at := len(text) - min(max(end, 0), maxEnd, len(text))
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	note := fmt.Sprintf("\n[cut; %d bytes in all]\n", len(text))
	cut := min(max(limit-len(note)-(len(text)-at), 0), at)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + note + text[at:]
}
