package check

import (
	"bytes"
	"testing"

	"github.com/writbus/writ/schemas"
)

var fuzzLanguages = []string{
	langGo, langPython, langTypeScript, langJavaScript, langJava, langRust, langShell, langSQL, langYAML, langDocker, "php", "csharp", "ini", "html", "powershell", langUnknown,
}

// FuzzCheck compiles any check and runs it over any text.
func FuzzCheck(f *testing.F) {
	for i, c := range [][2]string{
		{"f($..., $x, $...)\ninside for", "for a in b: f(1, (2), [3])"},
		{"$x.$(m ~ ^a|b$)($...)\nwithout $x", "c.a(d).b()"},
		{"if $a != nil { return $..., $a }\nwithin func", "package a\nfunc f() { if b != nil { return b } }"},
		{"except: $(s ~ pass);", "try: a\nexcept:\n pass\n"},
		{"$x", "a"},
		{"for $... { $... }", "package a"},
		{"$a := $b; $...; $a", "package a"},
	} {
		f.Add(uint8(i), c[0], []byte(c[1]))
	}
	names := map[string]string{langGo: "a.go", langPython: "a.py", langTypeScript: "a.ts", langJavaScript: "a.js", langJava: "A.java", langRust: "a.rs", "php": "a.php", "csharp": "a.cs"}
	f.Fuzz(func(t *testing.T, language uint8, query string, src []byte) {
		l := fuzzLanguages[int(language)%len(fuzzLanguages)]
		set, _ := Compile([]schemas.Rule{
			{ID: "A", Check: &schemas.Check{Language: l, Query: query}},
			{ID: "B", Check: &schemas.Check{Language: l, Pattern: query, Contexts: []string{"string"}}},
		})
		count := bytes.Count(src, []byte("\n")) + 1
		for _, found := range set.Run(names[l], src, nil) {
			if found.Line < 1 || found.EndLine > count || found.EndLine < found.Line || found.Column < 1 || found.EndLine == found.Line && found.EndColumn < found.Column {
				t.Fatalf("finding %+v in %d lines", found, count)
			}
		}
	})
}

// FuzzParseDiff wants ranges in order for any text, and that what Changed says
// of two texts lies inside the second.
func FuzzParseDiff(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
	f.Add("--- \"a/\\303\"\n+++ b\n@@@ -1 -1 +1 @@@\n++a\n")
	f.Add("diff --git \"a\\\" \"b\nrename to \"\\7\"\n@@ -0,0 +1 @@\n+\n")
	f.Fuzz(func(t *testing.T, diff string) {
		files, _ := ParseDiff(diff)
		for _, file := range files {
			ordered(t, file.Added)
		}
		before, after, _ := bytes.Cut([]byte(diff), []byte("+++"))
		changed := Changed(before, after)
		ordered(t, changed)
		if n := len(changed); n > 0 && changed[n-1].Last > bytes.Count(after, []byte("\n"))+1 {
			t.Fatalf("%v lies outside %q", changed, after)
		}
	})
}

func ordered(t *testing.T, ranges []Range) {
	t.Helper()
	if ranges == nil {
		t.Fatal("the ranges are nil, which means all")
	}
	last := -1
	for _, r := range ranges {
		if r.First <= last+1 && last >= 0 || r.Last < r.First {
			t.Fatalf("ranges out of order: %v", ranges)
		}
		last = r.Last
	}
}

// FuzzSecrets wants positions inside the text and no secret in the report.
func FuzzSecrets(f *testing.F) {
	for _, content := range likes() {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, s := range Secrets("a", content, nil) {
			if s.Line < 1 || s.Line > bytes.Count(content, []byte("\n"))+1 || s.Column < 1 || s.EndColumn < s.Column {
				t.Fatalf("secret %+v outside %q", s, content)
			}
		}
	})
}
