package skeleton

import (
	"slices"
	"strings"
)

var rustGrammar = &grammar{
	keywords: names("let mut ref fn pub use mod match if else for while loop return async await move impl as in where unsafe dyn box const static struct enum panic todo unimplemented unreachable println print eprintln dbg assert assert_eq assert_ne"),
	literals: names("true false None"),
	builtins: names("Some Ok Err vec String Vec str format"),
	access:   names(". ::"),
	receiver: names("self Self"),
	makers:   func(n string) bool { return prefixed(n, "Mock") },
	neutral: func(n string) bool {
		return prefixed(n, "assert", "expect_", "prop_assert") || rustNeutral[n]
	},
}

var rustNeutral = names("times returning return_const with once never checkpoint println print eprintln dbg")

// rustTests are the attributes that make a function a test; paths such as
// tokio::test end in one of them.
var rustTests = names("test rstest test_case proptest quickcheck wasm_bindgen_test googletest case gtest traced_test test_log")

// readRust reads functions with a test attribute, wherever modules put them.
func readRust(src []byte) []test {
	t := rustDialect.read(src)
	var units []unit
	var shared []lexeme
	var u unit
	for i := 0; i < len(t); i++ {
		if t[i].text == "#" && i+1 < len(t) && t[i+1].text == "[" {
			end := closing(t, i+1)
			rustAttribute(&u, t[i+2:max(end, i+2)])
			i = end
			continue
		}
		if t[i].text == "mod" && u.skipped && i+2 < len(t) && t[i+2].text == "{" {
			i, u = closing(t, i+2), unit{}
			continue
		}
		if t[i].text == ";" || t[i].text == "}" || t[i].text == "mod" || t[i].text == "struct" {
			u = unit{}
		}
		if t[i].text != "fn" || i+1 >= len(t) || t[i+1].kind != word {
			shared = append(shared, t[i])
			continue
		}
		open := i + 2
		for open < min(len(t), i+longest) && t[open].text != "{" && t[open].text != ";" {
			if t[open].text == "(" {
				open = closing(t, open)
			}
			open++
		}
		if open < len(t) && t[open].text == "{" {
			end := closing(t, open)
			u.name, u.line, u.body = t[i+1].text, t[i].line, t[open+1:max(end, open+1)]
			u.expects = u.expects && !rustPanics(u.body)
			if u.failing {
				u.body = withoutAssertions(u.body)
			}
			units = append(units, u)
			i = end
		}
		u = unit{}
	}
	return scanner{g: rustGrammar, assertions: rustAssertions}.tests(units, shared)
}

// withoutAssertions leaves the assertions out of a body: where any panic is expected,
// the test passes whatever they assert.
func withoutAssertions(t []lexeme) []lexeme {
	var out []lexeme
	for i := 0; i < len(t); i++ {
		if i+2 < len(t) && t[i+1].text == "!" && prefixed(t[i].text, "assert", "debug_assert", "prop_assert") {
			i = closing(t, i+2)
			continue
		}
		out = append(out, t[i])
	}
	return link(out)
}

// rustPanics tells whether a body ends by a panic of its own.
func rustPanics(t []lexeme) bool {
	depth := 0
	for i := 0; i+1 < len(t); i++ {
		switch {
		case t[i].kind == punct && t[i].text == "{":
			depth++
		case t[i].kind == punct && t[i].text == "}":
			depth--
		case depth == 0 && t[i].kind == word && t[i+1].text == "!" && (rustFailures[t[i].text] || t[i].text == "todo" || t[i].text == "unimplemented") && (i == 0 || t[i-1].text == ";"):
			return true
		}
	}
	return false
}

// failedAssertion are the words of a panic by which an assertion fails.
const failedAssertion = "assertion `left == right` failed: assertion `left != right` failed"

func rustAttribute(u *unit, t []lexeme) {
	path := t
	for i := range t {
		if t[i].text == "(" || t[i].text == "=" {
			path = t[:i]
			break
		}
	}
	if len(path) == 0 {
		return
	}
	switch last := path[len(path)-1].text; {
	case last == "ignore":
		u.skipped = true
	case path[0].text == "cfg" && strings.HasPrefix(joined(t), "cfg(any())"):
		u.skipped = true
	case last == "should_panic":
		u.expects = true
		u.failing = len(path) == len(t) || slices.ContainsFunc(t, func(l lexeme) bool {
			return l.kind == str && strings.Contains(failedAssertion, strings.Trim(l.text, `"`))
		})
	case rustTests[last] && path[0].text != "cfg":
		u.test = true
	}
}

var rustFailures = names("panic unreachable")

func rustAssertions(s *scope, t []lexeme) []assertion {
	var out []assertion
	for i := 0; i+2 < len(t); i++ {
		if t[i].kind != word || t[i+1].text != "!" || t[i+2].kind != punct {
			continue
		}
		end := closing(t, i+2)
		args := arguments(t[i+3 : max(end, i+3)])
		switch name := t[i].text; {
		case rustFailures[name]:
			out = append(out, assertion{t[i].line, s.guarded(t, i)})
		case (prefixed(name, "assert", "debug_assert", "prop_assert", "check") || name == "verify_that" || name == "expect_that") && len(args) > 0:
			var w strength
			switch {
			case len(args) > 1 && (name != "assert" && name != "debug_assert" && name != "prop_assert"):
				w = s.check(args[0], args[1])
			default:
				w = s.truth(t, i, args[0], true)
			}
			out = append(out, assertion{t[i].line, w})
		}
	}
	for _, c := range rustGrammar.calls(t) {
		method := c.at > 0 && t[c.at-1].text == "."
		switch {
		case method && (c.name == "unwrap_err" || c.name == "expect_err"):
			out = append(out, assertion{t[c.at].line, s.check(subject(t, c.at-1))})
		case method && prefixed(c.name, "expect_"):
			out = append(out, assertion{t[c.at].line, s.check(t[c.at-2 : c.at-1])})
		}
	}
	return out
}
