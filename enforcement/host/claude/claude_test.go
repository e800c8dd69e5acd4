package claude

import (
	"slices"
	"strings"
	"testing"
)

// TestMatchersNameWhatIsLeftOut: every tool is matched but those listed, which
// neither write nor run anything.
func TestMatchersNameWhatIsLeftOut(t *testing.T) {
	writing := []string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "PowerShell", "Monitor", "REPL", "mcp__fs__write", "NewTool", "Reader", "write"}
	for _, w := range Settings.Hooks {
		if !strings.HasPrefix(w.Event, "PreTool") && !strings.HasPrefix(w.Event, "PostTool") && w.Event != "PermissionRequest" {
			continue
		}
		// Go's expressions cannot look ahead: taken apart instead.
		list, starts := strings.CutPrefix(w.Matcher, "^(?!(")
		list, ends := strings.CutSuffix(list, ")$).*$")
		if !starts || !ends || strings.ContainsAny(list, "()^$.*") {
			t.Errorf("%s matches %q", w.Event, w.Matcher)
		}
		left := strings.Split(list, "|")
		for _, tool := range writing {
			if slices.Contains(left, tool) {
				t.Errorf("%s leaves out %s", w.Event, tool)
			}
		}
		if !slices.Contains(left, "WebFetch") {
			t.Errorf("%s matches what touches nothing: %q", w.Event, w.Matcher)
		}
		for _, tool := range []string{"Read", "Grep", "ExitPlanMode", "Task", "Agent", "TodoWrite", "TaskCreate", "TaskUpdate"} {
			if w.Event == "PreToolUse" && slices.Contains(left, tool) {
				t.Errorf("%s leaves out %s, which is judged", w.Event, tool)
			}
		}
	}
}

func TestCommandsAreMarkedAndNameTheProgram(t *testing.T) {
	commands := Commands("/opt/my tools/writ")
	if len(commands) != 4 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		text := string(c.Content)
		if !ownCommand(c.Content) || !strings.HasPrefix(text, "---\ndescription: \"") || strings.Contains(text, "PROGRAM") {
			t.Errorf("%s:\n%s", c.Name, text)
		}
		if typed := strings.Contains(text, "disable-model-invocation: true"); typed != (c.Name == "writ-approve.md" || c.Name == "writ-mode.md") {
			t.Errorf("%s: only the user may run it = %v", c.Name, typed)
		}
		if c.Name == "writ-query.md" && !strings.Contains(text, `"/opt/my tools/writ" query`) {
			t.Errorf("a program with a space in its path is not quoted:\n%s", text)
		}
	}
}
