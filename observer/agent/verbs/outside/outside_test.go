package outside

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/web"
)

func TestMapShowsWhatFilesDeclare(t *testing.T) {
	t.Parallel()
	workspace := t.TempDir()
	for name, text := range map[string]string{
		"main.go":   "package main\n\nconst n = 1\n\ntype T struct{}\n\nfunc (T) M() {}\n\nfunc main() {}\n",
		"app.py":    "class A:\n    def f(self):\n        pass\n\ndef g():\n    pass\n",
		"README.md": "# Title\n",
	} {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := New(Options{Private: []string{t.TempDir()}})
	t.Cleanup(set.Close)
	call := verbs.NewCall("map", "", nil)
	call.Workspace, call.Grant, call.Limits = workspace, dialect.NewGrant([]string{"*"}), dialect.DefaultLimits()
	r, err := set.Handlers["map"].Handle(t.Context(), call)
	want := "the workspace: 3 files, 142 B\nREADME.md 8 B\napp.py 58 B: class A, method A.f, func g\nmain.go 76 B: type T, method T.M, func main\n"
	if err != nil || r.Text != want {
		t.Errorf("got %q %v, expected %q", r.Text, err, want)
	}
}

func TestSearchHasTheKeyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	s := Settings{Search: Search{Provider: "brave"}}
	err := s.Check(func(name string) (string, bool) { return "value of " + name, true })
	if want := (web.Brave{Key: "value of WRIT_BRAVE_KEY"}); err != nil || s.Search.provider() != want {
		t.Errorf("%+v, %v", s.Search.provider(), err)
	}
}
