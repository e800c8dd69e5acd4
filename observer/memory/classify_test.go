package memory

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/writbus/writ/observer/model"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// talker is a model that says what it is told to, and keeps what it was asked.
type talker struct {
	mu    sync.Mutex
	says  func(prompt string) string // "" answers with status 500
	asked []string
}

func (t *talker) client(tb testing.TB) *model.Client {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body struct {
			Messages []struct{ Role, Content string }
		}
		_ = json.Unmarshal(raw, &body)
		prompt := body.Messages[len(body.Messages)-1].Content
		t.mu.Lock()
		t.asked = append(t.asked, prompt)
		answer := t.says(prompt)
		t.mu.Unlock()
		if answer == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		piece, _ := json.Marshal(answer)
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", piece)
	}))
	tb.Cleanup(server.Close)
	c, err := model.New(model.Config{API: model.OpenAI, BaseURL: server.URL, Model: "talker", Retries: -1, BreakAfter: 100})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func (t *talker) calls() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.asked)
}

func said(role, id, text string) string {
	raw, _ := json.Marshal(map[string]any{"type": role, "uuid": id, "sessionId": "s", "message": map[string]any{"role": role, "content": text}})
	return string(raw) + "\n"
}

const deployRule = "The deploy job must never run in parallel because it locks the shared state file."

func TestObservationsAreClassifiedOnRequest(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	request := schemas.ObserveRequest{Classify: true, Observations: []schemas.Observation{
		{Input: []byte("Never push to the release branch because the deploy job reads its history.")},
		{Input: []byte("ok, I'll run the tests again now")},
		{Input: []byte("[gate=hold] ok")},
		{Input: []byte("[gate=maybe] ok")},
	}}
	reply, err := d.observe(t.Context(), request)
	if err != nil || reply.Classifier != "embedded" || reply.Failed != "" {
		t.Fatalf("%+v, %v", reply, err)
	}
	for i, want := range []string{"allow", "discard", "hold", "allow"} {
		if got := reply.Observed[i]; got.Verdict != want || got.Fallback != (i == 3) || i < 2 && !strings.HasPrefix(got.Reason, "embedded classifier") {
			t.Errorf("%d: %+v", i, got)
		}
	}
	request.Classify = false
	reply, err = d.observe(t.Context(), request)
	if err != nil || reply.Classifier != "" || reply.Observed[0].Reason != "missing_annotation" || !reply.Observed[0].Fallback {
		t.Errorf("unasked: %+v, %v", reply, err)
	}
	talk := &talker{says: func(string) string {
		return "1. [gate=hold confidence=0.7 category=git reason=\"rule\"]\nprose\n2. nothing"
	}}
	d.Model, request.Classify = talk.client(t), true
	reply, err = d.observe(t.Context(), request)
	if err != nil || talk.calls() != 1 || reply.Classifier != "talker" {
		t.Fatalf("%d calls, %+v, %v", talk.calls(), reply, err)
	}
	if o := reply.Observed[0]; o.Verdict != "hold" || o.Confidence != 0.7 || o.Category != "git" || o.Fallback {
		t.Errorf("%+v", o)
	}
	if o := reply.Observed[1]; o.Verdict != "allow" || o.Reason != "classifier_error" || !o.Fallback {
		t.Errorf("%+v", o)
	}
	for _, answer := range []string{"", "I am sorry."} {
		talk.says = func(string) string { return answer }
		reply, err = d.observe(t.Context(), request)
		if err != nil || reply.Failed == "" {
			t.Fatalf("%q: %+v, %v", answer, reply, err)
		}
		for i, want := range []string{"classifier_error", "classifier_error", "classified", "unknown_verdict"} {
			if reply.Observed[i].Reason != want {
				t.Errorf("%q: %+v", answer, reply.Observed[i])
			}
		}
	}
}

