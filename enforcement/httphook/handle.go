package httphook

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/testrun"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// agents are the hosts that call hooks over HTTP.
var agents = map[string]bool{"claude": true}

func (s *Server) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("POST /hook/{agent}/{event}", s.hook)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		// A page whose name was made to resolve to this machine sends its own
		// name, and every page says where it comes from.
		case !s.meant(r.Host), r.Header.Get("Origin") != "":
			problem(w, http.StatusForbidden, "this address serves the hooks of programs on this machine alone")
		case !s.opens(r.Header.Get("Authorization")):
			w.Header().Set("WWW-Authenticate", `Bearer realm="writ"`)
			problem(w, http.StatusUnauthorized, "the token is missing or wrong: send the header Authorization: Bearer TOKEN, with the content of credentials/http-hook.token in Writ's data directory")
		default:
			routes.ServeHTTP(w, r)
		}
	})
}

// meant says whether a Host header names this listener.
func (s *Server) meant(host string) bool {
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == s.port && loopback(strings.ToLower(name))
}

// problem answers who is not served.
func problem(w http.ResponseWriter, status int, text string) {
	raw, err := json.Marshal(map[string]string{"error": "writ: " + text})
	if err != nil {
		raw = []byte("{}")
	}
	write(w, status, raw)
}

func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	agent, event := r.PathValue("agent"), r.PathValue("event")
	if !agents[agent] {
		problem(w, http.StatusNotFound, fmt.Sprintf("there are no HTTP hooks for the agent %q. Use the command writ hook", excerpt.Runes(agent, 40)))
		return
	}
	write(w, http.StatusOK, s.answer(w, r, agent, event))
}

// answer is the body for a call, whatever becomes of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, agent, event string) (body []byte) {
	// Known before the payload is, for an answer to one that cannot be read.
	call, _ := hosts.Parse(agent, event, nil)
	root := ""
	defer func() {
		if p := recover(); p != nil {
			s.Logger.Error("http hooks: panic", "hook", call.Hook, "panic", p)
			body = s.trouble(call, root, errors.New("an internal error of writ"))
		}
	}()
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	case <-r.Context().Done():
		return s.trouble(call, root, r.Context().Err())
	}
	payload, err := readPayload(r.Body)
	if err == nil {
		call, err = hosts.Parse(agent, event, payload)
	}
	folder := r.Header.Get(folderHeader)
	root, known := s.project(folder, folderOf(payload), call.Dir)
	switch {
	case root == "" && known:
		return []byte("{}")
	case err != nil:
		return s.trouble(call, root, err)
	case root == "":
		return s.trouble(call, root, fmt.Errorf("the payload names no folder; the host may send it in the header %s", folderHeader))
	case call.Host != agent:
		return s.trouble(call, root, fmt.Errorf("the payload is one of %s, which has no HTTP hooks", call.Host))
	}
	if event, payload, err = withoutUser(agent, event, payload, call); err != nil {
		return s.trouble(call, root, err)
	}
	folder = cmp.Or(folder, call.Dir)
	request := bus.Request{
		Subject: schemas.SvcHook,
		Header: schemas.Header{
			schemas.HookHeaderAgent: {agent}, schemas.HookHeaderEvent: {event}, schemas.HookHeaderDir: {folder},
			schemas.HookHeaderProject: {root}, schemas.HookHeaderHome: {s.home}, schemas.HookHeaderRuns: {"tests"},
		},
		Body: payload,
	}
	reply, err := s.ask(r.Context(), request)
	if err == nil && reply.Tests != nil {
		// The connection's own time is too short for tests.
		more := time.Duration(reply.Tests.WaitMillis)*time.Millisecond + writeTime
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(more))
		reply, err = s.tested(r.Context(), request, *reply.Tests)
	}
	if err != nil {
		return s.trouble(call, root, err)
	}
	return bodyOf(call, reply)
}

