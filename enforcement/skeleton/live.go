package skeleton

import (
	"slices"
	"strings"
)

// What cannot run in a test, or cannot fail it although it asserts, is left
// out before its assertions are looked for: what stands behind a return, under
// a condition that is never true, in a loop over nothing, in a function that
// nobody calls, and in a block whose failure is caught and dropped.

var (
	// leaving are the calls that end a test, or skip what is left of it.
	leaving = names("skip skipTest xfail exit _exit Exit Ignore Inconclusive Pass markTestSkipped markTestIncomplete pending todo fixme XCTSkip GTEST_SKIP SKIP SkipTest Goexit SkipNow Skipf Skip XCTExpectFailure")
	// assumed are those which do so if what they are given does not hold.
	assumed = names("assumeTrue assumeThat assume AssumeTrue abort assumeFalse")
	// failing are words by which a handler of exceptions hands a failure on.
	failing = names("throw raise rethrow fail flunk panic reject done exit XCTFail FAIL ADD_FAILURE reraise")
	// swallowed are the exceptions of which a failed assertion is one.
	swallowed = names("Throwable Error AssertionError AssertionFailedError BaseException Exception XunitException AssertionException ExpectationFailedException \\Throwable \\Exception TestFailure ExpectationNotMetError Assertion MultipleFailuresError object dynamic")
)

// fails tells whether code that handles an exception may fail the test.
func fails(t []lexeme) bool {
	for i, tok := range t {
		if v, fixed := always(t[min(i+1, len(t)):min(i+2, len(t))]); fixed && v && tok.text == "assert" {
			continue
		}
		if tok.kind == word && (failing[tok.text] || prefixed(tok.text, "assert", "expect", "Assert", "should", "Should", "verify", "XCTAssert", "EXPECT", "ASSERT")) {
			return true
		}
	}
	return false
}

// cut marks tokens that are left out.
type cut []bool

func (c cut) drop(from, to int) {
	for i := max(from, 0); i < min(to, len(c)); i++ {
		c[i] = true
	}
}

func (c cut) of(t []lexeme) []lexeme {
	out := make([]lexeme, 0, len(t))
	for i, tok := range t {
		if !c[i] {
			out = append(out, tok)
		}
	}
	return link(out)
}

// always tells whether a condition is true or false whatever happens.
func always(cond []lexeme) (value, constant bool) {
	cond = trimLines(cond)
	if len(cond) > 2 && cond[0].text == "(" && closing(cond, 0) == len(cond)-1 {
		return always(cond[1 : len(cond)-1])
	}
	if len(cond) > longest {
		return false, false
	}
	if parts := splitAt(cond, disjunction); len(parts) > 1 {
		for _, p := range parts {
			if v, ok := always(p); ok && v {
				return true, true
			}
		}
		return true, len(parts) == 2 && complement(parts[0], parts[1])
	}
	if parts := splitAt(cond, conjunction); len(parts) > 1 {
		for _, p := range parts {
			if v, ok := always(p); ok && !v {
				return false, true
			}
		}
		return false, len(parts) == 2 && complement(parts[0], parts[1])
	}
	if len(cond) > 1 && (cond[0].text == "!" || cond[0].text == "not") {
		v, ok := always(cond[1:])
		return !v, ok
	}
	if len(cond) == 1 {
		switch cond[0].text {
		case "false", "False", "FALSE", "0", "null", "None", "nil", "undefined", `""`, "''":
			return false, true
		case "true", "True", "TRUE", "1", "__debug__":
			return true, true
		}
	}
	if len(cond) > 3 && cond[0].text == "cfg" && cond[1].text == "!" {
		if inner := cond[3 : len(cond)-1]; len(inner) == 3 && inner[1].text == "(" && (inner[0].text == "any" || inner[0].text == "all") {
			return inner[0].text == "all", true
		}
	}
	return false, false
}

