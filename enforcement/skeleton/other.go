package skeleton

import (
	"iter"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

var (
	batsTest   = lazyregexp.New(`^[ \t]*@test[ \t]+.*\{[ \t]*$`)
	batsHelper = lazyregexp.New(`^[ \t]*(?:function[ \t]+)?([A-Za-z_]\w*)[ \t]*\(\)[ \t]*\{`)
	shellTest  = lazyregexp.New(`^[ \t]*(?:function[ \t]+)?(test\w*)[ \t]*\(\)[ \t]*\{?`)
	shellWhole = lazyregexp.New(`^([ \t]*(?:@test[ \t].*|(?:function[ \t]+)?\w+[ \t]*\(\)[ \t]*)\{)[ \t]+(\S.*?);?[ \t]*\}[ \t]*$`)
	spockLabel = lazyregexp.New(`^\s*(given|setup|when|then|expect|where|cleanup|and):`)
	shellCheck = lazyregexp.New(`^(?:assert|fail)[A-Za-z]*\b`)
	batsCheck  = lazyregexp.New(`^(?:!\s+)?(?:\[\[?\s+(.*?)\s+\]\]?|test\s+(.*)|\(\((.*)\)\))(?:\s*(?:&&|\|\|).*)?$`)
	batsAssert = lazyregexp.New(`^(?:assert|refute)(?:_\w+)?\b`)
	batsExcuse = lazyregexp.New(`^\s*(?:true|:|echo\b.*|printf\b.*|return 0|exit 0|skip\b.*)\s*(?:;.*)?$`) // behind ||: whatever the check finds, the line succeeds
	batsRun    = lazyregexp.New(`^run\s+(?:(echo|printf|true|false|:)(?:\s|$))?`)
	batsGiven  = lazyregexp.New(`\$\{?(?:output|status|lines)\b`)
	batsGrep   = lazyregexp.New(`(?:^|\|)\s*(?:grep|diff|cmp)\b`)
	expansion  = lazyregexp.New(`[$` + "`" + `]|^-[a-zA-Z] `)
)

// readBats reads Bats files line by line: a test is @test "…" { … } whose
// commands must succeed; one that checks is a bracket expression, an assert_
// function, or grep, diff and cmp.
func readBats(src []byte) []test { return shellTests(src, batsTest) }

// readShell reads the functions that shunit2 runs, by lines as Bats files, and
// other scripts as any language.
func readShell(src []byte) []test {
	if tests := shellTests(src, shellTest); len(tests) > 0 && strings.Contains(string(src), "shunit2") {
		return tests
	}
	return readOther(src)
}

func shellTests(src []byte, begin *lazyregexp.Regexp) []test {
	helpers := map[string][]assertion{}
	var tests []test
	var calls [][]string
	var cur *test
	helper, own := "", false
	for n, line := range shellLines(string(src)) {
		code := strings.TrimSpace(line)
		switch {
		case begin.MatchString(line):
			tests = append(tests, test{name: code, line: n + 1})
			calls = append(calls, nil)
			cur, helper = &tests[len(tests)-1], ""
			continue
		case batsHelper.MatchString(line):
			cur, helper = nil, batsHelper.FindStringSubmatch(line)[1]
			continue
		case line == "}":
			cur, helper = nil, ""
			continue
		case code == "" || strings.HasPrefix(code, "#") || cur == nil && helper == "":
			continue
		}
		w, ok := batsWorth(code)
		if ran := batsRun.FindStringSubmatch(code); ran != nil {
			own = ran[1] != ""
		} else if own && ok && batsGiven.MatchString(code) {
			w = constant
		}
		switch {
		case cur != nil && ok:
			cur.found = append(cur.found, assertion{n + 1, w})
		case cur != nil:
			calls[len(calls)-1] = append(calls[len(calls)-1], strings.Fields(code)[0])
		case ok:
			helpers[helper] = append(helpers[helper], assertion{n + 1, w})
		}
	}
	for i := range tests {
		for _, c := range calls[i] {
			tests[i].found = append(tests[i].found, helpers[c]...)
			if c == "skip" || c == "startSkipping" || c == "return" || c == "exit" {
				tests[i].found = nil
				break
			}
		}
	}
	return tests
}

// shellLines are the lines of a script by their numbers; a function that stands on one
// line is taken apart.
func shellLines(src string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := -1
		for line := range strings.SplitSeq(src, "\n") {
			n++
			parts := []string{line}
			if m := shellWhole.FindStringSubmatch(line); m != nil {
				parts = append(append([]string{m[1]}, strings.Split(m[2], "; ")...), "}")
			}
			for _, part := range parts {
				if !yield(n, part) {
					return
				}
			}
		}
	}
}

