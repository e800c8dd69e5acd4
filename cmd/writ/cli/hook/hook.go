package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

const (
	// hookReserve is kept of the budget for printing the answer.
	hookReserve = 100 * time.Millisecond
	// hookPause is between attempts while the daemon comes up.
	hookPause = 10 * time.Millisecond
)

var (
	errPayloadEmpty  = errors.New("the payload is empty")
	errPayloadBroken = errors.New("the payload is not a JSON object")
	errBadReply      = errors.New("the daemon's answer cannot be read")
	errInternal      = errors.New("an internal error of writ")
)

// hook is one run of `writ hook`.
type hook struct {
	app   *app
	agent string
	// project is the root found, so that a hook out of time knows whether it
	// guards anything.
	project atomic.Pointer[string]
	// call is the call that was answered with tests to run first.
	call atomic.Pointer[hookCall]
	// result is what came of them, as the header that reports it; "" before.
	result string
	began  time.Time
}

// runHook is the path every tool call of an agent takes: it is dispatched
// before any command tree is built, and always answers within its budget.
func (a *app) runHook(ctx context.Context, args []string) int {
	if len(args) == 0 || len(args) > 2 || !slices.Contains(hosts.Names, args[0]) {
		return a.Fail(client.Usage("hook: "+hookArgsProblem(args), "Use `writ hook AGENT [EVENT]`; `writ init` writes such lines."))
	}
	event := ""
	if len(args) == 2 {
		event = args[1]
	}
	h := &hook{app: a, agent: args[0], began: time.Now()}
	if event == behindEvent {
		return h.behind(ctx)
	}
	reply := h.bounded(ctx, event)
	if reply.Tests != nil {
		reply = h.tested(ctx, event, *reply.Tests)
	}
	if reply.Stdout != "" {
		if _, err := io.WriteString(a.Out, reply.Stdout); err != nil {
			reply.Exit = 2 // what the host cannot read does not let anything pass
		}
	}
	if reply.Stderr != "" {
		_, _ = io.WriteString(a.Err, reply.Stderr)
	}
	return reply.Exit
}

func hookArgsProblem(args []string) string {
	switch {
	case len(args) == 0:
		return "no agent is named"
	case len(args) > 2:
		return fmt.Sprintf("%d arguments are too many", len(args))
	}
	return fmt.Sprintf("the agent %q is unknown, this build knows %s", args[0], AgentNames())
}

// bounded answers a hook in time.
func (h *hook) bounded(ctx context.Context, event string) schemas.HookReply {
	return h.within(ctx, h.answer, event)
}

// within answers in time whatever happens: a reader or file system that never
// returns is left behind.
func (h *hook) within(ctx context.Context, do func(context.Context, *hookCall) schemas.HookReply, event string) schemas.HookReply {
	budget, err := config.HookBudget(h.app.Env.Getenv(config.HookBudgetVar))
	if err != nil {
		budget = config.DefaultHookBudget // a value that means nothing does not lift the gate
	}
	ctx, cancel := context.WithTimeout(ctx, budget-hookReserve)
	defer cancel()
	answer := make(chan schemas.HookReply, 1)
	go func() {
		call := hookCall{Event: event}
		defer func() {
			if recover() != nil {
				answer <- h.failing(call, errInternal)
			}
		}()
		answer <- do(ctx, &call)
	}()
	select {
	case reply := <-answer:
		return reply
	case <-ctx.Done():
	}
	select {
	case reply := <-answer:
		return reply
	case <-time.After(hookReserve / 2):
		return h.failing(hookCall{Event: event}, fmt.Errorf("no answer within %s", budget))
	}
}

// hookCall is what the client itself needs to know of a payload.
type hookCall struct {
	Event   string
	Tool    string
	Path    string // what the tool would write, for the message
	payload []byte
}

func (h *hook) answer(ctx context.Context, call *hookCall) schemas.HookReply {
	// Before the payload is read, which may never end.
	h.guard(h.app.Env.Getenv("CLAUDE_PROJECT_DIR"), h.app.Env.Dir)
	payload, large, readErr := readPayload(h.app.In)
	fields := decodePayload(payload)
	if fields != nil {
		call.take(*fields)
		h.guard(append([]string{string(fields.CWD)}, fields.Roots...)...)
	}
	if call.payload = payload; call.Tool == "" {
		call.payload = hosts.ShortenPrompt(h.agent, call.Event, payload)
	}
	if h.project.Load() == nil {
		return h.unguarded(*call)
	}
	root := *h.project.Load()
	switch {
	case readErr != nil:
		return h.failing(*call, readErr)
	case len(payload) == 0:
		return h.failing(*call, errPayloadEmpty)
	case fields == nil:
		return h.failing(*call, errPayloadBroken)
	case large && h.gates(*call):
		return h.failing(*call, client.ErrPayloadTooLarge) // what it asks for is not there whole
	}
	reply, err := h.ask(ctx, *call, root)
	if err != nil {
		return h.failing(*call, err)
	}
	if reply.Tests != nil {
		h.call.Store(call)
	}
	return reply
}

// readPayload reads what the host sends. Of a large payload the long texts are cut.
func readPayload(in io.Reader) (raw []byte, large bool, err error) {
	raw, err = io.ReadAll(io.LimitReader(in, host.MaxRead+1))
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("the payload cannot be read: %w", err)
	case len(raw) > host.MaxRead:
		return nil, true, client.ErrPayloadTooLarge
	case len(raw) > host.MaxPayload:
		raw, err = host.Shorten(raw)
		return raw, true, err
	}
	return raw, false, nil
}

