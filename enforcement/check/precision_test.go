package check

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	codeFlag   = flag.String("code", "", "folders with real code, separated by commas, for TestPrecision")
	onlyFlag   = flag.String("rule", "", "TestPrecision: list the findings of this rule instead of the table")
	sampleFlag = flag.Int("sample", 50, "TestPrecision: how many findings to draw for judging")
)

// sampleSeed makes the drawn sample the same in each run over the same code.
const sampleSeed = 20261121

// generated is the marker that Go asks of generated files, in the form that
// other languages have taken over.
var generated = []byte("Code generated ")

// TestPrecision measures the shipped checks on real code:
//
//	go test ./enforcement/check -run TestPrecision -v -code DIR,DIR
//
// It prints the findings per rule and per 1,000 lines of the rule's language,
// and draws findings rule by rule in turn, to be judged by hand. PRECISION.md
// holds the last result. Generated files, minified ones and copies of vendored
// code are left out.
func TestPrecision(t *testing.T) {
	if *codeFlag == "" {
		t.Skip("measures on code outside the repository; give it with -code DIR,DIR")
	}
	set, problems := Compile(shipped(t))
	for _, p := range problems {
		t.Error(p)
	}
	m := measurement{lines: map[string]int{}, found: map[string][]Finding{}}
	for _, dir := range strings.Split(*codeFlag, ",") {
		if err := m.walk(set, dir); err != nil {
			t.Fatal(err)
		}
	}
	if *onlyFlag != "" {
		for _, f := range m.found[*onlyFlag] {
			fmt.Printf("%s:%d: %s\n", f.Path, f.Line, f.Excerpt)
		}
		return
	}
	m.report(set)
}

type measurement struct {
	files int
	lines map[string]int // by language
	found map[string][]Finding
}

func (m *measurement) walk(set *Set, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			switch entry.Name() {
			case ".git", "vendor", "cache", "third_party":
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || strings.Contains(entry.Name(), ".min.") {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil || len(content) > MaxBytes || binary(content) || bytes.Contains(content[:min(len(content), 1000)], generated) {
			return nil
		}
		language := Language(name, content)
		if language == langUnknown || language == langText {
			return nil
		}
		m.files++
		m.lines[language] += bytes.Count(content, []byte("\n"))
		for _, f := range set.Run(name, content, nil) {
			m.found[f.Rule] = append(m.found[f.Rule], f)
		}
		return nil
	})
}

func (m *measurement) report(set *Set) {
	total := 0
	for _, l := range slices.Sorted(maps.Keys(m.lines)) {
		fmt.Printf("| %s | %d |\n", l, m.lines[l])
		total += m.lines[l]
	}
	fmt.Printf("\n%d files, %d lines\n\n| rule | language | findings | per 1,000 lines |\n|---|---|---:|---:|\n", m.files, total)
	for _, c := range set.checks {
		lines := m.lines[c.language]
		if c.language == "" {
			lines = total
		}
		if c.language == langJavaScript {
			lines += m.lines[langTypeScript]
		}
		n := len(m.found[c.rule])
		fmt.Printf("| %s | %s | %d | %.3f |\n", c.rule, cmp.Or(c.language, "any"), n, 1000*float64(n)/float64(max(lines, 1)))
	}
	fmt.Println()
	for i, f := range m.sample(*sampleFlag) {
		fmt.Printf("%d. %s `%s:%d` `%s`\n", i+1, f.Rule, f.Path, f.Line, f.Excerpt)
	}
}

// sample draws n findings, from each rule in turn, so that rules with many
// findings do not hide the others.
func (m *measurement) sample(n int) []Finding {
	draw := rand.New(rand.NewPCG(sampleSeed, 0))
	rules := slices.Sorted(maps.Keys(m.found))
	for _, r := range rules {
		found := m.found[r]
		slices.SortFunc(found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) })
		draw.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	}
	draw.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	var out []Finding
	for round := 0; len(out) < n; round++ {
		before := len(out)
		for _, r := range rules {
			if round < len(m.found[r]) && len(out) < n {
				out = append(out, m.found[r][round])
			}
		}
		if len(out) == before {
			break
		}
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out
}
