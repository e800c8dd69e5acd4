package tools

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval/embed/static"
)

const (
	tinyBERT  = "../../../retrieval/embed/bert/testdata/tiny"
	tinyTable = "../../../retrieval/embed/model2vec/testdata/plain"
)

// home is an empty data directory.
func home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("WRIT_HOME", dir)
	return dir
}

// pulled puts a model under a name among those of a data directory.
func pulled(t *testing.T, dir, name, from string) string {
	t.Helper()
	to := filepath.Join(dir, "models", name)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

func listOf(t *testing.T) map[string]listed {
	t.Helper()
	code, out, errs := run(t, "model", "list", "--json")
	if code != 0 {
		t.Fatal(code, errs)
	}
	all := map[string]listed{}
	for lines := bufio.NewScanner(strings.NewReader(out)); lines.Scan(); {
		var l listed
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all[l.Name] = l
	}
	return all
}

func TestModelsAreListed(t *testing.T) {
	dir := home(t)
	all := listOf(t)
	if l := all["minilm"]; !l.InUse || !strings.HasPrefix(l.Embedder, "all-MiniLM-L6-v2-int8@") || l.Dimensions != 384 {
		t.Errorf("%+v", l)
	}
	if l := all["static"]; l.InUse || !strings.HasPrefix(l.Embedder, "static@") || l.Dimensions < 1 {
		t.Errorf("%+v", l)
	}
	if l := all["all-MiniLM-L6-v2"]; l.Here || l.License != "Apache-2.0" || l.Dimensions != 384 || !strings.Contains(l.Note, "writ model pull") {
		t.Errorf("%+v", l)
	}
	encoder, table := pulled(t, dir, "encoder", tinyBERT), pulled(t, dir, "table", tinyTable)
	damaged := pulled(t, dir, "damaged", tinyTable)
	put(t, filepath.Join(damaged, "model.safetensors"), "not found")
	put(t, filepath.Join(encoder, "checksums.txt"), "")
	put(t, filepath.Join(dir, "models", ".x.part", "model.safetensors"), "half")
	put(t, filepath.Join(dir, "config.yaml"), "embedder: table\n")
	all = listOf(t)
	if l := all["table"]; !l.InUse || l.Kind != "model2vec" || l.Dimensions != 8 || l.Verified || l.Path != table || l.Bytes < 10_000 || !strings.HasPrefix(l.Embedder, "table@") {
		t.Errorf("%+v", l)
	}
	if l := all["encoder"]; l.InUse || !strings.Contains(l.Problem, "checksums.txt") {
		t.Errorf("%+v", l)
	}
	if l := all["damaged"]; !strings.Contains(l.Problem, "model.safetensors") {
		t.Errorf("%+v", l)
	}
	if len(all) != 13 {
		t.Errorf("%d embedders: %v", len(all), all)
	}
	_, out, _ := run(t, "model", "list")
	for _, want := range []string{"* table", "8 dimensions", "no checksums", "cannot be used", "potion-base-8M", "MIT", "none", "fetch https://huggingface.co/MongoDB/mdbr-leaf-ir into a folder", "768 dimensions"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// What the settings name is in the list, wherever it is.
func TestTheEmbedderInUseIsListed(t *testing.T) {
	dir := home(t)
	outside := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(outside, os.DirFS(tinyBERT)); err != nil {
		t.Fatal(err)
	}
	for embedder, ok := range map[string]func(listed) bool{
		outside:                  func(l listed) bool { return l.Dimensions == 20 && l.Problem == "" },
		"http://127.0.0.1:1/v1":  func(l listed) bool { return l.Problem == "" && strings.Contains(l.Note, "endpoint") },
		"crystal-ball":           func(l listed) bool { return !l.Here && l.Problem != "" },
		filepath.Join(dir, "no"): func(l listed) bool { return strings.Contains(l.Problem, "no such file") },
	} {
		if err := config.SetEmbedder(dir, embedder); err != nil {
			t.Fatal(err)
		}
		if l := listOf(t)[embedder]; !l.InUse || !ok(l) {
			t.Errorf("%s: %+v", embedder, l)
		}
	}
	put(t, filepath.Join(dir, "config.yaml"), "colour: blue\n")
	if code, _, errs := run(t, "model", "list"); code != 1 || !strings.Contains(errs, "colour") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestModelUse(t *testing.T) {
	dir := home(t)
	pulled(t, dir, "table", tinyTable)
	put(t, filepath.Join(dir, "config.yaml"), "# mine\nport: 0\n")
	used := func(arg, setting string, words ...string) {
		t.Helper()
		code, out, errs := run(t, "model", "use", arg)
		if code != 0 {
			t.Fatal(arg, code, errs)
		}
		for _, word := range words {
			if !strings.Contains(out, word) {
				t.Errorf("%q is not in %q", word, out)
			}
		}
		if s, err := config.Load(dir); err != nil || s.Embedder != setting {
			t.Errorf("%q, want %q, %v", s.Embedder, setting, err)
		}
		if raw, err := os.ReadFile(filepath.Join(dir, "config.yaml")); err != nil || !strings.HasPrefix(string(raw), "# mine\nport: 0\n") {
			t.Errorf("%q, %v", raw, err)
		}
	}
	used("table", filepath.Join(dir, "models", "table"), "table@", "8 dimensions", "next start")
	used("table", filepath.Join(dir, "models", "table"), "It was before")
	used("none", "none", "words alone")
	used("static", "static", "static@")
	full, err := filepath.Abs(tinyBERT)
	if err != nil {
		t.Fatal(err)
	}
	used(tinyBERT, full, "tiny@", "20 dimensions")
	trained, err := static.Build(2, []string{"connection", "lost"}, 1, []float32{1, 0, 0, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "table.bin")
	put(t, table, string(trained.Encode()))
	used(table, table, "static@", "2 dimensions")
	if l := listOf(t)[table]; !l.InUse || l.Kind != "static" || !l.Verified || l.Bytes != int64(len(trained.Encode())) {
		t.Errorf("%+v", l)
	}
}

func TestARunningDaemonIsNamed(t *testing.T) {
	dir := home(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := config.WriteEndpoint(dir, config.Endpoint{URL: "nats://" + listener.Addr().String(), PID: 4711}); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := run(t, "model", "use", "none"); !strings.Contains(out, "process 4711") || !strings.Contains(out, "writ down") {
		t.Error(out)
	}
}

// A model that does not work is not chosen.
func TestUnusableModelsAreNotChosen(t *testing.T) {
	dir := home(t)
	damaged := pulled(t, dir, "damaged", tinyTable)
	put(t, filepath.Join(damaged, "model.safetensors"), "not found")
	empty := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"not pulled":   {[]string{"potion-base-8m"}, 1, "writ model pull potion-base-8M"},
		"unknown":      {[]string{"crystal-ball"}, 1, "writ model list"},
		"damaged":      {[]string{"damaged"}, 1, "writ model pull damaged"},
		"no model":     {[]string{empty}, 1, empty},
		"an endpoint":  {[]string{"http://127.0.0.1:1/v1"}, 1, "config.yaml"},
		"nothing":      {nil, 2, "is needed"},
		"two":          {[]string{"static", "none"}, 2, "none"},
		"a bad flag":   {[]string{"static", "--colour"}, 2, "colour"},
		"a table file": {[]string{filepath.Join(tinyTable, "config.json")}, 1, "is a file"},
	} {
		code, _, errs := run(t, append([]string{"model", "use"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %s", name, code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "config.yaml")); err == nil {
		t.Error("the settings were written")
	}
}

func TestPullSaysWhatIsWrong(t *testing.T) {
	dir := home(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"unknown":     {[]string{"gpt-9"}, 1, "all-MiniLM-L6-v2, potion-retrieval-32M"},
		"nothing":     {nil, 2, "is needed"},
		"no mirror":   {[]string{"potion-base-8M", "--from", "http://127.0.0.1:1/x"}, 1, "needs the network"},
		"not there":   {[]string{"--from", server.URL, "potion-base-8M"}, 1, "404"},
		"no folder":   {[]string{"potion-base-8M", "--from", filepath.Join(dir, "none")}, 1, "none"},
		"wrong files": {[]string{"potion-base-8M", "--from", tinyTable}, 1, "config.json has"},
	} {
		code, out, errs := run(t, append([]string{"model", "pull"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" || strings.Contains(errs, "\r") {
			t.Errorf("%s: %d %s %s", name, code, out, errs)
		}
	}
	if _, errs := os.Stat(filepath.Join(dir, "models", "potion-base-8M")); errs == nil {
		t.Error("a model is there")
	}
}

// With the real files at hand, the whole way: pull, list, use, use again.
func TestPullAndUseMiniLM(t *testing.T) {
	from := os.Getenv("WRIT_MINILM_DIR")
	if from == "" {
		t.Skip("WRIT_MINILM_DIR names no directory with all-MiniLM-L6-v2; test/ci/minilm-weights.sh fetches it and runs this test")
	}
	dir := home(t)
	for _, want := range []string{"is in", "was already in"} {
		if code, out, errs := run(t, "model", "pull", "all-minilm-l6-v2", "--from", from); code != 0 || !strings.Contains(out, want) {
			t.Fatal(code, out, errs)
		}
	}
	if code, out, errs := run(t, "model", "use", "all-minilm-L6-V2"); code != 0 || !strings.Contains(out, "384 dimensions") {
		t.Fatal(code, out, errs)
	}
	if l := listOf(t)["all-MiniLM-L6-v2"]; !l.InUse || !l.Verified || l.License != "Apache-2.0" || l.Path != filepath.Join(dir, "models", "all-MiniLM-L6-v2") {
		t.Errorf("%+v", l)
	}
	e, err := embedderOf("all-MiniLM-L6-v2")
	if err != nil || !strings.HasPrefix(e.Name(), "all-MiniLM-L6-v2@") {
		t.Error(err)
	}
}
