package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestProjectSettings(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		check func(Project) bool
		want  string // in the error
	}{
		"what some editors begin a file with": {"\ufeffmode: work\r\n", func(p Project) bool { return p.Mode == "work" }, ""},
		"comments alone are the defaults":     {"# mode: work\n", func(p Project) bool { return p.Fail == "closed" && p.Mode == "" }, ""},
		"nothing is the defaults":             {"", func(p Project) bool { return p.DenyToAsk && p.Fail == "closed" }, ""},
		"a key changes only itself":           {"mode: work\n", func(p Project) bool { return p.Mode == "work" && p.Fail == "closed" && p.BudgetTokens == 150 }, ""},
		"false is a value":                    {"deny_to_ask: false\n", func(p Project) bool { return !p.DenyToAsk }, ""},
		"a misspelt key is named":             {"mode: work\nfial: open\n", nil, "fial"},
		"a bad value is named":                {"fail: maybe\n", nil, `fail is "maybe"`},
		"a bad mode is named":                 {"mode: chaos\n", nil, "mode"},
		"findings stay inside":                {"findings: ../x\n", nil, "findings"},
		"broken YAML names its line":          {"mode: [\n", nil, "config.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			put(t, filepath.Join(root, ProjectFile), c.file)
			p, err := LoadProject(root)
			if c.want == "" {
				if err != nil || !c.check(p) {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if p.Fail != "closed" {
				t.Errorf("the settings after an error are not the strict ones: %+v", p)
			}
		})
	}
}

func TestFindProjectWalksUp(t *testing.T) {
	root := t.TempDir()
	put(t, filepath.Join(root, "a", ProjectFile), "")
	put(t, filepath.Join(root, "a", "b", "c", "x"), "")
	if got, found := FindProject(filepath.Join(root, "a", "b", "c")); !found || got != filepath.Join(root, "a") {
		t.Errorf("found %q, %v", got, found)
	}
	if got, found := FindProject(root); found {
		t.Errorf("found %q above every project", got)
	}
}

func TestARegisteredProjectStaysUnderGuard(t *testing.T) {
	data, root := t.TempDir(), t.TempDir()
	below := filepath.Join(root, "a", "b")
	put(t, filepath.Join(below, "x"), "")
	if got, found := FindGuarded(data, below); found {
		t.Fatalf("found %q before anything is registered", got)
	}
	if err := Register(data, root); err != nil {
		t.Fatal(err)
	}
	if got, found := FindGuarded(data, below); !found || got != root {
		t.Errorf("without a settings file: %q, %v", got, found)
	}
	put(t, filepath.Join(root, "a", ProjectFile), "")
	if got, _ := FindGuarded(data, below); got != filepath.Join(root, "a") {
		t.Errorf("the nearest project is %q", got)
	}
	if err := errors.Join(Unregister(data, root), Unregister(data, root), os.RemoveAll(filepath.Join(root, "a", ".writ"))); err != nil {
		t.Fatal(err)
	}
	if got, found := FindGuarded(data, below); found {
		t.Errorf("found %q after it was taken out", got)
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	if s, err := Load(dir); err != nil || s.Durability != "power-loss" || s.DataDir != dir {
		t.Errorf("without a file: %+v, %v", s, err)
	}
	put(t, filepath.Join(dir, "config.yaml"), "durability: interval\nport: 4333\narchive: {after: 4320h, above: 1000}\n")
	if s, err := Load(dir); err != nil || s.Durability != "interval" || s.Port != 4333 || s.Archive.After.Hours() != 4320 || s.Archive.Above != 1000 {
		t.Errorf("from the file: %+v, %v", s, err)
	}
	t.Setenv("WRIT_PORT", "4444")
	if s, err := Load(dir); err != nil || s.Port != 4444 {
		t.Errorf("the environment is stronger: %+v, %v", s, err)
	}
	t.Setenv("WRIT_PORT", "many")
	if _, err := Load(dir); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "WRIT_PORT") {
		t.Errorf("a bad environment: %v", err)
	}
	t.Setenv("WRIT_PORT", "")
	for _, bad := range []string{"durability: sometimes\n", "port: 70000\n", "replicas: 3\n", "max_bytes: -1\n", "archive: {above: -1}\n", "archive: {after: 1m}\n", "archive: {to: cold}\n", "archive: {above: 1}\nnats_url: nats://h\n", "colour: blue\n"} {
		put(t, filepath.Join(dir, "config.yaml"), bad)
		if _, err := Load(dir); !errors.Is(err, ErrSettings) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEndpointIsWithdrawnByItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadEndpoint(dir); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("without a file: %v", err)
	}
	want := Endpoint{URL: "nats://127.0.0.1:1", PID: 7, Version: "1", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if err := WriteEndpoint(dir, want); err != nil {
		t.Fatal(err)
	}
	if err := RemoveEndpoint(dir, 8); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadEndpoint(dir); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if err := RemoveEndpoint(dir, 7); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadEndpoint(dir); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("after removal: %v", err)
	}
	put(t, filepath.Join(dir, "run", "endpoint.json"), `{"url":`)
	if _, err := ReadEndpoint(dir); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("half a file: %v", err)
	}
}

func TestDataDir(t *testing.T) {
	t.Setenv("WRIT_HOME", "rel")
	if dir, err := DataDir(); err != nil || !filepath.IsAbs(dir) || filepath.Base(dir) != "rel" {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("WRIT_HOME", "")
	t.Setenv("XDG_STATE_HOME", "/state")
	if dir, err := DataDir(); err != nil || dir != filepath.Join("/state", "writ") {
		t.Errorf("%q, %v", dir, err)
	}
	for _, name := range []string{"XDG_STATE_HOME", "HOME", "USERPROFILE"} {
		t.Setenv(name, "some/where") // which would be another folder in each
	}
	if dir, err := DataDir(); !errors.Is(err, ErrNoHome) || !strings.Contains(err.Error(), "some/where is not a whole path") {
		t.Errorf("%q, %v", dir, err)
	}
}

func TestAMisspeltSettingIsNamedWithWhatIsMeant(t *testing.T) {
	for text, want := range map[string]string{
		"fial: open\n":    "Did you mean fail?",
		"approvl: read\n": "Did you mean approval",
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPolicy(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A setting of a wrong kind is named in the words of the file, and nothing of a file
// is passed over.
func TestBrokenSettingsAreNamedInTheirOwnWords(t *testing.T) {
	for text, want := range map[string]string{
		"small_lines: many\n":              "string was used where int is expected",
		"test_timeout: 60\n":               "uint64 was used where Duration is expected",
		"require_work: maybe\n":            "string was used where bool is expected",
		"mode: work\n---\nmode: debug\n":   "more than one document",
		"mode: work\n---\nunknown: here\n": "more than one document",
		"---\nmode: work\n":                "",
		"mode: work\n...\n":                "",
		"mode: work\n---\n":                "",
	} {
		root := t.TempDir()
		path := filepath.Join(root, ProjectFile)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadProject(root)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go ")):
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
