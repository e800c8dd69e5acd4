package corpus

import (
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/tiktoken-go/tokenizer"
	"mvdan.cc/sh/v3/syntax"

	"github.com/writbus/writ/schemas"
)

var update = flag.Bool("update", false, "rewrite the embedded rules in canonical form")

var loadShipped = sync.OnceValues(Embedded)

func shipped(t *testing.T) []File {
	t.Helper()
	files, err := loadShipped()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestEmbeddedIsCanonical(t *testing.T) {
	names, err := fs.Glob(os.DirFS("."), "rules/*/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no rule files: %v", err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Parse(name, src)
		if err != nil {
			t.Error(err)
			continue
		}
		want := Render(r)
		if bytes.Equal(src, want) {
			continue
		}
		if !*update {
			t.Errorf("%s is not in canonical form: run go test ./retrieval/corpus -run Canonical -update", name)
			continue
		}
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var vague = regexp.MustCompile(`(?i)\b(consider|be\s+aware|where\s+appropriate|when\s+possible|if\s+necessary|as\s+needed|try\s+to|should\s+generally|may\s+want\s+to|keep\s+in\s+mind)\b`)

func TestHashesAreThoseOfTheEmbeddedFiles(t *testing.T) {
	files, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range files {
		want = append(want, f.Hash)
	}
	got, err := EmbeddedHashes()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d hashes, %d files", len(got), len(want))
	}
}

func TestEmbeddedNodesAreComplete(t *testing.T) {
	domains, mandatory := map[string]int{}, 0
	for _, f := range shipped(t) {
		r := f.Rule
		if want := path.Join(r.Domain, r.ID+".md"); f.Path != want {
			t.Errorf("%s stands in %s, want %s", r.ID, f.Path, want)
		}
		parts := []string{r.Title, r.Domain, r.Confidence, r.LastValidated}
		if r.NodeType() == schemas.NodeRule {
			domains[r.Domain]++
			parts = append(parts, r.Scope, r.Violation, r.PassExample, r.Rationale, r.Body)
		}
		for _, part := range parts {
			if strings.TrimSpace(part) == "" {
				t.Errorf("%s lacks a title, domain, confidence or date, or of a rule a scope, example, rationale or body", r.ID)
				break
			}
		}
		if most := 10; len(r.Symptoms) > most { // the trouble in people's words, and the tasks in which the rule counts
			t.Errorf("%s has %d symptoms, want at most %d", r.ID, len(r.Symptoms), most)
		}
		if len(r.Tags) == 0 || r.Authority != "human" || r.Confidence == "battle-tested" || !strings.HasPrefix(r.LastValidated, "2026-") {
			t.Errorf("%s: tags %v, authority %q, confidence %q, validated %q", r.ID, r.Tags, r.Authority, r.Confidence, r.LastValidated)
		}
		for _, text := range []string{r.Trigger, r.Statement} {
			if found := vague.FindString(text); found != "" {
				t.Errorf("%s: vague wording %q in %q", r.ID, found, text)
			}
		}
		if r.Mandatory {
			mandatory++
			if r.Enforcement == "" {
				t.Errorf("%s is mandatory and names no enforcement", r.ID)
			}
		}
	}
	if mandatory < 5 || mandatory > 8 {
		t.Errorf("%d mandatory rules, want 5 to 8", mandatory)
	}
	for _, d := range []string{
		"go", "python", "typescript", "java", "rust", "sql", "shell", "http", "security", "concurrency", "testing",
		"performance", "architecture", "operations", "documentation", "process",
		"api", "ci", "cloud", "data", "datastore", "docker", "email", "kubernetes", "llm", "messaging", "ml", "payments", "privacy",
		"terraform", "time", "cli", "compiler", "desktop", "embedded", "game",
		"csharp", "ruby", "php", "kotlin", "swift", "c", "cpp", "react", "nextjs", "vue", "css", "accessibility", "i18n",
		"django", "rails", "spring", "laravel", "aspnet", "fastapi", "flask", "express", "nestjs", "android", "ios",
	} {
		if domains[d] < 3 {
			t.Errorf("domain %s has %d rules, want at least 3", d, domains[d])
		}
		delete(domains, d)
	}
	if len(domains) > 0 {
		t.Errorf("unexpected domains %v", domains)
	}
}

// TestEmbeddedIsValid: the shipped corpus is clean, and as large as is said of
// it. The day is fixed, for a release does not go stale in its tests.
func TestEmbeddedIsValid(t *testing.T) {
	var list []Node
	types, edges := map[schemas.NodeType]int{}, 0
	for _, f := range shipped(t) {
		list = append(list, f.Node())
		types[f.Rule.NodeType()]++
		edges += len(f.Rule.Edges)
	}
	for _, f := range Validate(list, Checks{Today: "2026-11-21"}) {
		t.Error(f)
	}
	for _, want := range schemas.NodeTypes() {
		if types[want] == 0 && want != schemas.NodeCategory { // its rules have domains
			t.Errorf("no %s", want)
		}
	}
	if types[schemas.NodeRule] < 150 || edges < 300 {
		t.Errorf("%d rules and %d edges, want at least 150 and 300", types[schemas.NodeRule], edges)
	}
}

// TestMandatoryBand holds the text that every prompt carries well below the
// cap of 5,000 tokens, so that a project has room for its own.
func TestMandatoryBand(t *testing.T) {
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range shipped(t) {
		if r := f.Rule; r.Mandatory {
			fmt.Fprintf(&b, "%s %s %s\nWHEN %s\nRULE %s\nVIOLATION %s\nCORRECT %s\n", r.ID, r.Severity, r.Domain, r.Trigger, r.Statement, r.Violation, r.PassExample)
		}
	}
	n, err := enc.Count(b.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d tokens", n)
	if n > 1500 {
		t.Errorf("the mandatory rules take %d tokens, want at most 1,500", n)
	}
}

// TestEmbeddedExamplesParse reads what can be read here: Go, shell and YAML.
func TestEmbeddedExamplesParse(t *testing.T) {
	parsed := map[string]int{}
	for _, f := range shipped(t) {
		for name, src := range map[string]string{"violation": f.Rule.Violation, "pass_example": f.Rule.PassExample} {
			lang, err := parseExample(f.Rule, src)
			if err != nil {
				t.Errorf("%s %s: %v", f.Rule.ID, name, err)
			}
			parsed[lang]++
		}
	}
	for _, lang := range []string{"go", "shell", "yaml"} {
		if parsed[lang] == 0 {
			t.Errorf("no example was recognised as %s", lang)
		}
	}
}

var yamlStart = regexp.MustCompile(`^(- )?[a-zA-Z-]+:(\s|$)`)

func parseExample(r schemas.Rule, src string) (lang string, err error) {
	isGo := strings.HasPrefix(src, "package ")
	if r.Domain == "go" && !isGo {
		isGo, src = true, "package example\n"+src
	}
	switch {
	case isGo:
		_, err := parser.ParseFile(token.NewFileSet(), r.ID+".go", src, parser.SkipObjectResolution)
		return "go", err
	case r.Domain == "shell":
		_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), r.ID)
		return "shell", err
	case slices.Contains([]string{"operations", "kubernetes", "docker", "ci"}, r.Domain) && yamlStart.MatchString(src) && !strings.Contains(src, "{{ ."):
		var v any
		return "yaml", yaml.Unmarshal([]byte(src), &v)
	}
	return "other", nil
}
