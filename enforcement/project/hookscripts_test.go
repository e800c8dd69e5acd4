package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHookScriptsAreFoundWhateverTheFolderIsCalled: a name that is a pattern too is
// none here.
func TestHookScriptsAreFoundWhateverTheFolderIsCalled(t *testing.T) {
	for _, name := range []string{"plain", "[client] site", "a[b", "x?*"} {
		root := filepath.Join(t.TempDir(), name)
		for file, content := range map[string]string{
			".claude/settings.json": `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "sh tools/check.sh"}]}]}}`,
			".github/hooks/x.json":  `{"hooks": {"a": "tools/other.sh"}}`,
			".gemini/settings.json": "{\"hooks\": {\"a\": \"tools/more.sh\"}}\n/* it reads a comment without an end",
			".codex/hooks.json":     "\ufeff" + `{"hooks": {"a": "tools/marked.sh"}}`,
			"tools/check.sh":        "true", "tools/other.sh": "true", "tools/more.sh": "true", "tools/marked.sh": "true",
		} {
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Skipf("no folder can be called %q here: %v", name, err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := hookScripts(root)
		for _, name := range []string{"check.sh", "other.sh", "more.sh", "marked.sh"} {
			if script := filepath.Join(root, "tools", name); !slices.Contains(got, script) {
				t.Errorf("%s: %q is missing in %q", name, script, got)
			}
		}
	}
}
