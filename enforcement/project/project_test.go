package project

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/enforcement"
)

// TestAProcessSeesItsOwnFolders: what a tool reads by the names that a process has for
// its own root and working folder is judged as what they are to the tool.
func TestAProcessSeesItsOwnFolders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has these names")
	}
	root := t.TempDir()
	p := Project{Layout: enforcement.Layout{Project: root, DataDir: "/data"}}
	for _, path := range []string{"/proc/self/root/data/x", "/proc/self/task/1/root/data/x", "/proc/self/cwd" + strings.Repeat("/..", strings.Count(root, "/")) + "/data/x", "/proc/thread-self/root/./data/x"} {
		if got := p.Target(path, root).Path; got != "/data/x" {
			t.Errorf("%s is %s", path, got)
		}
	}
}

// TestCacheNoticesChangedSettings: an entry holds for a while, and no longer
// than its settings file stays the same.
func TestCacheNoticesChangedSettings(t *testing.T) {
	root, now, loads := t.TempDir(), time.Unix(1000, 0), 0
	file := filepath.Join(root, "settings")
	put := func(mode string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(mode), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("work")
	c := NewCache(Options{DataDir: t.TempDir(), File: "settings", Now: func() time.Time { return now }, Load: func(string) (Settings, error) {
		loads++
		raw, err := os.ReadFile(file)
		return Settings{Mode: string(raw)}, err
	}})
	expect := func(when, mode string, loaded int) {
		t.Helper()
		if p := c.At(root, "/home/u"); p.Settings.Mode != mode || loads != loaded {
			t.Errorf("%s: mode %q after %d loads, want %q after %d", when, p.Settings.Mode, loads, mode, loaded)
		}
	}
	expect("first", "work", 1)
	expect("again", "work", 1)
	put("review")
	expect("changed", "review", 2)
	now = now.Add(keptFor)
	expect("later", "review", 3)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p := c.At(root, "/home/u"); p.Problem == nil || errors.Is(p.Problem, os.ErrNotExist) {
		t.Errorf("gone settings: %v", p.Problem)
	}
}

// TestProjectIsReadOnceForAllWhoAsk: of many calls that find an entry too old, one
// reads the project, and the others wait for it.
func TestProjectIsReadOnceForAllWhoAsk(t *testing.T) {
	const calls = 64
	root := t.TempDir()
	var asked, done sync.WaitGroup
	var loads atomic.Int32
	asked.Add(calls)
	c := NewCache(Options{DataDir: t.TempDir(), File: "settings", Now: func() time.Time { asked.Done(); return time.Unix(1000, 0) }, Load: func(string) (Settings, error) {
		asked.Wait() // until all of them are there
		loads.Add(1)
		return Settings{Mode: "work"}, nil
	}})
	for range calls {
		done.Go(func() {
			if p := c.At(root, "/home/u"); p.Settings.Mode != "work" {
				t.Errorf("mode %q", p.Settings.Mode)
			}
		})
	}
	if done.Wait(); loads.Load() != 1 {
		t.Errorf("%d calls at once read the project %d times", calls, loads.Load())
	}
}

// TestNamesFoldWhereTheDiskFoldsThem: a disk of another system tells by Writ's own
// folder being found by another name, as by a link here.
func TestNamesFoldWhereTheDiskFoldsThem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names fold everywhere on " + runtime.GOOS)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".writ"), 0o700); err != nil {
		t.Fatal(err)
	}
	read := func() bool {
		return Options{File: ".writ", Load: func(string) (Settings, error) { return Settings{}, nil }}.Read(root, "").Layout.CaseInsensitive
	}
	if read() {
		t.Error("names fold without another name")
	}
	if err := os.Symlink(".writ", filepath.Join(root, ".WRIT")); err != nil {
		t.Fatal(err)
	}
	if !read() {
		t.Error("names do not fold")
	}
}

