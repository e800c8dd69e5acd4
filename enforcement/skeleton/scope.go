package skeleton

import "slices"

// learn reads the assignments and the use of mocks in a piece of code.
func (s *scope) learn(t []lexeme) {
	s.note(t)
	for i := 1; i < len(t); i++ {
		if t[i].kind == word && (t[i-1].text == "&" || t[i-1].text == "ref" || t[i-1].text == "out" || t[i-1].text == "mut" && i > 1 && t[i-2].text == "&") {
			s.lent[t[i].text] = true
			s.set(literal, t[i].text, false)
		}
		if t[i].kind == word && s.mayGrow(t, i) {
			s.grown[t[i].text] = true
		}
		if t[i].kind != punct {
			continue
		}
		switch t[i].text {
		case "+=", "-=", "*=", "/=", "|=", "&=", "%=", "**=", "&&=", "||=", "??=", "++", "--", "<<":
			if t[i-1].kind == word {
				s.counts[t[i-1].text] += 2
				s.set(literal, t[i-1].text, false)
				s.set(fixed, t[i-1].text, false)
				s.defs[t[i-1].text] = append(s.defs[t[i-1].text], definition{line: t[i].line})
			}
		case "=", ":=":
			if i > 2 && t[i-2].text == "," && (t[i-1].text == "_" || t[i-1].text == "err") {
				s.define(t[i-3].text, t, i, value(t, i+1))
			}
			if name := s.target(t, i); name != "" {
				v := value(t, i+1)
				s.define(name, t, i, v)
				s.function(name, v)
				s.assign(name, v)
			}
		}
	}
	s.uses(t)
}

// function notes what is known of a short function that a variable is set to.
func (s *scope) function(name string, v []lexeme) {
	if len(v) > 60 || !isFunction(v) && (len(v) == 0 || v[0].text != "func") {
		return
	}
	takes := map[string]bool{}
	for i, tok := range v {
		switch {
		case tok.text == "=>" || tok.text == ":" && v[0].text == "lambda":
			if body := v[i+1:]; len(body) > 0 && body[0].text != "{" {
				s.computes(name, takes, append([]lexeme{{kind: word, text: "return"}}, body...))
				return
			}
		case tok.text == "{" && tok.kind == punct:
			s.computes(name, takes, v[i+1:max(i+1, closing(v, i))])
			return
		}
		takes[tok.text] = true
	}
}

// mayGrow tells whether a collection is changed at i, or handed to what may
// change it.
func (s *scope) mayGrow(t []lexeme, i int) bool {
	if i+1 >= len(t) {
		return false
	}
	next := t[i+1].text
	if next == "[" && t[i-1].text != "var" || s.g.access[next] && i+3 < len(t) && !loops[t[i+2].text] {
		return true
	}
	return (t[i-1].text == "(" || t[i-1].text == ",") && (next == ")" || next == ",")
}

var loops = names("forEach each map for_each iter")

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
	if open := opening(t, i-1); t[i-1].text == "]" && open > 1 && t[open-1].kind == word && t[open-2].kind == word && i-open < 4 {
		return t[open-1].text // int xs[] = …
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
		case depth == 0 && j > i && tok.line > t[j-1].line && (tok.kind == word || tok.text == "#" || tok.text == "@") && (t[j-1].kind != punct || t[j-1].text == ")" || t[j-1].text == "]" || t[j-1].text == "}"):
			return t[i:j]
		}
	}
	return t[min(i, len(t)):]
}

func (s *scope) assign(name string, v []lexeme) {
	s.counts[name]++
	s.set(literal, name, false)
	s.set(fixed, name, false)
	v = trimLines(v)
	s.set(void, name, s.nothing(v))
	if len(v) == 0 {
		return
	}
	switch {
	case s.lent[name]:
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
		case len(v) == 1 || v[0].text == "-" && len(v) == 2 || plain(v, s.g):
			s.set(literal, name, true)
		case !isFunction(v) && !slices.ContainsFunc(v, func(t lexeme) bool { return t.text == "chan" }):
			s.set(fixed, name, true)
		}
	}
}

// disturb takes back what is known of the scope's variables that functions, which a
// scope below it has learned, set, change or hand on.
func (s *scope) disturb(by *scope) {
	for name := range s.known[literal] {
		if by.counts[name] > 0 || by.lent[name] {
			s.set(literal, name, false)
		}
	}
	for _, f := range []fact{fixed, void} {
		for name := range s.known[f] {
			if by.counts[name] > 0 || by.lent[name] || by.known[altered][name] || by.known[handed][name] {
				s.set(f, name, false)
			}
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
		return slices.ContainsFunc(r.chain, func(c string) bool { return s.g.makers(c) })
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
			stack = append(stack, call{name == "", name != "" && (s.g.neutral(name) || s.g.neutral(first) || (name == first || s.g.inverted) && s.g.builtins[first] || s.g.makers(name) || s.is(mock, first))})
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
			r := s.g.rootAt(t, i)
			if s.alters(t, i, r) {
				s.set(altered, tok.text, true)
			}
			if r.called {
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
