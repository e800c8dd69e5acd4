package check

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/writbus/writ/schemas"
)

// minShippedChecks is how many rules of the shipped corpus carry a check at
// least.
const minShippedChecks = 30

// shipped reads the rules of the corpus in the repository.
func shipped(t testing.TB) []schemas.Rule {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "retrieval", "corpus", "rules", "*", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no rule files: %v", err)
	}
	var out []schemas.Rule
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		front, _, found := bytes.Cut(bytes.TrimPrefix(content, []byte("---\n")), []byte("\n---"))
		if !found || !bytes.Contains(front, []byte("\ncheck:")) {
			continue
		}
		var r schemas.Rule
		if err := yaml.Unmarshal(append(front, '\n'), &r); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out = append(out, r)
	}
	return out
}

var exampleNames = []string{"src/example", "src/example_test", "test_example", "migrations/example", "app/example", ".github/workflows/example", "models/staging/example"}

// exampleFile names a file that the check of a rule looks at, and completes an
// example of Go to a file.
func exampleFile(t *testing.T, c *entry, example string) (string, []byte) {
	t.Helper()
	extensions := map[string]string{
		langGo: ".go", langPython: ".py", langTypeScript: ".ts", langJavaScript: ".js", langJava: ".java", langRust: ".rs", langShell: ".sh",
		langSQL: ".sql", langYAML: ".yaml", langDocker: ".dockerfile", "json": ".json", "toml": ".toml", "ini": ".ini", "hcl": ".tf", "html": ".html", "": ".py",
		"csharp": ".cs", "ruby": ".rb", "php": ".php", "kotlin": ".kt", "swift": ".swift", "c": ".c", "cpp": ".cpp", "css": ".css",
	}
	if c.language == langGo && !strings.Contains(example, "package ") {
		example = "package example\n\n" + example
	}
	for _, name := range exampleNames {
		name += extensions[c.language]
		if c.compiled().looksAt(name) {
			return name, []byte(example)
		}
	}
	t.Fatalf("no example file name fits the paths of %s", c.rule)
	return "", nil
}

func TestShippedChecks(t *testing.T) {
	rules := shipped(t)
	if len(rules) < minShippedChecks {
		t.Errorf("%d rules carry a check, want %d", len(rules), minShippedChecks)
	}
	set, problems := Compile(rules)
	for _, p := range problems {
		t.Error(p)
	}
	byID := map[string]*entry{}
	for _, c := range set.checks {
		byID[c.rule] = c
	}
	for _, r := range rules {
		c := byID[r.ID]
		if c == nil {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			alone := &Set{checks: []*entry{c}}
			name, bad := exampleFile(t, c, r.Violation)
			if alone.Run(name, bad, nil) == nil {
				t.Errorf("the check does not find the rule's violation:\n%s", bad)
			}
			name, good := exampleFile(t, c, r.PassExample)
			for _, f := range alone.Run(name, good, nil) {
				t.Errorf("the check finds fault with the rule's pass example: %s", f)
			}
		})
	}
}