func TestTheEmbeddedClassifierReadsTranscripts(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	lines := said("user", "u1", deployRule+" What do you think?") +
		said("assistant", "a1", "I'll look at the file now. Done.\n[gate=hold] noted\n```\nnever do this\n```\n") +
		said("user", "u2", "The key AKIAQ3EGRZ7MNB4KXVPT must never be used in production because it is mine.")
	request := schemas.ObserveRequest{Transcripts: []schemas.Transcript{{Lines: []byte(lines), Scope: "p"}}}
	reply, err := d.observe(t.Context(), request)
	if err != nil || reply.Classifier != "embedded" {
		t.Fatalf("%+v, %v", reply, err)
	}
	found := map[string]schemas.Observed{}
	for _, o := range reply.Observed {
		found[o.ObservationID] = o
	}
	if o := found["u1#s0"]; o.Verdict == "" || o.Fallback || found["a1#2"].Verdict != "hold" || len(found) > 3 {
		t.Errorf("%+v", reply.Observed)
	}
	if o := found["u2#s0"]; len(o.Redacted) != 1 || strings.Contains(strings.ToLower(o.Reason), "akia") {
		t.Errorf("%+v", o)
	}
	again, err := d.observe(t.Context(), request)
	if err != nil || len(again.Observed) != len(reply.Observed) {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, o := range again.Observed {
		if !o.Repeated {
			t.Errorf("recorded twice: %+v", o)
		}
	}
}

// reading is a daemon that reads transcripts as after hooks.
func reading(t *testing.T, d *fixture) {
	d.transcripts.running, d.transcripts.asking = t.Context(), t.Context()
	d.transcripts.read, d.transcripts.reading, d.transcripts.tries = map[string]int64{}, map[string]bool{}, map[string]int{}
}

// TestOneCallPerStretchOfATranscript: observations and verdicts come from one
// call, failures promote nothing and leave the stretch for the next time, and
// no stretch is asked about twice, after a restart neither.
func TestOneCallPerStretchOfATranscript(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	d, shut := inside(t, data)
	reading(t, d)
	path := filepath.Join(t.TempDir(), "t.jsonl")
	secret := "AKIAQ3EGRZ7MNB4KXVPT"
	put(t, path, said("user", "u1", deployRule)+said("assistant", "a1", "The key is "+secret+"."))
	talk := &talker{says: func(string) string { return "" }}
	d.Model = talk.client(t)
	count := func() int {
		t.Helper()
		page, err := d.export(t.Context(), schemas.MemoryExportRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Items)
	}
	read := func(fails bool) {
		t.Helper()
		if err := d.classifyTranscript(path, "s", "p"); (err != nil) != fails {
			t.Fatal(err)
		}
	}
	read(true)
	if talk.calls() != 1 || count() != 0 {
		t.Fatalf("%d calls, %d observations", talk.calls(), count())
	}
	talk.says = func(prompt string) string {
		if strings.Contains(prompt, secret) || !strings.Contains(prompt, "[redacted:") || !strings.Contains(prompt, deployRule) {
			t.Errorf("asked %q", prompt)
		}
		return "- [gate=allow confidence=0.9] The deploy job runs alone.\n- [gate=discard] It has a key.\nand prose"
	}
	read(false)
	read(false)
	if talk.calls() != 2 || count() != 2 {
		t.Fatalf("%d calls, %d observations", talk.calls(), count())
	}
	shut()
	d, _ = inside(t, data)
	reading(t, d)
	d.Model = talk.client(t)
	put(t, path, said("user", "u1", deployRule)+said("assistant", "a1", "The key is "+secret+".")+said("user", "u2", "more "+deployRule)+`{"half`)
	talk.says = func(string) string { return "I found nothing of interest." }
	read(true)
	read(false) // passed over, and recorded as that
	read(false)
	if talk.calls() != 4 || count() != 2 {
		t.Fatalf("%d calls, %d observations", talk.calls(), count())
	}
	var was schemas.TranscriptObserved
	if err := d.kept.read(func(r projections.Reader) (err error) {
		was, err = d.kept.view.Transcript(r, path)
		return err
	}); err != nil || was.Failed != "classifier_error" || was.By != "talker" {
		t.Errorf("%+v, %v", was, err)
	}
}

func TestALineLongerThanAReadingIsPassedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	long := strings.Repeat("x", transcriptMost+5)
	for _, c := range []struct {
		text  string
		from  int64
		lines string
		at    int64
	}{
		{"a\n" + long + "\nb\nc", 0, "a\n", 0},
		{"a\n" + long + "\nb\nc", 2, "b\n", int64(len(long)) + 3},
		{"a\n" + long + long + "\nb\n", 2, "b\n", int64(2*len(long)) + 3},
		{"a\n" + long, 2, "", 2}, // it goes on to be written
		{"a\n" + long + "\n", 2, "", int64(len(long)) + 3},
		{long[:transcriptMost-1] + "\nb\n", 0, long[:transcriptMost-1] + "\n", 0},
	} {
		put(t, path, c.text)
		if lines, at, err := tailOf(path, c.from); string(lines) != c.lines || at != c.at || err != nil {
			t.Errorf("%d bytes from %d: %.20q at %d, want %.20q at %d: %v", len(c.text), c.from, lines, at, c.lines, c.at, err)
		}
	}
}
