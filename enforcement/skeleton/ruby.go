package skeleton

import "strings"

var rubyGrammar = &grammar{
	keywords: names("if unless while until else elsif end do def class module begin rescue ensure and or not return yield in then case when"),
	literals: names("true false nil"),
	builtins: names("Array String Integer Float"),
	access:   names(". :: &."),
	receiver: names("self"),
	reads:    names("first last at"),
	makers:   func(n string) bool { return rubyMakers[n] },
	neutral: func(n string) bool {
		return rubyMakers[n] || rubyNeutral[n] || prefixed(n, "assert", "refute", "have_", "be_")
	},
}

var (
	rubyMakers  = names("double instance_double class_double object_double spy instance_spy class_spy mock stub stub_everything Mock")
	rubyNeutral = names("expect allow receive with to not_to to_not puts p eq eql equal be match verify expect_any_instance_of include")
	rubyTests   = names("it specify example scenario test fit focus its")
	rubySkipped = names("xit xspecify xexample xscenario skip pending xtest")
	rubyGroups  = names("xdescribe xcontext xfeature")
)

// readRuby reads RSpec, Minitest and test-unit.
func readRuby(src []byte) []test {
	t := rubyDialect.read(src)
	ends := rubyBlocks(t)
	var units []unit
	var shared []lexeme
	skipUntil, testClass := -1, -1
	for i := 0; i < len(t); i++ {
		start := i == 0 || t[i-1].kind == newline || t[i-1].text == ";" || t[i-1].text == "{"
		switch {
		case t[i].text == "class" && start:
			for j := i; j < len(t) && t[j].kind != newline; j++ {
				if strings.HasSuffix(t[j].text, "TestCase") || t[j].text == "Test" && t[j-1].text == "::" {
					testClass = max(testClass, ends[i])
				}
			}
		case t[i].text == "def" && start && i+1 < len(t):
			name, body, end := rubyDef(t, i, ends)
			units = append(units, unit{
				name: name, line: t[i].line, body: body,
				test: i < testClass && prefixed(name, "test_"), skipped: i < skipUntil,
			})
			i = end
			continue
		case rubyGroups[t[i].text] && (start || before(t, i-2) == "RSpec"):
			if _, end, ok := rubyBlock(t, i, ends); ok {
				skipUntil = max(skipUntil, end)
			}
		case (rubyTests[t[i].text] || rubySkipped[t[i].text]) && start && t[i].kind == word:
			body, end, ok := rubyBlock(t, i, ends)
			if !ok {
				break
			}
			units = append(units, unit{
				line: t[i].line, body: body, test: true,
				skipped: rubySkipped[t[i].text] || i < skipUntil || rubyMeta(t[i:max(i, end-len(body))]),
			})
			i = end
			continue
		case t[i].text == "let" || t[i].text == "let!" || t[i].text == "subject":
			shared = append(shared, rubyLet(t, i, ends)...)
		}
		shared = append(shared, t[i])
	}
	return scanner{g: rubyGrammar, assertions: rubyAssertions, live: rubyLive, bare: true}.tests(units, shared)
}

// rubyMeta tells whether an example's metadata skip it: skip: true, :skip.
func rubyMeta(t []lexeme) bool {
	for i, tok := range t {
		if tok.text == ":skip" || tok.text == ":pending" {
			return true
		}
		if (tok.text == "skip" || tok.text == "pending") && i+2 < len(t) && t[i+1].text == ":" && t[i+2].text != "false" {
			return true
		}
	}
	return false
}

// rubyBlocks pairs every token that opens a block with its end.
func rubyBlocks(t []lexeme) map[int]int {
	ends := map[int]int{}
	var stack []int
	loop := -1 // line of a while, until or for whose do belongs to it
	for i, tok := range t {
		if tok.kind != word || i > 0 && rubyGrammar.access[t[i-1].text] || i+1 < len(t) && t[i+1].text == ":" && tok.text != "do" && tok.text != "else" {
			continue
		}
		first := i == 0 || t[i-1].kind == newline || t[i-1].kind == punct && t[i-1].text != ")" && t[i-1].text != "]" && t[i-1].text != "}" || operandAfter[t[i-1].text]
		switch tok.text {
		case "class", "module", "begin", "case":
			if tok.text != "class" || first {
				stack = append(stack, i)
			}
		case "def":
			if !endless(t, i) {
				stack = append(stack, i)
			}
		case "if", "unless":
			if first {
				stack = append(stack, i)
			}
		case "while", "until", "for":
			if first {
				stack = append(stack, i)
				loop = tok.line
			}
		case "do":
			if loop == tok.line {
				loop = -1
				continue
			}
			stack = append(stack, i)
		case "end":
			if n := len(stack); n > 0 {
				ends[stack[n-1]] = i
				stack = stack[:n-1]
			}
		}
	}
	for _, i := range stack {
		ends[i] = len(t) - 1
	}
	return ends
}

