package skeleton

import (
	"slices"
	"strings"
)

var pythonGrammar = &grammar{
	keywords: names("and or not in is if else elif for while lambda await async yield return assert with as del global nonlocal pass raise import from try except finally def class"),
	literals: names("True False None"),
	builtins: names("len str int float bool list dict set tuple frozenset bytes abs min max sum sorted range isinstance type repr round any all object SimpleNamespace"),
	access:   names("."),
	receiver: names("self cls"),
	reads:    names("get"),
	makers: func(n string) bool {
		return pythonMocks[n] || strings.HasSuffix(n, "Mock") && n != "Mock_"
	},
	neutral: func(n string) bool {
		return prefixed(n, "assert") || pythonMocks[n] || pythonNeutral[n]
	},
}

var (
	pythonMocks   = names("Mock MagicMock AsyncMock NonCallableMock PropertyMock create_autospec mock_open patch mocker stub")
	pythonNeutral = names("isinstance print len expect assert_that raises mock call")
)

// pyLine is a logical line: brackets and triple strings join physical ones.
type pyLine struct {
	tokens []lexeme
	indent int
}

func pyLines(t []lexeme) []pyLine {
	var out []pyLine
	depth, from := 0, 0
	flush := func(to int) {
		if to > from {
			out = append(out, pyLine{t[from:to], t[from].column})
		}
		from = to + 1
	}
	for i, tok := range t {
		switch {
		case tok.kind == newline && depth == 0:
			flush(i)
		case tok.kind == newline && from == i:
			from = i + 1
		case tok.kind == punct && strings.Contains("([{", tok.text):
			depth++
		case tok.kind == punct && strings.Contains(")]}", tok.text):
			depth = max(0, depth-1)
		case depth > 0 && tok.kind == word && tok.text == "def" && i > 0 && t[i-1].kind == newline:
			// An unclosed bracket must not swallow the rest of the file.
			depth = 0
			flush(i - 1)
			from = i
		}
	}
	flush(len(t))
	return out
}

// pyClass is an enclosing class while lines are read.
type pyClass struct {
	indent  int
	tests   bool
	skipped bool
	unit    bool // of unittest
}

// readPython follows pytest and unittest: test functions at module level,
// test methods in classes named Test* or derived from a TestCase.
func readPython(src []byte) []test {
	lines := pyLines(pythonDialect.read(src))
	var units []unit
	var shared []lexeme
	var decorators []pyLine
	var classes []pyClass
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		for len(classes) > 0 && l.indent <= classes[len(classes)-1].indent {
			classes = classes[:len(classes)-1]
		}
		head := l.tokens
		if head[0].text == "async" && len(head) > 1 {
			head = head[1:]
		}
		switch {
		case len(head) > 0 && head[0].text == "@":
			decorators = append(decorators, l)
			continue
		case len(head) > 1 && head[0].text == "class":
			classes = append(classes, pyClass{l.indent, pyTestClass(head), pySkipped(decorators), pyUnitClass(head)})
		case len(head) > 2 && head[0].text == "def":
			u := pyUnit(head, decorators, classes)
			if n := len(classes) - 1; n >= 0 && u.name == "__init__" && !classes[n].unit {
				classes[n].skipped = true // pytest collects no class that has one
			}
			end := i + 1
			for end < len(lines) && lines[end].indent > l.indent {
				end++
			}
			u.async = l.tokens[0].text == "async"
			u.body = pyBody(head, lines[i+1:end])
			u.live = pyBody(head, pyLive(lines[i+1:end], len(decorators) > 0))
			units = append(units, u)
			i = end - 1
		case head[0].text == "if" && len(classes) == 0 && pyNever(head):
			for i+1 < len(lines) && lines[i+1].indent > l.indent {
				i++
			}
		case pyModuleSkips(l):
			if len(classes) == 0 {
				return nil
			}
			classes[len(classes)-1].skipped = true
		default:
			if u, ok := pyLambda(l.tokens); ok && len(classes) == 0 {
				units = append(units, u)
			}
			shared = append(append(shared, l.tokens...), lexeme{kind: newline, text: "\n", line: l.tokens[0].line})
		}
		decorators = nil
	}
	return scanner{g: pythonGrammar, assertions: pyAssertions}.tests(units, shared)
}

