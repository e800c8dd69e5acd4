package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

type queryInput struct {
	Text    string   `json:"text" jsonschema:"what you are about to do, in a sentence or two"`
	Budget  int      `json:"budget,omitempty" jsonschema:"tokens the answer may take, 4000 by default"`
	Domains []string `json:"domains,omitempty" jsonschema:"only rules of these domains and those of none, such as go or python"`
}

// queryOutput is the part of the daemon's answer that a program may want.
type queryOutput struct {
	Rules       []queryRule `json:"rules"`
	Probability float64     `json:"probability" jsonschema:"that the best rule is relevant"`
	Tokens      int         `json:"tokens" jsonschema:"of the rendered text"`
	Embedder    string      `json:"embedder,omitempty"`
	Problem     string      `json:"problem,omitempty"`
}

type queryRule struct {
	ID        string  `json:"id"`
	Title     string  `json:"title,omitempty"`
	Domain    string  `json:"domain,omitempty"`
	Severity  string  `json:"severity,omitempty"`
	Mandatory bool    `json:"mandatory,omitempty"`
	Authority string  `json:"authority,omitempty"`
	Trigger   string  `json:"trigger,omitempty"`
	Statement string  `json:"statement,omitempty"`
	Score     float64 `json:"score"`
}

func (d desk) query(ctx context.Context, _ *sdk.CallToolRequest, in queryInput) (*sdk.CallToolResult, queryOutput, error) {
	none := queryOutput{Rules: []queryRule{}}
	if err := bounded("text", in.Text, maxText); err != nil {
		return nil, none, err
	}
	if in.Budget < 0 {
		return nil, none, fmt.Errorf("%q is %d, must not be negative", "budget", in.Budget)
	}
	reply, err := ask[struct {
		queryOutput
		Block string `json:"block"`
	}](ctx, d, schemas.SvcRetrieve, schemas.RetrieveRequest{
		Query: in.Text, Session: cmp.Or(d.Session, d.HostSession), Domains: in.Domains, BudgetTokens: in.Budget,
	})
	if err != nil {
		return nil, none, err
	}
	out := reply.queryOutput
	if out.Rules == nil {
		out.Rules = none.Rules
	}
	text := cmp.Or(reply.Block, "No rule is relevant to this.")
	if out.Problem != "" {
		text += "\n\nwarning: " + out.Problem
	}
	return says(text), out, nil
}

type recallInput struct {
	Text     string   `json:"text" jsonschema:"what to look for"`
	Category string   `json:"category,omitempty"`
	Scopes   []string `json:"scopes,omitempty" jsonschema:"projects to search, all by default"`
	Limit    int      `json:"limit,omitempty" jsonschema:"most hits, 10 by default and 200 at most"`
}

type recallOutput struct {
	Hits     []recalled `json:"hits"`
	Searched int        `json:"searched" jsonschema:"observations there are to search"`
}

type recalled struct {
	ObservationID string  `json:"observation_id"`
	Scope         string  `json:"scope"`
	Text          string  `json:"text"`
	Score         float64 `json:"score"`
	Category      string  `json:"category,omitempty"`
	Source        string  `json:"source,omitempty"`
	Time          string  `json:"time,omitempty"`
}

func (d desk) recall(ctx context.Context, _ *sdk.CallToolRequest, in recallInput) (*sdk.CallToolResult, recallOutput, error) {
	out := recallOutput{Hits: []recalled{}}
	if err := bounded("text", in.Text, maxText); err != nil {
		return nil, out, err
	}
	reply, err := ask[schemas.RecallReply](ctx, d, schemas.SvcRecall, schemas.RecallRequest{
		Text: in.Text, Category: in.Category, Scopes: in.Scopes, Limit: in.Limit,
	})
	if errors.Is(err, bus.ErrDenied) || errors.Is(err, bus.ErrUnavailable) && d.alive(ctx) {
		return nil, out, fmt.Errorf("this daemon does not offer recall: nobody answers %s. A newer writd may; `writ status` shows the version", schemas.SvcRecall)
	}
	if err != nil {
		return nil, out, err
	}
	var text strings.Builder
	for _, hit := range reply.Hits {
		out.Hits = append(out.Hits, recalled{
			ObservationID: hit.ObservationID, Scope: hit.Scope, Text: hit.Text, Score: hit.Score,
			Category: hit.Category, Source: hit.Source, Time: hit.Time.Format("2006-01-02T15:04:05Z07:00"),
		})
		fmt.Fprintf(&text, "- (%s, %s) %s\n", hit.Scope, hit.Time.Format("2006-01-02"), hit.Text)
	}
	out.Searched = reply.Searched
	if len(out.Hits) == 0 {
		return says(fmt.Sprintf("Nothing that was kept matches, of %d observations.", out.Searched)), out, nil
	}
	return says(text.String()), out, nil
}

// alive tells a daemon that lacks a service from one that is gone.
func (d desk) alive(ctx context.Context) bool {
	_, err := ask[schemas.Status](ctx, d, schemas.SvcStatus, struct{}{})
	return err == nil
}

type proposeInput struct {
	Content string `json:"content" jsonschema:"the rule: a rule file with its front matter, or a JSON object with id, title, trigger, statement and so on"`
}

type proposeOutput struct {
	ID         string      `json:"id,omitempty"`
	Admitted   bool        `json:"admitted"`
	Reasons    []string    `json:"reasons,omitempty" jsonschema:"why it was refused, all of them"`
	Incomplete []string    `json:"incomplete,omitempty" jsonschema:"what it lacks before a person can take it over"`
	Neighbours []neighbour `json:"neighbours,omitempty" jsonschema:"the nearest rules there are"`
}

type neighbour struct {
	ID         string  `json:"id"`
	Similarity float64 `json:"similarity"`
}

func (d desk) propose(ctx context.Context, request *sdk.CallToolRequest, in proposeInput) (*sdk.CallToolResult, proposeOutput, error) {
	var out proposeOutput
	if err := bounded("content", in.Content, maxProposal); err != nil {
		return nil, out, err
	}
	reply, err := ask[schemas.RuleProposeReply](ctx, d, schemas.SvcRulePropose, schemas.RuleProposeRequest{
		Content: in.Content, By: clientOf(request), Session: cmp.Or(d.Session, d.HostSession),
	})
	if err != nil {
		return nil, out, err
	}
	out = proposeOutput{ID: reply.ID, Admitted: reply.Admitted, Reasons: reply.Reasons, Incomplete: reply.Incomplete}
	for _, n := range reply.Neighbours {
		out.Neighbours = append(out.Neighbours, neighbour{n.ID, n.Similarity})
	}
	if !out.Admitted {
		return refuses("The proposal was refused:\n- " + strings.Join(out.Reasons, "\n- ")), out, nil
	}
	text := out.ID + " is admitted, provisional until a person has reviewed it (writ rule review)."
	if len(out.Incomplete) > 0 {
		text += "\nBefore that it needs:\n- " + strings.Join(out.Incomplete, "\n- ")
	}
	return says(text), out, nil
}

// maxClient bounds the name under which a client's proposals are recorded.
const maxClient = 80

// clientOf is the name a client gave itself, "mcp" where it gave none.
func clientOf(request *sdk.CallToolRequest) string {
	if request == nil || request.Session == nil || request.Session.InitializeParams() == nil {
		return "mcp"
	}
	info := request.Session.InitializeParams().ClientInfo
	if info == nil || strings.TrimSpace(info.Name) == "" {
		return "mcp"
	}
	name := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(info.Name, "�")), " "))
	return string(name[:min(len(name), maxClient)])
}
