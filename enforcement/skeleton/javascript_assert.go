package skeleton

import (
	"slices"
	"strings"
)

// jsFiller are the words of a chain that check nothing.
var jsFiller = names("not to be been is that which and has have with at of same but does still also deep nested own ordered any all resolves rejects a an soft poll")

var jsSingle = names("ok isTrue isFalse isOk isNotOk isNull isNotNull isUndefined isDefined exists notExists true false truthy falsy notOk isEmpty isNotEmpty throws rejects doesNotThrow doesNotReject pass ifError assert")

func jsAssertions(s *scope, t []lexeme, assertNames map[string]bool) []assertion {
	var out []assertion
	handles := jsHandles(t)
	for _, c := range jsGrammar.calls(t) {
		if w, ok := jsCall(s, t, c, assertNames, handles); ok {
			out = append(out, assertion{t[c.at].line, w})
		}
	}
	for i, tok := range t {
		switch {
		case tok.text == "throw" && tok.kind == word:
			out = append(out, assertion{tok.line, s.guarded(t, i)})
		case tok.text == "should" && i > 1 && t[i-1].text == "." && i+1 < len(t) && t[i+1].text == ".":
			members, args := s.g.chain(t, i)
			for _, m := range members {
				if !jsFiller[m] {
					out = append(out, assertion{tok.line, s.check(append([][]lexeme{subject(t, i-1)}, args...)...)})
					break
				}
			}
		}
	}
	return out
}

// subject is the expression that ends before the dot at i.
func subject(t []lexeme, i int) []lexeme {
	j := i - 1
	for hops := 0; j >= 0 && hops < 2*deepest; hops++ {
		switch {
		case t[j].text == ")" || t[j].text == "]":
			j = opening(t, j) - 1
		case t[j].text == "}" && t[j].kind == punct && opening(t, j) > 0 && (t[opening(t, j)-1].kind == word || t[opening(t, j)-1].text == ")"): // Kotlin: total { … }
			if j = opening(t, j) - 1; t[j].kind == word && controls[t[j].text] {
				return t[j+1 : i]
			}
		case t[j].kind == word || t[j].kind == str || t[j].kind == number:
			if j == 0 || !jsGrammar.access[t[j-1].text] && t[j-1].text != "::" && t[j-1].text != "->" {
				return t[j:i]
			}
			j -= 2
		default:
			return t[j+1 : i]
		}
	}
	return t[max(0, j+1):i]
}

// jsHandles are the parameters through which AVA, tape and QUnit assert: the
// first parameter of the test function.
func jsHandles(t []lexeme) map[string]bool {
	out := map[string]bool{}
	i := 0
	for i < len(t) && (t[i].text == "async" || t[i].text == "function" || t[i].kind == word && i > 0 && t[i-1].text == "function") {
		i++
	}
	if i < len(t) && t[i].text == "(" {
		i++
	}
	if i < len(t) && t[i].kind == word {
		out[t[i].text] = true
	}
	return out
}

var jsHandleMethods = names("is not deepEqual notDeepEqual true false truthy falsy throws throwsAsync notThrows equal equals strictEqual notStrictEqual notEqual ok notOk same regex like snapshot match error propEqual looseEqual deepLooseEqual isEqual rejects")

func jsCall(s *scope, t []lexeme, c call, assertNames, handles map[string]bool) (strength, bool) {
	method := c.at > 0 && s.g.access[t[c.at-1].text]
	switch {
	case c.name == "expect" && !method || c.name == "soft" && c.first == "expect":
		return jsExpect(s, t, c)
	case c.name == "expect" && method && c.first != "expect" && len(c.args) > 0:
		// supertest: request(app).get('/').expect(200)
		return s.check(subject(t, c.at-1)), true
	case c.name == "should" && method && len(c.args) > 0 && (c.first == "cy" || c.args[0][0].kind == str):
		return meaningful, true
	case c.name == "fail" && (!method || assertNames[c.first] || handles[c.first] || c.first == "expect"):
		return s.guarded(t, c.at), true
	case (assertNames[c.name] && !method || assertNames[c.first] && method && directMember(t, c)) && len(c.args) > 0:
		return jsValues(s, t, c), true
	case method && handles[c.first] && jsHandleMethods[c.name] && len(c.args) > 0 && directMember(t, c):
		return jsValues(s, t, c), true
	case method && c.first == "sinon" && prefixed(c.name, "called", "notCalled", "always", "never", "callOrder", "callCount") && len(c.args) > 0:
		return s.check(c.args[0]), true
	case method && c.name == "assert" && (c.first == "fc" || c.first == "jsc"):
		return s.property(t[c.at:c.close]), true
	}
	return 0, false
}

