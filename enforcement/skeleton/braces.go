package skeleton

import (
	"slices"
	"strings"
)

var typeWords = "new return if else for while throw try catch finally switch case instanceof void int long double float boolean bool string char byte short var val fun final static public private protected internal async await out ref in is as not typeof nameof sizeof default yield lambda class interface"

var javaGrammar = &grammar{
	keywords: names(typeWords),
	literals: names("true false null to"),
	builtins: names("String Integer Long Double Boolean BigDecimal List Set Map Arrays Collections Optional Objects listOf setOf mapOf"),
	access:   names(". :: ?. !!"),
	receiver: names("this"),
	reads:    names("get contains first last"),
	makers:   func(n string) bool { return javaMakers[n] },
	neutral: func(n string) bool {
		return javaMakers[n] || javaNeutral[n] || prefixed(n, "assert", "expect", "should", "verify")
	},
}

var (
	javaMakers  = names("mock mockk mockStatic createMock niceMock createNiceMock Mock @Mock")
	javaNeutral = names("when given then doReturn doThrow doNothing doAnswer inOrder reset lenient every coEvery Mockito BDDMockito eq any contains println print")
)

var csharpGrammar = &grammar{
	keywords: names(typeWords),
	literals: names("true false null"),
	builtins: names("String Math Dictionary List HashSet"),
	access:   names(". ?. !"),
	receiver: names("this"),
	makers:   func(n string) bool { return n == "Mock" || n == "Substitute" || n == "Fake" || n == "MockRepository" },
	neutral: func(n string) bool {
		return csharpNeutral[n] || prefixed(n, "Assert", "Should", "Verify", "Setup")
	},
}

var csharpNeutral = names("Mock Substitute A Received DidNotReceive Returns ReturnsAsync Callback It Arg CallTo Throws Console WriteLine nameof MustHaveHappened Is Has Does")

// annotated describes how a language with annotations marks its tests.
type annotated struct {
	scanner
	dialect *dialect
	open    string          // what an annotation begins with
	marks   map[string]bool // annotations of tests
	skips   map[string]bool
	classic bool // JUnit 3: public void testX() in a TestCase
}

var javaTests = annotated{
	scanner: scanner{g: javaGrammar, assertions: javaAssertions}, dialect: javaDialect, open: "@",
	marks:   names("Test ParameterizedTest RepeatedTest TestFactory TestTemplate Property Example"),
	skips:   names("Disabled Ignore"),
	classic: true,
}

var csharpTests = annotated{
	scanner: scanner{g: csharpGrammar, assertions: csharpAssertions}, dialect: csharpDialect, open: "[",
	marks: names("Fact Theory Test TestCase TestCaseSource TestMethod DataTestMethod Property SkippableFact SkippableTheory StaFact"),
	skips: names("Ignore Explicit"),
}

func readJava(src []byte) []test   { return javaTests.read(src) }
func readCSharp(src []byte) []test { return csharpTests.read(unwritten(src)) }

// read finds methods with a body; the annotations before one make it a test.
func (a annotated) read(src []byte) []test {
	t := a.dialect.read(src)
	var units []unit
	var shared []lexeme
	var marks []annotation
	classSkip, junit3 := false, false
	for i := 0; i < len(t); i++ {
		if m, end, ok := a.annotation(t, i); ok {
			marks = append(marks, m)
			if m.name == "Mock" {
				marks = marks[:len(marks)-1]
				shared = append(shared, a.mockField(t, end)...)
			}
			i = end
			continue
		}
		switch {
		case t[i].kind == word && (t[i].text == "class" || t[i].text == "object" || t[i].text == "record"):
			classSkip = classSkip || anyMark(marks, a.skips)
			for j := i; j < min(len(t), i+longest) && t[j].text != "{"; j++ {
				junit3 = junit3 || a.classic && t[j].text == "TestCase"
			}
			marks = nil
		case t[i].text == ";" || t[i].text == "}":
			marks = nil
		}
		name, body, end := method(t, i)
		if body == nil {
			shared = append(shared, t[i])
			continue
		}
		u := unit{name: name, line: t[i].line, body: body}
		u.test = anyMark(marks, a.marks) || junit3 && prefixed(name, "test")
		u.skipped = classSkip || anyMark(marks, a.skips)
		for _, m := range marks {
			u.expects = u.expects || m.has("expected") || m.has("expectedExceptions") || m.has("ExpectedResult") || m.name == "ExpectedException"
			u.skipped = u.skipped || m.has("Skip") || strings.HasSuffix(m.name, "Source") && strings.Contains(joined(m.args), "{}") || m.has("enabled") && m.has("false")
		}
		units = append(units, u)
		marks = nil
		i = end
	}
	if a.classic {
		units = append(units, kotest(t)...)
	}
	return a.scanner.tests(units, shared)
}

