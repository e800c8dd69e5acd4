package scanner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrTable is wrapped by the errors of NewTable.
var ErrTable = errors.New("scanner: bad verb table")

// Verb is what the scanner has to know about one verb.
type Verb struct {
	Name     string // lower case, as written after the slash
	Required bool   // an empty argument is a missing one
	Block    *Block // nil: always a single line
}

// Block describes the block that a verb may open.
type Block struct {
	// Words are what the argument begins with for the verb to open its block.
	// None: every use opens it.
	Words []string
	// Terminators are the words that close it, after a slash at column 0.
	Terminators []string
	// Optional blocks exist only where a terminator follows before the next
	// known verb; otherwise the verb is a single line.
	Optional bool
	// Whole are first words that make an optional block's opener complete in one
	// line.
	Whole []string
	// Colon makes it complete where a colon, followed by a blank, is in it.
	Colon bool
}

// Table is an index of verbs. It is immutable and may be shared.
type Table struct {
	verbs       map[string]*Verb
	terminators map[string]bool
	prefixes    map[string]bool // of verbs and terminators
	names       []string
}

// NewTable indexes verbs. A name that the scanner could never read, a name used
// twice or a block without a terminator gives an error that wraps ErrTable.
func NewTable(verbs []Verb) (*Table, error) {
	t := &Table{verbs: map[string]*Verb{}, terminators: map[string]bool{}, prefixes: map[string]bool{}}
	for _, v := range verbs {
		if !isName(v.Name) || v.Name != strings.ToLower(v.Name) {
			return nil, fmt.Errorf("%w: %q is no verb", ErrTable, v.Name)
		}
		if t.verbs[v.Name] != nil {
			return nil, fmt.Errorf("%w: %q stands twice", ErrTable, v.Name)
		}
		t.verbs[v.Name] = &v
		t.names = append(t.names, v.Name)
		t.index(v.Name)
		if v.Block == nil {
			continue
		}
		if len(v.Block.Terminators) == 0 {
			return nil, fmt.Errorf("%w: the block of %q has no terminator", ErrTable, v.Name)
		}
		for _, word := range v.Block.Terminators {
			if !isName(word) {
				return nil, fmt.Errorf("%w: %q is no terminator", ErrTable, word)
			}
			t.terminators[word] = true
			t.index(word)
		}
	}
	for word := range t.terminators {
		if t.verbs[word] != nil {
			return nil, fmt.Errorf("%w: %q is a verb and a terminator", ErrTable, word)
		}
	}
	return t, nil
}

func (t *Table) index(name string) {
	for i := 1; i <= len(name); i++ {
		t.prefixes[name[:i]] = true
	}
}

// verbOf returns the verb that a whole line at column 0 begins with.
func (t *Table) verbOf(line []byte) *Verb {
	line = trimRight(line)
	if len(line) < 2 || line[0] != '/' {
		return nil
	}
	end := 1
	for end < len(line) && isNameByte(line[end]) {
		end++
	}
	if end < len(line) && !isBlank(line[end]) {
		return nil
	}
	return t.verbs[string(line[1:end])]
}

// opens reports whether the argument makes the verb open its block.
func (b *Block) opens(args string) bool {
	if b == nil {
		return false
	}
	rest := args
	for _, word := range b.Words {
		var first string
		first, rest = firstWord(rest)
		if first != word {
			return false
		}
	}
	if !b.Optional {
		return true
	}
	first, _ := firstWord(args)
	for _, word := range b.Whole {
		if first == word {
			return false
		}
	}
	return !b.Colon || !strings.Contains(args, ": ") && !strings.Contains(args, ":\t")
}

func (b *Block) closes(name string) bool {
	return slices.Contains(b.Terminators, name)
}

func firstWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func isName(s string) bool {
	if s == "" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isNameByte(b byte) bool {
	return isLetter(b) || b >= '0' && b <= '9' || b == '_' || b == '-'
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// trimRight cuts the blanks, tabs and line ends at the end of a line.
func trimRight(line []byte) []byte {
	for len(line) > 0 {
		switch line[len(line)-1] {
		case ' ', '\t', '\r', '\n':
			line = line[:len(line)-1]
		default:
			return line
		}
	}
	return line
}