// nothing tells whether a value holds no element: an empty literal.
func (s *scope) nothing(v []lexeme) bool {
	v = trimLines(v)
	for len(v) > 0 && v[0].text == "new" {
		v = v[1:]
	}
	if len(v) == 1 && v[0].kind == word {
		return s.is(void, v[0].text) && s.assigned(v[0].text) <= 1 && !s.grown[v[0].text] && !s.lent[v[0].text]
	}
	if len(v) < 2 {
		return false
	}
	last := len(v) - 1
	if v[last].kind != punct || opening(v, last) != last-1 {
		if len(v) == 4 && v[0].text == "range" && v[2].text == "0" {
			return true
		}
		return false
	}
	for i, t := range v[:last-1] {
		if t.text == "struct" && s.g.inverted { // a type of Go is written out
			return closing(v, i+1) == last-2
		}
		if t.kind != word && t.text != "." && t.text != "<" && t.text != ">" && t.text != "[" && t.text != "]" && t.text != "!" && t.text != "::" {
			return false
		}
	}
	switch {
	case last == 1:
		return true
	case v[last].text == "]":
		return v[0].text == "vec" || v[0].text == "array"
	case v[last].text == "}":
		return true
	}
	return empties[v[last-2].text] || v[last-2].text == "new" && empties[v[0].text]
}

var empties = names("list dict set tuple frozenset emptyList emptySet emptyMap listOf setOf mapOf of List.of asList Set Map Array array ArrayList HashMap HashSet List range Empty Vec VecDeque BTreeMap BTreeSet")

// live is what of a test's body can run and fail it, in a language of braces.
func (s *scope) live(t []lexeme) []lexeme {
	c := make(cut, len(t))
	uses := map[string]int{}
	for _, tok := range t {
		if tok.kind == word {
			uses[tok.text]++
		}
	}
	for i := 0; i < len(t); i++ {
		if c[i] {
			continue
		}
		tok := t[i]
		member := i > 0 && s.g.access[t[i-1].text] && tok.text != "catch_unwind" && !starting[tok.text]
		switch {
		case tok.kind == word && member && t[i-1].text != "::" && i+1 < len(t) && (tok.text == "forEach" || tok.text == "each" || tok.text == "map" || tok.text == "for_each") && s.nothing(subject(t, i-1)):
			if t[i+1].text == "(" || t[i+1].text == "{" {
				c.drop(i, closing(t, i+1)+1)
			}
		case tok.kind == word && member && tok.text == "catch" && i+1 < len(t) && t[i+1].text == "(" && !fails(t[i+2:max(i+2, closing(t, i+1))]):
			sub := subject(t, i-1)
			c.drop(i-1-len(sub), i)
		case tok.kind == punct && starts(t, i) && (tok.text == "||" && s.g == rustGrammar || s.g == jsGrammar && i > 0 && tok.text == "(" && before(t, min(closing(t, i)+1, len(t)-1)) == "=>"):
			c.drop(i, statementEnd(t, i)) // a function that nobody calls
		case tok.text == "catch" && i+1 < len(t) && t[i+1].text == "?" && before(t, i-1) != "=": // Erlang, whose assertions are macros
			c.drop(i, statementEnd(t, i+1))
		case tok.text == "catch" && before(t, i-1) == ")" && forgets(t, i+1): // Zig
			c.drop(i-len(onLineBefore(t, i)), i)
		case tok.text == "try" && i+1 < len(t) && t[i+1].text == "?" && starts(t, i): // Swift
			c.drop(i, statementEnd(t, i+1))
		case tok.kind != word || member:
		case tok.text == "if" || tok.text == "while" || tok.text == "elif" || tok.text == "unless":
			s.condemn(t, c, i)
		case tok.text == "for" || tok.text == "foreach":
			if body := block(t, i); body >= 0 && s.overNothing(t[i+1:body]) {
				c.drop(i, blockEnd(t, body))
			}
		case (tok.text == "function" || tok.text == "fun") && (i > 1 || s.g != jsGrammar) && s.g != otherGrammar && i+1 < len(t) && t[i+1].kind == word && uses[t[i+1].text] == 1 && (starts(t, i) || t[i-1].text == "async" && starts(t, i-1)):
			if body := block(t, i+1); body >= 0 {
				c.drop(i, blockEnd(t, body))
			}
		case tok.text == "Thread" && before(t, i-1) == "new" && i+1 < len(t) && t[i+1].text == "(":
			c.drop(i+1, closing(t, i+1)+1) // whose failures fail no test
		case (tok.text == "try" || tok.text == "do") && i+1 < len(t) && t[i+1].text == "{":
			if end := closing(t, i+1); swallows(t, end+1) {
				c.drop(i+1, end+1)
			}
		case tok.text == "try" && i+1 < len(t) && t[i+1].text == "do":
			if end := rescued(t, i+1); end > 0 {
				c.drop(i+1, end)
			}
		case tok.text == "comment" && i > 0 && t[i-1].text == "(" && i+1 < len(t) && t[i+1].text == "(": // Clojure
			c.drop(i, closing(t, i-1))
		case tok.text == "withKnownIssue" || tok.text == "XCTExpectFailure":
			if body := block(t, i); body > 0 && body < len(t) && t[body].text == "{" {
				c.drop(body, closing(t, body)+1)
			}
		case (starting[tok.text] && (tok.text != "Run" || before(t, i-2) == "Task") || catching[tok.text]) && i+1 < len(t) && unheeded(t, i):
			c.drop(i, closing(t, i+1)+1)
		case starts(t, i) && leaves(t, i):
			end := statementEnd(t, i)
			from := end
			if tok.text != "return" {
				from = i
			}
			c.drop(from, enclosing(t, end))
		}
		if tok.kind == punct && tok.text == "=" && i > 0 && t[i-1].kind == word && uses[t[i-1].text] == 1 {
			if v := value(t, i+1); isFunction(v) {
				c.drop(i+1, i+1+len(v))
			}
		}
	}
	return c.of(t)
}

