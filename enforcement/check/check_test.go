package check

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/schemas"
)

// compileOne compiles one check that must be right.
func compileOne(t testing.TB, c schemas.Check) *Set {
	t.Helper()
	set, problems := Compile([]schemas.Rule{{ID: "TEST-ONE-001", Statement: "the statement", Check: &c}})
	for _, p := range problems {
		t.Fatal(p)
	}
	return set
}

// lines are the numbers of the lines with findings.
func lines(found []Finding) []int {
	out := []int{}
	for _, f := range found {
		out = append(out, f.Line)
	}
	return out
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		check      schemas.Check
		src        string
		want       []int
	}{
		{
			"code only", "a.py",
			schemas.Check{Language: "python", Pattern: `(?:^|[^.\w])eval\(`},
			"eval(x)\nmodel.eval()\n# eval(x)\ns = 'eval(x)'\nf'{eval(x)}'\n",
			[]int{1, 5},
		},
		{"strings only", "a.py", schemas.Check{Pattern: `eval`, Contexts: []string{"string"}}, "eval(x)\n# eval\ns = 'eval'\n", []int{3}},
		{"comments only", "a.go", schemas.Check{Pattern: `FIXME`, Contexts: []string{"comment"}}, "package a // FIXME\nvar FIXME = \"FIXME\"\n", []int{1}},
		{"quotes are seen in code", "a.go", schemas.Check{Pattern: `f\("[^"]+"\)`}, "package a\nvar _ = f(\"x\")\nvar _ = g(\"f(\")\n", []int{2}},
		{"a comment is blank in code", "a.go", schemas.Check{Pattern: `f\(\s+x\)`}, "package a\nvar _ = f(/* y */x)\n", []int{2}},
		{"unless", "a.sh", schemas.Check{Pattern: `rm -rf`, Unless: `# reviewed`}, "rm -rf a # reviewed\nrm -rf b\n", []int{2}},
		{"unless in the comment above", "a.rs", schemas.Check{Pattern: `unsafe`, Unless: `SAFETY`}, "// SAFETY: a\n// goes on\nunsafe {}\nf();\nunsafe {}\n", []int{5}},
		{"other languages", "a.js", schemas.Check{Language: "python", Pattern: `x`}, "x\n", []int{}},
		{"javascript covers typescript", "a.ts", schemas.Check{Language: "js", Pattern: `x`}, "x\n", []int{1}},
		{"typescript does not cover javascript", "a.js", schemas.Check{Language: "ts", Pattern: `x`}, "x\n", []int{}},
		{"paths", "src/a_test.go", schemas.Check{Pattern: `x`, Paths: []string{"*_test.go"}}, "x\n", []int{1}},
		{"paths that do not fit", "src/a.go", schemas.Check{Pattern: `x`, Paths: []string{"*_test.go"}}, "x\n", []int{}},
		{"except", "src/gen/a.go", schemas.Check{Pattern: `x`, Except: []string{"src/gen/"}}, "x\n", []int{}},
		{"alternatives in globs", "src/a.tsx", schemas.Check{Pattern: `x`, Paths: []string{"src/**/*.{ts,tsx}"}}, "x\n", []int{1}},
		{"prose is no code", "README.md", schemas.Check{Pattern: `eval`}, "eval\n", []int{}},
		{"windows line ends", "a.py", schemas.Check{Pattern: `x$`}, "x\r\ny\r\nx\r\n", []int{1, 3}},
		{"case folded", "a.sql", schemas.Check{Pattern: `(?i)\bselect \*`}, "Select * from a;\n-- select *\n", []int{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := lines(compileOne(t, tc.check).Run(tc.file, []byte(tc.src), nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinding(t *testing.T) {
	set := compileOne(t, schemas.Check{Language: "go", Query: `if $err != nil { return $err }`})
	src := "package a\n\nfunc f() error {\n\tif err := g(); err != nil {\n\t\treturn err\n\t}\n\tif e != nil {\n\t\treturn e\n\t}\n\treturn nil\n}\n"
	got := set.Run("./dir/a.go", []byte(src), nil)
	want := []Finding{{
		Rule: "TEST-ONE-001", Path: "dir/a.go", Line: 7, Column: 2, EndLine: 9, EndColumn: 3,
		Excerpt: "if e != nil {", Message: "the statement",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if s := got[0].String(); s != "dir/a.go:7:2: TEST-ONE-001: the statement" {
		t.Errorf("String() = %q", s)
	}
	moved := set.Run("dir/a.go", []byte("package a\n\n// more\n"+strings.TrimPrefix(src, "package a\n")), nil)
	if moved[0].Key() != got[0].Key() {
		t.Errorf("the key changed with the line: %q, %q", got[0].Key(), moved[0].Key())
	}
}

func TestChangedLinesOnly(t *testing.T) {
	line := compileOne(t, schemas.Check{Pattern: `x`})
	src := []byte("x\nx\ny\nx\n")
	for _, tc := range []struct {
		changed []Range
		want    []int
	}{
		{nil, []int{1, 2, 4}},
		{[]Range{}, []int{}},
		{[]Range{{2, 3}}, []int{2}},
		{[]Range{{1, 1}, {3, 9}}, []int{1, 4}},
	} {
		if diff := cmp.Diff(tc.want, lines(line.Run("a.py", src, tc.changed))); diff != "" {
			t.Errorf("changed %v (-want +got):\n%s", tc.changed, diff)
		}
	}
	query := compileOne(t, schemas.Check{Language: "python", Query: `f($...)`})
	src = []byte("a\nf(1,\n  2)\nb\n")
	if got := query.Run("a.py", src, []Range{{3, 3}}); len(got) != 1 {
		t.Errorf("a change on the second line of a call: %d findings, want 1", len(got))
	}
	if got := query.Run("a.py", src, []Range{{4, 4}}); len(got) != 0 {
		t.Errorf("a change behind a call: %d findings, want none", len(got))
	}
}

func TestProblems(t *testing.T) {
	for _, tc := range []struct {
		field, says string
		check       schemas.Check
	}{
		{"language", `"cobol" is not known`, schemas.Check{Language: "cobol", Pattern: "x"}},
		{"pattern", "no regular expression", schemas.Check{Pattern: "("}},
		{"pattern", "matches every line", schemas.Check{Pattern: "x*"}},
		{"pattern", "neither a pattern nor a query", schemas.Check{}},
		{"query", "both a pattern and a query", schemas.Check{Pattern: "x", Query: "x"}},
		{"contexts", `"text" is no context`, schemas.Check{Pattern: "x", Contexts: []string{"text"}}},
		{"contexts", "a query looks at code only", schemas.Check{Language: "go", Query: "f()", Contexts: []string{"code"}}},
		{"unless", "no regular expression", schemas.Check{Pattern: "x", Unless: "["}},
		{"paths", "glob", schemas.Check{Pattern: "x", Paths: []string{"a[[:nope:]]"}}},
		{"except", "empty glob", schemas.Check{Pattern: "x", Except: []string{""}}},
		{"query", "needs a language", schemas.Check{Query: "f()"}},
		{"query", "no queries for sql", schemas.Check{Language: "sql", Query: "SELECT"}},
		{"query", "no Go expression", schemas.Check{Language: "go", Query: "if {"}},
		{"query", "only a hole", schemas.Check{Language: "go", Query: "$x"}},
		{"query", "no word of its own", schemas.Check{Language: "python", Query: "$x($y)"}},
		{"query", "no partner", schemas.Check{Language: "python", Query: "f("}},
		{"query", "is no hole", schemas.Check{Language: "go", Query: "f($ x)"}},
		{"query", "is no hole", schemas.Check{Language: "go", Query: "f($(x ~ a"}},
		{"query", "error parsing regexp", schemas.Check{Language: "go", Query: "f($(x ~ a**))"}},
		{"query", "follows a condition", schemas.Check{Language: "go", Query: "f()\ninside for\ng()"}},
	} {
		set, problems := Compile([]schemas.Rule{
			{ID: "TEST-GOOD-001", Check: &schemas.Check{Pattern: "good"}},
			{ID: "TEST-BAD-001", Check: &tc.check},
			{ID: "TEST-NONE-001"},
		})
		if len(problems) != 1 || problems[0].Rule != "TEST-BAD-001" || problems[0].Field != tc.field || !strings.Contains(problems[0].Text, tc.says) {
			t.Errorf("%+v: problems %v, want one of %s saying %q", tc.check, problems, tc.field, tc.says)
		}
		if set.Len() != 1 {
			t.Errorf("%+v: %d checks run, want the good one", tc.check, set.Len())
		}
	}
}

// A deferred set finds what a compiled one does, through every change of its
// rules, and keeps the checks that stay as they are.
func TestDeferred(t *testing.T) {
	rules := []schemas.Rule{
		{ID: "A-ANY-001", Statement: "says", Check: &schemas.Check{Pattern: "one"}},
		{ID: "B-BAD-001", Check: &schemas.Check{Pattern: "("}},
		{ID: "C-GO-001", Check: &schemas.Check{Language: "go", Pattern: "two", Except: []string{"*_test.go"}}},
		{ID: "D-COBOL-001", Check: &schemas.Check{Language: "cobol", Pattern: "one"}},
		{ID: "E-NONE-001"},
	}
	var before *Set
	look := func(change string) {
		t.Helper()
		compiled, _ := Compile(rules)
		set := Deferred(rules, before)
		for _, name := range []string{"a.go", "a_test.go", "a.py"} {
			src := []byte("one\ntwo\nthree // three\nfour(1)\n")
			if got, want := set.Run(name, src, nil), compiled.Run(name, src, nil); !slices.Equal(got, want) {
				t.Errorf("%s: %s: found %v, want %v", change, name, got, want)
			}
			if got, want := set.Rules(name, src, nil), compiled.Rules(name, src, nil); !slices.Equal(got, want) {
				t.Errorf("%s: %s: rules %v, want %v", change, name, got, want)
			}
		}
		before = set
	}
	look("at first")
	kept := before.checks[0]
	for _, next := range []schemas.Check{ // one field after the other
		{Language: "go", Pattern: "three", Except: []string{"*_test.go"}},
		{Language: "go", Pattern: "three"},
		{Language: "go", Pattern: "three", Unless: "th"},
		{Language: "go", Pattern: "three"},
		{Language: "go", Pattern: "three", Contexts: []string{"comment"}},
		{Language: "go", Pattern: "three"},
		{Language: "go", Pattern: "three", Paths: []string{"a_test.go"}},
		{Language: "python", Pattern: "three", Paths: []string{"a_test.go"}},
		{Language: "python", Pattern: "three"},
		{Language: "python", Query: "one($x)"},
		{Language: "python", Query: "four($x)"},
	} {
		rules[2].Check = &next
		look(fmt.Sprintf("%+v", next))
	}
	if before.checks[0] != kept {
		t.Error("a check that stayed as it was is compiled again")
	}
	rules[0].Statement = "says something else"
	look("another statement")
	rules = rules[1:]
	look("one is gone")
}

// The texts of a rule are parts of its document, which must not stay for a
// check's sake.
func TestDeferredKeepsNoDocument(t *testing.T) {
	gone := make(chan struct{})
	set := func() *Set {
		document := new([1 << 16]byte)
		runtime.AddCleanup(document, func(struct{}) { close(gone) }, struct{}{})
		end := 0
		part := func(text string) string {
			from := end
			end += copy(document[end:], text)
			return unsafe.String(&document[from], len(text))
		}
		return Deferred([]schemas.Rule{{ID: part("A-GO-001"), Statement: part("says"), Check: &schemas.Check{
			Language: part("go"), Pattern: part("one"), Unless: part("two"), Message: part("told"),
			Contexts: []string{part("code")}, Paths: []string{part("*.go")}, Except: []string{part("b.go")},
		}}}, nil)
	}()
	runtime.GC()
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("a check that nobody asked for keeps the document of its rule")
	}
	if got := set.Rules("a.go", []byte("one"), nil); !slices.Equal(got, []string{"A-GO-001"}) {
		t.Errorf("Rules = %v", got)
	}
}

func TestRules(t *testing.T) {
	set, _ := Compile([]schemas.Rule{
		{ID: "B-GO-001", Check: &schemas.Check{Language: "go", Pattern: "x"}},
		{ID: "A-ANY-001", Check: &schemas.Check{Pattern: "x"}},
		{ID: "C-PY-001", Check: &schemas.Check{Language: "python", Pattern: "x"}},
	})
	if got, want := set.Rules("a.go", []byte("x"), nil), []string{"A-ANY-001", "B-GO-001"}; !slices.Equal(got, want) {
		t.Errorf("Rules = %v, want %v", got, want)
	}
}

// TestRulesHadSomethingToLookAt: a rule about SQL is not kept to by a change without any.
func TestRulesHadSomethingToLookAt(t *testing.T) {
	set, _ := Compile(slices.DeleteFunc(shipped(t), func(r schemas.Rule) bool { return r.ID != "SEC-SQL-PARAM-001" && r.ID != "PY-SUBPROCESS-LIST-001" }))
	const query = "def find(db, m):\n    return db.execute(\"SELECT id FROM users WHERE mail = ?\", (m,))\n"
	for _, c := range []struct {
		content string
		changed []Range
		want    string
	}{
		{"def total(a, b):\n    return a + b\n", nil, ""},
		{"def go(job):\n    return job.execute(1)\n", nil, ""},
		{query, nil, "SEC-SQL-PARAM-001"},
		{query, []Range{}, ""},
		{query + strings.Repeat("\n", MaxBytes), nil, ""},
		{"import subprocess\nsubprocess.run(['ls'], shell=False)\n", nil, "PY-SUBPROCESS-LIST-001"},
		{"", nil, ""},
	} {
		if got := strings.Join(set.Rules("a.py", []byte(c.content), c.changed), " "); got != c.want {
			t.Errorf("%.60q %v: %q, want %q", c.content, c.changed, got, c.want)
		}
	}
}

func TestNotLookedAt(t *testing.T) {
	set := compileOne(t, schemas.Check{Pattern: "x"})
	for name, content := range map[string]string{
		"binary":    "x\x00",
		"too large": strings.Repeat("x\n", MaxBytes/2+1),
		"long line": strings.Repeat("x", MaxLine+1),
	} {
		if got := set.Run("a.py", []byte(content), nil); len(got) > 0 {
			t.Errorf("%s: %d findings, want none", name, len(got))
		}
	}
}
