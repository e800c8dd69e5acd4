package host

import (
	"encoding/json"
	"slices"
	"strings"
)

// Task is what a tool hands to a sub-agent.
type Task struct {
	Type   string // the sub-agent's, as the host names it
	Title  string
	Prompt string
}

// keys that hosts use for the parts of a list of tasks.
var (
	listKeys  = []string{"todos", "plan", "items", "tasks"}
	itemKeys  = []string{"content", "step", "description", "title", "subject", "text", "task", "id", "taskId"}
	doneWords = []string{"completed", "complete", "done", "finished"}
)

// ReadTasks fills in what a list of tasks calls done, and what a sub-agent is
// to do.
func (c *Call) ReadTasks() {
	switch c.Tool {
	case "TodoWrite", "TaskUpdate":
		c.Done = doneItems(c.Input)
	case "Task", "Agent":
		var in map[string]json.RawMessage
		if json.Unmarshal(c.Input, &in) != nil {
			return
		}
		c.Task = &Task{
			Type:   orNothing(firstText(in, []string{"subagent_type", "agent_type", "agent", "agentName", "name"})),
			Title:  orNothing(firstText(in, []string{"description", "title"})),
			Prompt: orNothing(firstText(in, []string{"prompt", "task", "message", "instructions"})),
		}
	}
}

func orNothing(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// doneItems names the items of a list, or the one of an update, that are done.
func doneItems(input json.RawMessage) []string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	items := []map[string]json.RawMessage{in}
	for _, key := range listKeys {
		var list []map[string]json.RawMessage
		if json.Unmarshal(in[key], &list) == nil && len(list) > 0 {
			items = append(items, list...)
		}
	}
	var done []string
	for _, item := range items {
		status := strings.ToLower(orNothing(firstText(item, []string{"status", "state"})))
		var ticked bool
		_ = json.Unmarshal(item["completed"], &ticked)
		if !ticked && !slices.Contains(doneWords, status) {
			continue
		}
		if name := orNothing(firstText(item, itemKeys)); name != "" {
			done = append(done, name)
		}
	}
	return done
}

// Exited notes how a command ended, where the host says it.
func (c *Call) Exited(status int) { c.Exit = &status }

// exitIn finds a command's exit status in what a host says of a tool's result:
// an object, or a string that holds one.
func exitIn(result json.RawMessage) (status int, found bool) {
	var text string
	if json.Unmarshal(result, &text) == nil {
		result = json.RawMessage(text)
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(result, &in) != nil {
		return 0, false
	}
	for _, key := range []string{"exitCode", "exit_code", "exit"} {
		var number float64
		if raw, there := in[key]; there && json.Unmarshal(raw, &number) == nil && string(raw) != "null" {
			return int(number), true
		}
	}
	for _, key := range []string{"metadata", "data"} {
		if inner, there := in[key]; there {
			if status, found := exitIn(inner); found {
				return status, true
			}
		}
	}
	return 0, false
}

// EndedWith reads how a command ended from a tool's result. A command that
// ended badly has failed, whatever event the host told it by.
func (c *Call) EndedWith(result json.RawMessage) {
	status, found := exitIn(result)
	if c.Shell == nil || !found || c.Kind != AfterTool {
		return
	}
	c.Exited(status)
	if status != 0 {
		c.Kind = ToolFailed
		if c.Error == "" {
			c.Error = outputIn(result)
		}
	}
}

// outputIn is what a command printed, as far as a result tells.
func outputIn(result json.RawMessage) string {
	var text string
	if json.Unmarshal(result, &text) == nil {
		result = json.RawMessage(text)
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(result, &in) != nil {
		return ""
	}
	return Both(orNothing(firstText(in, []string{"stdout", "output", "aggregated_output"})), orNothing(textAt(in, "stderr")))
}