// catching are the calls that keep a failure of what they run for their result.
var catching = names("catch_unwind runCatching pcall xpcall Try tryCatch")

// starting are the calls that start what nobody waits for unless they are asked to.
var starting = names("spawn runAsync Run")

// unheeded tells whether the result of a call that catches failures goes to nobody.
func unheeded(t []lexeme, i int) bool {
	if t[i+1].text != "(" && t[i+1].text != "{" {
		return false
	}
	end := closing(t, i+1)
	if end+1 < len(t) && (t[end+1].text == "." || t[end+1].text == "?.") {
		return false
	}
	from := i
	for from >= 2 && (t[from-1].text == "::" || t[from-1].text == ".") {
		from -= 2
	}
	return starts(t, from) || from >= 2 && t[from-1].text == "=" && t[from-2].text == "_"
}

// condemn drops the block of a condition that never holds, and what follows a
// block that always leaves.
func (s *scope) condemn(t []lexeme, c cut, i int) {
	body := block(t, i)
	if body < 0 {
		return
	}
	v, ok := always(t[i+1 : body])
	if t[i].text == "unless" {
		v = !v
	}
	end := blockEnd(t, body)
	switch {
	case !ok:
	case !v:
		c.drop(body, end)
	case t[i].text == "if" || t[i].text == "unless":
		first := body
		if t[first].text == "{" {
			first++
		}
		if first < len(t) && leaves(t, first) {
			c.drop(end, enclosing(t, end))
		}
	}
}

// block is the index at which the block or statement of the control word at i
// begins, or -1.
func block(t []lexeme, i int) int {
	if i+1 < len(t) && t[i+1].text == "(" {
		end := closing(t, i+1)
		if end+1 < len(t) && (t[end+1].kind != punct || t[end+1].text == "{") {
			return end + 1
		}
	}
	for j := i + 1; j < min(len(t), i+longest); j++ {
		switch t[j].text {
		case "{":
			if t[j].kind == punct && !(t[j-1].text == "]" && j+1 < len(t) && t[j+1].text == "}") {
				return j
			}
			j = closing(t, j)
		case "(", "[":
			j = closing(t, j)
		case "do":
			return j
		case ";", "}":
			return -1
		}
	}
	return -1
}

func blockEnd(t []lexeme, body int) int {
	switch t[body].text {
	case "{":
		return closing(t, body) + 1
	case "do":
		if end, _ := doEnd(t, body); end > 0 {
			return end + 1
		}
	}
	return statementEnd(t, body)
}

