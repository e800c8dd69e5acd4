package dialect

import (
	"strings"
	"time"
)

// Class says which budget a command is counted in, besides that of all
// commands.
type Class int

const (
	// ClassNone has no budget of its own.
	ClassNone Class = iota
	// ClassFetch are fetch and browse together.
	ClassFetch
	// ClassSearch are searches.
	ClassSearch
	// ClassAdvise are questions to the advisor.
	ClassAdvise
	// ClassChild are children of parallel.
	ClassChild
)

// Block describes the block that a verb may open. Its fields are those the
// scanner takes, in its order, so that one converts to the other.
type Block struct {
	Words       []string // what the argument begins with; none: every use opens it
	Terminators []string // the words that close it, after a slash
	Optional    bool     // a single line unless a terminator follows
	Whole       []string // first words that make the opener complete in one line
	Colon       bool     // a colon and a blank make it complete
}

// Sub is a sub-verb.
type Sub struct {
	Name     string // one or two words
	Usage    string // what follows the name
	Mutating bool
	Help     string // one line
}

// Verb is one row of the table.
type Verb struct {
	Name     string
	Axis     string // perception, action, …
	Usage    string // what follows the name; "" where Subs say it
	Required bool   // an empty argument is a missing one
	Subs     []Sub
	Block    *Block
	Budget   Class
	Mutating bool          // may change something whatever the sub-verb; see also Sub.Mutating
	Timeout  time.Duration // of one run
	Scopes   []string      // keys that a capability may be scoped by
	Help     string        // one line
	Prompt   string        // one line for an agent that has the capability
}

// Capability is the string that grants all of the verb.
func (v *Verb) Capability() string { return "/" + v.Name }

// Sub returns the sub-verb that the argument begins with, and what follows it;
// nil where it begins with none.
func (v *Verb) Sub(args string) (sub *Sub, rest string) {
	for i := range v.Subs {
		name := v.Subs[i].Name
		if after, ok := cutWords(args, strings.Fields(name)); ok && (sub == nil || len(name) > len(sub.Name)) {
			sub, rest = &v.Subs[i], after
		}
	}
	return sub, rest
}

// Changes reports whether a use of the verb may change something. It then
// invalidates results that are reused within a message.
func (v *Verb) Changes(args string) bool {
	if sub, _ := v.Sub(args); sub != nil {
		return sub.Mutating
	}
	return v.Mutating
}

// Lookup returns the row of a verb, by its name without the slash; nil where
// there is none.
func Lookup(name string) *Verb {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// Verbs returns the whole table, in the order of help. It is not to be changed.
func Verbs() []Verb { return table }

// cutWords cuts words off the front of an argument, whatever blanks are between
// them.
func cutWords(args string, words []string) (rest string, ok bool) {
	rest = strings.TrimLeft(args, " \t")
	for _, word := range words {
		var first string
		if first, rest = cutWord(rest); first != word {
			return "", false
		}
	}
	return rest, true
}

func cutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimLeft(s[i:], " \t")
	}
	return s, ""
}