// pyNever tells whether the condition of a definition does not hold where the runner
// imports the file.
func pyNever(head []lexeme) bool {
	cond := head[1:max(1, pyColon(head))]
	v, fixed := always(cond)
	return fixed && !v || strings.HasPrefix(joined(cond), "__name__==")
}

// pyLambda reads name = lambda …: value as a function.
func pyLambda(t []lexeme) (u unit, ok bool) {
	if len(t) < 5 || t[1].text != "=" || t[2].text != "lambda" {
		return u, false
	}
	u = unit{name: t[0].text, line: t[0].line, takes: map[string]bool{}}
	for i := 3; i < len(t); i++ {
		if t[i].text == ":" {
			u.body = append([]lexeme{{kind: word, text: "return", line: t[0].line}}, t[i+1:]...)
			return u, true
		}
		u.takes[t[i].text] = true
	}
	return u, false
}

func pyTestClass(head []lexeme) bool { return prefixed(head[1].text, "Test") || pyUnitClass(head) }

func pyUnitClass(head []lexeme) bool {
	return slices.ContainsFunc(head[2:], func(t lexeme) bool { return t.kind == word && strings.HasSuffix(t.text, "TestCase") })
}

func pySkipped(decorators []pyLine) bool {
	return slices.ContainsFunc(decorators, func(d pyLine) bool { return pySkips(d.tokens) })
}

func pyUnit(head []lexeme, decorators []pyLine, classes []pyClass) unit {
	u := unit{name: head[1].text, line: head[1].line, test: prefixed(head[1].text, "test"), skipped: pySkipped(decorators)}
	patched := false
	for _, d := range decorators {
		u.marks = append(u.marks, d.tokens...)
		for _, t := range d.tokens {
			patched = patched || t.text == "patch"
			if t.text == "fixture" {
				u.test = false
			}
		}
	}
	if len(classes) > 0 {
		c := classes[len(classes)-1]
		u.test = u.test && c.tests
		u.skipped = u.skipped || c.skipped
	}
	if len(classes) == 0 && len(decorators) == 0 && head[2].text == "(" {
		u.takes = map[string]bool{}
		for _, t := range head[3:max(3, closing(head, 2))] {
			u.takes[t.text] = true
		}
	}
	if patched && head[2].text == "(" {
		for _, p := range arguments(head[3:max(3, closing(head, 2))]) {
			if len(p) == 1 && p[0].text != "self" {
				u.params = append(u.params, p[0].text)
			}
		}
	}
	return u
}

// pyBody joins the lines of a function; a body on the line of the def is
// found behind its colon.
func pyBody(head []lexeme, lines []pyLine) []lexeme {
	var out []lexeme
	depth := 0
	for i, t := range head {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth == 0 && t.text == ":" && t.kind == punct {
			out = append(out, head[i+1:]...)
			break
		}
	}
	for _, l := range lines {
		out = append(out, lexeme{kind: newline, text: "\n", line: l.tokens[0].line})
		out = append(out, l.tokens...)
	}
	return link(append(out, lexeme{kind: newline, text: "\n"}))
}

// pyAssertions finds assert statements, assertion methods and functions,
// expected exceptions and conditional failures.
func pyAssertions(s *scope, t []lexeme) []assertion {
	s.learnPython(t)
	var out []assertion
	for i, tok := range t {
		if tok.kind != word {
			continue
		}
		startsStatement := i == 0 || t[i-1].kind == newline || t[i-1].text == ":" || t[i-1].text == ";"
		switch {
		case tok.text == "assert" && startsStatement:
			out = append(out, assertion{tok.line, s.truth(t, i, splitAt(statement(t, i+1), commas)[0], true)})
		case tok.text == "raise" && startsStatement && i+1 < len(t) && t[i+1].text == "AssertionError":
			out = append(out, assertion{tok.line, s.guarded(t, i)})
		}
	}
	for _, c := range pythonGrammar.calls(t) {
		if w, ok := pyCall(s, t, c); ok {
			out = append(out, assertion{t[c.at].line, w})
		}
	}
	return out
}

