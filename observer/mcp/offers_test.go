package mcp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

func offering() *daemon {
	return &daemon{replies: map[string]any{
		schemas.SvcAlwaysOn: `{"rules":["A-1"],"block":"Always: A-1"}`,
		schemas.SvcRule:     `{"rule":{"id":"A-1"}}`,
		schemas.SvcSessions: `{"sessions":[{"session":"s1"}]}`,
		schemas.SvcSession:  view,
		schemas.SvcRetrieve: `{"rules":[{"id":"A-1"}],"block":"A-1: hold the lock"}`,
	}}
}

func TestResourcesAreListedAndRead(t *testing.T) {
	d := offering()
	client := talk(t, d.options())
	listed, err := client.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for _, r := range listed.Resources {
		addresses = append(addresses, r.URI)
	}
	slices.Sort(addresses)
	if want := []string{alwaysURI, sessionURI}; !slices.Equal(addresses, want) {
		t.Errorf("%v, want %v", addresses, want)
	}
	templates, err := client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("%v, %v", templates, err)
	}
	for uri, want := range map[string]string{alwaysURI: "Always: A-1", sessionURI: "phase planning", ruleURI + "A-1": `"A-1"`} {
		read, err := client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, want) {
			t.Errorf("%s: %v, %v", uri, read, err)
		}
	}
	d.replies[schemas.SvcRule] = &bus.ServiceError{Code: schemas.CodeNotFound, Text: "there is no rule"}
	if _, err := client.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: ruleURI + "B-1"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("a rule that is not there: %v", err)
	}
}

func TestPromptsBringRulesAndApproveNothing(t *testing.T) {
	client := talk(t, offering().options())
	listed, err := client.ListPrompts(t.Context(), nil)
	if err != nil || len(listed.Prompts) != 2 {
		t.Fatalf("%v, %v", listed, err)
	}
	for name, c := range map[string]struct {
		arguments map[string]string
		says      string
	}{
		"rules": {map[string]string{"task": "share a counter"}, "hold the lock"},
		"next":  {nil, "Next: Write plan.md."},
	} {
		got, err := client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: c.arguments})
		if err != nil || len(got.Messages) != 1 {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		text := got.Messages[0].Content.(*sdk.TextContent).Text
		if !strings.Contains(text, c.says) || strings.Contains(strings.ToLower(text), "approved") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := client.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "rules", Arguments: map[string]string{"task": " "}}); err == nil {
		t.Error("no task was asked for")
	}
}