// endless tells whether the def at i has the form def name(…) = expression.
func endless(t []lexeme, i int) bool {
	j := i + 2
	for j+1 < len(t) && t[j].text == "." {
		j += 2
	}
	if j < len(t) && t[j].text == "(" {
		j = closing(t, j) + 1
	}
	return j < len(t) && t[j].text == "=" && j > i+1
}

func rubyDef(t []lexeme, i int, ends map[int]int) (string, []lexeme, int) {
	name := t[i+1].text
	if end, ok := ends[i]; ok {
		return name, t[i+2 : max(end, i+2)], max(end, i+1)
	}
	j := i
	for j+1 < len(t) && t[j+1].kind != newline {
		j++
	}
	return name, t[min(i+2, j+1) : j+1], j
}

// rubyBlock is the do … end or { … } of the call at i, which begins on the
// same logical line.
func rubyBlock(t []lexeme, i int, ends map[int]int) (body []lexeme, end int, ok bool) {
	depth := 0
	for j := i + 1; j < len(t); j++ {
		switch {
		case t[j].text == "(" || t[j].text == "[":
			depth++
		case t[j].text == ")" || t[j].text == "]":
			depth--
		case depth > 0:
		case t[j].kind == newline && t[j-1].text != "," || t[j].text == ";" || j > i+longest:
			return nil, 0, false
		case t[j].text == "do" && t[j].kind == word:
			end := ends[j]
			return t[j+1 : max(end, j+1)], max(end, j), true
		case t[j].text == "{" && t[j].kind == punct:
			end := closing(t, j)
			return t[j+1 : max(end, j+1)], end, true
		}
	}
	return nil, 0, false
}

// rubyLet gives let(:name) { value } the form of an assignment.
func rubyLet(t []lexeme, i int, ends map[int]int) []lexeme {
	if i+2 >= len(t) || t[i+1].text != "(" || !strings.HasPrefix(t[i+2].text, ":") {
		return nil
	}
	body, _, ok := rubyBlock(t, i, ends)
	if !ok {
		return nil
	}
	line := t[i].line
	out := []lexeme{{kind: newline, text: "\n", line: line}, {kind: word, text: t[i+2].text[1:], line: line}, {kind: punct, text: "=", line: line}}
	return append(append(out, trimLines(body)...), lexeme{kind: newline, text: "\n", line: line})
}

func rubyAssertions(s *scope, t []lexeme) []assertion {
	var out []assertion
	t = rubyUntilSkip(t)
	for i, tok := range t {
		if tok.kind != word {
			continue
		}
		member := i > 0 && s.g.access[t[i-1].text]
		switch {
		case (tok.text == "to" || tok.text == "not_to" || tok.text == "to_not") && member:
			if w, ok := rubyExpect(s, t, i); ok {
				out = append(out, assertion{tok.line, w})
			}
		case member && (prefixed(tok.text, "must_", "wont_") || tok.text == "should" || tok.text == "should_not"):
			out = append(out, assertion{tok.line, s.check(rubySubject(t, i-1), rubyArgs(t, i))})
		case member && tok.text == "verify":
			out = append(out, assertion{tok.line, s.check(rubySubject(t, i-1))})
		case member:
		case (tok.text == "should" || tok.text == "should_not") && i+1 < len(t) && t[i+1].kind == word:
			out = append(out, assertion{tok.line, meaningful}) // of the subject, which is named nowhere
		case tok.text == "flunk" || tok.text == "raise" || tok.text == "fail":
			if i == 0 || t[i-1].kind == newline || t[i-1].text == "{" {
				out = append(out, assertion{tok.line, s.guarded(t, i)})
			}
		case prefixed(tok.text, "assert", "refute"):
			out = append(out, assertion{tok.line, rubyAssert(s, t, i)})
		}
	}
	return out
}

