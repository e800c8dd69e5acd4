package hosts

import (
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host/settings"
)

// commandFiles are a host's slash commands, for a program.
func commandFiles(t *testing.T, host, program string) []settings.File {
	t.Helper()
	found, unknown := Named(host)
	if unknown != "" {
		t.Fatalf("no host %s", unknown)
	}
	var files []settings.File
	for _, f := range found[0].Own(program) {
		if strings.Contains(f.Path, "/commands/") {
			files = append(files, f)
		}
	}
	return files
}

func TestCommandsAreMarkedAndNameTheProgram(t *testing.T) {
	for _, host := range []string{"gemini", "opencode", "cursor"} {
		files := commandFiles(t, host, "/opt/my tools/writ")
		if len(files) < 2 {
			t.Fatalf("%s has %d commands", host, len(files))
		}
		for _, f := range files {
			text := string(f.Content)
			if !f.Own(f.Content) || strings.Contains(text, "PROGRAM") || strings.Contains(text, "ARGUMENTS\"") && host != "opencode" {
				t.Errorf("%s %s:\n%s", host, f.Path, text)
			}
			if strings.Contains(f.Path, "/writ-query") && !strings.Contains(strings.ReplaceAll(text, `\`, ""), "'/opt/my tools/writ' query --block") {
				t.Errorf("%s %s does not quote the program:\n%s", host, f.Path, text)
			}
		}
	}
}

// TestActsAreTheTypedCommand: what a host puts in the place of a typed approval
// is that approval, and no other text.
func TestActsAreTheTypedCommand(t *testing.T) {
	if text := string(commandFiles(t, "gemini", "writ")[0].Content); !strings.HasSuffix(text, "\nprompt = \"/writ-approve {{args}}\"\n") {
		t.Errorf("gemini:\n%s", text)
	}
	if text := string(commandFiles(t, "opencode", "writ")[0].Content); !strings.HasSuffix(text, "---\n/writ-approve $ARGUMENTS\n") {
		t.Errorf("opencode:\n%s", text)
	}
	for _, f := range commandFiles(t, "cursor", "writ") {
		if strings.Contains(string(f.Content), "/writ-approve") {
			t.Errorf("cursor: %s", f.Content)
		}
	}
}