// tested runs the tests that have to come before a turn ends, in the daemon's
// own environment, and makes the call again with their result. What takes longer
// than the turn waits goes on, and is reported when it ends.
func (s *Server) tested(ctx context.Context, request bus.Request, run schemas.TestRun) (schemas.HookReply, error) {
	result := make(chan schemas.TestResult, 1)
	handed := make(chan bool, 1)
	go func() {
		ctx := context.WithoutCancel(ctx)
		r := testrun.Run(ctx, run, testrun.World{Writ: s.Writ, Vars: append(os.Environ(), "WRIT_HOME="+s.DataDir)})
		result <- r
		if <-handed {
			return
		}
		if _, err := s.report(ctx, request, r); err != nil {
			s.Logger.Warn("http hooks: report tests", "error", err)
		}
	}()
	wait := time.NewTimer(time.Duration(run.WaitMillis) * time.Millisecond)
	defer wait.Stop()
	select {
	case r := <-result:
		handed <- true
		return s.report(ctx, request, r)
	case <-wait.C:
	case <-ctx.Done():
	}
	defer func() { handed <- false }()
	return s.report(context.WithoutCancel(ctx), request, schemas.TestResult{ID: run.ID, Behind: true})
}

// report makes a call again with what came of its tests.
func (s *Server) report(ctx context.Context, request bus.Request, result schemas.TestResult) (schemas.HookReply, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return schemas.HookReply{}, err
	}
	request.Header = maps.Clone(request.Header)
	request.Header[schemas.HookHeaderTests] = []string{base64.StdEncoding.EncodeToString(raw)}
	return s.ask(ctx, request)
}

// ask waits for the answer no longer than the budget: a file system that never
// returns is left behind.
func (s *Server) ask(ctx context.Context, r bus.Request) (schemas.HookReply, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Budget+grace)
	defer cancel()
	type answered struct {
		raw []byte
		err error
	}
	answer := make(chan answered, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				s.Logger.Error("http hooks: panic", "panic", p)
				answer <- answered{err: errors.New("an internal error of writ")}
			}
		}()
		raw, err := s.Ask(ctx, r)
		answer <- answered{raw, err}
	}()
	var reply schemas.HookReply
	select {
	case <-ctx.Done():
		return reply, errors.New("there was no answer in time")
	case a := <-answer:
		if a.err != nil {
			return reply, a.err
		}
		if err := json.Unmarshal(a.raw, &reply); err != nil {
			return reply, fmt.Errorf("the answer cannot be read: %w", err)
		}
		return reply, nil
	}
}

// bodyOf is what the hook's process would print. A refusal that it would only
// say on standard error and by its exit status is put into the body.
func bodyOf(call host.Call, reply schemas.HookReply) []byte {
	body := strings.TrimSpace(reply.Stdout)
	if body == "" && reply.Exit != 0 {
		body = strings.TrimSpace(hosts.Render(call, host.Answer{Verdict: host.Refuse, Reason: strings.TrimSpace(reply.Stderr)}).Stdout)
	}
	if body == "" {
		return []byte("{}")
	}
	return []byte(body)
}

// trouble is the answer to a call that could not be judged: a refusal where the
// hook can refuse, unless the user has said otherwise, and a notice elsewhere.
func (s *Server) trouble(call host.Call, root string, err error) []byte {
	text := fmt.Sprintf("Writ could not judge %s: %s. ", named(call), excerpt.Runes(err.Error(), 200))
	if call.Kind != host.BeforeTool && call.Kind != host.Permission {
		return bodyOf(call, hosts.Render(call, host.Answer{Notice: text + "Run `writ doctor` in a terminal."}))
	}
	if root != "" && s.FailsOpen(root) {
		return bodyOf(call, hosts.Render(call, host.Answer{Notice: text + "It was let pass, because .writ/config.yaml says `fail: open`."}))
	}
	return bodyOf(call, hosts.Render(call, host.Answer{
		Verdict: host.Refuse, Reason: text + "It was refused. Ask the user to run `writ doctor` in a terminal; it says what to repair.",
	}))
}

func named(call host.Call) string {
	if call.Tool != "" {
		return excerpt.Runes(call.Tool, 60)
	}
	return excerpt.Runes(call.Hook, 60)
}

// readPayload reads a body to its end, also one that is too large: a host that
// still sends when it is answered may not read the answer. The time for it is
// bounded by the connection's.
func readPayload(body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxPayload+1))
	if err != nil {
		return raw, fmt.Errorf("the payload cannot be read: %w", err)
	}
	if len(raw) > maxPayload {
		_, _ = io.Copy(io.Discard, body)
		return raw[:maxPayload], fmt.Errorf("the payload is larger than %d MiB", maxPayload>>20)
	}
	return raw, nil
}
