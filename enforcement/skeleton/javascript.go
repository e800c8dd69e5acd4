package skeleton

import "strings"

var jsGrammar = &grammar{
	keywords: names("new await async return typeof instanceof in of void delete function const let var if else for while throw yield as class extends"),
	literals: names("true false null undefined NaN Infinity"),
	builtins: names("String Number Boolean Array BigInt Symbol Math Object JSON"),
	access:   names(". ?."),
	receiver: names("this"),
	reads:    names("at includes"),
	makers:   func(n string) bool { return jsMakers[n] },
	neutral: func(n string) bool {
		return jsMakers[n] || jsNeutral[n] || prefixed(n, "assert", "expect")
	},
}

var (
	jsMakers  = names("jest vi sinon td mockDeep mock createMock createStub createSpyObj createSpy")
	jsNeutral = names("should console describe it test when verify instance")
	jsTests   = names("it test specify fit")
)

// readJavaScript reads JavaScript and TypeScript: it, test and specify with a
// function, as Jest, Vitest, Mocha, Jasmine, node:test, AVA, tape, QUnit and
// Playwright have them.
func readJavaScript(src []byte) []test {
	t := jsDialect.read(src)
	found := jsTestCalls(t)
	units, shared := jsHelpers(t, found)
	units = append(found, units...)
	names := jsAssertNames(t)
	automocked := jsModules(t)
	sc := scanner{g: jsGrammar, assertions: func(s *scope, body []lexeme) []assertion {
		for name := range automocked {
			s.set(mock, name, true)
			s.set(handed, name, true)
		}
		s.spies(body)
		return jsAssertions(s, later(body).of(body), names)
	}}
	return sc.tests(units, shared)
}

// spies marks the variables that hold a spy on something that is not the test's.
func (s *scope) spies(t []lexeme) {
	for i := 0; i+1 < len(t); i++ {
		if t[i].kind != word || t[i+1].text != "=" {
			continue
		}
		for _, v := range value(t, i+2) {
			if v.text == "spyOn" {
				s.set(handed, t[i].text, true)
			}
		}
	}
}

// jsTestCalls finds the test calls. Those inside a skipped group are skipped.
func jsTestCalls(t []lexeme) []unit {
	var out []unit
	skipUntil := -1
	for i := 0; i+1 < len(t); i++ {
		if t[i].kind != word || i > 0 && jsGrammar.access[t[i-1].text] && !(i > 1 && (t[i-2].text == "Deno" || t[i-2].text == "QUnit" || t[i-2].text == "Bun")) {
			continue
		}
		name, mods, open := jsCallee(t, i)
		if open < 0 {
			continue
		}
		end := closing(t, open)
		skips := mods["skip"] || mods["todo"] || mods["fixme"] || mods["failing"] || mods["fails"] || mods["fail"] || mods["none"]
		switch {
		case name == "xdescribe" || name == "xcontext" || (name == "describe" || name == "suite" || name == "context") && skips && !mods["fails"]:
			skipUntil = max(skipUntil, end)
		case jsTests[name] && !mods["describe"] && !mods["beforeEach"] && !mods["afterEach"] && !mods["beforeAll"] && !mods["afterAll"]:
			body, ok := jsFunction(t, open, end)
			if !ok {
				continue
			}
			out = append(out, unit{line: t[i].line, body: body, test: true, skipped: skips || i < skipUntil || jsOption(t[open:min(open+8, end)], "skip")})
			i = end
		}
	}
	return out
}

// jsOption tells whether an options object says so: { skip: true }.
func jsOption(t []lexeme, name string) bool {
	for i := 0; i+2 < len(t); i++ {
		if t[i].text == name && t[i+1].text == ":" && (t[i+2].text == "true" || t[i+2].kind == str) {
			return true
		}
	}
	return false
}

// jsCallee reads it, it.only, it.each(table): the name, its modifiers and the
// index of the bracket that opens the test's own arguments, or -1.
func jsCallee(t []lexeme, i int) (string, map[string]bool, int) {
	mods := map[string]bool{}
	j := i + 1
	for j+1 < len(t) && t[j].text == "." && t[j+1].kind == word {
		mods[t[j+1].text] = true
		j += 2
	}
	if mods["each"] || mods["for"] || mods["skipIf"] || mods["runIf"] {
		if j < len(t) && t[j].text == "(" {
			given := t[j+1 : max(j+1, closing(t, j))]
			v, fixed := always(given)
			mods["none"] = newScope(jsGrammar).nothing(given) || fixed && v == mods["skipIf"]
			j = closing(t, j) + 1
		} else if j < len(t) && (t[j].kind == interp || t[j].kind == str) {
			j++
		}
	}
	if j < len(t) && t[j].text == "<" && generic(t, j) > 0 {
		j = generic(t, j) + 1
	}
	if j >= len(t) || t[j].text != "(" {
		return t[i].text, mods, -1
	}
	return t[i].text, mods, j
}

