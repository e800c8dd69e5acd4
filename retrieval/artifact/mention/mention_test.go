package mention

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	tests := []struct {
		text string
		want string // "path", "path:LINE", "path#section", joined with blanks
	}{
		{"see @docs/a.md.", "docs/a.md"},
		{"@a.md", "a.md"},
		{"(@docs/a.md), [@b/c.go:12]; @d.md#Set-up!", "docs/a.md b/c.go:12 d.md#Set-up"},
		{"`@src/x.go:3` and *@y.md*", "src/x.go:3 y.md"},
		{"lines @src/x.go:10-20 and @src/x.go:L7", "src/x.go:10 src/x.go:7"},
		{"at @src/x.go:10:4: error", "src/x.go:10"},
		{`read @"my docs/a b.md" first`, "my docs/a b.md"},
		{`read @"my docs/a b.md":4 and @"x y.md#one two"`, "my docs/a b.md:4 x y.md#one two"},
		{"mail a.b@example.com or me@docs/a.md", ""},
		{"git@github.com:a/b.md https://x.org/@user/p.md", ""},
		{"@app.route(\"/x\") @Test(timeout = 1)", ""},
		{"@", ""},
		{"@@x.md @ a.md @.. @... @-", ""},
		{"@./b.md @../c/d.md", "./b.md ../c/d.md"},
		{"@docs/ folder", "docs"},
		{"@docs/größe.md、@日本/語.md。", "docs/größe.md 日本/語.md"},
		{"@a.md's and @b.md...", "a.md b.md"},
		{"@" + strings.Repeat("a", 2000) + ".md", ""},
		{`@"" @" " @"a` + "\n" + `b"`, ""},
		{`@docs\win\a.md`, "docs/win/a.md"},
		{"@/docs/a.md", "docs/a.md"},
	}
	for _, test := range tests {
		var got []string
		for _, m := range Find(test.text, false) {
			got = append(got, show(m))
		}
		if joined := strings.Join(got, " "); joined != test.want {
			t.Errorf("%q mentions %q, want %q", test.text, joined, test.want)
		}
	}
}

func show(m Mention) string {
	s := m.Path
	if m.At > 0 {
		s += ":" + itoa(m.At)
	}
	if m.Section != "" {
		s += "#" + m.Section
	}
	return s
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestCodeMentionsInCommentsOnly(t *testing.T) {
	code := `package p // see @docs/a.md
@Override
import x from '@scope/pkg.md'
 * @param docs/b.md
 * @see
/* @c.md */
x = "@d.md"  # as in @e.md
y = @f.md
`
	var got []string
	for _, m := range Find(code, true) {
		if strings.Contains(m.Path, ".") {
			got = append(got, show(m)+" "+itoa(m.Line))
		}
	}
	if want := []string{"docs/a.md 1", "c.md 6", "e.md 7"}; !reflect.DeepEqual(got, want) {
		t.Errorf("code mentions %q, want %q", got, want)
	}
}

func TestResolve(t *testing.T) {
	paths := NewPaths([]string{
		"README.md", "docs/README.md", "docs/auth.md", "docs/adr/001-store.md", "src/store.go", "src/api/store.go", "src/api/Handler.go", "Makefile", "x/auth.txt",
	})
	tests := []struct {
		from, text string
		outcome    Outcome
		found      string
	}{
		{"docs/auth.md", "@README.md", Resolved, "README.md"},
		{"docs/auth.md", "@./README.md", Resolved, "docs/README.md"},
		{"docs/adr/001-store.md", "@../auth.md", Resolved, "docs/auth.md"},
		{"docs/auth.md", "@adr/001-store.md", Resolved, "docs/adr/001-store.md"},
		{"README.md", "@001-store.md", Resolved, "docs/adr/001-store.md"},
		{"README.md", "@store.go", Ambiguous, "src/api/store.go src/store.go"},
		{"src/x.go", "@store.go", Resolved, "src/store.go"},
		{"README.md", "@api/store.go", Resolved, "src/api/store.go"},
		{"README.md", "@src/api/handler.go", Resolved, "src/api/Handler.go"},
		{"README.md", "@docs/auth", Resolved, "docs/auth.md"},
		{"README.md", `@"auth"`, Ambiguous, "docs/auth.md x/auth.txt"},
		{"README.md", "@auth", Nothing, ""},
		{"README.md", "@docs", ToFolder, "docs"},
		{"README.md", "@docs/adr/", ToFolder, "docs/adr"},
		{"README.md", "@Makefile", Resolved, "Makefile"},
		{"README.md", "@makefile", Nothing, ""},
		{"README.md", "@Override", Nothing, ""},
		{"README.md", "@types/node", Nothing, ""},
		{"README.md", "@angular/core@1", Nothing, ""},
		{"README.md", "@app.route", Nothing, ""},
		{"README.md", "@docs/none.md", Unresolved, ""},
		{"README.md", "@docs/none", Unresolved, ""},
		{"README.md", "@none.md", Unresolved, ""},
		{"README.md", `@"none at all"`, Unresolved, ""},
		{"README.md", "@../outside.md", Unresolved, ""},
		{"README.md", "@../../etc/passwd", Unresolved, ""},
	}
	for _, test := range tests {
		all := Find(test.text, false)
		if len(all) == 0 {
			if test.outcome != Nothing {
				t.Errorf("%s is no mention", test.text)
			}
			continue
		}
		outcome, found := paths.Resolve(test.from, all[0])
		if joined := strings.Join(found, " "); outcome != test.outcome || joined != test.found {
			t.Errorf("%s in %s is %d %q, want %d %q", test.text, test.from, outcome, joined, test.outcome, test.found)
		}
	}
}

func TestGraphFollowsCyclesOnce(t *testing.T) {
	g := NewGraph(map[string][]string{"a": {"b", "c", "a"}, "b": {"c"}, "c": {"a", "d"}})
	want := []Edge{{"a", "b", 1}, {"a", "c", 1}, {"b", "c", 2}, {"c", "a", 2}, {"c", "d", 2}}
	if diff := cmp.Diff(want, g.Out("a", 9)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Edge{{"c", "d", 1}, {"a", "c", 2}, {"b", "c", 2}}, g.In("d", 2)); diff != "" {
		t.Error(diff)
	}
	if edges := g.Out("none", 3); len(edges) != 0 {
		t.Errorf("a path without references leads to %v", edges)
	}
}

func FuzzFind(f *testing.F) {
	for _, seed := range []string{"see @a/b.md:3#x", `@"q b"#s`, "@@", "x@y.z"} {
		f.Add(seed)
	}
	paths := NewPaths([]string{"a/b.md", "b.md", "a/c.go"})
	f.Fuzz(func(t *testing.T, text string) {
		for _, code := range []bool{false, true} {
			last := 1
			for _, m := range Find(text, code) {
				if m.Line < last || m.Path == "" || !strings.HasPrefix(m.Text, "@") || !strings.Contains(text, m.Text) {
					t.Fatalf("%q gives %+v", text, m)
				}
				if utf8.ValidString(text) && !utf8.ValidString(m.Path) {
					t.Fatalf("%q gives a broken path %q", text, m.Path)
				}
				last = m.Line
				paths.Resolve("a/b.md", m)
			}
		}
	})
}
