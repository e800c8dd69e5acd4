package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLintStream(t *testing.T) {
	s := &services{}
	r := s.run(t, "Look.\n/exec ls\n/write a.md\n# A\n/endwrite\n  /exec x\n/exce y", "lint-stream")
	want := "Look.\n▸ /exec ls\n▸ /write a.md (4 bytes)\n  /exec x\n! line 6: /exec is indented, not run; a command starts at column 0\n/exce y\n" +
		"! line 7: unknown verb /exce, not run; did you mean /exec?\n"
	if r.code != 1 || r.out != want || r.err != "" {
		t.Errorf("%d\n%s\nwant\n%s%s", r.code, r.out, want, r.err)
	}
	if len(s.roles) > 0 {
		t.Error("lint-stream asks the daemon")
	}
	if r := s.run(t, "nothing special\n", "lint-stream", "-"); r.code != 0 || r.out != "nothing special\n" {
		t.Errorf("%+v", r)
	}
}

func TestLintStreamJSON(t *testing.T) {
	r := (&services{}).run(t, "a\n/write p\nx\n/list\n", "lint-stream", "--json")
	var kinds []string
	for line := range strings.Lines(r.out) {
		var one struct {
			Kind, Status, Diagnostic string
			Swallowed                []string
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, one.Kind+one.Status+one.Diagnostic+strings.Join(one.Swallowed, ","))
	}
	if got := strings.Join(kinds, " "); got != "prose commandunterminated/list diagnosticunterminated_block" || r.code != 1 {
		t.Errorf("%d %s", r.code, got)
	}
}

func TestLintStreamOfAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "response")
	if err := os.WriteFile(path, []byte("/list\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := (&services{}).run(t, "", "lint-stream", path); r.code != 0 || r.out != "▸ /list\n" {
		t.Errorf("%+v", r)
	}
	if r := (&services{}).run(t, "", "lint-stream", path+"x"); r.code != 1 || !strings.Contains(r.err, "no such file") {
		t.Errorf("%+v", r)
	}
}

func TestAgentValidate(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.json":  `{"name": "reviewer", "capabilities": ["/read", "/exec cmd=git"]}`,
		"none.json":  `{"name": "mute"}`,
		"wrong.json": `{"name": "x", "capabilities": ["/reed"]}`,
		"key.json":   `{"name": "x", "advisor": {"modus": "gate"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) result {
		return (&services{}).runIn(t, Env{Dir: dir}, "", append([]string{"agent", "validate"}, args...)...)
	}
	if r := run("good.json", "none.json"); r.code != 0 || !strings.Contains(r.out, "reviewer may use /read, /exec cmd=git") ||
		!strings.Contains(r.out, "mute may use nothing but /help") {
		t.Errorf("%+v", r)
	}
	r := run("good.json", "wrong.json", "key.json", "gone.json", ".")
	for _, want := range []string{`wrong.json: capabilities[0]`, "/reed", "key.json: advisor.modus: unknown key", "gone.json: no such file", ".: it is a folder"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in %s", want, r.out)
		}
	}
	if r.code != 1 {
		t.Errorf("exit %d", r.code)
	}
	if r := run("good.json", "--prompt"); !strings.Contains(r.out, "/exec COMMAND") || strings.Contains(r.out, "/fetch") {
		t.Errorf("the prompt: %s", r.out)
	}
	if r := run("key.json", "--json"); r.code != 1 || !strings.Contains(r.out, `"ok":false`) {
		t.Errorf("%+v", r)
	}
}
