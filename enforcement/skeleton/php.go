package skeleton

import "strings"

var phpGrammar = &grammar{
	keywords: names("new return if else elseif for foreach while throw try catch finally switch case instanceof as function fn use static public private protected final abstract void int string bool array float self parent and or not match clone echo"),
	literals: names("true false null TRUE FALSE NULL"),
	builtins: names("count strlen array_sum intval strval"),
	access:   names("-> :: ?->"),
	receiver: names("$this self static"),
	makers:   func(n string) bool { return phpMakers[n] },
	neutral: func(n string) bool {
		return phpMakers[n] || phpNeutral[n] || prefixed(n, "assert", "expect", "will", "should", "with")
	},
}

var (
	phpMakers  = names("createMock createStub getMockBuilder createPartialMock createConfiguredMock getMockForAbstractClass prophesize mock Mockery \\Mockery")
	phpNeutral = names("method andReturn once never exactly any any atLeastOnce times reveal echo print var_dump toBe toEqual")
)

// readPHP reads PHPUnit classes and Pest files.
func readPHP(src []byte) []test {
	t := phpDialect.read(src)
	var units []unit
	var shared []lexeme
	marked := false
	for i := 0; i < len(t); i++ {
		switch {
		case t[i].text == "@test", t[i].text == "#" && i+2 < len(t) && t[i+1].text == "[" && strings.TrimPrefix(t[i+2].text, "PHPUnit\\Framework\\Attributes\\") == "Test":
			marked = true
		case t[i].text == ";" || t[i].text == "}":
			marked = false
		}
		if t[i].text == "function" && i+2 < len(t) && t[i+1].kind == word && t[i+2].text == "(" {
			name, body, end := method(t, i+1)
			if body == nil {
				continue
			}
			u := unit{name: name, line: t[i].line, body: body, test: marked || prefixed(name, "test")}
			if i > 0 && (t[i-1].text == "private" || t[i-1].text == "protected") {
				u.test = false
			}
			units = append(units, u)
			marked = false
			i = end
			continue
		}
		if body, end, ok := pest(t, i); ok {
			units = append(units, unit{line: t[i].line, body: body, test: true, skipped: end+2 < len(t) && t[end+1].text == "->" && (t[end+2].text == "skip" || t[end+2].text == "todo")})
			i = end
			continue
		}
		shared = append(shared, t[i])
	}
	return scanner{g: phpGrammar, assertions: phpAssertions}.tests(units, shared)
}

// pest reads it('…', function () {…}) and test('…', fn () => …).
func pest(t []lexeme, i int) (body []lexeme, end int, ok bool) {
	if t[i].text != "it" && t[i].text != "test" || t[i].kind != word || i+1 >= len(t) || t[i+1].text != "(" || i > 0 && phpGrammar.access[t[i-1].text] {
		return nil, 0, false
	}
	end = closing(t, i+1)
	for j := i + 2; j < end; j++ {
		if t[j].text == "function" || t[j].text == "fn" {
			return t[j:end], end, true
		}
	}
	return nil, 0, false
}

func phpAssertions(s *scope, t []lexeme) []assertion {
	var out []assertion
	add := func(c call, w strength) { out = append(out, assertion{t[c.at].line, w}) }
	for _, c := range phpGrammar.calls(t) {
		method := c.at > 0 && phpGrammar.access[t[c.at-1].text]
		switch {
		case c.name == "fail" && method:
			add(c, s.guarded(t, c.at))
		case c.name == "expectNotToPerformAssertions":
		case prefixed(c.name, "expectException", "expectError", "expectOutput", "expectWarning", "expectDeprecation"):
			rest := append(append([]lexeme{}, t[:max(0, c.at-2)]...), t[min(c.close+1, len(t)):]...)
			if s.makeup(link(withoutThrows(rest))).dynamic {
				add(c, meaningful)
			}
		case c.name == "expects" && method || prefixed(c.name, "shouldReceive", "shouldHaveReceived", "shouldBeCalled", "shouldNotHaveReceived"):
			add(c, s.check(subject(t, c.at-1)))
		case c.name == "expect" && !method && len(c.args) > 0:
			if members, args := s.g.chain(t, c.close); len(members) > 1 || len(members) == 1 && members[0] != "not" {
				add(c, s.against(c.args[0], args))
			}
		case prefixed(c.name, "assertTrue", "assertFalse", "assertNull", "assertNotNull", "assertEmpty", "assertNotEmpty") && len(c.args) > 0:
			add(c, s.truth(t, c.at, c.args[0], c.name == "assertTrue"))
		case prefixed(c.name, "assert"):
			direct := c.first == c.name || t[c.at-1].text == "::"
			switch {
			case !direct: // $response->assertOk() of a framework
				add(c, s.check(subject(t, c.at-1)))
			case len(c.args) > 0:
				add(c, s.check(c.args[:min(2, len(c.args))]...))
			}
		}
	}
	return append(out, s.thrown(t)...)
}