var (
	kotestSpec = names("StringSpec FunSpec ShouldSpec DescribeSpec BehaviorSpec WordSpec FreeSpec FeatureSpec ExpectSpec")
	kotestCall = names("test should it then Then scenario expect")
)

// kotest reads the tests of Kotest, which are strings with a block in the body
// of a specification, or calls that are given both.
func kotest(t []lexeme) []unit {
	from := slices.IndexFunc(t, func(tok lexeme) bool { return tok.kind == word && kotestSpec[tok.text] })
	if from < 0 {
		return nil
	}
	var out []unit
	for i := from; i+1 < len(t); i++ {
		if t[i].kind != str && t[i].kind != interp || strings.HasPrefix(strings.Trim(t[i].text, `"`), "!") {
			continue
		}
		open, options := i+1, []lexeme(nil)
		if t[i-1].text == "(" && t[open].text == ")" {
			if !kotestCall[t[i-2].text] {
				continue
			}
			open++
		}
		if open+2 < len(t) && t[open].text == "." && t[open+1].text == "config" && t[open+2].text == "(" {
			options = t[open+2 : closing(t, open+2)]
			open = closing(t, open+2) + 1
		}
		if open >= len(t) || t[open].text != "{" || t[open].kind != punct {
			continue
		}
		end := closing(t, open)
		skipped := annotation{args: options}.has("enabled") && annotation{args: options}.has("false")
		out = append(out, unit{line: t[i].line, body: t[open+1 : max(end, open+1)], test: true, skipped: skipped})
		i = open
	}
	return out
}

// mockField gives `@Mock Mailer mailer;` the form of an assignment. A mock
// that is a field is injected into the object under test.
func (a annotated) mockField(t []lexeme, i int) []lexeme {
	for j := i + 1; j < len(t) && j < i+20; j++ {
		if t[j].text == ";" || t[j].text == "=" {
			name := t[j-1]
			punctuation := func(s string) lexeme { return lexeme{kind: punct, text: s, line: name.line} }
			return []lexeme{
				punctuation(";"), name, punctuation("="),
				{kind: word, text: "@Mock", line: name.line},
				punctuation("("), punctuation(")"), punctuation(";"),
				{kind: word, text: "inject", line: name.line},
				punctuation("("), name, punctuation(")"), punctuation(";"),
			}
		}
	}
	return nil
}

type annotation struct {
	name string
	args []lexeme
}

func (m annotation) has(w string) bool {
	return slices.ContainsFunc(m.args, func(t lexeme) bool { return t.text == w })
}

func anyMark(marks []annotation, set map[string]bool) bool {
	return slices.ContainsFunc(marks, func(m annotation) bool { return set[m.name] || set[strings.TrimSuffix(m.name, "Attribute")] })
}

// annotation reads @Name(…) or [Name(…), Other] and gives the index of its
// last token. Of several in one list the first test or skip decides.
func (a annotated) annotation(t []lexeme, i int) (annotation, int, bool) {
	if t[i].text != a.open || t[i].kind != punct || i+1 >= len(t) || t[i+1].kind != word {
		return annotation{}, 0, false
	}
	if a.open == "[" {
		if i > 0 && (t[i-1].kind == word || t[i-1].text == ")" || t[i-1].text == "]" && !a.closesAttribute(t, i-1) || t[i-1].text == "=" || t[i-1].text == "(") {
			return annotation{}, 0, false
		}
		end := closing(t, i)
		m := annotation{name: t[i+1].text, args: t[i+1 : end]}
		for _, part := range arguments(t[i+1 : end]) {
			if a.marks[part[0].text] && !a.skips[m.name] || a.skips[part[0].text] {
				m.name = part[0].text
			}
		}
		return m, end, true
	}
	j := i + 1
	for j+2 < len(t) && (t[j+1].text == "." || t[j+1].text == ":") && t[j+2].kind == word {
		j += 2
	}
	m := annotation{name: t[j].text}
	if m.name == "interface" {
		return annotation{}, 0, false
	}
	if j+1 < len(t) && t[j+1].text == "(" {
		end := closing(t, j+1)
		m.args = t[j+1 : end]
		return m, end, true
	}
	return m, j, true
}

func (a annotated) closesAttribute(t []lexeme, i int) bool {
	o := opening(t, i)
	return o == 0 || t[o-1].text == "{" || t[o-1].text == "}" || t[o-1].text == ";" || t[o-1].text == "]"
}