func batsWorth(code string) (strength, bool) {
	if _, otherwise, excused := strings.Cut(code, "||"); excused && batsExcuse.MatchString(otherwise) {
		return 0, false
	}
	if batsAssert.MatchString(code) {
		return meaningful, true
	}
	if shellCheck.MatchString(code) {
		words := strings.Fields(code)
		if n := len(words); !strings.ContainsAny(code, "$`") || n > 2 && words[n-1] == words[n-2] {
			return constant, true
		}
		return meaningful, true
	}
	if batsGrep.MatchString(code) {
		return meaningful, true
	}
	m := batsCheck.FindStringSubmatch(code)
	if m == nil {
		return 0, false
	}
	cond := m[1] + m[2] + m[3]
	if !expansion.MatchString(cond) {
		return constant, true
	}
	for _, op := range []string{" == ", " = ", " -eq "} {
		if l, r, ok := strings.Cut(cond, op); ok && strings.TrimSpace(l) == strings.TrimSpace(r) {
			return constant, true
		}
	}
	return meaningful, true
}

var (
	otherTest    = lazyregexp.New(`^(?i:test|it|testcase|test_case|specify|scenario|should|feature|deftest|test_f|test_p|in|ctest|boost_auto_test_case|boost_fixture_test_case|test\w+|\w+test)$`)
	otherAssert  = lazyregexp.New(`^(?i:assert\w*|expect\w*|xctassert\w*|require\w*|check\w*|should\w*|must\w*|refute\w*|ck_assert\w*|ensure\w*|verify\w*|munit_assert\w*|test_assert\w*|tap_ok|is_equal|cr_assert\w*|cr_expect\w*|boost_check\w*|boost_require\w*|boost_test)$`)
	otherMakers  = names("Stub Mock Spy GroovyStub GroovyMock")
	otherGrammar = &grammar{
		keywords: names("let var val def new return if else for while not and or is in func fn do end"),
		literals: names("true false null nil None NULL TRUE FALSE NA True False"),
		builtins: names("as u8 u16 u32 u64 i8 i16 i32 i64 usize isize equals is be equal eq int string bool Bool length List Seq pass isTrue isFalse isNull isNotNull isEmpty isNotEmpty isZero"), access: names(". :: ->"), receiver: names("this self"),
		makers: func(n string) bool { return otherMakers[n] }, neutral: func(string) bool { return true },
	}
)

// readOther judges languages without a scanner of their own: the file needs
// something named like a test and something named like an assertion that is
// not about constants alone.
func readOther(src []byte) []test {
	return judgeOther(otherDialect.read(src))
}

// readSwift reads what XCTest, Swift Testing and Quick run.
func readSwift(src []byte) []test {
	src = swiftOwn.Regexp().ReplaceAll(src, []byte("func helper"))
	if !swiftTest.MatchString(string(src)) || swiftOff.MatchString(string(src)) {
		return nil
	}
	return further{dialect: "swift"}.read(src)
}

var (
	swiftTest = lazyregexp.New(`\bfunc\s+test|@Test\b|\bit\(`)
	swiftOwn  = lazyregexp.New(`\b(?:private|fileprivate|static)\s+func\s+test`)
	swiftOff  = lazyregexp.New(`@Suite\([^\n]*\.disabled\(`)
)

// readGroovy reads the conditions of Spock, which stand as they are behind then: and
// expect:, as assertions, and its methods with a text for a name as tests.
func readGroovy(src []byte) []test {
	if !strings.Contains(string(src), "Specification") {
		return further{dialect: "java"}.read(src)
	}
	lines, asserts := strings.Split(string(src), "\n"), false
	for i, line := range lines {
		code := strings.TrimSpace(line)
		switch label := spockLabel.FindStringSubmatch(line); {
		case strings.HasPrefix(code, "def \"") || strings.HasPrefix(code, "def '") || strings.HasPrefix(code, "void \""):
			lines[i], asserts = strings.Replace(strings.Replace(line, "def ", "test ", 1), "void ", "test ", 1), false
		case label != nil:
			asserts = label[1] == "then" || label[1] == "expect" || asserts && label[1] == "and"
			lines[i] = spockLabel.ReplaceAllString(line, "")
			if rest := strings.TrimSpace(lines[i]); asserts && rest != "" && rest[0] != '"' && rest[0] != '\'' {
				lines[i] = "assert " + rest
			}
		case code == "}":
			asserts = false
		case asserts && code != "" && !strings.HasPrefix(code, "//") && !strings.HasPrefix(code, "assert"):
			lines[i] = "assert " + code
		}
	}
	return further{dialect: "java"}.read([]byte(strings.Join(lines, "\n")))
}

