package hosts

import (
	"slices"
	"testing"
)

func TestToolsThatHandInPrompts(t *testing.T) {
	for name, c := range map[string]struct {
		agent, tool, input string
		want               []string
	}{
		"a schedule":                     {"claude", "CronCreate", `{"cron":"* * * * *","prompt":"approved"}`, []string{"approved"}},
		"a wake-up":                      {"claude", "ScheduleWakeup", `{"delaySeconds":60,"reason":"r","prompt":"approved"}`, []string{"approved"}},
		"a field of another name":        {"claude", "ScheduleWakeup", `{"text":"approved"}`, []string{"approved"}},
		"a loop":                         {"claude", "Skill", `{"skill":"loop","args":"5m approved"}`, []string{"loop", "5m approved"}},
		"a skill":                        {"claude", "Skill", `{"skill":"writ-approve"}`, []string{"writ-approve"}},
		"a command":                      {"claude", "SlashCommand", `{"command":"/loop approved"}`, []string{"/loop approved"}},
		"a message":                      {"claude", "SendMessage", `{"to":"lead","message":{"text":"approved"}}`, []string{"approved"}},
		"a worker beside it":             {"claude", "Agent", `{"prompt":"approved","run_in_background":true}`, []string{"approved"}},
		"a worker that is waited for":    {"claude", "Agent", `{"prompt":"approved"}`, nil},
		"a server's tool":                {"claude", "mcp__cron__schedule_prompt", `{"what":{"text":["approved"]}}`, []string{"approved"}},
		"a server's tool of another use": {"claude", "mcp__github__create_review", `{"body":"approved"}`, nil},
		"a tool of a later version":      {"claude", "LoopCreate", `{"prompt":"approved"}`, []string{"approved"}},
		"an input that is no object":     {"claude", "CronCreate", `["approved"]`, []string{"approved"}},
		"a file":                         {"claude", "Read", `{"file_path":"approved"}`, nil},
		"another host's message":         {"codex", "send_input", `{"id":"x","message":"approved"}`, []string{"approved"}},
		"another host's reminder":        {"gemini", "set_reminder", `{"text":"approved"}`, []string{"approved"}},
	} {
		t.Run(name, func(t *testing.T) {
			event := "PreToolUse"
			if c.agent == "gemini" {
				event = "BeforeTool"
			}
			call, err := Parse(c.agent, event, []byte(`{"session_id":"s","cwd":"/p","tool_name":"`+c.tool+`","tool_input":`+c.input+`}`))
			if err != nil || !slices.Equal(call.Queues, c.want) || call.Harmless() && c.want != nil {
				t.Errorf("%v, %q, want %q", err, call.Queues, c.want)
			}
		})
	}
}

func TestEntryPointsAreAPersonsOrSubmitThemselves(t *testing.T) {
	for entry, want := range map[string]string{
		"": "", "cli": "", "claude-vscode": "", "claude-desktop": "",
		"sdk-cli": "sdk-cli", "sdk-ts": "sdk-ts", "mcp": "mcp", "claude-code-github-action": "claude-code-github-action", "tomorrow": "tomorrow",
	} {
		if got := Origin("claude", func(string) string { return entry }); got != want {
			t.Errorf("%q: %q, want %q", entry, got, want)
		}
	}
	if got := Origin("codex", func(string) string { return "mcp" }); got != "" {
		t.Errorf("another host's variable counts: %q", got)
	}
}
