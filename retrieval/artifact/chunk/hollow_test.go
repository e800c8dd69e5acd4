package chunk

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// checkHollow says whether a text is Go, and compares the outline by its hollow
// text with that by all of it.
func checkHollow(t fataler, text string) bool {
	t.Helper()
	l := linesOf(text, nil)
	want, err := goOutlineOf(l, hollow{text: []byte(text), commented: true})
	if err != nil {
		return false
	}
	h, ok := hollowed(text, hollow{})
	if !ok {
		t.Fatalf("no braces match in %q", text)
	}
	got, err := goOutlineOf(l, h)
	if err != nil {
		t.Fatalf("%q does not parse as %q: %v", text, h.text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q is %+v as %q, want %+v", text, got, h.text, want)
	}
	return true
}

func TestAHollowFileHasTheSameOutline(t *testing.T) {
	for _, text := range []string{
		"package p", "package p // {", "package p\n\nfunc f() { g('{', \"}\", `{`) /* } */ }\n\n// h is\nfunc h() {}\n",
		"package p\n\nfunc f(x interface{ m() }) (y struct{ a int }) {\n\treturn\n} // tail\n\n// free\n\n// doc\nvar (\n\ta = []int{\n1,\n2,\n}[0]\n\tb, c = 1, func() { if x { } }\n)\n",
		"package p\n\ntype T[P interface{ ~int | ~string }] struct {\n\tx P // }\n}\n\nfunc (t *T[P]) m() {\n\tfor {\n\t}\n}\n",
		"package p\n\nvar r = '\\''; var s = '\\\\'; var q = \"\\\"{\"\n\nfunc f() {\n}\n", "package p\n\nimport (\n\t\"a\"\n)\n\ntype I interface {\n\tm()\n}\n",
		"package p\n\nfunc f() {\n//line x.go:1\n}\n// doc\nfunc g() {}\n", "package p\r\n\r\nfunc f() {\r\n}\r\n// doc\r\nfunc g() {}\r\n", "package p\n\nfunc asm(a int) int // a / b\n\nvar x = 1 / 2\n",
		"package p\n\nfunc (t *T) a(x,\n\ty int) (z []*q.T, err error) {\n}\n\n// b is\nfunc (T) _() *T {\n}\n\nvar x =\nfunc (t T) y() *T {\n}\n\nfunc _() {\n} // c\n",
		"package p\n\nfunc a() {\n}\n\n// x is\nvar x = 1\n\n// b is\nfunc b() []a.B {\n}\n\nfunc c[T any]() {\n}\nfunc d() {\n}; func e() {}",
	} {
		if !checkHollow(t, text) {
			t.Errorf("%q is no Go", text)
		}
	}
	for _, pattern := range []string{"*.go", "../*/*.go", "../../*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(err, "no sources")
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			checkHollow(t, string(raw))
		}
	}
	pieces := rapid.SampledFrom([]string{
		"\n", "\n\n", "func f() {\n", "}\n", "{", "}", "// c\n", "/* c */", "/*\n", "*/", "'{'", "'", "\"{\"", "\"", "`}\n`", "x := 1\n", "var a = T{\n", "type T struct {\n", "interface{}", "if x {\n", "/", "(", ")",
		"func f(", "func (t T) g", "func h[P any]", "(a, b int)", " (x error)", " map[string]func(int) T", "\n// d\n", "const (\n\ta = 1 // e\n\t// g\n\tb\n)\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkHollow(t, "package p\n"+strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), ""))
	})
}

func TestPlainFunctionsAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"func f() {\n}\n\n// g is\nfunc (t *T) g(a int) error {\n\treturn nil\n}\nvar x\nfunc h() (a, b int) {\n}\n": "func f() {}\n\n\nvar x\nfunc h() () {}\n",
		"func f() {\n} // x\nfunc type() {\n}\nfunc f[T any](a T) {\n}\n":                                            "func f() {} \nfunc type() {}\nfunc f[T any](a T) {}\n",
		"func f() map[int]T {\n}\nfunc f() T[P] {\n}\nfunc (*t.T) f() {}\n":                                          "func f() map[int]T {}\nfunc f() T[P] {}\nfunc (*t.T) f() {}\n",
	} {
		if h, ok := hollowed(text, hollow{}); !ok || string(h.text) != want {
			t.Errorf("%q is %q, want %q", text, h.text, want)
		}
	}
}

func TestWhatIsNoGoIsNotHollowed(t *testing.T) {
	for _, text := range []string{"{", "}", "{}}", "\"", "`{", "/* {", "'", "{\n\"\n}"} {
		if h, ok := hollowed(text, hollow{}); ok {
			t.Errorf("%q is %q", text, h.text)
		}
	}
}

func FuzzHollow(f *testing.F) {
	for _, seed := range []string{"", "// c\npackage p\n\n// d\nfunc (t T) f(a, b int) (c error) {\n}\n\n/* e */ func g[P any](x func()) func(int)\n", "package p\n\nfunc f() { '{' }\n", "package p\n\ntype T struct{ a int }\n// x\nfunc (T) m() {}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHollow(t, text) })
}
