package skeleton

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// grammar is what the judgement of values needs to know about a language.
type grammar struct {
	keywords map[string]bool        // words that are no values
	literals map[string]bool        // words that are constants: true, nil
	builtins map[string]bool        // functions of constants that give constants
	access   map[string]bool        // member access
	receiver map[string]bool        // this, self: a member behind them stands for itself
	makers   func(name string) bool // functions and types that make mocks
	inverted bool                   // a test fails where a condition holds
	reads    map[string]bool        // members of the language that leave a collection as it is, beside those of readers
	neutral  func(name string) bool // assertions and mock programming: handing a mock to them is no use of it
}

// fact is what is known of a variable.
type fact int

const (
	literal fact = iota // holds a literal
	mock                // holds a mock
	answer              // holds what a mock answered
	handed              // was handed to something real
	void                // holds a collection without elements
	deaf                // is a function that does not look at what it is given
	fixed               // holds a collection or an object of literals
	altered             // may be changed where it stands
	facts
)

// scope knows the variables a test can see; what it does not know, its parent
// may.
type scope struct {
	g      *grammar
	parent *scope
	known  [facts]map[string]bool
	counts map[string]int // assignments

	defs    map[string][]definition
	grown   map[string]bool // collections that may get elements
	lent    map[string]bool // variables whose address or reference was given away
	columns map[int]int     // of a line's first token
	differs map[int]bool    // lines that assert a difference
	atLeast map[int]bool    // lines that assert a lower bound
}

func newScope(g *grammar) *scope {
	s := &scope{
		g: g, counts: map[string]int{}, defs: map[string][]definition{}, lent: map[string]bool{}, grown: map[string]bool{},
		columns: map[int]int{}, differs: map[int]bool{}, atLeast: map[int]bool{},
	}
	for i := range s.known {
		s.known[i] = map[string]bool{}
	}
	return s
}

func (s *scope) child() *scope {
	c := newScope(s.g)
	c.parent = s
	return c
}

func (s *scope) is(f fact, name string) bool {
	for ; s != nil; s = s.parent {
		if v, ok := s.known[f][name]; ok {
			return v
		}
	}
	return false
}

func (s *scope) set(f fact, name string, v bool) { s.known[f][name] = v }

func (s *scope) assigned(name string) int {
	n := 0
	for ; s != nil; s = s.parent {
		n += s.counts[name]
	}
	return n
}

// root is the variable or function an expression begins with.
type root struct {
	name   string
	called bool     // the chain behind it holds a call
	chain  []string // member names
	end    int      // index of the last token of the chain
}

// records are the members through which mocks show what happened to them.
var records = names("mock args firstCall lastCall getCall calls callCount call_args call_args_list call_count mock_calls method_calls called await_args await_count Invocations ReceivedCalls")

func (r root) recorded() bool {
	return slices.ContainsFunc(r.chain, func(m string) bool { return records[m] || prefixed(m, "called") })
}

// rootAt reads the chain that begins with the word at i.
func (g *grammar) rootAt(t []lexeme, i int) root {
	r := root{name: t[i].text, end: i}
	if g.receiver[r.name] && i+2 < len(t) && g.access[t[i+1].text] && t[i+2].kind == word {
		i += 2
		r.name, r.end = t[i].text, i
	}
	for i+1 < len(t) {
		switch next := t[i+1].text; {
		case t[i+1].kind != punct:
			return r
		case g.access[next] && i+2 < len(t) && t[i+2].kind == word:
			r.chain = append(r.chain, t[i+2].text)
			i += 2
		case next == "(" || next == "[":
			end := closing(t, i+1)
			r.called = r.called || next == "("
			i = end
		case next == "<" && generic(t, i+1) > 0:
			i = generic(t, i+1)
		case next == "!" && i+2 < len(t) && (t[i+2].text == "(" || t[i+2].text == "["):
			i++
		default:
			return r
		}
		r.end = min(i, len(t)-1)
	}
	return r
}

// makeup is what a value consists of.
type makeup struct {
	dynamic bool // something that only the code under test or the runtime knows
	answer  bool // what a mock answered
	mock    bool // a mock itself, or what it recorded
	unused  bool // that mock was handed to nothing real
}