func statement(t []lexeme, i int) []lexeme {
	depth := 0
	for j := i; j < len(t); j++ {
		switch {
		case t[j].kind == newline && depth == 0:
			return t[i:j]
		case t[j].kind == punct && strings.Contains("([{", t[j].text):
			depth++
		case t[j].kind == punct && strings.Contains(")]}", t[j].text):
			depth--
		case t[j].text == ";" && depth == 0:
			return t[i:j]
		}
	}
	return t[min(i, len(t)):]
}

func pyCall(s *scope, t []lexeme, c call) (strength, bool) {
	method := c.at > 0 && t[c.at-1].text == "."
	switch {
	case prefixed(c.name, "assert_called", "assert_not_called", "assert_any_call", "assert_has_calls", "assert_awaited", "assert_not_awaited", "assert_any_await"):
		return s.check(subject(t, max(0, c.at-1))), true
	case c.name == "fail" && (c.first == "pytest" || c.first == "self" || c.first == "fail"):
		return s.guarded(t, c.at), true
	case c.name == "raises" || c.name == "assertRaises" || c.name == "assertRaisesRegex" || c.name == "warns" || c.name == "assertWarns" || c.name == "deprecated_call":
		if len(c.args) > 1 && !(len(c.args[1]) > 1 && c.args[1][1].text == "=") && c.name != "assertRaisesRegex" {
			return s.check(c.args[1:]...), true
		}
		return s.check(pyBlock(t, c.close)), true
	case method && prefixed(c.name, "assertTrue", "assertFalse", "assertIsNone", "assertIsNotNone") && len(c.args) > 0:
		return s.truth(t, c.at, c.args[0], c.name == "assertTrue"), true
	case prefixed(c.name, "assert") && len(c.args) > 0:
		return s.check(c.args[:min(2, len(c.args))]...), true
	case c.name == "expect" && !method && len(c.args) > 0:
		members, args := s.g.chain(t, c.close)
		if len(members) == 0 {
			return 0, false
		}
		return s.check(append(c.args[:1:1], args...)...), true
	case method && prefixed(c.name, "should_"):
		return meaningful, true
	}
	return 0, false
}

// pyBlock is the block of the with statement whose call closes at i.
func pyBlock(t []lexeme, i int) []lexeme {
	for stop := i + longest; i < min(len(t), stop) && t[i].kind != newline && t[i].text != ":"; {
		i++
	}
	indent := -1
	from := i + 1
	t = t[:min(len(t), from+longest)]
	for j := from; j < len(t); j++ {
		if t[j].kind != newline || j+1 >= len(t) || t[j+1].kind == newline {
			continue
		}
		switch {
		case indent < 0:
			indent = t[j+1].column
			if t[j+1].text == "raise" || t[j+1].text == "pass" {
				return nil
			}
		case t[j+1].column == indent && t[j+1].text == "raise":
			return nil // it raises by itself
		case t[j+1].column < indent:
			return t[min(from, j):j]
		}
	}
	return t[min(from, len(t)):]
}

// learnPython adds what assignments do not show: names bound by with … as to a
// patch.
func (s *scope) learnPython(t []lexeme) {
	for i := 1; i+1 < len(t); i++ {
		if t[i].text != "as" || t[i+1].kind != word {
			continue
		}
		for j := i - 1; j >= max(0, i-60) && t[j].kind != newline; j-- {
			if t[j].text == "patch" {
				s.set(mock, t[i+1].text, true)
				s.set(handed, t[i+1].text, true)
			}
		}
	}
	for i := 0; i+2 < len(t); i++ {
		if t[i].kind == word && t[i+1].text == "=" && s.is(mock, t[i].text) {
			for _, v := range value(t, i+2) {
				if v.text == "patch" || v.text == "spy" {
					s.set(handed, t[i].text, true)
				}
			}
		}
	}
}
