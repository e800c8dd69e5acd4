package skeleton

import (
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// anyPython is a condition that holds in each Python that there is.
var anyPython = lazyregexp.New(`^sys\.version_info>=?\((?:2|3(?:,[0-8])?)[,)]`)

// pySkips reads pytest's and unittest's marks by which a test does not run, is
// expected to fail, or runs over no parameters.
func pySkips(d []lexeme) bool {
	for i, t := range d {
		if t.kind != word {
			continue
		}
		var first []lexeme
		if i+1 < len(d) && d[i+1].text == "(" {
			if args := arguments(d[i+2 : max(i+2, closing(d, i+1))]); len(args) > 0 {
				first = args[0]
				if len(args) > 1 && t.text == "parametrize" {
					first = args[1]
				}
			}
		}
		v, fixed := always(first)
		switch t.text {
		case "skip", "expectedFailure":
			return true
		case "given":
			if strings.HasSuffix(joined(first), "nothing()") {
				return true
			}
		case "xfail":
			named := len(first) > 1 && first[1].text == "="
			if len(first) == 0 || named || fixed && v || first[0].kind == str {
				return true
			}
		case "skipif", "skipIf":
			if fixed && v || anyPython.MatchString(joined(first)) {
				return true
			}
		case "skipUnless":
			if fixed && !v {
				return true
			}
		case "parametrize":
			if newScope(pythonGrammar).nothing(first) {
				return true
			}
		}
	}
	return false
}

// pyLive is what of the lines of a function can run and fail it.
func pyLive(lines []pyLine, decorated bool) []pyLine {
	s := newScope(pythonGrammar)
	uses := map[string]int{}
	for _, l := range lines {
		s.learn(link(append([]lexeme{{kind: newline}}, l.tokens...)))
		for _, t := range l.tokens {
			if t.kind == word {
				uses[t.text]++
			}
		}
	}
	dead := make(cut, len(lines))
	for k, l := range lines {
		if dead[k] {
			continue
		}
		head := l.tokens
		if head[0].text == "async" && len(head) > 1 {
			head = head[1:]
		}
		colon := pyColon(head)
		end := k + 1
		for end < len(lines) && lines[end].indent > l.indent {
			end++
		}
		inline := k
		if colon >= 0 && colon+1 == len(head) {
			inline = k + 1
		}
		switch {
		case colon >= 0 && (head[0].text == "if" || head[0].text == "while"):
			v, fixed := always(head[1:colon])
			switch {
			case fixed && !v:
				dead.drop(inline, end)
			case fixed && head[0].text == "if" && (inline == k && pyLeaves(head[colon+1:]) || end > k+1 && inline > k && pyLeaves(lines[k+1].tokens)):
				dead.drop(end, pyRest(lines, k))
			}
		case colon >= 0 && head[0].text == "for" && s.overNothing(head[1:colon]):
			dead.drop(inline, end)
		case colon >= 0 && head[0].text == "with" && pySuppresses(head[:colon], lines[k+1:end]):
			dead.drop(k, end)
		case head[0].text == "try" && pySwallows(lines, end, l.indent):
			dead.drop(k+1, end)
		case head[0].text == "def" && len(head) > 1 && uses[head[1].text] == 1 && l.indent == lines[0].indent && (k == 0 || lines[k-1].tokens[0].text != "@"):
			dead.drop(k, end)
		case head[0].text == "def" && len(head) > 1 && uses[head[1].text] == 2 && pyThreaded(lines, head[1].text):
			dead.drop(k, end)
		case head[0].text == "finally" && pyReturns(lines[k:end]):
			return nil
		case len(head) > 3 && head[1].text == "=" && head[2].text == "lambda" && uses[head[0].text] == 1:
			dead.drop(k, end)
		case head[0].text == "yield" && !decorated && l.indent == lines[0].indent:
			return nil // a generator, which no runner steps through
		case pyLeaves(head):
			dead.drop(k+1, pyRest(lines, k))
			if head[0].text != "return" && head[0].text != "raise" {
				dead.drop(k, k+1)
			}
		}
	}
	var out []pyLine
	for k, l := range lines {
		if !dead[k] {
			out = append(out, l)
		}
	}
	return out
}

func pyColon(head []lexeme) int {
	for i := 0; i < len(head); i++ {
		switch head[i].text {
		case "(", "[", "{":
			if head[i].match > 0 && i+head[i].match < len(head) {
				i += head[i].match
			}
		case ":":
			if head[i].kind == punct {
				return i
			}
		}
	}
	return -1
}

// pyRest is the index behind the block that line k stands in.
func pyRest(lines []pyLine, k int) int {
	end := k + 1
	for end < len(lines) && lines[end].indent >= lines[k].indent {
		end++
	}
	return end
}

// pyThreaded tells whether a function is run by a thread, whose failures fail no
// test.
func pyThreaded(lines []pyLine, name string) bool {
	for _, l := range lines {
		for i := 0; i+2 < len(l.tokens); i++ {
			if l.tokens[i].text == "target" && l.tokens[i+1].text == "=" && l.tokens[i+2].text == name {
				return true
			}
		}
	}
	return false
}

// pyReturns tells whether a finally returns, which drops what was raised.
func pyReturns(block []pyLine) bool {
	for _, l := range block {
		for i, t := range l.tokens {
			if t.text == "return" && t.kind == word && (i == 0 || l.tokens[i-1].text == ":") {
				return true
			}
		}
	}
	return false
}

func pyLeaves(t []lexeme) bool {
	return len(t) > 0 && (t[0].text == "raise" || t[0].text == "return" || leaves(t, 0))
}

var pySwallowed = names("AssertionError Exception BaseException")

// pySuppresses tells whether a with statement drops the failure of what is
// asserted in it.
func pySuppresses(head []lexeme, block []pyLine) bool {
	dropping, caught, asserts := false, false, false
	for _, t := range head {
		dropping = dropping || t.text == "suppress" || t.text == "raises" || t.text == "assertRaises"
		caught = caught || pySwallowed[t.text]
	}
	for _, l := range block {
		asserts = asserts || prefixed(l.tokens[0].text, "assert") || len(l.tokens) > 2 && prefixed(l.tokens[2].text, "assert")
	}
	return dropping && caught && asserts
}

// pySwallows looks at the handlers from line k on.
func pySwallows(lines []pyLine, k, indent int) bool {
	for k < len(lines) && lines[k].indent == indent && lines[k].tokens[0].text == "except" {
		head := lines[k].tokens
		colon := max(pyColon(head), 1)
		body := append([]lexeme{}, head[min(colon+1, len(head)):]...)
		caught := colon == 1
		for _, t := range head[1:colon] {
			caught = caught || pySwallowed[t.text]
		}
		for k++; k < len(lines) && lines[k].indent > indent; k++ {
			body = append(body, lines[k].tokens...)
		}
		if caught && !fails(body) {
			return true
		}
	}
	return false
}

// pyModuleSkips reads pytestmark = … and __test__ = False.
func pyModuleSkips(l pyLine) bool {
	t := l.tokens
	switch {
	case len(t) < 3 || t[0].text == "pytestmark" && l.indent > 0:
		return false
	case t[0].text == "pytestmark" && t[1].text == "=":
		return pySkips(t[2:])
	case t[0].text == "__test__" && t[1].text == "=":
		return t[2].text == "False"
	}
	return strings.HasPrefix(joined(t), "pytest.skip(") || strings.HasPrefix(joined(t), "unittest.skip(")
}
