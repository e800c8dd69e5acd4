package skeleton

import (
	"slices"
	"strings"
)

// closed tells whether a test names nothing but what it made itself, so that it
// computes from literals alone and says nothing about the code under test. handles are
// names by which it fails.
func closed(g *grammar, body []lexeme, handles map[string]bool) bool {
	bound := map[string]bool{}
	for i, t := range body {
		if t.kind == interp {
			return false
		}
		if t.kind != punct || t.text != "=" && t.text != ":=" || i == 0 || body[i-1].kind != word || i > 1 && g.access[body[i-2].text] {
			continue
		}
		bound[body[i-1].text] = true
		for j := i - 2; j > 0 && body[j].text == "," && body[j-1].kind == word; j -= 2 {
			bound[body[j-1].text] = true
		}
	}
	for i := 0; i+2 < len(body); i++ { // for x in …
		if body[i].text == "for" && body[i+1].kind == word && (body[i+2].text == "in" || body[i+2].text == "of") {
			bound[body[i+1].text] = true
		}
		if body[i].text == "for" && i+4 < len(body) && body[i+3].kind == word && (body[i+4].text == "of" || body[i+4].text == "in") {
			bound[body[i+3].text] = true
		}
	}
	asserts := len(handles) > 0
	for i, t := range body {
		if i > 1 && t.kind == word && g.access[body[i-1].text] && bound[body[i-2].text] && !readers[t.text] && !g.reads[t.text] && !writers[t.text] && !strings.HasPrefix(t.text, "should") {
			return false // a member that the code may have added
		}
		if t.kind != word || i > 0 && g.access[body[i-1].text] {
			continue
		}
		checks := prefixed(t.text, "assert", "expect", "Assert", "should", "refute")
		asserts = asserts || checks
		if g.receiver[t.text] || t.text == "import" || t.text == "from" {
			return false
		}
		if !g.keywords[t.text] && !g.literals[t.text] && !g.builtins[t.text] && !bound[t.text] && !handles[t.text] && (!checks || g.inverted) {
			return false
		}
	}
	return asserts && len(bound) > 0
}

// allOfNothing reads Python's all(… for x in []), which holds.
func (s *scope) allOfNothing(t []lexeme) bool {
	if len(t) < 5 || t[0].text != "all" || t[1].text != "(" || closing(t, 1) != len(t)-1 {
		return false
	}
	for i := len(t) - 2; i > 1; i-- {
		if t[i].text == "in" {
			return s.nothing(t[i+1 : len(t)-1])
		}
	}
	return false
}

// writers are members by which collections of each language grow and shrink.
var writers = names("append push add extend insert pop remove clear sort reverse concat put set")

var (
	fileWriters = names("WriteFile writeFileSync writeFile write_text write_bytes writeString writeText file_put_contents write")
	fileReaders = names("ReadFile readFileSync readFile read_text read_bytes readString readText file_get_contents read read_to_string")
)

// throughFile tells whether a value is read from the file into which the test itself
// has written the variable that it is compared with. A write that depends on anything,
// as on a flag that renews what is expected, stands deeper than the comparison.
func (s *scope) throughFile(read, v []lexeme) bool {
	if len(v) != 1 || len(s.defs[v[0].text]) != 1 || len(read) == 0 {
		return false
	}
	level := s.columns[read[0].line]
	if len(read) == 1 && len(s.defs[read[0].text]) == 1 {
		read = s.defs[read[0].text][0].value
	}
	from := ""
	for _, c := range s.g.calls(read) {
		if fileReaders[c.name] {
			from = filePath(read, c)
		}
	}
	code := s.defs[v[0].text][0].code
	for _, c := range s.g.calls(code) {
		if from != "" && fileWriters[c.name] && filePath(code, c) == from && slices.ContainsFunc(c.args, func(a []lexeme) bool { return same(a, v) }) {
			first := code[c.at]
			if s.g.access[before(code, c.at-1)] {
				first = code[max(0, c.at-1-len(subject(code, c.at-1)))]
			}
			return first.column == level && s.columns[first.line] == level
		}
	}
	return false
}

// filePath is the path that a call reads or writes: what it is called on, or its first
// argument.
func filePath(t []lexeme, c call) string {
	if before(t, c.at-1) == "." && c.at > 1 && t[c.at-2].text == ")" {
		return joined(subject(t, c.at-1))
	}
	if len(c.args) == 0 {
		return ""
	}
	return joined(c.args[0])
}

// programmedAnswer stands for what a function that the test replaced returns. No
// language takes it for a name.
const programmedAnswer = "@programmed"

