package processtree

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentProgram(t *testing.T) {
	for line, want := range map[string]string{
		"claude":                             "claude",
		"/home/u/.local/bin/claude --resume": "claude",
		"node /usr/bin/codex.js":             "codex",
		"node --max-old-space-size=4096 /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js": "@anthropic-ai/claude-code",
		"/usr/bin/env node /opt/gemini": "gemini",
		`C:\Users\u\claude.exe`:         "",
		"C:/Users/u/claude.exe":         "claude",
		"vim claude.md":                 "",
		"bash":                          "",
		"/usr/bin/claudette":            "",
		"":                              "",
	} {
		if filepath.Separator == '\\' && strings.Contains(line, `\`) {
			want = "claude"
		}
		if got := agentProgram(strings.Fields(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