// jsFunction is the function among the arguments between two brackets.
func jsFunction(t []lexeme, open, end int) ([]lexeme, bool) {
	depth := 0
	for i := open + 1; i < end; i++ {
		switch t[i].text {
		case "(", "[", "{":
			if t[i].kind == punct {
				depth++
			}
		case ")", "]", "}":
			if t[i].kind == punct {
				depth--
			}
		case "=>":
			if depth == 0 {
				start := i
				for start > open+1 && !(t[start].text == "," && depth == 0) && t[start].line >= t[i].line-3 {
					if t[start].text == ")" {
						start = opening(t, start)
					}
					start--
				}
				return t[min(start+1, end):end], true
			}
		case "function":
			if depth == 0 {
				return t[i:end], true
			}
		}
	}
	return nil, false
}

// jsHelpers finds named functions outside the tests; what is left is shared.
func jsHelpers(t []lexeme, tests []unit) (units []unit, shared []lexeme) {
	inTest := map[int]bool{}
	for _, u := range tests {
		if len(u.body) > 0 {
			inTest[u.body[0].line*4096+u.body[0].column] = true
		}
	}
	for i := 0; i < len(t); i++ {
		if len(t[i].text) > 0 && inTest[t[i].line*4096+t[i].column] {
			for _, u := range tests {
				if len(u.body) > 0 && u.body[0] == t[i] {
					i += len(u.body)
					break
				}
			}
			if i >= len(t) {
				break
			}
		}
		if name, body := jsNamed(t, i); body != nil {
			units = append(units, unit{name: name, line: t[i].line, body: body})
			for len(body) > 0 && i+1 < len(t) && t[i] != body[len(body)-1] {
				i++
			}
			continue
		}
		shared = append(shared, t[i])
	}
	return units, shared
}

// jsNamed reads function f(…) {…} and const f = (…) => …
func jsNamed(t []lexeme, i int) (string, []lexeme) {
	switch {
	case t[i].text == "function" && i+2 < len(t) && t[i+1].kind == word:
		for j := i + 2; j < min(len(t), i+longest); j++ {
			if t[j].text == "(" {
				j = closing(t, j)
				continue
			}
			if t[j].text == "{" {
				return t[i+1].text, t[j : closing(t, j)+1]
			}
		}
	case t[i].text == "=" && i > 0 && t[i-1].kind == word:
		j := i + 1
		if j < len(t) && t[j].text == "async" {
			j++
		}
		if j < len(t) && t[j].text == "function" {
			for j < min(len(t), i+longest) && t[j].text != "{" {
				j++
			}
			if j < len(t) && t[j].text == "{" {
				return t[i-1].text, t[j : closing(t, j)+1]
			}
		}
		if j < len(t) && (t[j].text == "(" || t[j].kind == word) {
			if t[j].text == "(" {
				j = closing(t, j)
			}
			for k := j; k < min(j+8, len(t)); k++ {
				if t[k].text != "=>" || k+1 >= len(t) {
					continue
				}
				if t[k+1].text == "{" {
					return t[i-1].text, t[k+1 : closing(t, k+1)+1]
				}
				return t[i-1].text, value(t, k+1)
			}
		}
	}
	return "", nil
}

// jsAssertNames are the functions imported from an assertion module, besides
// assert itself.
func jsAssertNames(t []lexeme) map[string]bool {
	out := names("assert")
	for i := 0; i+2 < len(t); i++ {
		if t[i].kind != str || !strings.Contains(t[i].text, "assert") {
			continue
		}
		for j := i; j >= 0 && j > i-60 && t[j].text != ";" && t[j].text != "import"; j-- {
			if t[j].kind == word && t[j].text != "from" && t[j].text != "require" && t[j].text != "as" && t[j].text != "const" {
				out[t[j].text] = true
			}
		}
	}
	return out
}

// jsModules are the names imported from modules that the file mocks.
func jsModules(t []lexeme) map[string]bool {
	out := map[string]bool{}
	mocked := map[string]bool{}
	for i := 0; i+4 < len(t); i++ {
		if (t[i].text == "jest" || t[i].text == "vi") && (t[i+2].text == "mock" || t[i+2].text == "doMock") && t[i+4].kind == str {
			mocked[strings.Trim(t[i+4].text, `"'`)] = true
		}
	}
	for i := range t {
		if t[i].kind != str || !mocked[strings.Trim(t[i].text, `"'`)] || i < 2 || t[i-1].text != "from" && t[i-2].text != "require" {
			continue
		}
		for j := i - 2; j >= max(0, i-60) && t[j].text != "import" && t[j].text != "const"; j-- {
			if t[j].kind == word && t[j].text != "as" && t[j].text != "type" && t[j].text != "require" {
				out[t[j].text] = true
			}
		}
	}
	return out
}