// ofVariable stand before the name of a variable or a member.
var ofVariable = names(". $ @ % ::")

// further is a language that is read as the others are, with assertions of names
// of its own.
type further struct {
	dialect   string             // of the lexer, near enough for words and strings
	comments  *lazyregexp.Regexp // that it does not know
	asserts   map[string]bool    // names, with the mark of a macro
	operators *strings.Replacer  // that assert, by words
	skips     map[string]bool    // what a test that is not run calls, or begins with
	tests     map[string]bool    // what a test begins with
}

func (f further) read(src []byte) []test {
	if f.comments != nil {
		src = f.comments.Regexp().ReplaceAll(src, nil)
	}
	if f.operators != nil {
		src = []byte(f.operators.Replace(string(src)))
	}
	d := &dialect{name: f.dialect}
	t := d.read(unwritten(src))
	for i, tok := range t {
		if tok.kind == word && f.skips[tok.text] && !(i > 0 && ofVariable[t[i-1].text] && t[i-1].line == tok.line && t[i-1].column+len(t[i-1].text) == tok.column) {
			return nil // which of its tests runs cannot be told
		}
		name := tok.text
		if i > 0 && t[i-1].text == "@" {
			name = "@" + name
		}
		switch {
		case f.asserts[name]:
			t[i].text = "assert_" + tok.text
		case f.tests[name]:
			t[i].text = "test"
		}
	}
	return judgeOther(t)
}

func judgeOther(t []lexeme) []test {
	t = otherLive(t)
	out := test{}
	s := newScope(otherGrammar)
	s.learn(t)
	for _, c := range otherGrammar.calls(t) {
		for _, a := range c.args {
			if otherAssert.MatchString(c.name) || otherGrammar.builtins[c.name] || slices.ContainsFunc(a, func(tok lexeme) bool { return tok.text == "{" }) {
				continue
			}
			for _, tok := range a {
				s.set(handed, tok.text, true)
			}
			if len(a) == 1 { // perhaps by reference
				s.lent[a[0].text] = true
				s.set(literal, a[0].text, false)
			}
		}
	}
	for i, tok := range t {
		if tok.kind != word || i+1 >= len(t) {
			continue
		}
		if out.line == 0 && otherTest.MatchString(tok.text) {
			out.line = tok.line
		}
		if !otherAssert.MatchString(tok.text) || strings.HasSuffix(tok.text, "_NOFAIL") || imports[firstOnLine(t, i)] || t[i+1].kind == str && i+2 < len(t) && t[i+2].text == "in" {
			continue
		}
		rest := statementOn(t, i+1)
		if t[i+1].text == "(" {
			rest = t[i+2 : max(closing(t, i+1), i+2)]
		}
		args := arguments(rest[:min(len(rest), longest)])
		switch pipe := pipeBefore(t, i); {
		case pipe > 0:
			args = [][]lexeme{onLineBefore(t, pipe-1), {t[pipe-1]}, rest}
		case t[i+1].text != "(" && i > 0 && t[i-1].line == tok.line && t[i-1].text != "." && prefixed(tok.text, "should", "must"): // behind what it is about
			args = [][]lexeme{onLineBefore(t, i), rest}
		}
		if len(args) > 0 {
			w := s.check(args[:min(2, len(args))]...)
			if len(args) == 1 {
				w = s.condition(args[0])
			}
			out.found = append(out.found, assertion{tok.line, w})
		}
	}
	if out.line == 0 {
		return nil
	}
	return []test{out}
}

// pipeBefore is where the pipe begins that hands an assertion at i what it is about,
// 0 for none.
func pipeBefore(t []lexeme, i int) int {
	for j := i - 1; j > 0 && j >= i-2; j-- {
		if t[j].text == "|>" || t[j].text == "|" {
			return j
		}
	}
	return 0
}

var imports = names("import use using open from module")

func firstOnLine(t []lexeme, i int) string {
	return append(onLineBefore(t, i), t[i])[0].text
}

// onLineBefore is the line up to a token.
func onLineBefore(t []lexeme, end int) []lexeme {
	from := end
	for from > 0 && t[from-1].line == t[end].line && t[from-1].text != "$" && end-from < longest {
		from--
	}
	return t[from:end]
}

// statementOn is the rest of the line.
func statementOn(t []lexeme, i int) []lexeme {
	j := i
	for j < min(len(t), i+longest) && t[j].line == t[i].line {
		j++
	}
	return t[i:j]
}
