package skeleton

// callee is the name before the bracket at i, and the first name of its chain;
// both are empty for a bracket that only groups.
func callee(t []lexeme, i int, g *grammar) (name, first string) {
	j := i - 1
	if j >= 0 && t[j].text == "!" {
		j--
	}
	if j >= 0 && t[j].text == ">" {
		for depth, stop := 0, j-40; j >= max(0, stop); j-- {
			if t[j].text == ">" {
				depth++
			} else if t[j].text == "<" {
				if depth--; depth == 0 {
					j--
					break
				}
			}
		}
	}
	if j < 0 || t[j].kind != word || g.keywords[t[j].text] {
		return "", ""
	}
	name, first = t[j].text, t[j].text
	for j >= 2 && g.access[t[j-1].text] {
		j -= 2
		for j >= 0 && (t[j].text == ")" || t[j].text == "]") {
			j = opening(t, j) - 1
		}
		if j < 0 || t[j].kind != word {
			return name, first
		}
		if !g.receiver[t[j].text] {
			first = t[j].text
		}
	}
	return name, first
}

// call is one call in a piece of code.
type call struct {
	name  string
	first string // the first name of the chain
	at    int    // index of the name
	open  int
	close int
	args  [][]lexeme
}

// deepest is how many calls within calls are looked at.
const deepest = 40

// calls lists the calls, outermost first.
func (g *grammar) calls(t []lexeme) []call {
	var out []call
	var ends []int
	for i, tok := range t {
		for len(ends) > 0 && ends[len(ends)-1] <= i {
			ends = ends[:len(ends)-1]
		}
		if tok.kind != punct || tok.text != "(" || i == 0 {
			continue
		}
		ends = append(ends, closing(t, i))
		if len(ends) > deepest {
			continue
		}
		name, first := callee(t, i, g)
		if name == "" {
			continue
		}
		end := closing(t, i)
		at := i - 1
		for at > 0 && t[at].text != name {
			at--
		}
		out = append(out, call{name, first, at, i, end, arguments(t[min(i+1, end):end])})
	}
	return out
}

// chain lists the member names and the arguments of calls behind index i:
// `.not.toBe(3)` gives not, toBe and 3.
func (g *grammar) chain(t []lexeme, i int) (members []string, args [][]lexeme) {
	for hops := 0; i+2 < len(t) && hops < deepest; hops++ {
		j := i + 1
		for j < len(t) && t[j].kind == newline {
			j++
		}
		if j+1 >= len(t) || !g.access[t[j].text] || t[j+1].kind != word {
			return members, args
		}
		members = append(members, t[j+1].text)
		i = j + 1
		if i+1 < len(t) && t[i+1].text == "<" && generic(t, i+1) > 0 {
			i = generic(t, i+1)
		}
		if i+1 < len(t) && t[i+1].text == "(" {
			end := closing(t, i+1)
			args = append(args, arguments(t[i+2:max(end, i+2)])...)
			i = end
		}
	}
	return members, args
}

// guarded is the worth of a failure at index at: that of the condition before
// it, or nothing when it always happens.
func (s *scope) guarded(t []lexeme, at int) strength {
	for i := at - 1; i >= max(0, at-8*longest); i-- {
		if t[i].kind == punct && (t[i].text == "||" || t[i].text == "??") {
			return s.check(t[max(0, i-12):i])
		}
		if t[i].kind != word {
			continue
		}
		switch t[i].text {
		case "if", "unless", "while", "switch", "match", "when", "elif", "case", "else", "catch", "rescue", "except", "elsif":
			if cond := s.condition(header(t, i+1)); cond != constant || t[i].text == "if" {
				return max(cond, constant)
			}
		case "try", "begin":
			return s.check(t[i+1 : min(at, i+longest)])
		}
	}
	return unconditional
}

// header is the condition of a statement, up to its block.
func header(t []lexeme, i int) []lexeme {
	t = t[:min(len(t), i+longest)]
	if i < len(t) && t[i].text == "(" {
		return t[i+1 : closing(t, i)]
	}
	for j := i; j < len(t); j++ {
		if t[j].text == "{" || t[j].text == ":" || t[j].kind == newline || t[j].text == "then" {
			return t[i:j]
		}
	}
	return t[min(i, len(t)):]
}
