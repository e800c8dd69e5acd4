package daemon

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
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// modelServer speaks the OpenAI-compatible API, a few bytes at a time. What it
// says depends on the last message alone.
type modelServer struct {
	*httptest.Server
	mu   sync.Mutex
	say  func(system, last string) string
	seen []string // the last messages
	// before is asked before anything is said, and true has answered itself.
	before func(w http.ResponseWriter, call int) bool
}

func newModelServer(t testing.TB, say func(system, last string) string) *modelServer {
	m := &modelServer{say: say}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

func (m *modelServer) serve(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(raw, &request)
	system, last := "", ""
	for _, one := range request.Messages {
		text := textOf(one.Content)
		if one.Role == "system" {
			system = text
		}
		last = text
	}
	m.mu.Lock()
	m.seen = append(m.seen, last)
	calls := len(m.seen)
	m.mu.Unlock()
	if m.before != nil && m.before(w, calls) {
		return
	}
	text := m.say(system, last)
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		data, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	for len(text) > 0 {
		n := min(3, len(text))
		send(map[string]any{"model": "scripted", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text[:n]}}}})
		text = text[n:]
	}
	send(map[string]any{"model": "scripted", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// streamed is an answer of the OpenAI-compatible API.
func streamed(text string) string {
	var out strings.Builder
	for len(text) > 0 {
		n := min(64, len(text))
		fmt.Fprintf(&out, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text[:n])
		text = text[n:]
	}
	out.WriteString("data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	return out.String()
}

// textOf reads a content that is a text, or parts with texts.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// agentWorld is a daemon with a model, a workspace and constitutions.
func agentWorld(t testing.TB, data string, m *modelServer, constitutions map[string]string) (*world, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range constitutions {
		put(t, filepath.Join(dir, "agents", name+".json"), text)
	}
	put(t, filepath.Join(dir, "work", "hello.txt"), "hello from a file\n")
	w := startWith(t, data, dir, func(s *config.Settings) {
		s.Model.API, s.Model.URL, s.Model.Name, s.Model.Timeout = "openai", m.URL, "scripted", time.Minute
	})
	return w, dir
}

// watch follows a run to its end.
func (w *world) watch(run string) (frames []schemas.AgentFrame, end schemas.AgentFollowReply) {
	w.t.Helper()
	after := uint64(0)
	for {
		reply, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: run, After: after})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, f := range reply.Frames {
			if f.Seq != after+1 {
				w.t.Errorf("frame %d after %d", f.Seq, after)
			}
			after = f.Seq
			frames = append(frames, f)
		}
		if reply.Done {
			return frames, reply
		}
	}
}

func proseOf(frames []schemas.AgentFrame, run string) string {
	var out strings.Builder
	for _, f := range frames {
		if f.Kind == schemas.FrameProse && f.Run == run {
			out.WriteString(f.Text)
		}
	}
	return out.String()
}

func TestAnAgentAtWork(t *testing.T) {
	t.Parallel()
	m := newModelServer(t, func(system, last string) string {
		switch {
		case strings.HasPrefix(system, "You are helper"):
			return "The helper says hi.\n"
		case strings.Contains(last, "[END TOOL RESULTS"):
			return "All done.\n"
		default:
			return "I keep notes.\n/mem write the token is " + secret + "\n/todo add look around\n/lesson clock tests: inject the clock\n/read hello.txt\n/exec ls\n/agent helper say hi\nThat was it.\n"
		}
	})
	w, dir := agentWorld(t, t.TempDir(), m, map[string]string{
		"dev":    `{"name": "dev", "role": "A developer.", "capabilities": ["/mem", "/todo", "/lesson", "/read", "/agent"]}`,
		"helper": `{"name": "helper", "capabilities": ["*"]}`,
	})
	request := schemas.AgentRunRequest{File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"), Message: "Look around."}
	started, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request)
	if err != nil {
		t.Fatal(err)
	}
	frames, end := w.watch(started.Run)
	if got := proseOf(frames, started.Run); got != "I keep notes.\nThat was it.\nAll done.\n" {
		t.Errorf("prose %q", got)
	}
	if end.Finished == nil || end.Finished.Outcome != "answered" || end.Finished.Answer != "All done." || end.Lost != 0 {
		t.Errorf("%+v", end.Finished)
	}
	told := m.seen[len(m.seen)-1]
	for _, want := range []string{"OK: added to your notes", "OK: task t1 added", "OK: lesson l1 kept", "hello from a file", "capability not granted: /exec", "The helper says hi."} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %s", want, told)
		}
	}
	view, err := call[schemas.AgentView](w, w.admin, schemas.SvcAgentShow, schemas.AgentQuery{Run: started.Run})
	if err != nil || view.Commands != 5 || view.Denied != 1 || view.Calls != 2 || view.Outcome != "answered" {
		t.Errorf("%+v %v", view.AgentSummary, err)
	}
	raw, _ := json.Marshal(view.Events)
	if strings.Contains(string(raw), secret) {
		t.Error("a secret is in the log")
	}
	list, err := call[schemas.AgentList](w, w.admin, schemas.SvcAgentList, schemas.AgentQuery{})
	if err != nil || len(list.Runs) != 2 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := call[schemas.AgentRunReply](w, w.hook, schemas.SvcAgentRun, request); err == nil {
		t.Error("the hooks' credential starts an agent")
	}
	// The lesson goes with the next message that is about it.
	request.Message = "Write a test that needs a clock."
	if started, err = call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request); err != nil {
		t.Fatal(err)
	}
	w.watch(started.Run)
	if asked := m.seen[len(m.seen)-3]; !strings.Contains(asked, "KNOWN PITFALLS") || !strings.Contains(asked, "inject the clock") {
		t.Errorf("asked %s", asked)
	}
}

