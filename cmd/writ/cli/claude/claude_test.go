package claude

import (
	"strings"
	"testing"
)

func TestMatchersAreNarrow(t *testing.T) {
	for _, w := range Settings.Hooks {
		tools := strings.HasPrefix(w.Event, "PreTool") || strings.HasPrefix(w.Event, "PostTool") || w.Event == "PermissionRequest"
		if tools && (!strings.HasPrefix(w.Matcher, "^(") || !strings.HasSuffix(w.Matcher, ")$")) {
			t.Errorf("%s matches %q", w.Event, w.Matcher)
		}
		if w.Matcher == "*" {
			t.Errorf("%s matches everything", w.Event)
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
		if !OwnCommand(c.Content) || !strings.HasPrefix(text, "---\ndescription: \"") || strings.Contains(text, "PROGRAM") {
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
