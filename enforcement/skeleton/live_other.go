package skeleton

import "strings"

// otherLive leaves out the tests that are marked as skipped, and what of the
// others cannot run or fail.
func otherLive(t []lexeme) []lexeme {
	var begins []int
	for i, tok := range t {
		if tok.kind == word && i+1 < len(t) && (begun[tok.text] || tok.text == "ignore" && (t[i+1].text == "(" || t[i+1].text == "{")) && (i == 0 || t[i-1].text != ".") {
			begins = append(begins, i)
		}
	}
	c := make(cut, len(t))
	for n, i := range begins {
		end, from := len(t), 0
		if n+1 < len(begins) {
			end = begins[n+1]
		}
		if n > 0 {
			from = begins[n-1]
		}
		if otherSkipped(t, from, i, end) {
			c.drop(i, end)
		}
	}
	s := newScope(otherGrammar)
	kept := c.of(t)
	s.learn(kept)
	return s.live(kept)
}

// begun are the words that a test begins with.
var begun = names("test it testcase TEST TEST_F TEST_P TEST_CASE SECTION specify scenario func void def fun feature Test")

// otherSkipped reads the marks of Swift Testing, ExUnit, googletest, Catch2,
// Dart and their like: before the test at i, and in its head.
func otherSkipped(t []lexeme, from, i, end int) bool {
	if t[i].text == "ignore" {
		return true
	}
	for j := i - 1; j > max(from, i-8); j-- {
		if t[j].text == "}" || t[j].text == "end" || t[j].text == "do" {
			break
		}
		if t[j].text == "skip" || t[j].text == "pending" || t[j].text == "Ignore" || t[j].text == "Disabled" || t[j].text == "disabled" && t[j-1].text == "." {
			return true
		}
	}
	for j := i; j < min(end, i+30) && t[j].text != "{" && t[j].text != "do"; j++ {
		text := t[j].text
		if strings.HasPrefix(text, "DISABLED_") || text == "disabled" || text == "ignore" && before(t, j-1) == "." || t[j].kind == str && strings.Contains(text, "[.]") || t[j].kind == str && (strings.Contains(text, "[!mayfail]") || strings.Contains(text, "[!shouldfail]")) {
			return true
		}
	}
	for j := i; j+2 < end; j++ {
		if t[j].text == "skip" && t[j+1].text == ":" && t[j+2].text != "false" {
			return true
		}
	}
	return false
}
