package tools

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/launch"
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
	code, out, errs := run(t, "benchmark", "rules", "--corpus", rules, "--truth", filepath.Join(dir, "truth.jsonl"), "--queries", "20", "--scale", "30", "--svg", picture)
	if code != 0 || !strings.Contains(out, "NDCG@10") {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	if svg, err := os.ReadFile(picture); err != nil || !bytes.Contains(svg, []byte("<svg")) {
		t.Errorf("%.80s, %v", svg, err)
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
		"a bad flag":       {[]string{"tune", "--colour"}, 2, "colour"},
		"no truth":         {[]string{"tune"}, 2, "--truth"},
		"a bad line":       {[]string{"tune", "--truth", bad}, 1, "2"},
		"an unknown rule":  {[]string{"benchmark", "rules", "--truth", unknown, "--queries", "1"}, 1, "NO-SUCH-001"},
		"a bad scale":      {[]string{"benchmark", "rules", "--scale", "many"}, 2, "--scale"},
		"no such embedder": {[]string{"benchmark", "rules", "--embedder", "crystal"}, 1, "crystal"},
		"no rules":         {[]string{"benchmark", "rules", "--corpus", dir}, 1, dir},
		"training":         {[]string{"model", "train", "--data", dir}, 1, "cmd/writ-train"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := run(t, c.args...)
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("%d: %s", code, errs)
			}
		})
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