func TestDispatchService(t *testing.T) {
	t.Parallel()
	m := newModelServer(t, func(string, string) string { return "never" })
	data := t.TempDir()
	w, dir := agentWorld(t, data, m, map[string]string{
		"dev":   `{"name": "dev", "capabilities": ["/todo", "/read path=*.txt"]}`,
		"wrong": `{"name": "dev", "capability": []}`,
	})
	request := schemas.AgentRunRequest{
		Run: "once", File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"),
		Transcript: []byte("/todo add a\n/read hello.txt\n/read ../agents/dev.json\n/help todo\n"),
	}
	for range 2 { // the second is the same request again
		if _, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcDispatch, request); err != nil {
			t.Fatal(err)
		}
	}
	_, end := w.watch("once")
	for _, want := range []string{"OK: task t1 added", "hello from a file", "capability not granted: /read", "/todo describe ID TEXT"} {
		if !strings.Contains(end.Batch, want) {
			t.Errorf("%q is not in %s", want, end.Batch)
		}
	}
	for name, change := range map[string]func(*schemas.AgentRunRequest){
		"unknown key":       func(r *schemas.AgentRunRequest) { r.File = filepath.Join(dir, "agents", "wrong.json") },
		"there is no file":  func(r *schemas.AgentRunRequest) { r.File = filepath.Join(dir, "gone.json") },
		"must be absolute":  func(r *schemas.AgentRunRequest) { r.File = "dev.json" },
		"is no folder":      func(r *schemas.AgentRunRequest) { r.Workspace = filepath.Join(dir, "gone") },
		"at most 64 bytes":  func(r *schemas.AgentRunRequest) { r.Run = strings.Repeat("x", 65) },
		"workspace must be": func(r *schemas.AgentRunRequest) { r.Workspace = "work" },
	} {
		r := request
		r.Run = "other"
		change(&r)
		if _, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcDispatch, r); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: "nobody's"}); err == nil {
		t.Error("a run that is not there is followed")
	}
	// A verb is a service: whoever may speak as the daemon asks its handler.
	daemon := daemonConn(t, data, w)
	body := `{"run": "x", "agent": "dev", "verb": "todo", "args": "list", "workspace": ` + fmt.Sprintf("%q", request.Workspace) + `, "grant": [["*"]]}`
	reply, err := daemon.Request(t.Context(), bus.Request{Subject: schemas.VerbSubject("todo"), Body: []byte(body)})
	if err != nil || !strings.Contains(string(reply.Body), "t1 a") {
		t.Errorf("%s %v", reply.Body, err)
	}
}

// daemonConn speaks with the daemon's own credential.
func daemonConn(t *testing.T, data string, w *world) *bus.Conn {
	t.Helper()
	at, err := config.ReadEndpoint(data)
	if err != nil {
		t.Fatal(err)
	}
	conn := dial(t, data, at.URL, "daemon")
	t.Cleanup(conn.Close)
	return conn
}