// statementEnd is the index behind the statement that begins at i.
func statementEnd(t []lexeme, i int) int {
	v := value(t, i)
	return min(len(t), i+max(1, len(v)))
}

// overNothing tells whether the head of a loop has no element to go over.
func (s *scope) overNothing(head []lexeme) bool {
	head = trimLines(head)
	if len(head) > 2 && head[0].text == "(" && closing(head, 0) == len(head)-1 {
		head = head[1 : len(head)-1]
	}
	for i, tok := range head {
		switch tok.text {
		case "-":
			if i > 0 && head[i-1].text == "<" { // Elixir
				return s.nothing(head[i+1:])
			}
		case "of", "in", ":", "as":
			if tok.text == "as" { // PHP: foreach ([] as $x)
				return s.nothing(head[:i])
			}
			return s.nothing(head[i+1:])
		case ";":
			rest := head[i+1:]
			for j, end := range rest {
				if end.text == ";" {
					return j > 2 && rest[j-1].text == "0" && rest[j-2].text == "<" && strings.HasSuffix(joined(head[:i]), "=0")
				}
			}
		}
	}
	return false
}

func joined(t []lexeme) string {
	var b strings.Builder
	for _, tok := range t {
		b.WriteString(tok.text)
	}
	return b.String()
}

// swallows tells whether a handler at i drops the failure of an assertion.
func swallows(t []lexeme, i int) bool {
	for i < len(t) && (t[i].text == "catch" || t[i].text == "on" || t[i].text == "finally") {
		var caught []lexeme
		j := i + 1
		for ; j < min(len(t), i+60) && t[j].text != "{"; j++ {
			caught = append(caught, t[j])
		}
		if j >= len(t) || t[j].text != "{" {
			return false
		}
		end := closing(t, j)
		handler := t[j+1 : max(end, j+1)]
		if t[i].text == "finally" {
			return slices.ContainsFunc(handler, func(tok lexeme) bool { return tok.kind == word && tok.text == "return" })
		}
		if catchesFailure(caught) && !fails(handler) {
			return true
		}
		i = end + 1
	}
	return false
}

// rescued is where the handler begins that drops the failure of what Elixir tries
// from the do at i on; 0 for none.
func rescued(t []lexeme, i int) int {
	end, from := doEnd(t, i)
	if from == 0 || end == 0 {
		return 0
	}
	if handler := t[from:end]; fails(handler) || capitals(handler) && !strings.Contains(joined(handler), "AssertionError") {
		return 0
	}
	return from
}

// doEnd is the end that belongs to the do at i, and its rescue; 0 for none.
func doEnd(t []lexeme, i int) (end, rescue int) {
	depth := 0
	for j := i; j < len(t); j++ {
		switch tok := t[j]; {
		case tok.kind != word:
		case tok.text == "do" && (j+1 >= len(t) || t[j+1].text != ":") || tok.text == "fn":
			depth++
		case tok.text == "rescue" && depth == 1:
			rescue = j
		case tok.text == "end":
			if depth--; depth == 0 {
				return j, rescue
			}
		}
	}
	return 0, rescue
}

// capitals tells whether code names a type.
func capitals(t []lexeme) bool {
	return slices.ContainsFunc(t, func(tok lexeme) bool { return tok.kind == word && tok.text[0] >= 'A' && tok.text[0] <= 'Z' })
}

// forgets tells whether a handler of Zig at i, {…} or |err| {…}, passes nothing on.
func forgets(t []lexeme, i int) bool {
	if i+2 < len(t) && t[i].text == "|" {
		i += 3
	}
	if i >= len(t) || t[i].text != "{" {
		return false
	}
	body := t[i:closing(t, i)]
	return !fails(body) && !slices.ContainsFunc(body, func(tok lexeme) bool { return tok.text == "return" || tok.text == "unreachable" })
}

// catchesFailure: a handler that names no type catches all.
func catchesFailure(caught []lexeme) bool {
	typed := false
	for i, tok := range caught {
		if tok.kind != word {
			continue
		}
		if swallowed[tok.text] {
			return true
		}
		next := i+1 < len(caught) && (caught[i+1].kind == word || caught[i+1].text == ".")
		typed = typed || next || i > 0 && caught[i-1].text == ":" || tok.text[0] >= 'A' && tok.text[0] <= 'Z'
	}
	return !typed
}

