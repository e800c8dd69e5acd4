package slash

import (
	"strings"
	"testing"
)

func TestCommandsAreMarkedAndNameTheProgram(t *testing.T) {
	for host, files := range map[string][]File{
		"gemini": Gemini("/opt/my tools/writ"), "opencode": OpenCode("/opt/my tools/writ"), "cursor": Cursor("/opt/my tools/writ"),
	} {
		if len(files) < 2 {
			t.Fatalf("%s has %d commands", host, len(files))
		}
		for _, f := range files {
			text := string(f.Content)
			if !Own(f.Content) || strings.Contains(text, "PROGRAM") || strings.Contains(text, "ARGUMENTS\"") && host != "opencode" {
				t.Errorf("%s %s:\n%s", host, f.Name, text)
			}
			if strings.HasPrefix(f.Name, "writ-query") && !strings.Contains(strings.ReplaceAll(text, `\`, ""), "'/opt/my tools/writ' query --block") {
				t.Errorf("%s %s does not quote the program:\n%s", host, f.Name, text)
			}
		}
	}
}

// TestActsAreTheTypedCommand: what a host puts in the place of a typed approval
// is that approval, and no other text.
func TestActsAreTheTypedCommand(t *testing.T) {
	if text := string(Gemini("writ")[0].Content); !strings.HasSuffix(text, "\nprompt = \"/writ-approve {{args}}\"\n") {
		t.Errorf("gemini:\n%s", text)
	}
	if text := string(OpenCode("writ")[0].Content); !strings.HasSuffix(text, "---\n/writ-approve $ARGUMENTS\n") {
		t.Errorf("opencode:\n%s", text)
	}
	for _, f := range Cursor("writ") {
		if strings.Contains(string(f.Content), "/writ-approve") {
			t.Errorf("cursor: %s", f.Content)
		}
	}
}
