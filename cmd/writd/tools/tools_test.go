package tools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/retrieval/benchmark"
)

func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Run(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestBenchmarkMeasuresAndDraws(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules")
	rule := "---\nid: ZEB-STRIPE-001\ntitle: Paint stripes\nseverity: high\ntrigger: A zebra is drawn without stripes.\nstatement: Paint the stripes first.\n---\n"
	put(t, filepath.Join(rules, "ZEB-STRIPE-001.md"), rule)
	put(t, filepath.Join(dir, "truth.jsonl"), `{"id":"q1","query":"zebra without stripes","relevant":["ZEB-STRIPE-001"],"kind":"direct"}`+"\n")
	picture := filepath.Join(dir, "latency.svg")
	code, out, errs := run(t, "benchmark", "rules", "--corpus", rules, "--truth", filepath.Join(dir, "truth.jsonl"), "--embedder", "static", "--queries", "2", "--scale", "3", "--svg", picture)
	if code != 0 || !strings.Contains(out, "NDCG@10") {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%.80s, %v", svg, err)
	}
}

// TestBenchmarkRulesAsksTheModel: what the model chooses is what is given, an answer
// that is none takes nothing away, and a failure ends it.
func TestBenchmarkRulesAsksTheModel(t *testing.T) {
	rules, truth := t.TempDir(), filepath.Join(t.TempDir(), "truth.jsonl")
	for name, trigger := range map[string]string{"STRIPE": "A zebra is drawn without stripes.", "HOOF": "A zebra walks on stones.", "TAIL": "A zebra meets flies."} {
		put(t, filepath.Join(rules, "ZEB-"+name+"-001.md"), "---\nid: ZEB-"+name+"-001\ntitle: Zebra "+name+"\nseverity: high\ntrigger: "+trigger+"\nstatement: Look at the zebra.\n---\n")
	}
	put(t, truth, `{"id":"q1","query":"a zebra is drawn without stripes","relevant":["ZEB-STRIPE-001"],"kind":"task"}`+"\n")
	args := []string{"benchmark", "rules", "--ask", "--embedder", "none", "--corpus", rules, "--truth", truth, "--queries", "1"}
	for api, said := range map[string]string{"openai": "full: 2\nline: 3", "anthropic": "full:\nline:"} {
		asked := scripted(t, api, said)
		code, out, errs := run(t, append(args, "--json")...)
		var r benchmark.Report
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Judged) != 1 || r.Asked != 1 || r.NotUnderstood != 0 || len(*asked) != 1 {
			t.Fatalf("%s: %d, %d asked, %.300s %s", api, code, len(*asked), out, errs)
		}
		if given := len(r.Judged[0].Injected) + len(r.Judged[0].Titles); (api == "openai") != (given == 2) || slices.Contains(r.Judged[0].Injected, "ZEB-STRIPE-001") {
			t.Errorf("%s: given %v, %v", api, r.Judged[0].Injected, r.Judged[0].Titles)
		}
		if !strings.Contains((*asked)[0], "drawn without stripes") || !strings.Contains((*asked)[0], "1. Zebra STRIPE") || !strings.Contains((*asked)[0], "3. ") {
			t.Errorf("%s: asked %.2000s", api, (*asked)[0])
		}
	}
	scripted(t, "openai", "I would show the rule about stripes.")
	if code, out, _ := run(t, args...); code != 0 || !strings.Contains(out, "1 calls, 1 answers not understood") || !strings.Contains(out, "OF THE RIGHT GIVEN") {
		t.Errorf("%d %s", code, out)
	}
	scripted(t, "openai", "400")
	if code, out, errs := run(t, args...); code != 1 || out != "" || !strings.Contains(errs, "the model") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, name := range []string{"API", "URL", "NAME"} {
		if err := os.Unsetenv("WRIT_MODEL_" + name); err != nil { // the end of the test sets it back
			t.Fatal(err)
		}
	}
	if code, _, errs := run(t, args...); code != 1 || !strings.Contains(errs, "no language model is set up") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestWhatCannotBeMeasuredIsNamed(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.jsonl")
	put(t, bad, `{"id":"q1","query":"x","relevant":[]}`+"\n{\n")
	unknown := filepath.Join(dir, "unknown.jsonl")
	put(t, unknown, `{"id":"q1","query":"x","relevant":["NO-SUCH-001"],"kind":"direct"}`+"\n")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no such tool":     {[]string{"benchmark", "weather"}, 2, "benchmark rules"},
		"no tool":          {[]string{"model"}, 2, "model train"},
		"no such model":    {[]string{"model", "paint"}, 2, "Use one of: writ model benchmark memory, writ model benchmark retrieval, writ model benchmark rules, writ model list, writ model pull, writ model train, writ model tune, writ model use\n"},
		"a bad flag":       {[]string{"tune", "--colour"}, 2, "unknown flag: --colour. `writ model tune --help` shows the flags\n"},
		"a bad number":     {[]string{"tune", "--folds", "x"}, 2, `invalid argument "x" for "--folds" flag. `},
		"two models":       {[]string{"model", "use", "minilm", "static"}, 2, `unexpected argument "static"`},
		"no truth":         {[]string{"tune"}, 2, "--truth"},
		"a bad line":       {[]string{"tune", "--truth", bad}, 1, "2"},
		"an unknown rule":  {[]string{"benchmark", "rules", "--embedder", "none", "--truth", unknown, "--queries", "1"}, 1, "NO-SUCH-001"},
		"a bad scale":      {[]string{"benchmark", "rules", "--scale", "many"}, 2, "--scale"},
		"no such embedder": {[]string{"benchmark", "rules", "--embedder", "crystal"}, 1, "crystal"},
		"no rules":         {[]string{"benchmark", "rules", "--corpus", dir}, 1, dir},
		"training":         {[]string{"model", "train", "--data", dir}, 1, "cmd/writ-train"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := run(t, c.args...)
			if code != c.code || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
				t.Errorf("%d: %s", code, errs)
			}
		})
	}
}

// TestHelpOfATool is shown once, and ends well.
func TestHelpOfATool(t *testing.T) {
	for _, tool := range [][]string{{"tune"}, {"model", "pull"}, {"model", "use"}} {
		code, _, errs := run(t, append(tool, "--help")...)
		if n := strings.Count(errs, "Usage:"); code != 0 || n != 1 {
			t.Errorf("%v: %d, shown %d times:\n%s", tool, code, n, errs)
		}
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAgentsAreToldOfADaemonThatIsMissing(t *testing.T) {
	dial := forAgents(launch.Options{DataDir: t.TempDir(), Executable: "/nowhere/writd"})
	if s, err := dial(t.Context()); s != nil || err == nil || !strings.Contains(err.Error(), "writd is neither") {
		t.Errorf("%v %v", s, err)
	}
}