// readers are members that leave what they belong to as it is, in all languages that
// have them; see grammar.reads.
var readers = names("size length len count Length Count Len containsKey has indexOf isEmpty equals join keys values entries to of")

// untouched tells whether a chain begins with what was made of literals and nothing has
// touched since, and whose members are its own: any other may be the code's, which can
// add members to the types of others.
func (s *scope) untouched(r root) bool {
	if !s.is(fixed, r.name) || s.is(altered, r.name) || s.is(handed, r.name) || s.lent[r.name] {
		return false
	}
	return !slices.ContainsFunc(r.chain, func(m string) bool { return !readers[m] && !s.g.reads[m] && !s.holdsKey(r.name, m, 3) })
}

// holdsKey tells whether a name stands in what a variable was set to.
func (s *scope) holdsKey(name, key string, deep int) bool {
	for at := s; at != nil; at = at.parent {
		for _, d := range at.defs[name] {
			for _, t := range d.value {
				if strings.Trim(t.text, `"':`) == key || deep > 0 && t.kind == word && t.text != name && s.is(fixed, t.text) && s.holdsKey(t.text, key, deep-1) {
					return true
				}
			}
		}
	}
	return false
}

// alters tells whether the variable at i, where the chain r begins, may be changed
// there: by a member, by an element of it that is set or counted, by being set together
// with others, by a loop or by with, or by being taken under another name.
func (s *scope) alters(t []lexeme, i int, r root) bool {
	switch before(t, i-1) {
	case "del", "delete", "for", "as":
		return true
	case "=", ":=":
		return r.end == i && (r.end+1 >= len(t) || t[r.end+1].kind != punct || t[r.end+1].text == ";")
	}
	if len(r.chain) > 0 && (r.called || s.g == rubyGrammar) && !readers[r.chain[0]] && !s.g.reads[r.chain[0]] {
		return true
	}
	if r.end+1 >= len(t) {
		return false
	}
	if s.g.oneOfSeveral(t, i) {
		return true
	}
	switch t[r.end+1].text {
	case "++", "--", "<<":
		return true
	case "=", "**=", "&&=", "||=", "??=":
		return r.end > i
	}
	return r.end > i && len(t[r.end+1].text) == 2 && t[r.end+1].text[1] == '=' && strings.Contains("+-*/|&%", t[r.end+1].text[:1])
}

// oneOfSeveral tells whether the word at i is set together with others, as in
// a, b = f() or [a, b] = f(), and is not the last of them.
func (g *grammar) oneOfSeveral(t []lexeme, i int) bool {
	j := i + 1
	for ; j < min(len(t), i+20) && t[j].kind == punct && strings.Contains(",])}", t[j].text); j++ {
		if t[j].text == "," && j+1 < len(t) && t[j+1].kind == word {
			j++
		}
	}
	if j == i+1 || j >= len(t) || t[j].text != "=" && t[j].text != ":=" {
		return false
	}
	for i > 0 && (t[i-1].kind == word && !g.keywords[t[i-1].text] || t[i-1].text == ",") {
		i--
	}
	if before(t, i-1) != "(" {
		return true
	}
	name, _ := callee(t, i-1, g) // whose arguments end with one that is named
	return name == ""
}

func (s *scope) makeup(t []lexeme) makeup {
	var m makeup
	for i := 0; i < len(t); i++ {
		tok := t[i]
		if tok.kind == interp {
			m.dynamic = true
		}
		if tok.kind != word || i > 0 && s.g.access[t[i-1].text] || s.g.literals[tok.text] {
			continue
		}
		if i+1 < len(t) && (t[i+1].text == ":" || t[i+1].text == "=" && i > 0) {
			continue
		}
		if tok.text == "struct" && i+1 < len(t) && t[i+1].text == "{" { // a type of Go
			i = closing(t, i+1)
			continue
		}
		r := s.g.rootAt(t, i)
		switch {
		case s.g.keywords[tok.text] && !s.g.receiver[tok.text] && s.assigned(tok.text) == 0:
			continue
		case s.is(mock, r.name):
			if r.called && !r.recorded() {
				m.answer = true
			} else {
				m.mock = true
				m.unused = m.unused || !s.is(handed, r.name)
			}
			i = r.end
		case s.is(answer, r.name):
			m.answer = true
			i = r.end
		case s.is(deaf, r.name):
			i = r.end
		case s.untouched(r):
		case s.is(literal, r.name) || s.g.builtins[r.name] || !r.called && s.constantAt(r.name, tok.line):
		default:
			m.dynamic = true
		}
	}
	return m
}