// property is the worth of what a generated value is held against: that of the
// expression behind the last arrow.
func (s *scope) property(t []lexeme) strength {
	for i := len(t) - 2; i > 0; i-- {
		if t[i].text == "=>" && t[i+1].text != "{" {
			return s.condition(value(t, i+1))
		}
	}
	return meaningful
}

// directMember tells whether the call is name.method(…), not a call further
// down a chain.
func directMember(t []lexeme, c call) bool {
	return c.at >= 2 && t[c.at-2].text == c.first || c.at >= 4 && t[c.at-4].text == c.first
}

func jsValues(s *scope, t []lexeme, c call) strength {
	if len(c.args) == 1 || jsSingle[c.name] {
		return s.truth(t, c.at, c.args[0], c.name != "isFalse" && c.name != "false" && c.name != "notOk" && c.name != "falsy")
	}
	return s.check(c.args[0], c.args[1])
}

// jsExpect judges expect(subject).chain; without a matcher it checks nothing.
func jsExpect(s *scope, t []lexeme, c call) (strength, bool) {
	members, args := s.g.chain(t, c.close)
	matcher := ""
	for _, m := range members {
		if !jsFiller[m] || m == "a" || m == "an" {
			matcher = m
			break
		}
	}
	if matcher == "" || len(c.args) == 0 {
		return 0, false
	}
	if prefixed(matcher, "toBe", "toEqual", "toHave", "toThrow", "toMatch", "toContain", "toStrict") && !called(t, c.close, matcher) {
		return 0, false
	}
	if (slices.Contains(members, "resolves") || slices.Contains(members, "rejects")) && dropped(t, c.at) {
		return 0, false // nobody waits for it
	}
	subject := withoutThrows(c.args[0])
	if len(subject) > 0 && subject[0].text == "typeof" && (len(args) == 0 || prefixed(joined(args[0]), "expect.any")) {
		return constant, true
	}
	if len(args) == 0 {
		return s.condition(subject), true
	}
	if matcher == "toHaveLength" && len(subject) > 0 && subject[0].text == "[" && s.holds(subject) && !strings.Contains(joined(subject), "...") {
		return constant, true
	}
	if prefixed(matcher, "toThrow") || matcher == "throw" {
		return s.check(subject), true
	}
	return s.check(subject, args[0]), true
}

// dropped tells whether the value of the expression at i is nobody's: a statement of
// its own, in a block.
func dropped(t []lexeme, i int) bool {
	return i > 0 && starts(t, i) && t[i-1].text != "=>"
}

// later is what a test starts and does not wait for: a callback of a timer, or what
// follows a promise.
func later(t []lexeme) cut {
	c := make(cut, len(t))
	for i := 1; i+1 < len(t); i++ {
		if t[i].kind != word || t[i+1].text != "(" {
			continue
		}
		end := closing(t, i+1)
		switch t[i].text {
		case "setTimeout", "setImmediate", "setInterval":
			if !dropped(t, i) {
				continue
			}
		case "then", "finally":
			if t[i-1].text != "." {
				continue
			}
			if from := i - 1 - len(subject(t, i-1)); from < 0 || !dropped(t, from) || t[from].text == "cy" {
				continue
			}
		default:
			continue
		}
		if !signals(t[i+2 : max(i+2, end)]) {
			c.drop(i+2, end)
		}
	}
	return c
}

// signals tells whether a callback says that it ran.
func signals(t []lexeme) bool {
	for i := 0; i < len(t); i++ {
		switch t[i].text {
		case "done", "end", "resolve", "reject", "cb", "callback", "next", "doesNotReject":
			return true
		}
	}
	return false
}

func called(t []lexeme, i int, name string) bool {
	for ; i+1 < len(t); i++ {
		if t[i].text == name {
			return t[i+1].text == "(" || t[i+1].text == "<"
		}
	}
	return false
}