// starts tells whether a statement begins at i.
func starts(t []lexeme, i int) bool {
	if i == 0 {
		return true
	}
	prev := t[i-1]
	switch {
	case prev.kind == newline:
		return true
	case prev.kind == punct && (prev.text == ";" || prev.text == "{" || prev.text == "}"):
		return true
	case prev.line == t[i].line:
		return false
	case prev.text == ")":
		o := opening(t, i-1)
		return o == 0 || !controls[t[o-1].text]
	}
	return prev.kind != punct && prev.text != "else" && prev.text != "return" || prev.text == "]"
}

// leaves tells whether the statement at i ends the block it stands in, whatever
// happens.
func leaves(t []lexeme, i int) bool {
	switch t[i].text {
	case "return", "throw", "break", "continue":
		return t[i].kind == word
	case "try", "await":
		return i+1 < len(t) && t[i+1].kind == word && t[i+1].text != "await" && leaves(t, i+1)
	}
	if t[i].kind != word {
		return false
	}
	j := i
	for j+2 < len(t) && (t[j+1].text == "." || t[j+1].text == "::" || t[j+1].text == "->") && t[j+2].kind == word {
		j += 2
	}
	if j+1 >= len(t) || t[j+1].text != "(" || !leaving[t[j].text] && !assumed[t[j].text] {
		return false
	}
	args := arguments(t[j+2 : max(j+2, closing(t, j+1))])
	if assumed[t[j].text] {
		if t[j].text == "abort" {
			return t[i].text == "Assumptions" || t[i].text == "TestAbortedException"
		}
		if len(args) == 0 {
			return false
		}
		v, ok := always(args[0])
		return ok && v == (t[j].text == "assumeFalse")
	}
	if len(args) == 0 || len(args[0]) == 1 && args[0][0].kind != word {
		return true
	}
	if v, ok := always(args[0]); ok {
		return v
	}
	return len(args[0]) > 2 && args[0][1].text == "=" // reason="…"
}

// enclosing is the index at which the block around i ends, or the next case of
// a switch.
func enclosing(t []lexeme, i int) int {
	depth := 0
	for ; i < len(t); i++ {
		if t[i].kind == word && depth == 0 && (t[i].text == "case" || t[i].text == "default") {
			return i
		}
		if t[i].kind != punct {
			continue
		}
		switch t[i].text {
		case "{", "(", "[":
			depth++
		case "}", ")", "]":
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return i
}

func isFunction(v []lexeme) bool {
	for i, tok := range v {
		if tok.kind == str {
			return false // it is handed to something
		}
		if i == 0 && tok.text == "[" && tok.kind == punct && closing(v, 0)+1 < len(v) && v[len(v)-1].text == "}" && strings.Contains("{(", v[closing(v, 0)+1].text) {
			return true // of C++
		}
		if tok.text == "=>" || tok.text == "->" || tok.text == "lambda" || tok.text == "function" || i == 0 && tok.text == "||" {
			return i < 12
		}
	}
	return false
}

// unwritten blanks what the preprocessor leaves out for good.
func unwritten(src []byte) []byte {
	if !strings.Contains(string(src), "#if") {
		return src
	}
	out := append([]byte{}, src...)
	off, depth, at := false, 0, 0
	for line := range strings.Lines(string(src)) {
		word := strings.Join(strings.Fields(strings.Trim(line, " \t\r\n")), " ")
		switch {
		case !off && (word == "#if 0" || word == "#if false" || word == "#if NEVER"):
			off, depth = true, 0
		case off && strings.HasPrefix(word, "#if"):
			depth++
		case off && depth > 0 && strings.HasPrefix(word, "#endif"):
			depth--
		case off && depth == 0 && (strings.HasPrefix(word, "#endif") || strings.HasPrefix(word, "#el")):
			off = false
		case off:
			for i := at; i < at+len(line); i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
		}
		at += len(line)
	}
	return out
}