var equalling = names("equals equalTo EqualTo is Is eq Eq Equals same sameInstance SameAs")

// expectedIn is the value in a matcher of equality: t in `equals(t)` and in
// `Is.EqualTo(t)`. Where tests are not written with matchers, it is a function of the
// code, as one of two arguments always is.
func (s *scope) expectedIn(t []lexeme) []lexeme {
	if s.g != javaGrammar && s.g != csharpGrammar && s.g != otherGrammar {
		return t
	}
	at := 0
	if len(t) > 2 && t[0].text == "Is" && t[1].text == "." {
		at = 2
	}
	if len(t) > at+3 && equalling[t[at].text] && t[at+1].text == "(" && closing(t, at+1) == len(t)-1 {
		if inner := t[at+2 : len(t)-1]; len(arguments(inner)) == 1 {
			return inner
		}
	}
	return t
}

// check is the worth of an assertion about these values.
func (s *scope) check(values ...[]lexeme) strength {
	if len(values) == 2 {
		values[1] = s.expectedIn(values[1])
	}
	var all makeup
	for _, v := range values {
		m := s.makeup(v)
		all.dynamic = all.dynamic || m.dynamic
		all.answer = all.answer || m.answer
		all.mock = all.mock || m.mock
		all.unused = all.unused || m.unused
	}
	switch {
	case len(values) == 2 && (s.same(values[0], values[1]) || s.vacuous(values[0], values[1], "")):
		return constant
	case len(values) == 2 && boolean(values[1]) && len(splitAt(values[0], comparisons)) == 2:
		return s.condition(values[0])
	case len(values) == 2 && boolean(values[0]) && len(splitAt(values[1], comparisons)) == 2:
		return s.condition(values[1])
	case all.dynamic:
		return meaningful
	case all.answer || all.mock && all.unused:
		return mocked
	case all.mock:
		return meaningful
	}
	return constant
}

// made tells whether a value is an object that is made on the spot, or a variable that
// holds one since: it is there, and true.
func (s *scope) made(t []lexeme) bool {
	if len(t) == 1 && t[0].kind == word && s.assigned(t[0].text) == 1 && len(s.defs[t[0].text]) == 1 {
		t = s.defs[t[0].text][0].value
	}
	return len(t) > 3 && t[0].text == "new" && t[0].kind == word && t[len(t)-1].text == ")" && len(s.g.rootAt(t, 1).chain) == 0 && s.g.rootAt(t, 1).end == len(t)-1
}

// holds tells whether a value is true by its form: a collection with elements, a
// function or an address made on the spot, a string with letters around what is
// set into it, its kind or its text for a reader, a pattern that takes everything.
func (s *scope) holds(t []lexeme) bool {
	last := len(t) - 1
	switch first := t[0]; {
	case first.kind == interp && last == 0:
		return lettered(first.text)
	case first.kind == punct && (first.text == "[" || first.text == "{" && (s.g == pythonGrammar || s.g == jsGrammar)):
		return last > 1 && closing(t, 0) == last
	case first.kind == punct && first.text == "&":
		return s.g.inverted
	case s.g == pythonGrammar && (first.text == "repr" || first.text == "type") || s.g == jsGrammar && first.text == "expect":
		return last > 1 && t[1].text == "(" && closing(t, 1) == last
	case first.text == "matches":
		return last > 3 && t[last-1].text == "_" && t[last-2].text == ","
	}
	return t[0].text == "lambda" || last > 0 && t[0].text == "_" && t[1].text == "="
}

var setIn = lazyregexp.New(`[#$]?\{[^{}]*\}`)

// lettered tells whether a string has letters beside what is set into it.
func lettered(text string) bool {
	_, text, _ = strings.Cut(text, text[len(text)-1:])
	return strings.Trim(setIn.ReplaceAllString(text, ""), "\"'`") != ""
}

