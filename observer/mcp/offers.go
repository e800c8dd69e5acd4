package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/schemas"
)

// Addresses of resources. Persisted in people's conversations; never change.
const (
	alwaysURI  = "writ://rules/always"
	sessionURI = "writ://session"
	ruleURI    = "writ://rules/"
)

// addResources offers what a host may attach to a conversation by itself, without
// the agent asking: it is read alone.
func (d desk) addResources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{
		URI: alwaysURI, Name: "always", Title: "Rules that always hold", MIMEType: "text/markdown",
		Description: "The rules that hold for every prompt of this project.",
	}, d.always)
	s.AddResource(&sdk.Resource{
		URI: sessionURI, Name: "session", Title: "Where work stands", MIMEType: "text/markdown",
		Description: "This session's mode, phase and gates, and what comes next.",
	}, d.standing)
	s.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: ruleURI + "{id}", Name: "rule", Title: "A rule", MIMEType: "application/json",
		Description: "One rule, whole, by its id.",
	}, d.rule)
}

func (d desk) always(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	band, err := ask[schemas.AlwaysOnReply](ctx, d, schemas.SvcAlwaysOn, struct{}{})
	if err != nil {
		return nil, err
	}
	return holds(r.Params.URI, "text/markdown", band.Block), nil
}

func (d desk) standing(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	result, _, err := d.status(ctx, nil, statusInput{})
	if err != nil {
		return nil, err
	}
	return holds(r.Params.URI, "text/markdown", textOf(result)), nil
}

func (d desk) rule(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id := strings.TrimPrefix(r.Params.URI, ruleURI)
	if err := bounded("id", id, schemas.MaxIDBytes); err != nil {
		return nil, err
	}
	view, err := ask[schemas.RuleView](ctx, d, schemas.SvcRule, schemas.RuleQuery{ID: id})
	if against, ok := errors.AsType[told](err); ok && against.code == schemas.CodeNotFound {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.MarshalIndent(view.Rule, "", "  ")
	if err != nil {
		return nil, err
	}
	return holds(r.Params.URI, "application/json", string(raw)), nil
}

func holds(uri, kind, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}

func textOf(result *sdk.CallToolResult) string {
	var text strings.Builder
	for _, c := range result.Content {
		if t, is := c.(*sdk.TextContent); is {
			text.WriteString(t.Text)
		}
	}
	return text.String()
}

// addPrompts offers texts that a user picks from a host's menu. What comes of them
// is in the user's name, so none says anything that could be taken for an approval.
func (d desk) addPrompts(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{
		Name: "rules", Title: "Begin with the rules", Description: "Brings the rules that matter for a task, and asks for a plan that names them.",
		Arguments: []*sdk.PromptArgument{{Name: "task", Title: "Task", Description: "what is to be done, in a sentence or two", Required: true}},
	}, d.begin)
	s.AddPrompt(&sdk.Prompt{
		Name: "next", Title: "What comes next", Description: "Says where work stands, and asks for the next step.",
	}, d.next)
}

func (d desk) begin(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	task := strings.TrimSpace(r.Params.Arguments["task"])
	if task == "" {
		return nil, errors.New(`"task" is empty: say what is to be done`)
	}
	found, _, err := d.query(ctx, nil, queryInput{Text: task})
	if err != nil {
		return nil, err
	}
	return prompt(fmt.Sprintf("The task: %s\n\nThese rules matter for it:\n\n%s\n\nPlan it. Name in the plan which of them apply, and how.", task, textOf(found))), nil
}

func (d desk) next(ctx context.Context, _ *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	stands, _, err := d.status(ctx, nil, statusInput{})
	if err != nil {
		return nil, err
	}
	return prompt("Writ says of this session:\n\n" + textOf(stands) + "\nDo what comes next, as far as it is yours to do."), nil
}

func prompt(text string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}
}
