package federation

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/excerpt"
)

// images are the types that models take.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// answered makes a result of what a tool returned.
func answered(server, tool string, from *sdk.CallToolResult) verbs.Result {
	name := server + " " + tool
	r := verbs.Content(verbs.TrustMCP, "")
	var parts []string
	for _, content := range from.Content {
		switch content := content.(type) {
		case *sdk.TextContent:
			parts = append(parts, content.Text)
		case *sdk.ImageContent:
			parts = append(parts, attach(&r, name, content.MIMEType, content.Data))
		case *sdk.AudioContent:
			parts = append(parts, attach(&r, name, content.MIMEType, content.Data))
		case *sdk.ResourceLink:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("[link: %s %s] %s", content.Name, content.URI, content.Description)))
		case *sdk.EmbeddedResource:
			parts = append(parts, embedded(&r, content.Resource))
		default:
			parts = append(parts, fmt.Sprintf("[content of an unknown kind: %T]", content))
		}
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(from.Content) == 0 && from.StructuredContent != nil {
		if raw, err := json.MarshalIndent(from.StructuredContent, "", "  "); err == nil {
			parts = append(parts, string(raw))
		}
	}
	r.Text = strings.Join(parts, "\n")
	switch {
	case from.IsError:
		r.Outcome = verbs.Failed
		r.Text = verbs.Err("the tool "+name+" failed", "read what it says").Text + "\n\n" + r.Text
	case r.Text == "" && len(r.Images) == 0 && len(r.Keep) == 0:
		return verbs.OK("%s answered nothing", name)
	}
	return r
}

func embedded(r *verbs.Result, resource *sdk.ResourceContents) string {
	switch {
	case resource == nil:
		return ""
	case resource.Blob != nil:
		return attach(r, resource.URI, resource.MIMEType, resource.Blob)
	}
	return fmt.Sprintf("[resource %s]\n%s", resource.URI, resource.Text)
}

// attach adds an image part, or keeps what is none as an artifact.
func attach(r *verbs.Result, name, kind string, data []byte) string {
	if media, _, err := mime.ParseMediaType(kind); err == nil && slices.Contains(images, media) {
		r.Images = append(r.Images, verbs.Image{MIME: media, Data: data, Name: name})
		return ""
	}
	r.Keep = append(r.Keep, verbs.Artifact{Name: name, MIME: kind, Data: data, Size: len(data)})
	return fmt.Sprintf("[%s, %d bytes]", kind, len(data))
}

// arguments shows what a tool takes: names with their types, a question mark
// behind those that may be left out.
func arguments(schema any) string {
	raw, err := json.Marshal(schema)
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return "{}"
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		if ra, rb := slices.Contains(s.Required, a), slices.Contains(s.Required, b); ra != rb {
			if ra {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	}) {
		mark := "?"
		if slices.Contains(s.Required, name) {
			mark = ""
		}
		parts = append(parts, fmt.Sprintf("%q%s: %s", name, mark, kindOf(s.Properties[name])))
	}
	return "{" + excerpt.Bytes(excerpt.Line(strings.Join(parts, ", ")), maxDescription) + "}"
}

// kindOf is a property's type, or its values where it lists them.
func kindOf(raw json.RawMessage) string {
	var p struct {
		Type  any   `json:"type"`
		Enum  []any `json:"enum"`
		Items struct {
			Type any `json:"type"`
		} `json:"items"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return "any"
	}
	switch kind := p.Type.(type) {
	case string:
		if len(p.Enum) > 0 && len(p.Enum) <= 8 {
			return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", p.Enum), "[]"), " ", "|")
		}
		if item, ok := p.Items.Type.(string); ok && kind == "array" {
			return item + "[]"
		}
		return kind
	case []any:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(kind), "[]"), " ", "|")
	}
	return "any"
}
