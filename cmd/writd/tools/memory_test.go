package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/classify"
)

func TestBenchmarkMemory(t *testing.T) {
	code, out, errw := run(t, "benchmark", "memory", "--json")
	var r classify.Report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.Texts < 300 || r.Verdict.F1 < 0.8 || r.OverEverythingCI.Low <= 0 {
		t.Errorf("%d %s %s %v", code, out, errw, err)
	}
	data := filepath.Join(t.TempDir(), "turns.jsonl")
	lines := `{"text":"[gate=allow] stated","keep":true}` + "\n" + `{"text":"[gate=discard] never push to main","keep":true}` + "\n" + `{"text":"done","keep":false}`
	if err := os.WriteFile(data, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, _ = run(t, "benchmark", "memory", "--data", data)
	if code != 0 || !strings.Contains(out, "3 texts, 2 worth keeping: 1 allowed, 0 held, 2 discarded (1 of them worth keeping)") || !strings.Contains(out, "store everything") {
		t.Errorf("%d %s", code, out)
	}
	for _, bad := range [][]string{{"--data", "nowhere"}, {"--model", data}, {"--data", filepath.Dir(data)}} {
		if code, _, errw := run(t, append([]string{"benchmark", "memory"}, bad...)...); code != 1 || !strings.Contains(errw, "writ: benchmark memory: ") {
			t.Errorf("%v: %d %s", bad, code, errw)
		}
	}
}

func TestTrainClassifier(t *testing.T) {
	dir := t.TempDir()
	data, model, card := filepath.Join(dir, "d.jsonl"), filepath.Join(dir, "m.bin"), filepath.Join(dir, "card.md")
	var lines strings.Builder
	for range 6 {
		lines.WriteString(`{"text":"never use tabs","keep":true}` + "\n" + `{"text":"all done now","keep":false}` + "\n")
	}
	if err := os.WriteFile(data, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errw := run(t, "model", "train", "--classifier", "--data", data, "--heldout", data, "--out", model, "--card", card)
	if code != 0 || !strings.Contains(out, "trained on 12 texts") {
		t.Fatalf("%d %s %s", code, out, errw)
	}
	if text, err := os.ReadFile(card); err != nil || !strings.Contains(string(text), "12 texts, 6 worth keeping") {
		t.Errorf("%s %v", text, err)
	}
	if code, out, errw := run(t, "benchmark", "memory", "--model", model, "--data", data); code != 0 || !strings.Contains(out, "6 allowed, 0 held, 6 discarded") {
		t.Errorf("%d %s %s", code, out, errw)
	}
	for want, args := range map[int][]string{
		1: {"--data", model, "--out", filepath.Join(dir, "x")},
		2: {"--data", data},
	} {
		if code, _, errw := run(t, append([]string{"model", "train", "--classifier"}, args...)...); code != want {
			t.Errorf("%v: %d %s", args, code, errw)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a model was written of bad data")
	}
}
