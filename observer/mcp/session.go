package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/schemas"
)

type statusInput struct {
	Session string `json:"session,omitempty" jsonschema:"session id; by default the one of this project"`
}

type statusOutput struct {
	Session  string       `json:"session"`
	Project  string       `json:"project,omitempty"`
	Mode     string       `json:"mode" jsonschema:"empty before one is chosen"`
	Phase    string       `json:"phase,omitempty"`
	Gates    []statusGate `json:"gates"`
	Next     string       `json:"next,omitempty"`
	Refusals int          `json:"refusals"`
	Ended    bool         `json:"ended,omitempty"`
}

type statusGate struct {
	Gate    string `json:"gate"`
	State   string `json:"state" jsonschema:"none, approved or drifted"`
	Channel string `json:"channel,omitempty"`
}

func (d desk) status(ctx context.Context, _ *sdk.CallToolRequest, in statusInput) (*sdk.CallToolResult, statusOutput, error) {
	out := statusOutput{Gates: []statusGate{}}
	session, among, err := d.sessionOf(ctx, in.Session)
	if err != nil {
		return nil, out, err
	}
	view, err := ask[schemas.SessionView](ctx, d, schemas.SvcSession, schemas.SessionQuery{Session: session})
	if err != nil {
		return nil, out, err
	}
	out = statusOutput{
		Session: view.Session, Project: view.Project, Mode: view.Mode, Phase: view.Phase, Gates: out.Gates,
		Next: view.Next, Refusals: view.Refusals, Ended: view.Ended,
	}
	var text strings.Builder
	mode := cmp.Or(view.Mode, "no mode is set")
	fmt.Fprintf(&text, "Session %s: %s", view.Session, mode)
	if view.Phase != "" {
		fmt.Fprintf(&text, ", phase %s", view.Phase)
	}
	text.WriteString(".\n")
	if among > 1 {
		fmt.Fprintf(&text, "It is the latest of %d live sessions in this project; give \"session\" for another.\n", among)
	}
	for _, g := range view.Gates {
		out.Gates = append(out.Gates, statusGate{g.Gate, g.State, g.Channel})
		fmt.Fprintf(&text, "- %s: %s\n", g.Gate, g.State)
	}
	if view.Next != "" {
		text.WriteString("Next: " + view.Next + "\n")
	}
	return says(text.String()), out, nil
}

type advanceInput struct {
	Session string `json:"session,omitempty" jsonschema:"session id; by default the one of this project"`
	Gate    string `json:"gate,omitempty" jsonschema:"the gate that the user approved: plan, tests or implementation; by default the present one"`
}

type advanceOutput struct {
	Advanced bool     `json:"advanced"`
	Session  string   `json:"session"`
	Mode     string   `json:"mode,omitempty"`
	Phase    string   `json:"phase,omitempty"`
	Gate     string   `json:"gate,omitempty" jsonschema:"the gate that is closed"`
	Problems []string `json:"problems,omitempty"`
}

func (d desk) advance(ctx context.Context, _ *sdk.CallToolRequest, in advanceInput) (*sdk.CallToolResult, advanceOutput, error) {
	var out advanceOutput
	session, among, err := d.sessionOf(ctx, in.Session)
	if err != nil {
		return nil, out, err
	}
	if among > 1 {
		return nil, out, fmt.Errorf("%d sessions are live in %s; say which one with \"session\"", among, d.Project)
	}
	reply, err := ask[schemas.ActReply](ctx, d, schemas.SvcAdvance, schemas.AdvanceRequest{Session: session, Gate: in.Gate})
	if err != nil {
		return nil, out, err
	}
	out = advanceOutput{
		Advanced: reply.OK, Session: reply.Session, Mode: reply.Mode, Phase: reply.Phase, Gate: reply.Gate, Problems: reply.Problems,
	}
	text := reply.Message
	for _, p := range reply.Problems {
		text += "\n- " + p
	}
	if !reply.OK {
		return refuses(text), out, nil
	}
	return says(text), out, nil
}

// sessionOf is the session a tool is about: the one asked for, the host's if it is
// live, or the latest live one of the project; among says of how many it was
// taken, 0 where it was named.
func (d desk) sessionOf(ctx context.Context, asked string) (session string, among int, err error) {
	if asked != "" {
		return asked, 0, nil
	}
	if d.Session != "" {
		return d.Session, 0, nil
	}
	if d.Project == "" {
		if d.HostSession != "" {
			return d.HostSession, 0, nil
		}
		return "", 0, fmt.Errorf("no session is named: give \"session\"; `writ session list` shows them")
	}
	list, err := ask[schemas.SessionList](ctx, d, schemas.SvcSessions, schemas.SessionQuery{Project: d.Project})
	if err != nil {
		return "", 0, err
	}
	for _, s := range list.Sessions {
		if s.Ended || s.Parent != "" {
			continue
		}
		if s.Session == d.HostSession {
			return s.Session, 0, nil
		}
		session = cmp.Or(session, s.Session)
		among++
	}
	if session == "" && d.HostSession != "" {
		return d.HostSession, 0, nil
	}
	if session == "" {
		return "", 0, fmt.Errorf("no session is live in %s. One begins with a hook of the agent's host; `writ init` sets them up", d.Project)
	}
	return session, among, nil
}