func boolean(t []lexeme) bool {
	if len(t) != 1 {
		return false
	}
	v, fixed := always(t)
	return fixed && t[0].kind == word && (v || prefixed(t[0].text, "f", "F"))
}

// longest bounds, in tokens, how far one expression is followed, so that
// hostile input costs no more than its length.
const longest = 500

// condition is the worth of asserting that an expression is true.
func (s *scope) condition(t []lexeme) strength {
	t = trimLines(t)
	if len(t) > longest {
		return s.check(t)
	}
	for len(t) > 1 && (t[0].text == "!" || t[0].text == "not") {
		t = t[1:]
	}
	if len(t) > 2 && t[0].text == "(" && closing(t, 0) == len(t)-1 {
		inner := t[1 : len(t)-1]
		if len(splitAt(inner, commas)) > 1 {
			return constant
		}
		return s.condition(inner)
	}
	if len(t) == 0 || s.made(t) || s.allOfNothing(t) || s.holds(t) {
		return constant
	}
	if parts := splitAt(t, disjunction); len(parts) > 1 {
		best := meaningful
		for i, p := range parts {
			best = min(best, s.condition(p))
			if i > 0 && complement(parts[i-1], p) {
				return constant
			}
		}
		return best
	}
	if parts := splitAt(t, conjunction); len(parts) > 1 {
		best := unconditional
		for _, p := range parts {
			best = max(best, s.condition(p))
		}
		return best
	}
	parts := splitAt(t, comparisons)
	if len(parts) == 3 && same(trimLines(parts[0]), trimLines(parts[1])) && same(trimLines(parts[1]), trimLines(parts[2])) {
		parts = parts[:2]
	}
	if len(parts) == 2 {
		left, right := parts[0], parts[1]
		op := t[len(left)].text
		if s.vacuous(left, right, op) {
			return constant
		}
		if unequal := op == "!=" || op == "!=="; (unequal && !s.g.inverted || op == "==" && s.g.inverted) && same(trimLines(left), trimLines(right)) && strings.Contains(joined(left), "(") {
			return s.check(left) // two calls that are to differ
		}
		return s.check(left, right)
	}
	if t[0].text == "isinstance" && len(t) > 5 && t[len(t)-2].text == "object" && t[len(t)-3].text == "," {
		return constant
	}
	return s.check(t)
}

// truth is the worth of an assertion that a value is true, or where it wants the
// opposite, false.
func (s *scope) truth(t []lexeme, at int, v []lexeme, wants bool) strength {
	if wants && never(v) {
		return s.guarded(t, at)
	}
	return s.condition(v)
}

// thrown are the places at which code throws, which fails a test.
func (s *scope) thrown(t []lexeme) []assertion {
	var out []assertion
	for i, tok := range t {
		if tok.kind == word && tok.text == "throw" {
			out = append(out, assertion{tok.line, s.guarded(t, i)})
		}
	}
	return out
}

// against is the worth of holding a value against the first of what it is to be like,
// or of wanting it to be true where that is said by a name alone.
func (s *scope) against(v []lexeme, args [][]lexeme) strength {
	if len(args) > 0 {
		return s.check(v, args[0])
	}
	return s.condition(v)
}

// never tells whether the expression is a false constant, so that asserting it
// only says "not written yet".
func never(t []lexeme) bool {
	t = trimLines(t)
	return len(t) == 1 && (t[0].text == "false" || t[0].text == "False" || t[0].text == "0") ||
		len(t) == 2 && (t[0].text == "!" || t[0].text == "not") && (t[1].text == "true" || t[1].text == "True")
}

func before(t []lexeme, i int) string {
	if i < 0 {
		return ""
	}
	return t[i].text
}

func prefixed(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// withoutThrows leaves out what is thrown: a test that expects an exception
// and throws it itself says nothing about the code under test.
func withoutThrows(t []lexeme) []lexeme {
	var out []lexeme
	dropping := false
	for _, tok := range t {
		switch {
		case tok.kind == word && (tok.text == "throw" || tok.text == "raise"):
			dropping = true
		case tok.kind == newline || tok.kind == punct && (tok.text == ";" || tok.text == "}"):
			dropping = false
		}
		if !dropping {
			out = append(out, tok)
		}
	}
	return link(out)
}
