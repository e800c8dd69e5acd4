package tools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/writbus/writ/observer/classify"
	"github.com/writbus/writ/observer/memory"
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
		if code, _, errw := run(t, append([]string{"benchmark", "memory"}, bad...)...); code != 1 || !strings.Contains(errw, "writ: model benchmark memory: ") {
			t.Errorf("%v: %d %s", bad, code, errw)
		}
	}
}

// scripted is a loopback endpoint of a language model that answers each call as
// the next of its script says: a number is a status, anything else is said.
func scripted(t *testing.T, api string, script ...string) (asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		said := script[min(len(*asked), len(script)-1)]
		*asked = append(*asked, r.URL.Path+" "+string(raw))
		if status, err := strconv.Atoi(said); err == nil {
			w.WriteHeader(status)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		text, _ := json.Marshal(said)
		if api == "openai" {
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			return
		}
		_, _ = fmt.Fprintf(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n"+
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", text)
		_, _ = io.WriteString(w, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	}))
	t.Cleanup(server.Close)
	t.Setenv("WRIT_HOME", t.TempDir())
	t.Setenv("WRIT_MODEL_API", api)
	t.Setenv("WRIT_MODEL_URL", server.URL)
	t.Setenv("WRIT_MODEL_NAME", "scripted")
	return asked
}

// TestBenchmarkMemoryAsksTheModel: a call for forty texts, what fails falls back
// as in the daemon and is said, and nothing answered is no measurement.
func TestBenchmarkMemoryAsksTheModel(t *testing.T) {
	secret := "AKIA" + "Q3EGRZ7MNB4KXVPT"
	var turns, answer strings.Builder
	for i := range 80 {
		fmt.Fprintf(&turns, "{\"text\":\"text number %d %s\",\"keep\":%v}\n", i, secret, i%2 == 0)
	}
	turns.WriteString(`{"text":"[gate=hold] annotated","keep":true}` + "\n")
	for i := range 40 {
		fmt.Fprintf(&answer, "%d. [gate=%s confidence=0.9]\n", i+1, []string{"allow", "discard"}[i%2])
	}
	data := filepath.Join(t.TempDir(), "turns.jsonl")
	if err := os.WriteFile(data, []byte(turns.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, api := range []string{"openai", "anthropic"} {
		asked := scripted(t, api, answer.String())
		code, out, errw := run(t, "benchmark", "memory", "--ask", "--data", data, "--json")
		var r memory.Measured
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || r.By != "scripted" || r.Calls != 2 || r.Failed+r.Fallbacks != 0 ||
			r.Allow != 40 || r.Discard != 40 || r.Hold != 1 || r.Verdict.Precision != 1 {
			t.Errorf("%s: %d %s %s", api, code, out, errw)
		}
		if all := strings.Join(*asked, "\n"); len(*asked) != 2 || strings.Contains(all, secret) || !strings.Contains(all, "text number 79") || strings.Contains(all, "annotated\\n") {
			t.Errorf("%s: asked %.900s", api, all)
		}
		// The first call is refused, of the second half the answers are missing.
		scripted(t, api, "400", "2. [gate=discard]\n7. [gate=never]\n99. [gate=discard]\nand prose")
		code, out, _ = run(t, "benchmark", "memory", "--ask", "--data", data)
		if code != 0 || !strings.Contains(out, "scripted: 2 calls, 1 failed; 79 texts without an answer count as allowed") ||
			!strings.Contains(out, "the last failure: ") || !strings.Contains(out, "81 texts, 41 worth keeping: 79 allowed, 1 held, 1 discarded (0 of them") {
			t.Errorf("%s: %d %s", api, code, out)
		}
		for _, bad := range []string{"400", "I am sorry, I cannot."} {
			scripted(t, api, bad)
			code, out, errw = run(t, "benchmark", "memory", "--ask", "--data", data)
			if code != 1 || out != "" || !strings.Contains(errw, "scripted answered none of 2 calls") {
				t.Errorf("%s %q: %d %s %s", api, bad, code, out, errw)
			}
		}
	}
	if code, _, errw := run(t, "benchmark", "memory", "--ask", "--model", "x"); code != 2 || !strings.Contains(errw, "Give one of them") {
		t.Errorf("%d %s", code, errw)
	}
	t.Setenv("WRIT_MODEL_API", "")
	t.Setenv("WRIT_MODEL_NAME", "")
	t.Setenv("WRIT_MODEL_URL", "")
	if code, _, errw := run(t, "benchmark", "memory", "--ask"); code != 1 || !strings.Contains(errw, "no language model is set up") {
		t.Errorf("%d %s", code, errw)
	}
}
