package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/metrics"
	"github.com/writbus/writ/schemas"
)

func TestAHookIsTracedFromItsStartToItsReply(t *testing.T) {
	var mu sync.Mutex
	var received, traces strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		received.Write(raw)
		if r.URL.Path == "/v1/traces" {
			traces.Write(raw)
		}
	}))
	defer server.Close()
	w := startWith(t, t.TempDir(), newProject(t, "mode: work\n"), func(s *config.Settings) { s.OTLP = server.URL })
	w.send("SessionStart", map[string]any{})
	const secret = "a prompt that stays here"
	w.prompt(secret)
	w.write("store/users.go", "x")
	if _, err := call[schemas.ObserveReply](w, w.admin, schemas.SvcObserve, schemas.ObserveRequest{Classify: true, Observations: []schemas.Observation{{Input: []byte(secret)}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := call[schemas.RecallReply](w, w.admin, schemas.SvcRecall, schemas.RecallRequest{Text: secret}); err != nil {
		t.Fatal(err)
	}
	status, err := call[schemas.Status](w, w.admin, schemas.SvcStatus, nil)
	if err != nil {
		t.Fatal(err)
	}
	open, err := http.Get(status.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	_ = open.Body.Close()
	token, err := os.ReadFile(filepath.Join(w.data, "credentials", "metrics.token"))
	if err != nil || open.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without the token: %s, %v", open.Status, err)
	}
	request, err := http.NewRequest(http.MethodGet, status.Metrics, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(text), `writ_decisions_total{rule="ENF-GATE-PLAN",verdict="deny"} 1`) || !strings.Contains(string(text), `writ_stream_messages{stream="WRIT_SESSIONS"}`) {
		t.Errorf("%v\n%s", err, text)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, name := range []string{metrics.SpanHook, metrics.SpanDecide, metrics.SpanAppend, metrics.SpanRetrieve, metrics.SpanReply, metrics.SpanStore, metrics.SpanClassify, metrics.SpanRecall, "writ.observations", "writ.hook.duration"} {
		if !strings.Contains(received.String(), name) {
			t.Errorf("%s was not received", name)
		}
	}
	if !strings.Contains(traces.String(), "ENF-GATE-PLAN") {
		t.Error("no trace says what refused")
	}
	if strings.Contains(received.String(), secret) {
		t.Error("what a person said was sent to monitoring")
	}
}
