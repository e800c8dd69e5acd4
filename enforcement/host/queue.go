package host

import (
	"encoding/json"
	"slices"
)

// Queues are the tools of a host that hand in a prompt for later, or for another
// conversation: the fields of their input that hold its text, none for all of
// them. The names are those by which policy knows the tools.
type Queues map[string][]string

// queueWords tell by a tool's own name that it hands in a prompt for later,
// where no table knows the tool.
var queueWords = []string{
	"cron", "schedule", "scheduled", "scheduler", "wakeup", "wake", "loop", "remind", "reminder", "timer", "recurring", "queue", "enqueue", "later", "followup",
}

// Bounds of what is read of an input.
const (
	maxQueued = 100
	maxDepth  = 8
)

// ReadQueue fills in the prompts that a tool would hand in. What a sub-agent is
// to do counts when the host runs it beside the conversation, which hears of it
// later.
func (c *Call) ReadQueue(known Queues) {
	if c.Kind != BeforeTool || c.Shell != nil {
		return
	}
	fields, queues := known[c.Tool]
	if !queues && !slices.ContainsFunc(nameWords(c.Tool), func(word string) bool { return slices.Contains(queueWords, word) }) {
		return
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(c.Input, &in) != nil {
		c.Queues = texts(nil, c.Input, 0)
		return
	}
	if c.Task != nil && !background(in) {
		return
	}
	for _, key := range fields {
		c.Queues = texts(c.Queues, in[key], 0)
	}
	if len(c.Queues) == 0 {
		c.Queues = texts(nil, c.Input, 0)
	}
}

// background says that the host runs a sub-agent beside the conversation.
func background(in map[string]json.RawMessage) bool {
	for _, key := range []string{"run_in_background", "background", "team_name"} {
		if value := string(in[key]); value != "" && value != "false" && value != "null" && value != `""` {
			return true
		}
	}
	return textOr(in, "isolation") == "remote"
}

func textOr(in map[string]json.RawMessage, key string) string { return orNothing(textAt(in, key)) }

// texts adds all texts within a value.
func texts(found []string, raw json.RawMessage, depth int) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return found
	}
	return within(found, value, depth)
}

func within(found []string, value any, depth int) []string {
	if len(found) >= maxQueued || depth > maxDepth {
		return found
	}
	switch value := value.(type) {
	case string:
		if value != "" {
			found = append(found, value)
		}
	case []any:
		for _, one := range value {
			found = within(found, one, depth+1)
		}
	case map[string]any:
		for _, one := range value {
			found = within(found, one, depth+1)
		}
	}
	return found
}