// payloadFields is the part of a host's payload that decides where it goes.
type payloadFields struct {
	CWD   lenientText `json:"cwd"`
	Roots lenientList `json:"workspace_roots"` // Cursor's, where a payload has no cwd
	Event lenientText `json:"hook_event_name"`
	Tool  lenientText `json:"tool_name"`
	Input struct {
		Path     lenientText `json:"file_path"`
		Notebook lenientText `json:"notebook_path"`
	} `json:"tool_input"`
}

// lenientText is a string, or "" where the host sent something else: no field
// of a payload is worth failing for.
type lenientText string

func (t *lenientText) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = lenientText(s)
	}
	return nil
}

// lenientList is a list of strings, or nothing where the host sent something
// else.
type lenientList []string

func (l *lenientList) UnmarshalJSON(raw []byte) error {
	var all []string
	if json.Unmarshal(raw, &all) == nil {
		*l = all
	}
	return nil
}

// decodePayload returns nil for what is not a whole JSON object.
func decodePayload(raw []byte) *payloadFields {
	var fields payloadFields
	err := json.Unmarshal(raw, &fields)
	var shape *json.UnmarshalTypeError
	if err != nil && !(errors.As(err, &shape) && strings.HasPrefix(shape.Field, "tool_input")) {
		return nil
	}
	if strings.TrimSpace(string(raw[:min(len(raw), 16)])) == "null" {
		return nil
	}
	return &fields
}

func (c *hookCall) take(f payloadFields) {
	if f.Event != "" {
		c.Event = string(f.Event)
	}
	c.Tool = string(f.Tool)
	c.Path = string(f.Input.Path)
	if c.Path == "" {
		c.Path = string(f.Input.Notebook)
	}
}

// guard notes the project at or above the first of the folders that has one.
// The payload's folder comes last and wins: an agent that works in another
// project than it was started in is held to that one.
func (h *hook) guard(dirs ...string) {
	for _, dir := range dirs {
		if root, found := h.app.FindProject(dir); found {
			h.project.Store(&root)
			return
		}
	}
}

// ask puts the payload to the daemon, starting it where it does not answer,
// until the context ends.
func (h *hook) ask(ctx context.Context, call hookCall, root string) (schemas.HookReply, error) {
	dataDir, err := h.app.Env.DataDir()
	if err != nil {
		return schemas.HookReply{}, err
	}
	var s client.Service
	at, err := config.ReadEndpoint(dataDir)
	switch {
	case err != nil:
	case at.Older(config.Version, config.Protocol):
		err = config.ErrOlderDaemon // which is replaced
	default:
		s, err = h.app.Connect(ctx, at, dataDir, client.RoleHook)
	}
	for attempt := 0; ; attempt++ {
		var reply schemas.HookReply
		if err == nil {
			reply, err = h.request(ctx, s, call, root)
		}
		if err == nil || !worthRetrying(err) {
			return reply, err
		}
		if attempt > 0 && !pause.For(ctx, hookPause) {
			return schemas.HookReply{}, err
		}
		if s, err = h.app.StartConnected(ctx, dataDir, client.RoleHook); err != nil && (!worthRetrying(err) || errors.Is(err, bus.ErrBadCredentials)) {
			return schemas.HookReply{}, err
		}
	}
}

// worthRetrying tells a daemon that is gone or still starting from one that
// has answered.
func worthRetrying(err error) bool {
	if service, ok := errors.AsType[*bus.ServiceError](err); ok {
		return service.Code == schemas.CodeNotReady
	}
	return errors.Is(err, config.ErrNoDaemon) || errors.Is(err, config.ErrOlderDaemon) || errors.Is(err, bus.ErrUnavailable) ||
		errors.Is(err, bus.ErrBadCredentials) || errors.Is(err, bus.ErrClosed)
}

// request asks once, and closes the connection.
func (h *hook) request(ctx context.Context, s client.Service, call hookCall, root string) (schemas.HookReply, error) {
	defer s.Close()
	header := schemas.Header{
		schemas.HookHeaderAgent:   {h.agent},
		schemas.HookHeaderEvent:   {call.Event},
		schemas.HookHeaderDir:     {h.app.Env.Dir},
		schemas.HookHeaderProject: {root},
		schemas.HookHeaderHome:    {h.app.Env.Home},
		schemas.HookHeaderPath:    {h.app.Env.Getenv("PATH")},
		schemas.HookHeaderBegan:   {strconv.FormatInt(h.began.UnixNano(), 10)},
		schemas.HookHeaderRuns:    {"tests"},
	}
	if until, bounded := ctx.Deadline(); bounded {
		header[schemas.HookHeaderUntil] = []string{strconv.FormatInt(until.UnixNano(), 10)}
	}
	if origin := hosts.Origin(h.agent, h.app.Env.Getenv); origin != "" {
		header[schemas.HookHeaderOrigin] = []string{origin}
	}
	if h.result != "" {
		header[schemas.HookHeaderTests] = []string{h.result}
	}
	answer, err := s.Request(ctx, bus.Request{Subject: schemas.SvcHook, Header: header, Body: call.payload})
	if err != nil {
		return schemas.HookReply{}, err
	}
	return readReply(answer.Body)
}

// readReply refuses what is not an answer: an exit code other than 0 and 2
// would let the action proceed in most hosts.
func readReply(body []byte) (schemas.HookReply, error) {
	var reply schemas.HookReply
	trimmed := strings.TrimSpace(string(body[:min(len(body), 64)]))
	if !strings.HasPrefix(trimmed, "{") || json.Unmarshal(body, &reply) != nil {
		return schemas.HookReply{}, errBadReply
	}
	if reply.Exit != 0 && reply.Exit != 2 {
		return schemas.HookReply{}, fmt.Errorf("%w: exit code %d", errBadReply, reply.Exit)
	}
	return reply, nil
}
