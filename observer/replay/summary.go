package replay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Says returns whether an event's data has a text, whatever its case.
func Says(text string) func(schemas.ReplayEvent) bool {
	written, _ := json.Marshal(strings.ToLower(text)) // a string has its JSON
	within := string(written[1 : len(written)-1])
	return func(e schemas.ReplayEvent) bool { return strings.Contains(strings.ToLower(string(e.Data)), within) }
}

// Actor says in one word who did something: the kind of actor, or the name of an
// agent that the log gives no host of.
func Actor(text string) string {
	actor := schemas.ParseActor(text)
	if host, _, name := actor.Agent(); host == "" && name != "" {
		return name
	}
	return string(actor.Kind())
}

// summaryFields are the fields of event data that say most, in this order.
var summaryFields = []string{
	"verdict", "rule", "tool", "command", "gate", "to", "channel", "prompt", "reason", "source", "hook", "host", "phase",
	"trigger", "path", "verb", "text", "title",
}

const (
	summaryRunes = 160
	fieldRunes   = 60
)

// Summary is the short form of an event's data: what of it fits a line.
func Summary(e schemas.ReplayEvent) string {
	var data map[string]any
	if json.Unmarshal(e.Data, &data) != nil {
		return ""
	}
	var parts []string
	if e.Aggregate.Kind != schemas.KindSession && e.Aggregate.ID != "" {
		parts = append(parts, e.Aggregate.ID)
	}
	rule, _ := data["rule"].(string)
	for _, field := range summaryFields {
		if text, ok := data[field].(string); ok && text != "" {
			switch field {
			case "channel":
				text = schemas.ChannelText(text)
			case "reason": // which begins with the rule, as the agent is told it
				text = strings.TrimPrefix(text, rule+": ")
			}
			parts = append(parts, excerpt.Words(excerpt.Line(text), fieldRunes))
		}
	}
	parts = append(parts, named(data["rules"], "", "id")...)
	parts = append(parts, named(data["targets"], "?", "rel", "path")...)
	return excerpt.Words(strings.Join(slices.Compact(parts), " · "), summaryRunes)
}

// named are the names of the objects of a list: the first of the keys that each
// has, else a stand-in where there is one.
func named(list any, standIn string, keys ...string) (names []string) {
	all, _ := list.([]any)
	for _, one := range all {
		object, ok := one.(map[string]any)
		if !ok {
			continue
		}
		name := standIn
		for _, key := range slices.Backward(keys) {
			if text, ok := object[key].(string); ok && text != "" {
				name = text
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
