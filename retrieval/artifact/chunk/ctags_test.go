package chunk_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/chunk"
	"github.com/writbus/writ/retrieval/artifact/describe"
)

// corpusVariable names a folder of real sources, of any languages, against which
// declarations are measured. None of them is part of the project.
const corpusVariable = "WRIT_CTAGS_CORPUS"

// ctagsNames are the languages of ctags that are measured, by ours.
var ctagsNames = map[string]string{
	"go": "Go", "python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "java": "Java", "kotlin": "Kotlin", "csharp": "C#",
	"rust": "Rust", "c": "C", "cpp": "C++", "php": "PHP", "ruby": "Ruby", "shell": "Sh", "lua": "Lua", "elixir": "Elixir", "erlang": "Erlang",
	"haskell": "Haskell", "clojure": "Clojure", "perl": "Perl", "julia": "Julia", "powershell": "PowerShell",
}

// declaring are the kinds of ctags that declare what people look for by name:
// types, functions, modules. Fields, variables, parameters, prototypes and what
// is imported are none.
var declaring = func() map[string]bool {
	set := map[string]bool{}
	for kind := range strings.FieldsSeq(`class struct enum interface trait union type typealias alias typedef annotation record protocol exception talias implementation
		function func method methodSpec subroutine singletonMethod generator getter setter macro guard callback operator delegate object module namespace`) {
		set[kind] = true
	}
	return set
}()

// leastFound is the share of ctags' names that each language has to find, where
// there are leastNames of them.
const (
	leastFound = 0.95
	leastNames = 200
)

// TestDeclarationsAgainstCtags measures which of the names that universal-ctags
// finds in real sources are found here, language by language. -v shows what is
// missed most.
func TestDeclarationsAgainstCtags(t *testing.T) {
	corpus := os.Getenv(corpusVariable)
	if corpus == "" {
		t.Skip(corpusVariable + " names no folder of sources: declarations are not measured")
	}
	ctags, err := exec.LookPath("ctags")
	if err != nil {
		t.Skip("universal-ctags is not installed: declarations are not measured")
	}
	theirs := tagsOf(t, ctags, corpus)
	total := map[string]*measure{}
	for file, names := range theirs {
		raw, err := os.ReadFile(file)
		if err != nil || describe.Binary(raw) || describe.Generated(file, raw) || len(raw) > 1<<18 {
			continue
		}
		language := describe.Language(file)
		m := total[language]
		if m == nil {
			m = &measure{missed: map[string]string{}, odd: map[string]string{}}
			total[language] = m
		}
		if language == "elixir" {
			names = outsideHeredocs(string(raw), names)
		}
		_, symbols := chunk.Split(language, string(bytes.ToValidUTF8(raw, []byte("?"))), new(chunk.Scratch))
		m.compare(language, file, names, symbols)
	}
	for _, language := range slices.Sorted(maps.Keys(total)) {
		m := total[language]
		t.Logf("%-12s %6d names of ctags, found %.3f; %6d of ours, known to ctags %.3f", language, m.want, m.recall(), m.ours, float64(m.known)/float64(max(m.ours, 1)))
		for _, sample := range []map[string]string{m.missed, m.odd} {
			names := slices.Sorted(maps.Keys(sample))
			for i := 0; i < len(names); i += max(len(names)/mostSamples, 1) {
				t.Logf("    %s", sample[names[i]])
			}
		}
		if m.want >= leastNames && m.recall() < leastFound {
			t.Errorf("%s: %.3f of the names that ctags finds are found, want %.2f", language, m.recall(), leastFound)
		}
	}
}

// measure counts names of one language.
type measure struct {
	want, found, ours, known int
	missed, odd              map[string]string // samples
}

func (m *measure) recall() float64 { return float64(m.found) / float64(max(m.want, 1)) }

// tag is a name of ctags.
type tag struct {
	Name, Path, Kind, Language, Pattern string
	Line                                int
}