// method reads a declaration `… name(params) … { body }` or with an expression
// as body; i is its name.
func method(t []lexeme, i int) (name string, body []lexeme, end int) {
	if t[i].kind != word && t[i].kind != str || i == 0 || i+1 >= len(t) || t[i+1].text != "(" {
		return "", nil, 0
	}
	prev := t[i-1]
	declared := prev.kind == word && prev.text != "new" && prev.text != "return" && prev.text != "else" && prev.text != "throw" && prev.text != "await" || prev.text == ">" || prev.text == "]" || prev.text == "?"
	if !declared || controls[t[i].text] {
		return "", nil, 0
	}
	j := closing(t, i+1) + 1
	for ; j < len(t) && j < i+400; j++ {
		switch {
		case t[j].text == "{":
			c := closing(t, j)
			return t[i].text, t[j+1 : max(c, j+1)], c
		case t[j].text == "=>" || t[j].text == "=":
			v := value(t, j+1)
			if len(v) > 0 && t[j].text == "=" {
				v = expressionBody(t, j+1)
			}
			return t[i].text, v, j + len(v)
		case t[j].text == ";" || t[j].text == ")" || t[j].text == "}" || t[j].text == "(":
			return "", nil, 0
		}
	}
	return "", nil, 0
}

// expressionBody is the body of a Kotlin function `= expression`, block
// included.
func expressionBody(t []lexeme, i int) []lexeme {
	for j := i; j < len(t) && t[j].line <= t[i].line+1; j++ {
		if t[j].text == "{" {
			return t[i : closing(t, j)+1]
		}
	}
	return value(t, i)
}

var controls = names("if for while switch catch synchronized lock using fixed foreach when try do else return throw new")

func javaAssertions(s *scope, t []lexeme) []assertion {
	var out []assertion
	add := func(c call, w strength) { out = append(out, assertion{t[c.at].line, w}) }
	for _, c := range javaGrammar.calls(t) {
		method := c.at > 0 && (t[c.at-1].text == "." || t[c.at-1].text == "::")
		switch {
		case c.name == "fail":
			add(c, s.guarded(t, c.at))
		case (c.name == "assertThat" || c.name == "expectThat" || c.name == "assertWithMessage" || c.name == "then" && !method) && len(c.args) > 0:
			members, args := s.g.chain(t, c.close)
			switch {
			case len(c.args) > 1:
				add(c, s.check(c.args[len(c.args)-2], matcherArgs(c.args[len(c.args)-1])))
			case len(members) == 0 || len(members) == 1 && (members[0] == "as" || members[0] == "describedAs"):
			default:
				add(c, s.against(c.args[0], args))
			}
		case c.name == "assertTrue" || c.name == "assertFalse" || c.name == "assertNotNull" || c.name == "assertNull":
			if v := valueArg(c.args); v != nil {
				add(c, s.truth(t, c.at, v, c.name == "assertTrue"))
			}
		case c.name == "assertAll", c.name == "assertSoftly":
		case prefixed(c.name, "assertThrows", "assertDoesNotThrow", "assertFailsWith", "assertThatThrownBy", "assertThatCode", "assertTimeout", "assertFails"):
			if len(c.args) > 0 {
				add(c, s.check(withoutThrows(c.args[min(1, len(c.args)-1)])))
			} else if end := c.close + 1; end < len(t) && t[end].text == "{" {
				add(c, s.check(t[end:closing(t, end)]))
			}
		case prefixed(c.name, "assert") && len(c.args) > 0:
			args := c.args
			if len(args) > 2 && args[0][0].kind == str && len(args[0]) == 1 && args[2][0].kind != str {
				args = args[1:] // JUnit 4: the message comes first
			}
			add(c, s.check(args[:min(2, len(args))]...))
		case c.name == "verify" && len(c.args) > 0 && (c.close+1 >= len(t) || t[c.close+1].text != "{"):
			add(c, s.check(c.args[0]))
		case method && (c.name == "should" || c.name == "shouldHaveNoInteractions") && len(c.args) == 0 && c.first == "then":
			add(c, s.check(subject(t, c.at-1)))
		case method && (prefixed(c.name, "andExpect", "expectNext", "expectError", "expectComplete", "expectStatus", "expectBody", "verifyComplete", "untilAsserted") || c.name == "until" || c.name == "expect" && c.first != "expect"):
			add(c, meaningful)
		case prefixed(c.name, "should") && (len(c.args) > 0 || method) && c.first != "then":
			add(c, s.check(append([][]lexeme{subject(t, max(0, c.at-1))}, c.args...)...))
		}
	}
	for i, tok := range t {
		switch {
		case tok.kind != word:
		case blockAssertions[tok.text]: // Kotlin: assertFailsWith<E> { … }
			open := behindType(t, i)
			if tok.text[0] != 'a' && open < len(t) && t[open].text == "(" {
				open = closing(t, open) + 1
			}
			if open < len(t) && t[open].text == "{" {
				block := t[open+1 : max(open+1, closing(t, open))]
				if strings.Contains(strings.ToLower(tok.text), "verify") {
					block = trimLines(block)
					block = block[:min(1, len(block))] // the mock
				}
				out = append(out, assertion{tok.line, s.check(block)})
			}
		case i == 0:
		case tok.text == "throw":
			out = append(out, assertion{tok.line, s.guarded(t, i)})
		case tok.text == "assert" && (t[i-1].text == ";" || t[i-1].text == "{" || t[i-1].text == "}"):
			out = append(out, assertion{tok.line, s.condition(value(t, i+1))})
		case prefixed(tok.text, "should") && i+1 < len(t) && t[i+1].text != "(" && t[i-1].text != ".":
			out = append(out, assertion{tok.line, s.check(subject(t, i), value(t, i+1))})
		}
	}
	return out
}