func rubyUntilSkip(t []lexeme) []lexeme {
	for i, tok := range t {
		if (tok.text == "skip" || tok.text == "pending") && (i == 0 || t[i-1].kind == newline) && (i+1 >= len(t) || t[i+1].kind == newline || t[i+1].kind == str) {
			for j := i; j < len(t); j++ {
				if t[j].text == "if" || t[j].text == "unless" {
					return t
				}
				if t[j].kind == newline {
					break
				}
			}
			return t[:i]
		}
	}
	return t
}

// rubyArgs are the arguments of the call at i, with brackets or without.
func rubyArgs(t []lexeme, i int) []lexeme {
	if i+1 < len(t) && t[i+1].text == "(" {
		return t[i+2 : max(closing(t, i+1), i+2)]
	}
	return statement(t, i+1)
}

// rubySubject is what stands before the dot at i: an expression, or the
// argument of expect(…), or its block.
func rubySubject(t []lexeme, i int) []lexeme {
	for i > 0 && t[i-1].kind == newline {
		i--
	}
	if i > 0 && t[i-1].text == "}" {
		o := opening(t, i-1)
		return t[o+1 : i-1]
	}
	sub := subject(t, i)
	if len(sub) > 2 && sub[1].text == "(" && (sub[0].text == "expect" || sub[0].text == "_" || sub[0].text == "value") {
		return sub[2 : len(sub)-1]
	}
	return sub
}

// rubyExpect judges expect(subject).to matcher(args); i is the `to`.
func rubyExpect(s *scope, t []lexeme, i int) (strength, bool) {
	j := i - 1
	for j > 0 && t[j-1].kind == newline {
		j--
	}
	j--
	if j >= 0 && (t[j].text == ")" || t[j].text == "}") {
		j = opening(t, j) - 1
	} else if j >= 0 && t[j].text == "is_expected" {
		return meaningful, i+1 < len(t)
	}
	if j < 0 || t[j].text == "allow" || t[j].text == "allow_any_instance_of" {
		return 0, false
	}
	sub := rubySubject(t, i-1)
	matcher := trimLines(rubyArgs(t, i))
	if len(matcher) == 0 {
		return 0, false
	}
	if t[j].text == "expect_any_instance_of" {
		return meaningful, true
	}
	switch m := matcher[0].text; {
	case m == "receive" || m == "receive_messages" || m == "have_received":
		return s.check(sub), true
	case len(matcher) > 1 && matcher[0].kind == word && matcher[1].text == "(" && !prefixed(m, "raise_"):
		args := matcher[2:max(2, closing(matcher, 1))]
		if len(args) == 0 {
			return s.condition(sub), true
		}
		return s.check(sub, args), true
	case m == "raise_error" || m == "raise_exception":
		return s.check(withoutThrows(sub)), true
	case m == "be_nil" && len(sub) > 2 && sub[len(sub)-1].text == "new":
		return constant, true
	case len(matcher) == 1 || m == "change":
		return s.condition(sub), true
	case matcher[0].kind == word && matcher[1].text != ".":
		return s.check(sub, matcher[1:]), true
	}
	return s.check(sub), true
}

func rubyAssert(s *scope, t []lexeme, i int) strength {
	name := t[i].text
	if prefixed(name, "assert_raises", "assert_raise", "assert_output", "assert_difference", "assert_changes", "assert_throws", "assert_nothing", "assert_silent", "assert_no_difference") {
		for j := i + 1; j < len(t) && (t[j].kind != newline || t[j-1].text == ","); j++ {
			if t[j].text == "{" {
				return s.check(t[j+1 : max(closing(t, j), j+1)])
			}
			if t[j].text == "do" {
				end := rubyBlocks(t[j:min(len(t), j+longest)])[0]
				return s.check(t[j+1 : j+max(end, 1)])
			}
		}
		return constant
	}
	args := arguments(rubyArgs(t, i))
	switch {
	case len(args) == 0:
		return constant
	case prefixed(name, "assert_response", "assert_redirected", "assert_template", "assert_select", "assert_dom", "assert_enqueued", "assert_no_enqueued", "assert_performed", "assert_emails", "assert_no_emails",
		"assert_text", "assert_no_text", "assert_selector", "assert_no_selector", "assert_current_path", "assert_content", "assert_button", "assert_link", "assert_field", "assert_broadcasts"):
		return meaningful // of the last answer, which is named nowhere
	case name == "assert" || name == "refute" || prefixed(name, "assert_nil", "refute_nil", "assert_empty", "refute_empty", "assert_not_nil", "assert_predicate", "assert_mock"):
		return s.truth(t, i, args[0], name == "assert")
	}
	return s.check(args[:min(2, len(args))]...)
}
