package skeleton

// generic returns the index of the > that closes type arguments before a call,
// 0 if the < at i is a comparison.
func generic(t []lexeme, i int) int {
	depth := 0
	for j := i; j < len(t) && j < i+40; j++ {
		switch t[j].text {
		case "<":
			depth++
		case ">":
			depth--
		case ",", ".", "::", "?", "[", "]", "{", "}", ":", ";", "|", "&", "_":
		default:
			if t[j].kind != word {
				return 0
			}
		}
		if depth == 0 {
			if j+1 < len(t) && (t[j+1].text == "(" || t[j+1].text == "::" || t[j+1].text == "{") {
				return j
			}
			return 0
		}
	}
	return 0
}

// closing is the index of the bracket that closes the one at i, or of the last
// token.
func closing(t []lexeme, i int) int {
	if m := t[i].match; m > 0 && i+m < len(t) {
		return i + m
	}
	return len(t) - 1
}

// splitAt cuts tokens at separators outside brackets.
func splitAt(t []lexeme, seps map[string]bool) [][]lexeme {
	var out [][]lexeme
	depth, from := 0, 0
	for i, tok := range t {
		if tok.kind == punct {
			switch tok.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if depth == 0 && (tok.kind == punct || tok.kind == word) && seps[tok.text] {
			out = append(out, t[from:i])
			from = i + 1
		}
	}
	return append(out, t[from:])
}

var (
	commas      = names(",")
	disjunction = names("|| or ??")
	conjunction = names("&& and")
	comparisons = names("== != === !== <= >= < > is in =~ <=>")
)

// arguments are the non-empty parts of a bracketed list.
func arguments(t []lexeme) [][]lexeme {
	var out [][]lexeme
	for _, a := range splitAt(t, commas) {
		if a = trimLines(a); len(a) > 0 {
			out = append(out, a)
		}
	}
	return out
}

func trimLines(t []lexeme) []lexeme {
	for len(t) > 0 && t[0].kind == newline {
		t = t[1:]
	}
	for len(t) > 0 && t[len(t)-1].kind == newline {
		t = t[:len(t)-1]
	}
	return t
}

func same(a, b []lexeme) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		if a[i].text != b[i].text {
			return false
		}
	}
	return true
}

// opening is the index of the bracket that opens the one at i, or 0.
func opening(t []lexeme, i int) int {
	if m := t[i].match; m < 0 && i+m >= 0 {
		return i + m
	}
	return 0
}