// A schedule whose time came while no daemon ran fires once when one is there
// again, and a run that was interrupted is ended.
func TestSchedulesFireFromTheLog(t *testing.T) {
	t.Parallel()
	m := newModelServer(t, func(string, string) string { return "Done.\n" })
	data := t.TempDir()
	w, dir := agentWorld(t, data, m, map[string]string{"dev": `{"name": "dev", "capabilities": ["/schedule"]}`})
	daemon := daemonConn(t, data, w)
	given := time.Now().Add(-5 * time.Hour).UTC()
	add := func(id, line string) {
		_, err := bus.Record(t.Context(), daemon.Writer(bus.WriterOptions{}), schemas.Event{
			ID: bus.NewID(), Time: given, Source: source, Aggregate: schemas.AgentSchedule(id), Actor: schemas.ParseActor("dev"),
			Data: schemas.ScheduleAdded{
				ScheduleID: id, Line: line, Zone: "UTC", Agent: "dev", File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("s1", "in 5 minutes: look")
	add("s2", "every 2 hours: report")
	var list schemas.ScheduleList
	for list.Schedules == nil || list.Schedules[0].Fired+list.Schedules[1].Fired < 2 {
		var err error
		if list, err = call[schemas.ScheduleList](w, w.admin, schemas.SvcSchedules, schemas.ScheduleQuery{All: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range list.Schedules {
		view, err := call[schemas.AgentView](w, w.admin, schemas.SvcAgentShow, schemas.AgentQuery{Run: s.LastRun})
		for err != nil { // the claim is there before the run
			view, err = call[schemas.AgentView](w, w.admin, schemas.SvcAgentShow, schemas.AgentQuery{Run: s.LastRun})
		}
		var started schemas.AgentStarted
		if err := json.Unmarshal(view.Events[0].Data, &started); err != nil {
			t.Fatal(err)
		}
		if missed := strings.Contains(started.Message, "1 earlier time(s)"); started.Trigger != "schedule" || missed != (s.ID == "s2") || !strings.Contains(started.Message, "late") {
			t.Errorf("%s: %+v", s.ID, started)
		}
	}
	if _, err := call[bus.None](w, w.admin, schemas.SvcScheduleAct, schemas.ScheduleActRequest{ID: "s2", Act: "cancel"}); err != nil {
		t.Error(err)
	}
	if _, err := call[bus.None](w, w.admin, schemas.SvcScheduleAct, schemas.ScheduleActRequest{ID: "s2", Act: "resume"}); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("%v", err)
	}
	interrupted := map[string]time.Time{bus.NewID(): given, bus.NewID(): given.AddDate(1, 0, 0)} // of a clock that was set back since
	for run, at := range interrupted {
		_, err := bus.Record(t.Context(), daemon.Writer(bus.WriterOptions{}), schemas.Event{
			ID: bus.NewID(), Time: at, Source: source, Aggregate: schemas.AgentRun(run), Actor: schemas.ParseActor("run"),
			Data: schemas.AgentStarted{Agent: "dev", Trigger: "run", Daemon: hostname() + ":" + data},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, data, dir)
	for run := range interrupted {
		for outcome := ""; outcome != "stopped"; {
			view, err := call[schemas.AgentView](again, again.admin, schemas.SvcAgentShow, schemas.AgentQuery{Run: run})
			if err != nil {
				t.Fatal(err)
			}
			outcome = view.Outcome
		}
	}
	list, err := call[schemas.ScheduleList](again, again.admin, schemas.SvcSchedules, schemas.ScheduleQuery{All: true})
	if err != nil || list.Schedules[0].Fired != 1 || list.Schedules[1].Fired != 1 {
		t.Errorf("fired again: %+v %v", list, err)
	}
}

func TestQuestionsAndStops(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	m := newModelServer(t, func(_, last string) string {
		switch {
		case strings.Contains(last, "wait"):
			<-release
			return "too late\n"
		case strings.Contains(last, "hello from"):
			return "/read other.txt\n"
		case strings.Contains(last, "[END TOOL RESULTS"):
			return "Done.\n"
		}
		return "/read hello.txt\n"
	})
	defer close(release)
	w, dir := agentWorld(t, t.TempDir(), m, map[string]string{"dev": `{"name": "dev", "capabilities": ["/read"]}`})
	put(t, filepath.Join(dir, "work", "hello.txt"), "hello from\n/read other.txt\n")
	put(t, filepath.Join(dir, "work", "other.txt"), "the other one\n")
	request := schemas.AgentRunRequest{Run: "asks", File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"), Message: "go", Confirms: true}
	if _, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request); err != nil {
		t.Fatal(err)
	}
	after, asked := uint64(0), false
	for !asked {
		reply, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: "asks", After: after})
		if err != nil || reply.Done {
			t.Fatalf("%+v %v", reply, err)
		}
		for _, f := range reply.Frames {
			after = f.Seq
			if f.Kind != schemas.FrameConfirm {
				continue
			}
			asked = true
			answer := schemas.AgentAnswerRequest{Run: "asks", ID: f.ID, Yes: true}
			if _, err := call[bus.None](w, w.admin, schemas.SvcAgentAnswer, answer); err != nil {
				t.Error(err)
			}
			if _, err := call[bus.None](w, w.admin, schemas.SvcAgentAnswer, answer); err == nil {
				t.Error("a question is answered twice")
			}
		}
	}
	for {
		reply, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: "asks", After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range reply.Frames {
			after = f.Seq
		}
		if reply.Done {
			break
		}
	}
	m.mu.Lock()
	if last := m.seen[len(m.seen)-1]; !strings.Contains(last, "the other one") {
		t.Errorf("the confirmed command did not run: %s", last)
	}
	m.mu.Unlock()
	request.Run, request.Message = "stops", "wait"
	if _, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request); err != nil {
		t.Fatal(err)
	}
	if _, err := call[bus.None](w, w.admin, schemas.SvcAgentStop, schemas.AgentQuery{Run: "stops"}); err != nil {
		t.Fatal(err)
	}
	if _, end := w.watch("stops"); end.Finished.Outcome != "stopped" || !strings.Contains(end.Finished.Reason, "the user stopped it") {
		t.Errorf("%+v", end.Finished)
	}
}

// hangUp answers with a head and a body, and ends the connection.
func hangUp(w http.ResponseWriter, head, body string) {
	conn, out, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%s\r\n%s", head, body)
	_ = out.Flush()
}

func piece(text string) string {
	data, _ := json.Marshal(map[string]any{"model": "scripted", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}}}})
	return "data: " + string(data) + "\n\n"
}

// A model whose connection ends in the middle, or that promised more than it
// sends, has nothing of its response run.
func TestAModelThatBreaksOff(t *testing.T) {
	t.Parallel()
	m := newModelServer(t, func(string, string) string { return "Done.\n" })
	said := piece("I clean up.\n/todo add half\n") + piece("/todo ad")
	m.before = func(w http.ResponseWriter, call int) bool {
		if call == 1 {
			hangUp(w, "Content-Length: 100000\r\n", said)
		}
		return call == 1
	}
	w, dir := agentWorld(t, t.TempDir(), m, map[string]string{"dev": `{"name": "dev", "capabilities": ["/todo"]}`})
	request := schemas.AgentRunRequest{File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"), Message: "go"}
	started, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request)
	if err != nil {
		t.Fatal(err)
	}
	frames, end := w.watch(started.Run)
	if end.Finished.Outcome != "answered" || proseOf(frames, started.Run) != "I clean up.\nDone.\n" {
		t.Errorf("%+v, prose %q", end.Finished, proseOf(frames, started.Run))
	}
	if told := m.seen[len(m.seen)-1]; !strings.Contains(told, "nothing of it was run") || !strings.Contains(told, "/todo add half") {
		t.Errorf("told %s", told)
	}
	view, err := call[schemas.AgentView](w, w.admin, schemas.SvcAgentShow, schemas.AgentQuery{Run: started.Run})
	if err != nil || view.Commands != 0 || view.Calls != 2 {
		t.Errorf("%+v %v", view.AgentSummary, err)
	}
	m.before = func(w http.ResponseWriter, _ int) bool {
		hangUp(w, "Transfer-Encoding: chunked\r\n", "ffff\r\n"+said) // a chunk that is shorter than it says
		return true
	}
	if started, err = call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, request); err != nil {
		t.Fatal(err)
	}
	if _, end := w.watch(started.Run); end.Finished.Outcome != "failed" || !strings.Contains(end.Finished.Reason, "broke off") {
		t.Errorf("%+v", end.Finished)
	}
}

// Prose is shown while the model still thinks about the next word.
func TestProseIsShownAtOnce(t *testing.T) {
	t.Parallel()
	shown := make(chan struct{})
	m := newModelServer(t, nil)
	m.before = func(w http.ResponseWriter, _ int) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, piece("Hel"))
		w.(http.Flusher).Flush()
		<-shown
		_, _ = io.WriteString(w, piece("lo.\n")+`data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}`+"\n\ndata: [DONE]\n\n")
		return true
	}
	w, dir := agentWorld(t, t.TempDir(), m, map[string]string{"dev": `{"name": "dev"}`})
	started, err := call[schemas.AgentRunReply](w, w.admin, schemas.SvcAgentRun, schemas.AgentRunRequest{
		File: filepath.Join(dir, "agents", "dev.json"), Workspace: filepath.Join(dir, "work"), Message: "go",
	})
	if err != nil {
		t.Fatal(err)
	}
	after, prose := uint64(0), ""
	for {
		reply, err := call[schemas.AgentFollowReply](w, w.admin, schemas.SvcAgentFollow, schemas.AgentFollowRequest{Run: started.Run, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range reply.Frames {
			after = f.Seq
			if f.Kind == schemas.FrameProse {
				if prose == "" {
					if f.Text != "Hel" {
						t.Errorf("first %q", f.Text)
					}
					close(shown)
				}
				prose += f.Text
			}
		}
		if reply.Done {
			break
		}
	}
	if prose != "Hello.\n" {
		t.Errorf("prose %q", prose)
	}
}
