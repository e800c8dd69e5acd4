package check

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/lexer"
	"github.com/writbus/writ/schemas/wordset"
)

// query is a piece of code with holes, and conditions on where it stands; the
// package comment says how one is written.
type query struct {
	words  [][]byte   // that every match has in its file
	holes  [][]string // of each, every match has one of these in its file, in small letters
	engine engine
}

// engine matches one query against sources of its language.
type engine interface {
	find(src *source, report func(from, to int))
}

// place is where a condition looks.
type place uint8

const (
	inside  place = iota // around, in the same function
	within               // around
	having               // in the function
	inWhole              // in the file
	before               // directly behind the match
)

// clause is one line of a query, its holes replaced by names.
type clause struct {
	place  place
	negate bool
	text   string
}

// hole is a part of a pattern that stands for any code.
type hole struct {
	name string // "_" and "" do not bind
	rest bool
	re   *regexp.Regexp
}

// holes maps the names that replace holes in a pattern's text to them.
type holes map[string]*hole

const holeName = "writHole"

// conditions are the words that begin a condition, the longer ones first.
var conditions = []struct {
	words  string
	place  place
	negate bool
}{
	{"not inside ", inside, true},
	{"inside ", inside, false},
	{"not within ", within, true},
	{"within ", within, false},
	{"having ", having, false},
	{"without ", having, true},
	{"file having ", inWhole, false},
	{"file without ", inWhole, true},
	{"not before ", before, true},
	{"before ", before, false},
}

func newQuery(language, from string) (*query, error) {
	if language == "" {
		return nil, errors.New("a query needs a language; give the check one, or use a pattern")
	}
	compileEngine := newTokenEngine
	switch {
	case language == langGo:
		compileEngine = newTreeEngine
	case !queryable[language]:
		return nil, fmt.Errorf("there are no queries for %s; use a pattern", language)
	}
	h := holes{}
	main, clauses, err := readQuery(language, from, h)
	if err != nil {
		return nil, err
	}
	e, err := compileEngine(language, main, clauses, h)
	if err != nil {
		return nil, err
	}
	q := &query{words: wordsOf(main, h), engine: e}
	for _, word := range strings.FieldsFunc(main, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if hole := h[word]; hole != nil && hole.re != nil {
			if tree, err := syntax.Parse(hole.re.String(), syntax.Perl); err == nil {
				q.holes = append(q.holes, needs(tree.Simplify()))
			}
		}
	}
	for _, c := range clauses {
		if !c.negate && treeKeywords[c.text] == nil {
			q.words = append(q.words, wordsOf(c.text, h)...)
		}
	}
	return q, nil
}

// readQuery cuts a query into its pattern and conditions and names the holes.
func readQuery(language, from string, h holes) (main string, clauses []clause, err error) {
	for _, line := range strings.Split(strings.TrimSpace(from), "\n") {
		line = strings.TrimSpace(line)
		c, condition := clause{}, false
		for _, k := range conditions {
			if rest, found := strings.CutPrefix(line, k.words); found && main != "" {
				c, condition = clause{place: k.place, negate: k.negate, text: rest}, true
				break
			}
		}
		text, err := h.replace(language, map[bool]string{true: c.text, false: line}[condition])
		if err != nil {
			return "", nil, err
		}
		switch {
		case condition:
			c.text = text
			clauses = append(clauses, c)
		case len(clauses) > 0:
			return "", nil, fmt.Errorf("%q follows a condition; the pattern comes first", line)
		default:
			main = strings.TrimSpace(main + "\n" + text)
		}
	}
	if main == "" {
		return "", nil, errors.New("the query is empty")
	}
	return main, clauses, nil
}

// replace puts names in the place of holes; a $ in a string stays.
func (h holes) replace(language, text string) (string, error) {
	quotes := "\"`'"
	if language == langRust {
		quotes = `"`
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case strings.IndexByte(quotes, c) >= 0:
			end := i + 1
			for end < len(text) && text[end] != c {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out.WriteString(text[i:end])
			i = end
		case c == '$':
			one, size, err := readHole(text[i:])
			if err != nil {
				return "", err
			}
			name := fmt.Sprintf("%s%d", holeName, len(h))
			h[name] = one
			out.WriteString(name)
			i += size
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), nil
}

// readHole reads $name, $...name or $(name ~ expression).
func readHole(text string) (*hole, int, error) {
	h := &hole{}
	at := 1
	if strings.HasPrefix(text[at:], "...") {
		h.rest = true
		at += 3
	}
	if strings.HasPrefix(text[at:], "(") && !h.rest {
		end := closingParen(text, at)
		name, expr, found := strings.Cut(text[at+1:max(end, at+1)], "~")
		if end < 0 || !found {
			return nil, 0, fmt.Errorf("%q is no hole; write $(name ~ expression) with its bracket closed", text)
		}
		re, err := regexp.Compile(strings.TrimSpace(expr))
		if err != nil {
			return nil, 0, fmt.Errorf("hole %q: %w", text[:end+1], err)
		}
		h.name, h.re = strings.TrimSpace(name), re
		return h, end + 1, nil
	}
	from := at
	for at < len(text) && (text[at] < 0x80 && lexer.Letter(text[at]) || at > from && lexer.Digit(text[at])) {
		at++
	}
	if h.name = text[from:at]; h.name == "" && !h.rest {
		return nil, 0, fmt.Errorf("a $ before %q is no hole; write $name, $... or $(name ~ expression)", text[1:])
	}
	return h, at, nil
}

// closingParen is the index of the bracket that closes the one at i, escapes
// and sets of the regular expression apart; -1 when there is none.
func closingParen(s string, i int) int {
	depth, set := 0, false
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case set:
			set = c != ']'
		case c == '[':
			set = true
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// wordsOf lists the words of a pattern that are no holes and in no string.
func wordsOf(text string, h holes) [][]byte {
	var out [][]byte
	for i := 0; i < len(text); {
		if c := text[i]; c == '"' || c == '`' || c == '\'' {
			end := i + 1
			for end < len(text) && text[end] != c {
				end++
			}
			i = min(end+1, len(text))
			continue
		}
		from := i
		for i < len(text) && (lexer.Letter(text[i]) || i > from && lexer.Digit(text[i])) {
			i++
		}
		if w := text[from:i]; i > from && h[w] == nil {
			out = append(out, []byte(w))
		}
		if i == from {
			i++
		}
	}
	return out
}

func (q *query) find(src *source, report func(from, to int)) {
	if q.named(src) {
		q.engine.find(src, report)
	}
}

func (q *query) named(src *source) bool {
	return !slices.ContainsFunc(q.words, func(w []byte) bool { return !bytes.Contains(src.content, w) })
}

// concerns tells whether a file has what every match has, as far as that is known.
func (q *query) concerns(src *source) bool {
	return q.named(src) && !slices.ContainsFunc(q.holes, func(one []string) bool {
		return one != nil && !slices.ContainsFunc(one, func(s string) bool { return bytes.Contains(src.lowered(), []byte(s)) })
	})
}

var words = wordset.Of
