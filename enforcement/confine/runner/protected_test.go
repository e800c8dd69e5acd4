package runner_test

import (
	"path"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
)

// TestWhatIsPutBackIsWhatNoToolWrites: the paths that are put back after a command
// are those that the gates let no tool write, and what tools run by themselves
// may be written where code may.
func TestWhatIsPutBackIsWhatNoToolWrites(t *testing.T) {
	layout := enforcement.Layout{Project: "/p", Home: "/home/u", DataDir: "/home/u/.writ"}
	class := func(p string) string {
		p = strings.ReplaceAll(p, "*", "x")
		if strings.HasSuffix(p, "/") {
			p += "sub/x"
		}
		return enforcement.Classify(layout, path.Join("/p", p)).Class
	}
	for _, p := range confine.ProtectedPaths {
		if got := class(p); got != enforcement.ClassProtected {
			t.Errorf("%s is put back, and a tool may write it: %s", p, got)
		}
	}
	for _, p := range confine.RunByTools {
		if got := class(p); got != enforcement.ClassCode {
			t.Errorf("%s is %s", p, got)
		}
	}
	for _, p := range strings.Fields(".writ/config.yaml .codex/config.toml .claude/settings.json .claude/settings.local.json .claude/hooks/a.sh .cursor/hooks.json .cursor/commands/x.md " +
		".gemini/settings.json .gemini/commands/x.toml .opencode/plugin/x.js .opencode/opencode.jsonc opencode.json .github/hooks/x.json .git .git/hooks/x .git/config .git/config.worktree .git/commondir .git/info/attributes") {
		if class(p) != enforcement.ClassProtected {
			t.Errorf("a tool may write %s", p)
		}
		if !coveredBy(confine.ProtectedPaths, p) {
			t.Errorf("%s is not put back", p)
		}
	}
}

func coveredBy(paths []string, p string) bool {
	for _, pattern := range paths {
		if matched, _ := path.Match(pattern, p); matched || strings.HasSuffix(pattern, "/") && strings.HasPrefix(p, pattern) {
			return true
		}
	}
	return false
}
