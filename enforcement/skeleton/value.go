package skeleton

import "strings"

// grammar is what the judgement of values needs to know about a language.
type grammar struct {
	keywords map[string]bool        // words that are no values
	literals map[string]bool        // words that are constants: true, nil
	builtins map[string]bool        // functions of constants that give constants
	access   map[string]bool        // member access
	receiver map[string]bool        // this, self: a member behind them stands for itself
	makers   func(name string) bool // functions and types that make mocks
	neutral  func(name string) bool // assertions and mock programming: handing a mock to them is no use of it
}

// fact is what is known of a variable.
type fact int

const (
	literal fact = iota // holds a literal
	mock                // holds a mock
	answer              // holds what a mock answered
	handed              // was handed to something real
	facts
)

// scope knows the variables a test can see; what it does not know, its parent
// may.
type scope struct {
	g      *grammar
	parent *scope
	known  [facts]map[string]bool
	counts map[string]int // assignments
}

func newScope(g *grammar) *scope {
	s := &scope{g: g, counts: map[string]int{}}
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
	for _, m := range r.chain {
		if records[m] {
			return true
		}
	}
	return false
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

// generic returns the index of the > that closes type arguments before a call,
// 0 if the < at i is a comparison.
func generic(t []lexeme, i int) int {
	depth := 0
	for j := i; j < len(t) && j < i+40; j++ {
		switch t[j].text {
		case "<":
			depth++
		case ">":
			depth--
		case ",", ".", "::", "?", "[", "]", "&", "_":
		default:
			if t[j].kind != word {
				return 0
			}
		}
		if depth == 0 {
			if j+1 < len(t) && (t[j+1].text == "(" || t[j+1].text == "::" || t[j+1].text == "{") {
				return j
			}
			return 0
		}
	}
	return 0
}

// closing is the index of the bracket that closes the one at i, or of the last
// token.
func closing(t []lexeme, i int) int {
	if m := t[i].match; m > 0 && i+m < len(t) {
		return i + m
	}
	return len(t) - 1
}

// splitAt cuts tokens at separators outside brackets.
func splitAt(t []lexeme, seps map[string]bool) [][]lexeme {
	var out [][]lexeme
	depth, from := 0, 0
	for i, tok := range t {
		if tok.kind == punct {
			switch tok.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if depth == 0 && (tok.kind == punct || tok.kind == word) && seps[tok.text] {
			out = append(out, t[from:i])
			from = i + 1
		}
	}
	return append(out, t[from:])
}

var (
	commas      = names(",")
	disjunction = names("|| or ??")
	conjunction = names("&& and")
	comparisons = names("== != === !== <= >= < > is in =~ <=>")
)

// arguments are the non-empty parts of a bracketed list.
func arguments(t []lexeme) [][]lexeme {
	var out [][]lexeme
	for _, a := range splitAt(t, commas) {
		if a = trimLines(a); len(a) > 0 {
			out = append(out, a)
		}
	}
	return out
}

func trimLines(t []lexeme) []lexeme {
	for len(t) > 0 && t[0].kind == newline {
		t = t[1:]
	}
	for len(t) > 0 && t[len(t)-1].kind == newline {
		t = t[:len(t)-1]
	}
	return t
}

func same(a, b []lexeme) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// makeup is what a value consists of.
type makeup struct {
	dynamic bool // something that only the code under test or the runtime knows
	answer  bool // what a mock answered
	mock    bool // a mock itself, or what it recorded
	unused  bool // that mock was handed to nothing real
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
		r := s.g.rootAt(t, i)
		switch {
		case s.g.keywords[tok.text] && !s.g.receiver[tok.text]:
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
		case s.is(literal, r.name) || s.g.builtins[r.name]:
		default:
			m.dynamic = true
		}
	}
	return m
}

// check is the worth of an assertion about these values.
func (s *scope) check(values ...[]lexeme) strength {
	var all makeup
	for _, v := range values {
		m := s.makeup(v)
		all.dynamic = all.dynamic || m.dynamic
		all.answer = all.answer || m.answer
		all.mock = all.mock || m.mock
		all.unused = all.unused || m.unused
	}
	switch {
	case len(values) == 2 && same(values[0], values[1]):
		return constant
	case all.dynamic:
		return meaningful
	case all.answer || all.mock && all.unused:
		return mocked
	case all.mock:
		return meaningful
	}
	return constant
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
	if len(t) == 0 {
		return constant
	}
	if parts := splitAt(t, disjunction); len(parts) > 1 {
		best := meaningful
		for _, p := range parts {
			best = min(best, s.condition(p))
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
	if parts := splitAt(t, comparisons); len(parts) == 2 {
		left, right := parts[0], parts[1]
		if len(left) > 0 && left[len(left)-1].text == "not" {
			left = left[:len(left)-1]
		}
		if len(right) > 0 && right[0].text == "not" {
			right = right[1:]
		}
		return s.check(left, right)
	}
	return s.check(t)
}

// never tells whether the expression is a false constant, so that asserting it
// only says "not written yet".
func never(t []lexeme) bool {
	t = trimLines(t)
	return len(t) == 1 && (t[0].text == "false" || t[0].text == "False" || t[0].text == "0") ||
		len(t) == 2 && (t[0].text == "!" || t[0].text == "not") && (t[1].text == "true" || t[1].text == "True")
}

// learn reads the assignments and the use of mocks in a piece of code.
func (s *scope) learn(t []lexeme) {
	for i := 1; i < len(t); i++ {
		if t[i].kind != punct {
			continue
		}
		switch t[i].text {
		case "+=", "-=", "*=", "/=", "++", "--", "<<":
			if t[i-1].kind == word {
				s.counts[t[i-1].text] += 2
				s.set(literal, t[i-1].text, false)
			}
		case "=", ":=":
			if name := s.target(t, i); name != "" {
				s.assign(name, value(t, i+1))
			}
		}
	}
	s.uses(t)
}

// target is the variable assigned at i, with a type annotation or without.
func (s *scope) target(t []lexeme, i int) string {
	if t[i-1].kind != word && t[i-1].text != ">" && t[i-1].text != "]" {
		return ""
	}
	for j := i - 1; j >= 0 && j > i-20; j-- {
		switch t[j].text {
		case "let", "const", "var", "val", "static":
			if k := j + 1; k < i {
				if t[k].text == "mut" {
					k++
				}
				return t[k].text
			}
		case ";", "{", "}", "(", ")", ",":
			j = -1
		}
		if j < 0 || t[j].kind == newline {
			break
		}
	}
	if t[i-1].kind != word {
		return ""
	}
	if i > 2 && s.g.access[t[i-2].text] && !s.g.receiver[t[i-3].text] {
		return ""
	}
	return t[i-1].text
}

// value is the right-hand side that begins at i.
func value(t []lexeme, i int) []lexeme {
	depth := 0
	t = t[:min(len(t), i+longest)]
	for j := i; j < len(t); j++ {
		tok := t[j]
		switch {
		case tok.kind == newline && depth == 0:
			if j > i {
				return t[i:j]
			}
		case tok.kind == punct && (tok.text == "(" || tok.text == "[" || tok.text == "{"):
			depth++
		case tok.kind == punct && (tok.text == ")" || tok.text == "]" || tok.text == "}"):
			if depth--; depth < 0 {
				return t[i:j]
			}
		case depth == 0 && tok.kind == punct && (tok.text == ";" || tok.text == ","):
			return t[i:j]
		case depth == 0 && j > i && tok.line > t[j-1].line && tok.kind == word && (t[j-1].kind != punct || t[j-1].text == ")" || t[j-1].text == "]" || t[j-1].text == "}"):
			return t[i:j]
		}
	}
	return t[min(i, len(t)):]
}

func (s *scope) assign(name string, v []lexeme) {
	s.counts[name]++
	s.set(literal, name, false)
	v = trimLines(v)
	if len(v) == 0 {
		return
	}
	switch {
	case s.makesMock(v):
		s.set(mock, name, true)
	case s.assigned(name) > 1:
		s.set(answer, name, false)
	default:
		m := s.makeup(v)
		switch {
		case m.dynamic:
		case m.answer:
			s.set(answer, name, true)
		case m.mock:
			s.set(mock, name, true)
		case len(v) == 1 || v[0].text == "-" && len(v) == 2:
			s.set(literal, name, true)
		}
	}
}

// makesMock tells whether a right-hand side is a mock: made by a maker, or a
// plain object of such.
func (s *scope) makesMock(v []lexeme) bool {
	i := 0
	for i < len(v) && (s.g.keywords[v[i].text] && !s.g.receiver[v[i].text] || v[i].text == "(" || v[i].text == "&") {
		i++
	}
	if i >= len(v) {
		return false
	}
	if v[i].kind == word {
		r := s.g.rootAt(v, i)
		if s.g.makers(r.name) {
			return true
		}
		for _, c := range r.chain {
			if s.g.makers(c) {
				return true
			}
		}
		return false
	}
	if v[i].text != "{" && v[i].text != "[" {
		return false
	}
	made, other := false, false
	for j := i; j < len(v); j++ {
		if v[j].kind != word || s.g.access[v[j-1].text] || s.g.literals[v[j].text] || s.g.keywords[v[j].text] || j+1 < len(v) && v[j+1].text == ":" {
			continue
		}
		r := s.g.rootAt(v, j)
		if s.g.makers(r.name) {
			made, j = true, r.end
		} else {
			other = true
		}
	}
	return made && !other
}

// uses marks the variables that are handed to something real: as an argument
// of a call that is neither an assertion nor the programming of a mock, or by
// assignment to a member.
func (s *scope) uses(t []lexeme) {
	type call struct{ group, neutral bool }
	var stack []call
	for i, tok := range t {
		switch {
		case tok.kind == punct && tok.text == "(":
			name, first := callee(t, i, s.g)
			stack = append(stack, call{name == "", name != "" && (s.g.neutral(name) || s.g.neutral(first) || s.g.makers(name) || s.is(mock, first))})
		case tok.kind == punct && tok.text == ")":
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
		case tok.kind == word:
			if i > 0 && s.g.access[t[i-1].text] && !(i > 1 && s.g.receiver[t[i-2].text]) {
				continue
			}
			if i > 2 && t[i-1].text == "=" && t[i-2].kind == word && s.g.access[t[i-3].text] && !s.g.receiver[before(t, i-4)] {
				s.set(handed, tok.text, true)
			}
			if r := s.g.rootAt(t, i); r.called {
				continue
			}
			for k := len(stack) - 1; k >= 0; k-- {
				if !stack[k].group {
					if !stack[k].neutral {
						s.set(handed, tok.text, true)
					}
					break
				}
			}
		}
	}
}

func before(t []lexeme, i int) string {
	if i < 0 {
		return ""
	}
	return t[i].text
}

// callee is the name before the bracket at i, and the first name of its chain;
// both are empty for a bracket that only groups.
func callee(t []lexeme, i int, g *grammar) (name, first string) {
	j := i - 1
	if j >= 0 && t[j].text == "!" {
		j--
	}
	if j >= 0 && t[j].text == ">" {
		for depth, stop := 0, j-40; j >= max(0, stop); j-- {
			if t[j].text == ">" {
				depth++
			} else if t[j].text == "<" {
				if depth--; depth == 0 {
					j--
					break
				}
			}
		}
	}
	if j < 0 || t[j].kind != word || g.keywords[t[j].text] {
		return "", ""
	}
	name, first = t[j].text, t[j].text
	for j >= 2 && g.access[t[j-1].text] {
		j -= 2
		for j >= 0 && (t[j].text == ")" || t[j].text == "]") {
			j = opening(t, j) - 1
		}
		if j < 0 || t[j].kind != word {
			return name, first
		}
		if !g.receiver[t[j].text] {
			first = t[j].text
		}
	}
	return name, first
}

// opening is the index of the bracket that opens the one at i, or 0.
func opening(t []lexeme, i int) int {
	if m := t[i].match; m < 0 && i+m >= 0 {
		return i + m
	}
	return 0
}

// call is one call in a piece of code.
type call struct {
	name  string
	first string // the first name of the chain
	at    int    // index of the name
	open  int
	close int
	args  [][]lexeme
}

// deepest is how many calls within calls are looked at.
const deepest = 40

// calls lists the calls, outermost first.
func (g *grammar) calls(t []lexeme) []call {
	var out []call
	var ends []int
	for i, tok := range t {
		for len(ends) > 0 && ends[len(ends)-1] <= i {
			ends = ends[:len(ends)-1]
		}
		if tok.kind != punct || tok.text != "(" || i == 0 {
			continue
		}
		ends = append(ends, closing(t, i))
		if len(ends) > deepest {
			continue
		}
		name, first := callee(t, i, g)
		if name == "" {
			continue
		}
		end := closing(t, i)
		at := i - 1
		for at > 0 && t[at].text != name {
			at--
		}
		out = append(out, call{name, first, at, i, end, arguments(t[min(i+1, end):end])})
	}
	return out
}

// chain lists the member names and the arguments of calls behind index i:
// `.not.toBe(3)` gives not, toBe and 3.
func (g *grammar) chain(t []lexeme, i int) (members []string, args [][]lexeme) {
	for hops := 0; i+2 < len(t) && hops < deepest; hops++ {
		j := i + 1
		for j < len(t) && t[j].kind == newline {
			j++
		}
		if j+1 >= len(t) || !g.access[t[j].text] || t[j+1].kind != word {
			return members, args
		}
		members = append(members, t[j+1].text)
		i = j + 1
		if i+1 < len(t) && t[i+1].text == "<" && generic(t, i+1) > 0 {
			i = generic(t, i+1)
		}
		if i+1 < len(t) && t[i+1].text == "(" {
			end := closing(t, i+1)
			args = append(args, arguments(t[i+2:max(end, i+2)])...)
			i = end
		}
	}
	return members, args
}

// guarded is the worth of a failure at index at: that of the condition before
// it, or nothing when it always happens.
func (s *scope) guarded(t []lexeme, at int) strength {
	for i := at - 1; i >= max(0, at-8*longest); i-- {
		if t[i].kind == punct && (t[i].text == "||" || t[i].text == "??") {
			return s.check(t[max(0, i-12):i])
		}
		if t[i].kind != word {
			continue
		}
		switch t[i].text {
		case "if", "unless", "while", "switch", "match", "when", "elif", "case", "else", "catch", "rescue", "except", "elsif":
			if cond := s.condition(header(t, i+1)); cond != constant || t[i].text == "if" {
				return max(cond, constant)
			}
		case "try", "begin":
			return s.check(t[i+1 : min(at, i+longest)])
		}
	}
	return unconditional
}

// header is the condition of a statement, up to its block.
func header(t []lexeme, i int) []lexeme {
	t = t[:min(len(t), i+longest)]
	if i < len(t) && t[i].text == "(" {
		return t[i+1 : closing(t, i)]
	}
	for j := i; j < len(t); j++ {
		if t[j].text == "{" || t[j].text == ":" || t[j].kind == newline || t[j].text == "then" {
			return t[i:j]
		}
	}
	return t[min(i, len(t)):]
}

func prefixed(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
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
