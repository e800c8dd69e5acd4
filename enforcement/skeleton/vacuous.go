package skeleton

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// definition is an assignment of a variable in the code a scope has learned.
type definition struct {
	value []lexeme
	code  []lexeme // what the assignment stands in
	end   int      // index in it behind the value
	line  int
	plain bool // the value is made of literals only
	first bool // the assignment begins its line
}

// note remembers what the lines of a piece of code say about the assertions on
// them.
func (s *scope) note(t []lexeme) {
	for _, tok := range t {
		if tok.kind == newline {
			continue
		}
		if c, ok := s.columns[tok.line]; !ok || tok.column < c {
			s.columns[tok.line] = tok.column
		}
		if tok.text == "!=" && !s.g.inverted || tok.text == "==" && s.g.inverted || tok.text == "!==" || tok.text == "<=" || tok.text == ">=" || tok.text == "<" || tok.text == ">" || tok.kind == word && different(tok.text) {
			s.differs[tok.line] = true
		}
		if tok.kind == word && atLeast(tok.text) {
			s.atLeast[tok.line] = true
		}
	}
}

// different tells whether the name of an assertion wants a difference, or one
// object where there could be two.
func different(name string) bool {
	for _, part := range []string{"not", "Not", "Less", "less", "iffer", "nequal", "efute", "istinct", "nique", "alse", "Same", "same"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "ne" || name == "is" || name == "assertIs" || strings.HasSuffix(name, "_ne")
}

// atLeast tells whether the name of an assertion sets a lower bound.
func atLeast(name string) bool {
	return strings.Contains(name, "reater") && strings.Contains(name, "qual") || strings.Contains(name, "tLeast") || strings.Contains(name, "t_least") || name == "gte"
}

// define remembers the assignment at i of the code t.
func (s *scope) define(name string, t []lexeme, i int, v []lexeme) {
	first := t[i-1].column
	for j := i - 1; j >= 0 && t[j].line == t[i].line && t[j].kind == word; j-- {
		first = t[j].column
	}
	v = trimLines(v)
	s.defs[name] = append(s.defs[name], definition{
		value: v, code: t, end: i + 1 + len(v), line: t[i].line, plain: t[i].text != "+=" && plain(v, s.g),
		first: first == s.columns[t[i].line],
	})
}

// plain tells whether a value is made of literals and operators.
func plain(v []lexeme, g *grammar) bool {
	for _, t := range v {
		switch {
		case t.kind == interp, t.kind == word && !g.literals[t.text]:
			return false
		case t.kind == punct && !strings.Contains("+ - * / % ** ( )", t.text):
			return false
		}
	}
	return len(v) > 0
}

// constantAt tells whether a variable that is assigned several times holds a
// literal on a line: the last assignment before it stands in the same block
// and gives it one.
func (s *scope) constantAt(name string, line int) bool {
	var last definition
	if len(s.defs[name]) > deepest {
		return false
	}
	every := len(s.defs[name]) > 1 && s.assigned(name) == len(s.defs[name]) && !s.lent[name]
	for _, d := range s.defs[name] {
		every = every && d.plain && same(d.value, s.defs[name][0].value)
	}
	if every {
		return true // it is set to the same whatever happens
	}
	for _, d := range s.defs[name] {
		if d.line < line {
			last = d
		}
	}
	return last.plain && last.first && len(s.defs[name]) > 1 && !s.lent[name] &&
		s.columns[last.line] == s.columns[line] && last.until(line)
}

// same tells whether two values are one: the same text, after variables were
// replaced by what they were set to, where nothing happened in between.
func (s *scope) same(a, b []lexeme) bool {
	a, b = uncast(trimLines(a)), uncast(trimLines(b))
	if same(a, b) {
		return !s.constructs(a)
	}
	if len(a) == 0 || len(b) == 0 || s.differs[a[0].line] || s.differs[b[0].line] {
		return false
	}
	if s.throughFile(a, b) || s.throughFile(b, a) {
		return true
	}
	a, adef := s.resolved(a)
	b, bdef := s.resolved(b)
	switch {
	case !same(a, b):
		return false
	case adef == nil && bdef == nil:
		return true
	case adef == nil:
		return bdef.until(a[0].line)
	case bdef == nil:
		return adef.until(b[0].line)
	case adef.line <= bdef.line:
		return adef.until(bdef.line)
	}
	return bdef.until(adef.line)
}

// uncast is a value without the type it is taken for.
func uncast(v []lexeme) []lexeme {
	for len(v) > 2 && v[len(v)-2].text == "as" && v[len(v)-2].kind == word {
		v = v[:len(v)-2]
	}
	return v
}

// constructs tells whether a value is an object that is made here: two such are equal
// only where their type says so.
func (s *scope) constructs(v []lexeme) bool {
	if len(v) < 3 || s.g.inverted {
		return false
	}
	last := len(v) - 1
	if v[0].text == "new" {
		return true
	}
	return v[0].kind == word && v[0].text[0] >= 'A' && v[0].text[0] <= 'Z' && v[1].text == "(" && closing(v, 1) == last
}

// until tells whether nothing is called between the assignment and a line.
func (d *definition) until(line int) bool {
	for i := d.end; i < len(d.code) && d.code[i].line < line; i++ {
		tok := d.code[i]
		member := tok.text == "=" && tok.kind == punct && i > 1 && (d.code[i-2].text == "." || d.code[i-2].text == "->" || d.code[i-1].text == "]")
		if tok.text == "(" || member || i > d.end+longest {
			return false
		}
	}
	return true
}

// resolved follows a variable to the value it was set to, once and for all.
func (s *scope) resolved(v []lexeme) ([]lexeme, *definition) {
	var at *definition
	for range 5 {
		if len(v) != 1 || v[0].kind != word || len(s.defs[v[0].text]) != 1 || s.assigned(v[0].text) != 1 || s.lent[v[0].text] {
			break
		}
		d := &s.defs[v[0].text][0]
		if len(d.value) == 0 || len(d.value) > 60 || s.columns[d.line] != s.columns[v[0].line] {
			break
		}
		if first := d.value[0]; first.text == "new" || !s.g.inverted && first.kind == word && first.text[0] >= 'A' && first.text[0] <= 'Z' {
			break // two objects that are to be equal
		}
		v, at = d.value, d
	}
	return v, at
}

var (
	wildcard = lazyregexp.New(`^(?:expect\.)?(?:anything|any)\((?:Object|Any)?\)$|^(?:mock\.|unittest\.mock\.)?(?:ANY|Anything)$|^Is\.(?:Anything|Any)$|^isA<(?:Object|dynamic)>\(\)$|^expect\.any\(Object\)$|^anything$`)
	anyType  = lazyregexp.New(`^(?:Object|object|Any|AnyObject|Object\.class|Any::class|interface\{\}|any)$`)
	// converted is what Python gives of anything: its text, its kind, its length.
	converted = lazyregexp.New(`^(?:str|repr|type|bool|int|float|len|list|dict|set|tuple|id|sorted)\(.*\)$`)
	lengths   = lazyregexp.New(`(?:^|\.)(?:len|length|size|count|Count|Length|Len|abs)(?:\(|$)`)
)

// vacuous tells whether a comparison of two values cannot fail: with what
// equals everything, of a length with zero, of a value's type with the type of
// all.
func (s *scope) vacuous(a, b []lexeme, op string) bool {
	if len(a) == 0 || len(b) == 0 || len(a) > 60 || len(b) > 60 {
		return false
	}
	left, right := joined(trimLines(a)), joined(trimLines(b))
	line := a[0].line
	switch {
	case op == "" && (wildcard.MatchString(left) || wildcard.MatchString(right)):
		return true
	case op == "" && left == "Object.class" && !s.differs[line]:
		return true
	case (op == "is" || op == "instanceof" || op == "") && anyType.MatchString(right) && (op != "" || !s.differs[line]):
		return right != "any" && right != "object" || op != ""
	case right == "notNone" && (op == "is" || op == "!=") || right == "None" && op == "!=":
		return converted.MatchString(left) && closing(a, 1) == len(trimLines(a))-1
	case op == ">=" || op == "" && s.atLeast[line]:
		return lengths.MatchString(left) && right == "0"
	case op == "<" && s.g.inverted:
		return lengths.MatchString(left) && right == "0"
	case op == "<=":
		return lengths.MatchString(right) && left == "0"
	case op == ">":
		return lengths.MatchString(left) && right == "-1"
	}
	return false
}

// complement tells whether of two conditions one says what the other denies.
func complement(a, b []lexeme) bool {
	x, negated := positive(a)
	y, other := positive(b)
	return x == y && x != "" && negated != other
}

func positive(t []lexeme) (text string, negated bool) {
	var out strings.Builder
	for _, tok := range trimLines(t) {
		switch tok.text {
		case "not", "!":
			negated = !negated
		case "!=", "!==", "<", "<=":
			negated = !negated
			out.WriteString(map[string]string{"!=": "==", "!==": "===", "<": ">=", "<=": ">"}[tok.text])
		case "(", ")":
		case "is_err", "is_none", "isEmpty", "isFailure":
			negated = !negated
			out.WriteString(map[string]string{"is_err": "is_ok", "is_none": "is_some", "isEmpty": "isPresent", "isFailure": "isSuccess"}[tok.text])
		default:
			out.WriteString(tok.text)
		}
	}
	return out.String(), negated
}

// computes notes what is known of a function of the test file that computes from
// what it is given alone: comparing its result says nothing about the code under
// test, and if it does not look at what it is given, neither does that.
func (s *scope) computes(name string, takes map[string]bool, body []lexeme) {
	in := newScope(s.g)
	in.learn(body)
	returns, looks := false, false
	for i, t := range body {
		returns = returns || t.text == "return"
		if t.kind != word && t.kind != interp || i > 0 && s.g.access[body[i-1].text] {
			continue
		}
		looks = looks || takes[t.text] && !s.g.keywords[t.text]
		if t.kind == interp || !s.g.keywords[t.text] && !s.g.literals[t.text] && !s.g.builtins[t.text] && !takes[t.text] && in.counts[t.text] == 0 {
			return
		}
	}
	s.set(literal, name, returns)
	s.set(deaf, name, returns && !looks)
}
