package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
)

// wireCall is a Call as it travels to a handler elsewhere. Persisted in other
// people's handlers; never change a field's meaning.
type wireCall struct {
	Run       string         `json:"run"`
	Agent     string         `json:"agent"`
	Verb      string         `json:"verb"`
	Args      string         `json:"args"`
	Body      *[]byte        `json:"body,omitempty"`
	Workspace string         `json:"workspace"`
	File      string         `json:"constitution,omitempty"`
	Grant     [][]string     `json:"grant"`
	Limits    dialect.Limits `json:"limits"`
	Confirmed bool           `json:"confirmed,omitempty"`
}

// Serve makes the answer of a service of a handler: the JSON of a call to that of
// its result.
func Serve(h verbs.Handler) func(ctx context.Context, body []byte) ([]byte, error) {
	return func(ctx context.Context, body []byte) ([]byte, error) {
		var w wireCall
		if err := json.Unmarshal(body, &w); err != nil {
			return nil, fmt.Errorf("agents: call of a verb: %w", err)
		}
		call := verbs.NewCall(w.Verb, w.Args, nil)
		if w.Body != nil {
			call.Body = append([]byte{}, *w.Body...)
		}
		call.Run, call.Agent, call.Workspace, call.Constitution = w.Run, w.Agent, w.Workspace, w.File
		call.Grant, call.Limits, call.Confirmed = dialect.GrantOfLists(w.Grant), w.Limits, w.Confirmed
		result, err := h.Handle(ctx, call)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
}

// Remote is a handler that is asked through a service, with the request it is
// given. What is running there when the context ends goes on until its own time
// is up.
func Remote(request func(ctx context.Context, verb string, body []byte) ([]byte, error)) verbs.Handler {
	return verbs.HandlerFunc(func(ctx context.Context, c verbs.Call) (verbs.Result, error) {
		w := wireCall{
			Run: c.Run, Agent: c.Agent, Verb: c.Verb, Args: c.Args, Workspace: c.Workspace, File: c.Constitution,
			Grant: c.Grant.Lists(), Limits: c.Limits, Confirmed: c.Confirmed,
		}
		if c.Body != nil {
			w.Body = &c.Body
		}
		body, err := json.Marshal(w)
		if err != nil {
			return verbs.Result{}, err
		}
		answer, err := request(ctx, c.Verb, body)
		if err != nil {
			return verbs.Result{}, err
		}
		var result verbs.Result
		if err := json.Unmarshal(answer, &result); err != nil {
			return verbs.Result{}, fmt.Errorf("agents: result of /%s: %w", c.Verb, err)
		}
		return result, nil
	})
}
