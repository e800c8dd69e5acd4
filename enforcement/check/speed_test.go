package check

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// thousand is about a thousand lines of real code: a source of Go, or the
// scripted text of another language.
func thousand(b testing.TB, language string) []byte {
	b.Helper()
	if language == langGo {
		content, err := os.ReadFile(filepath.Join(goroot(b), "src", "go", "printer", "nodes.go"))
		if err != nil {
			b.Skipf("the sources of Go are not at hand: %v", err)
		}
		return bytes.Join(bytes.SplitAfterN(content, []byte("\n"), 1001)[:1000], nil)
	}
	var out strings.Builder
	for i := 0; i < 1000; i += 10 {
		fmt.Fprintf(&out, "async def load_%d(path, rows=None):\n    # reads a table\n    rows = rows or [1, 2, 3]\n    for row in rows:\n        try:\n            value = await fetch(f\"{path}/{row['id']}\")\n        except ValueError as err:\n            raise LoadError(path, {'row': row}) from err\n    return [x.strip() for x in rows if x is not None]\n\n", i)
	}
	return []byte(out.String())
}

// forty is forty checks for one language: the shipped ones, repeated.
func forty(b testing.TB, language string) *Set {
	b.Helper()
	var own, rules []schemas.Rule
	for _, r := range shipped(b) {
		if r.Check.Language == language {
			own = append(own, r)
		}
	}
	for i := 0; len(rules) < 40; i++ {
		rules = append(rules, own[i%len(own)])
	}
	set, problems := Compile(rules)
	for _, p := range problems {
		b.Fatal(p)
	}
	return set
}

// BenchmarkRun is one file of a thousand lines under forty checks. The target
// is 5 ms.
func BenchmarkRun(b *testing.B) {
	for language, name := range map[string]string{langGo: "a.go", langPython: "a.py"} {
		b.Run(language, func(b *testing.B) {
			set, content := forty(b, language), thousand(b, language)
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				set.Run(name, content, nil)
			}
		})
	}
}

// BenchmarkSecrets is the whole table of formats over a thousand lines.
func BenchmarkSecrets(b *testing.B) {
	content := thousand(b, langGo)
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		Secrets("a.go", content, nil)
	}
}

// BenchmarkCompile is all shipped checks.
func BenchmarkCompile(b *testing.B) {
	rules := shipped(b)
	for b.Loop() {
		Compile(rules)
	}
}

// BenchmarkHostile is text that invites looking back or ahead from each token;
// a matcher that does so without a bound takes minutes for it.
func BenchmarkHostile(b *testing.B) {
	set, problems := Compile(shipped(b))
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	for _, piece := range []string{"/*", "\"", "'", "`${", "f'{", "/a[", "<<A\n", "(", "|,", "]\"", "a.", "f(", "if x:\n ", "--", "a\\'", "x := ", "for {"} {
		b.Run(piece, func(b *testing.B) {
			src := []byte("package a\n" + strings.Repeat(piece, 80_000/len(piece)))
			for b.Loop() {
				for _, name := range []string{"a.go", "a.py", "a.ts", "A.java", "a.rs", "a.sh", "a.sql", "a.yaml", "Dockerfile"} {
					set.Run(name, src, nil)
				}
				Secrets("a.go", src, nil)
			}
		})
	}
}