// blockAssertions are those of Kotlin that are given a block and no brackets.
var blockAssertions = names("assertFailsWith assertFails assertThrows shouldThrow shouldThrowExactly shouldThrowAny verify coVerify verifyOrder verifySequence")

// behindType is the index behind the name at i and the type it is given.
func behindType(t []lexeme, i int) int {
	if i+1 < len(t) && t[i+1].text == "<" {
		if end := generic(t, i+1); end > 0 {
			return end + 1
		}
	}
	return i + 1
}

// matcherArgs are what a matcher is about: is(3), equalTo(x).
func matcherArgs(t []lexeme) []lexeme {
	for i := range t {
		if t[i].text == "(" && i > 0 && t[0].kind == word {
			return t[i+1 : max(closing(t, i), i+1)]
		}
	}
	return t
}

// valueArg skips the message that JUnit 4 wants first.
func valueArg(args [][]lexeme) []lexeme {
	switch {
	case len(args) == 0:
		return nil
	case len(args) > 1 && len(args[0]) == 1 && args[0][0].kind == str:
		return args[1]
	}
	return args[0]
}

func csharpAssertions(s *scope, t []lexeme) []assertion {
	var out []assertion
	add := func(c call, w strength) { out = append(out, assertion{t[c.at].line, w}) }
	for _, c := range csharpGrammar.calls(t) {
		method := c.at > 0 && (t[c.at-1].text == "." || t[c.at-1].text == "?.")
		switch {
		case method && strings.HasSuffix(c.first, "Assert") && c.first != "Debug":
			csharpAssert(s, t, c, add)
		case method && c.name == "Should" && len(c.args) == 0:
			if members, args := s.g.chain(t, c.close); len(members) > 0 {
				add(c, s.against(subject(t, c.at-1), args))
			}
		case method && prefixed(c.name, "Should"):
			add(c, s.against(subject(t, c.at-1), c.args))
		case method && (prefixed(c.name, "Verify") || c.name == "Received" || c.name == "DidNotReceive" || prefixed(c.name, "MustHaveHappened", "MustNotHaveHappened")):
			if c.first == "A" && len(subject(t, c.at-1)) > 4 {
				add(c, meaningful)
			} else {
				add(c, s.check(t[max(0, c.at-2):c.at-1]))
			}
		case !method && c.name == "Verify" && len(c.args) > 0:
			add(c, s.check(c.args[0]))
		}
	}
	return append(out, s.thrown(t)...)
}

func csharpAssert(s *scope, t []lexeme, c call, add func(call, strength)) {
	switch {
	case strings.HasSuffix(c.name, "Async") && c.at >= 2 && starts(t, c.at-2) && c.close+1 < len(t) && t[c.close+1].text == ";": // nobody waits for it
	case c.name == "Fail" || c.name == "Inconclusive" || c.name == "Ignore":
		if c.name == "Fail" {
			add(c, s.guarded(t, c.at))
		}
	case len(c.args) == 0 || c.name == "Multiple" || c.name == "Pass":
	case prefixed(c.name, "Throws", "Catch", "DoesNotThrow", "Record"):
		add(c, s.check(withoutThrows(c.args[len(c.args)-1])))
	case c.name == "That" && len(c.args) > 1:
		add(c, s.check(c.args[0], matcherArgs(c.args[1])))
	case prefixed(c.name, "True", "False", "IsTrue", "IsFalse", "Null", "NotNull", "IsNull", "IsNotNull", "Empty", "NotEmpty", "That", "IsEmpty", "IsNotEmpty"):
		add(c, s.truth(t, c.at, c.args[0], c.name == "True" || c.name == "IsTrue" || c.name == "That"))
	default:
		add(c, s.check(c.args[:min(2, len(c.args))]...))
	}
}