func (m *measure) compare(language, file string, theirs []tag, symbols []artifact.Symbol) {
	have, any := map[string]bool{}, map[string]bool{}
	for _, s := range symbols {
		have[lastName(s.Name)] = true
	}
	seen := map[string]bool{}
	for _, tag := range theirs {
		name := lastName(tag.Name)
		any[name] = true
		if !declaring[tag.Kind] || seen[name] || !looked(language, tag, name) {
			continue
		}
		seen[name] = true
		m.want++
		if have[name] {
			m.found++
		} else if len(m.missed) < 4000 {
			m.missed[filepath.Base(file)+name] = "missed " + tag.Kind + " " + tag.Name + " in " + filepath.Base(file) + ": " + tag.Pattern
		}
	}
	for _, s := range symbols {
		m.ours++
		if any[lastName(s.Name)] {
			m.known++
		} else if len(m.odd) < 4000 {
			m.odd[filepath.Base(file)+s.Name] = "ctags knows no " + s.Kind + " " + s.Name + " in " + filepath.Base(file)
		}
	}
}

// outsideHeredocs are the names that are not in the documentation and the sample
// sources of Elixir, which ctags reads like code.
func outsideHeredocs(text string, names []tag) []tag {
	within, inText := map[int]bool{}, false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if ends := strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "'''"); inText && ends {
			inText = false
		} else if !inText && !strings.HasPrefix(line, "#") && (strings.HasSuffix(line, `"""`) || strings.HasSuffix(line, "'''")) {
			inText = true
		}
		within[i+1] = inText
	}
	return slices.DeleteFunc(slices.Clone(names), func(t tag) bool { return within[t.Line] })
}

// haskellWords are words of Haskell that ctags takes for names.
var haskellWords = map[string]bool{"class": true, "family": true, "role": true, "infix": true, "infixl": true, "infixr": true}

// looked says whether a name is one that people look for: not one that ctags made
// up for what has none, nor one that a line only refers to.
func looked(language string, t tag, name string) bool {
	switch {
	case strings.HasPrefix(name, "__anon"), strings.HasPrefix(name, "Anonymous"), strings.ContainsAny(name, "<>()[]{} \"`,~="):
		return false
	case strings.HasPrefix(t.Pattern, "/^import ") || strings.HasPrefix(t.Pattern, "/^use "):
		return false
	case language == "python", language == "php":
		return t.Kind != "namespace" && t.Kind != "module" // an import, or the folder
	case language == "csharp": // calls of methods and of base constructors
		return !strings.Contains(t.Name, ".") && t.Kind != "namespace" || t.Kind == "class"
	case language == "cpp", language == "c": // a macro that is called as tests are
		return t.Kind != "function" || name != strings.ToUpper(name)
	case language == "javascript": // any object that is written out
		return name != "exports" && t.Kind != "class" || strings.Contains(t.Pattern, "class") || strings.Contains(t.Pattern, "function")
	case language == "kotlin": // parameters of lambdas
		return name != "Companion" && (t.Kind != "method" || strings.Contains(t.Pattern, "fun "))
	case language == "haskell": // a part of a name, and what Template Haskell is called with
		return t.Kind != "module" && !haskellWords[name] && !strings.Contains(t.Pattern, " '")
	case language == "lua":
		return !strings.Contains(t.Pattern, `"function"`)
	}
	return true
}

// lastName is a name without what it is within.
func lastName(name string) string {
	for _, between := range []string{".", "::", "#", "/", `\`} {
		if at := strings.LastIndex(name, between); at >= 0 && at+len(between) < len(name) {
			name = name[at+len(between):]
		}
	}
	return name
}

// mostSamples is about how many names of a kind -v shows.
const mostSamples = 20

// mostFiles is about how many files of a language are looked at: every so many.
const mostFiles = 400

// tagsOf has ctags read all files of a folder whose language it knows.
func tagsOf(t *testing.T, ctags, folder string) map[string][]tag {
	t.Helper()
	byLanguage := map[string][]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if language := describe.Language(path); err == nil && d.Type().IsRegular() && ctagsNames[language] != "" {
			byLanguage[language] = append(byLanguage[language], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	for _, files := range byLanguage {
		every := max(len(files)/mostFiles, 1)
		for i := 0; i < len(files); i += every {
			list.WriteString(files[i] + "\n")
		}
	}
	cmd := exec.CommandContext(t.Context(), ctags, "--options=NONE", "--output-format=json", "--fields=+nl", "--kinds-all=*", "-f", "-", "-L", "-")
	cmd.Stdin = &list
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ctags: %v", err)
	}
	all := map[string][]tag{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var one tag
		if json.Unmarshal(lines.Bytes(), &one) == nil && one.Language == cmp.Or(ctagsNames[describe.Language(one.Path)], "-") {
			all[one.Path] = append(all[one.Path], one)
		}
	}
	return all
}