func TestDomainsLeaveOutOtherLanguages(t *testing.T) {
	all := []string{"go", "python", "security"}
	for name, c := range map[string]struct {
		project   Project
		languages []string
		text      string
		want      []string
	}{
		"of go":           {Project{}, []string{"go"}, "sum a column, ok go on", []string{"go", "security"}},
		"of any":          {Project{}, nil, "sum a column in python", nil},
		"by its settings": {Project{Settings: Settings{Domains: []string{"python"}}}, []string{"go"}, "in Go", []string{"python"}},
		"by the text":     {Project{}, []string{"go"}, "sum a column in Python.", []string{"go", "python", "security"}},
		"by a framework":  {Project{}, []string{"go"}, "a page for django", []string{"go", "python", "security"}},
	} {
		if got := c.project.Domains(all, c.languages, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestDomainsOfFrameworks: what a manifest names decides, and where none is
// named each framework of the project's languages counts.
func TestDomainsOfFrameworks(t *testing.T) {
	all := []string{"android", "django", "express", "ios", "kotlin", "rails", "react", "security", "spring", "typescript", "vue"}
	for name, c := range map[string]struct{ file, content, want string }{
		"named":        {"package.json", `{"dependencies": {"react": "^19.0.0"}}`, "react security typescript"},
		"two":          {"package.json", `{"dependencies": {"express": "5", "vue": "3"}}`, "express security typescript vue"},
		"none":         {"package.json", `{"dependencies": {}}`, "express react security typescript vue"},
		"a part":       {"package.json", `{"dependencies": {"react-is": "19"}}`, "express react security typescript vue"},
		"by case":      {"requirements.txt", "Django==5.2\n", "django security"},
		"two builds":   {"build.gradle.kts", `id("org.springframework.boot")`, "kotlin security spring"},
		"by pattern":   {"Shop.gemspec", "", "rails security"},
		"no manifest":  {"Shop.xcodeproj", "", "ios security"},
		"nothing told": {"notes.txt", "react", ""},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, c.file), []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Project{}.Domains(all, LanguagesOf(root), ""), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestUsesLooksIntoFolders: where a root names no language, or has its parts in
// folders, these tell; where no manifest does, the files' own names.
func TestUsesLooksIntoFolders(t *testing.T) {
	const catalog = "[plugins]\nandroid-application = { id = \"com.android.application\" }\n"
	for name, c := range map[string]struct {
		files               map[string]string
		languages, subjects string
	}{
		"parts without a root":     {map[string]string{"api/go.mod": "", "web/package.json": `{"dependencies": {"react": "19"}}`, "api/Dockerfile": ""}, "go react typescript", "docker"},
		"a root and tools":         {map[string]string{"go.mod": "", "tools/package.json": `{"dependencies": {"react": "19"}}`, "infra/main.tf": ""}, "go", "cloud terraform"},
		"a root and a site":        {map[string]string{"go.mod": "", "main.go": "", "web/package.json": `{"dependencies": {"react": "19"}}`, "web/src/App.tsx": ""}, "go react typescript", ""},
		"what git ignores":         {map[string]string{"go.mod": "", "main.go": "", ".gitignore": "/old\ncache/\n!kept/\n", "old/package.json": `{"dependencies": {"react": "19"}}`, "old/App.tsx": "", "web/cache/main.tf": ""}, "go", ""},
		"clones that git ignores":  {map[string]string{".gitignore": "/api", "api/go.mod": "", "api/main.go": ""}, "go", ""},
		"packages of a workspace":  {map[string]string{"package.json": `{"workspaces": ["packages/*"]}`, "packages/site/package.json": `{"dependencies": {"next": "15"}}`}, "nextjs typescript", ""},
		"members in a manifest":    {map[string]string{"pom.xml": "<modules><module>core</module></modules>", "core/pom.xml": "<groupId>org.springframework.boot</groupId>"}, "java spring", ""},
		"an app by its catalog":    {map[string]string{"settings.gradle.kts": "", "build.gradle.kts": "alias(libs.plugins.android)", "gradle/libs.versions.toml": catalog}, "android java kotlin", ""},
		"an app by its project":    {map[string]string{"Shop.xcodeproj/project.pbxproj": ""}, "ios swift", ""},
		"scripts without manifest": {map[string]string{"train.py": "", "README.md": "react"}, "python", ""},
		"sources in folders":       {map[string]string{"Makefile": "", "src/main.c": "", "src/main.h": ""}, "c", ""},
		"one build file for C++":   {map[string]string{"CMakeLists.txt": "", "src/a.cc": "", "src/a.h": ""}, "c cpp", ""},
		"one build file for C":     {map[string]string{"meson.build": "", "src/a.c": ""}, "c", ""},
		"one build file for both":  {map[string]string{"CMakeLists.txt": "", "src/a.cc": "", "third/b.c": ""}, "c cpp", ""},
		"a build file alone":       {map[string]string{"CMakeLists.txt": "", "include/a.h": ""}, "c cpp", ""},
		"a language without rules": {map[string]string{"mix.exs": "", "lib/shop.ex": ""}, "elixir", ""},
		"only infrastructure":      {map[string]string{"main.tf": ""}, "terraform", "cloud terraform"},
		"what is not its own":      {map[string]string{"node_modules/a/package.json": "{}", "vendor/b/go.mod": "", ".cache/c.py": "", "notes.txt": ""}, "", ""},
		"too deep":                 {map[string]string{"a/b/c/go.mod": ""}, "", ""},
	} {
		root := t.TempDir()
		for file, content := range c.files {
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		languages, subjects := Uses(root)
		if strings.Join(languages, " ") != c.languages || strings.Join(subjects, " ") != c.subjects {
			t.Errorf("%s: languages %v, technologies %v", name, languages, subjects)
		}
		t.Chdir(root)
		if here, subjectsHere := Uses("./"); !slices.Equal(here, languages) || !slices.Equal(subjectsHere, subjects) {
			t.Errorf("%s, from inside: languages %v, technologies %v", name, here, subjectsHere)
		}
	}
}

func TestLanguagesForFile(t *testing.T) {
	p := Project{Languages: []string{"go", "react", "typescript"}}
	for file, want := range map[string]string{
		"a.go": "go", "a.tsx": "typescript react", "a.vue": "typescript vue react", "a.kt": "kotlin java", "a.h": "c cpp", "a.c": "c", "a.cpp": "cpp c", "a.hpp": "cpp c", "a.cs": "csharp",
		"a.css": "go react typescript", "a.md": "go react typescript",
	} {
		if got := strings.Join(p.LanguagesFor(file), " "); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestHookScriptsAreProtected: what agents' settings have run by itself is no
// agent's to write, however its name is written; what else they name is.
func TestHookScriptsAreProtected(t *testing.T) {
	root := t.TempDir()
	put := func(name, content string) {
		t.Helper()
		at := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.sh", "b/b.py", "c.sh", "d.sh", "e.sh", "f.sh", "real.sh", "allowed.sh", "main.go"} {
		put(name, "")
	}
	if err := os.Symlink("real.sh", filepath.Join(root, "link.sh")); err != nil {
		t.Fatal(err)
	}
	put(".claude/settings.json", `{"permissions":{"allow":["Bash(./allowed.sh)"]},"statusLine":{"command":"./d.sh"},"hooks":{"Stop":[{"hooks":[
		{"command":"./a.sh; python3 \"$CLAUDE_PROJECT_DIR\"/b/b.py --out=main.gone"},{"command":"bash -c 'exec ${CLAUDE_PROJECT_DIR}/link.sh'"},{"command":"make b ../x"}]}]}}`)
	put(".claude/settings.local.json", `{"hooks":`)
	put(".cursor/hooks.json", `{"hooks":{"stop":[{"command":"c.sh"}]}}`)
	put(".gemini/settings.json", `{/* mine */"contextFileName":"main.go","hooks":{"x":[{"command":"`+filepath.Join(root, "e.sh")+`"}]}}`)
	put(".github/hooks/x.json", `{"hooks":{"x":[{"bash":"(./f.sh)"}]}}`)
	p := NewCache(Options{DataDir: t.TempDir(), File: "settings", Now: time.Now, Load: func(string) (Settings, error) { return Settings{}, nil }}).At(root, "/home/u")
	for name, protected := range map[string]bool{
		"a.sh": true, "b/b.py": true, "link.sh": true, "real.sh": true, "c.sh": true, "d.sh": true, "e.sh": true, "f.sh": true,
		"allowed.sh": false, "main.go": false, "b": false,
	} {
		if got := p.Target(filepath.Join(root, name), root).Class == enforcement.ClassProtected; got != protected {
			t.Errorf("%s is protected: %v", name, got)
		}
	}
}