// member is a function of something, by the text before it and its name.
type member struct{ of, name string }

var (
	selves = names("self this cls")
	stubs  = names("Mock MagicMock AsyncMock fn stub")
)

// programmed lists the functions that a test replaces by its own: what they return
// then is the test's word, not that of the code.
func programmed(t []lexeme) map[member]bool {
	var out map[member]bool
	add := func(of, name string) {
		if out == nil {
			out = map[member]bool{}
		}
		if of != "" && name != "" {
			out[member{of, name}] = true
		}
	}
	for i := 0; i+1 < len(t); i++ {
		if i+3 < len(t) && t[i].kind == word && t[i+1].text == "." && t[i+3].text == "=" && starts(t, i) && !selves[t[i].text] {
			if v := value(t, i+4); isFunction(v) || len(v) > 1 && slices.ContainsFunc(v[:min(3, len(v))], func(tok lexeme) bool { return stubs[tok.text] }) {
				add(t[i].text, t[i+2].text)
			}
		}
		if t[i].kind != word || t[i+1].text != "(" {
			continue
		}
		end := closing(t, i+1)
		args := arguments(t[i+2 : max(i+2, end)])
		switch {
		case len(args) == 0:
		case len(args) > 1 && len(args[1]) == 1 && args[1][0].kind == str &&
			(t[i].text == "setattr" && len(args) > 2 || t[i].text == "object" && before(t, i-2) == "patch" || (t[i].text == "spyOn" || t[i].text == "stub") && answers(t, end)):
			add(joined(args[0]), strings.Trim(args[1][0].text, `"'`))
		case (t[i].text == "patch" || t[i].text == "setattr" && len(args) == 2) && len(args[0]) == 1 && args[0][0].kind == str:
			path := strings.Split(strings.Trim(args[0][0].text, `"'`), ".")
			if len(path) > 1 {
				add(path[len(path)-2], path[len(path)-1])
				add(strings.Join(path[:len(path)-1], "."), path[len(path)-1])
			}
		case (t[i].text == "allow" || t[i].text == "allow_any_instance_of") && end+4 < len(t) && t[end+1].text == "." && t[end+2].text == "to" && t[end+3].text == "receive":
			for j := end + 4; j < min(len(t), end+6); j++ {
				if name, ok := strings.CutPrefix(t[j].text, ":"); ok {
					of := joined(args[0])
					for k := 1; len(args[0]) == 1 && k+1 < len(t); k++ { // a variable stands for the class it was set to
						if t[k].text == "=" && t[k-1].text == of {
							add(joined(value(t, k+1))+".new", name)
						}
					}
					add(of, name)
					add(of+".new", name)
				}
			}
		}
	}
	return out
}

// answers tells whether a spy is given something to return.
func answers(t []lexeme, i int) bool {
	return i+2 < len(t) && t[i+1].text == "." && prefixed(t[i+2].text, "mock", "returns", "resolves", "callsFake")
}

// maxChain bounds the names and marks of a chain that are looked at.
const maxChain = 32

// programmedIn is the place of the name of a replaced function in the chain of names
// that begins at i, as in total of `cart.total` and of `shop.cart.total`; zero if there
// is none.
func programmedIn(g *grammar, t []lexeme, i int, replaced map[member]bool) int {
	if t[i].kind != word || i > 0 && g.access[t[i-1].text] {
		return 0
	}
	of := t[i].text
	for j := i + 2; j < min(len(t), i+maxChain) && g.access[t[j-1].text] && t[j].kind == word; j += 2 {
		if replaced[member{of, t[j].text}] {
			return j
		}
		of += "." + t[j].text
	}
	return 0
}

// withoutProgrammed puts a mock in the place of each call of a function that the
// test replaced.
func withoutProgrammed(g *grammar, t, marks []lexeme) []lexeme {
	replaced := programmed(link(append(slices.Clone(marks), t...)))
	if len(replaced) == 0 {
		return t
	}
	var out []lexeme
	for i := 0; i < len(t); i++ {
		if last := programmedIn(g, t, i, replaced); last > 0 {
			end := last
			if end+1 < len(t) && t[end+1].text == "(" {
				end = closing(t, end+1)
			} else if g != rubyGrammar {
				out = append(out, t[i])
				continue
			}
			out = append(out, lexeme{kind: word, text: programmedAnswer, line: t[i].line, column: t[i].column})
			i = end
			continue
		}
		out = append(out, t[i])
	}
	return link(out)
}
