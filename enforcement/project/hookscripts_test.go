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
			"tools/check.sh":        "true", "tools/other.sh": "true",
		} {
			path := filepath.Join(root, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Skipf("no folder can be called %q here: %v", name, err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{filepath.Join(root, "tools", "check.sh"), filepath.Join(root, "tools", "other.sh")}
		got := hookScripts(root)
		for _, script := range want {
			if !slices.Contains(got, script) {
				t.Errorf("%s: %q is missing in %q", name, script, got)
			}
		}
	}
}
