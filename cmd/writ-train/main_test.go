package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func trained(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestTrainClassifier(t *testing.T) {
	dir := t.TempDir()
	data, model, card := filepath.Join(dir, "d.jsonl"), filepath.Join(dir, "m.bin"), filepath.Join(dir, "card.md")
	text := strings.Repeat(`{"text":"never use tabs","keep":true}`+"\n"+`{"text":"all done now","keep":false}`+"\n", 6)
	if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := trained(t, "classifier", "--data", data, "--heldout", data, "--out", model, "--card", card)
	if code != 0 || !strings.Contains(out, "trained on 12 texts") || !strings.Contains(out, "6 allowed, 0 held, 6 discarded") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	if text, err := os.ReadFile(card); err != nil || !strings.Contains(string(text), "12 texts, 6 worth keeping") {
		t.Errorf("%s %v", text, err)
	}
	if _, err := os.Stat(model); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeTrainedIsNamed(t *testing.T) {
	dir := t.TempDir()
	bad, out := filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "out.bin")
	if err := os.WriteFile(bad, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing":           {nil, 2, "writ-train table"},
		"another thing":     {[]string{"weather"}, 2, "writ-train table"},
		"a table of what":   {[]string{"table"}, 2, "--data"},
		"no such teacher":   {[]string{"table", "--data", dir, "--out", out, "--distil", filepath.Join(dir, "nowhere")}, 1, "nowhere"},
		"no texts":          {[]string{"table", "--data", filepath.Join(dir, "none"), "--out", out}, 1, "none"},
		"bad labels":        {[]string{"classifier", "--data", bad, "--out", out}, 1, "bad.jsonl"},
		"no passes":         {[]string{"classifier", "--data", bad, "--out", out, "--epochs", "0"}, 2, "--epochs"},
		"nowhere to put it": {[]string{"classifier", "--data", bad}, 2, "--out"},
		"a bad flag":        {[]string{"classifier", "--colour"}, 2, "colour"},
	} {
		if code, _, errs := trained(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a model was written of bad data")
	}
}
