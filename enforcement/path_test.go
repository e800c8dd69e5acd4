package enforcement

import (
	"path"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	links := map[string]string{
		"/p/link": "src/main.go", "/p/linkdir": "../outside", "/p/abs": "/q/deep", "/p/loop": "loop2", "/p/loop2": "loop",
		"/p/chain": "linkdir", "/tmp": "/private/tmp", "/p/up": "..", "/p/hooks": ".git/hooks", "/p/home": "/home/dev",
	}
	readlink := func(p string) (string, bool) { l, ok := links[p]; return l, ok }
	tests := map[string]string{
		"a": "/p/a", "": "/p", ".": "/p", "./a/./b": "/p/a/b", "/x//y/": "/x/y", "..": "/", "../../..": "/",
		"~": "/home/dev", "~/x": "/home/dev/x", "~other/x": "/p/~other/x",
		"link": "/p/src/main.go", "link/../x": "/p/src/x", "linkdir/a": "/outside/a", "linkdir/../a": "/a",
		"abs/../x": "/q/x", "chain/a": "/outside/a", "/tmp/x": "/private/tmp/x", "up/p/a": "/p/a",
		"new/../link": "/p/src/main.go", "hooks/pre-commit": "/p/.git/hooks/pre-commit", "home/.ssh/id": "/home/dev/.ssh/id",
		"plan.md/../src/a": "/p/src/a", "/p/new/deep/file": "/p/new/deep/file",
	}
	for in, want := range tests {
		if got := Resolve(in, "/p", "/home/dev", readlink); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := Resolve("loop/x", "/p", "/home/dev", readlink); !strings.HasPrefix(got, "/p/loop") {
		t.Errorf("a loop ends at %s", got)
	}
}

func TestResolveBoundsLongPaths(t *testing.T) {
	readlink := func(p string) (string, bool) { return "/q", p == "/p/link" }
	if got := Resolve(strings.Repeat("x/../", 200_000)+"link/a", "/p", "/h", readlink); got != "/q/a" {
		t.Errorf("a long detour ends at %.80s", got)
	}
	endless := func(string) (string, bool) { return strings.Repeat("a/", maxPath/2), true }
	if got := Resolve(strings.Repeat("b/", 500_000), "/p", "/h", endless); !path.IsAbs(got) {
		t.Errorf("%.80s", got)
	}
}

func TestClassify(t *testing.T) {
	tests := []struct{ class, paths string }{
		{ClassPlan, "/p/plan.md /p/capabilities.md"},
		{ClassFindings, "/p/findings.md"},
		{ClassTest, "/p/tests/test_a.py /p/a_test.go /p/src/__tests__/a.ts /p/spec/a_spec.rb /p/pkg/testdata/x.json /p/conftest.py"},
		{ClassScratch, "/tmp/x /var/tmp/a/b /tmp /dev/null /dev/stderr /tmp/repo/.git/config /tmp/.claude/settings.json /home/dev/.claude/plans/calm-otter.md"},
		{ClassOutside, "/q/x /p2/plan.md /tmpx /home/dev/notes.txt /home/dev/.claude/plans /home/dev/.claude/plans/run.sh /home/dev/.claude/plans/deep/a.md /etc/hosts /dev/sda / /home/dev/.config/other"},
		{ClassCode, "/p /p/a.go /p/sub/plan.md /p/PLAN.md /p/docs/hooks/a /p/settings.json /p/.claude/commands/x.md /p/.github/workflows/ci.yml /p/.gitignore /p/.git/index /p/.git/refs/heads/hooks /p/.cursor/rules/x.md /p/.bashrc"},
		{ClassProtected, `/p/.git /p/.git/hooks /p/.git/hooks/pre-commit /p/.git/config /p/sub/.git/hooks/x /p/.git/modules/m/hooks/x /p/.git/modules/m/config /p/.git/worktrees/w/config.worktree /q/.git/config
			/p/.claude/settings.json /p/.claude/settings.local.json /p/.claude /p/sub/deep/.claude/settings.json /home/dev/.claude/settings.json
			/p/.codex/config.toml /p/.codex /home/dev/.codex/hooks.json /p/.cursor/hooks.json /home/dev/.cursor/hooks.json /p/.gemini/settings.json /p/.gemini/commands/go.toml /p/.cursor/commands/go.md /p/a/.opencode/command/go.md /p/.opencode/commands/x/go.md /p/.opencode/plugins/writ.js /p/opencode.json /p/.github/hooks/a.json
			/p/.writ/config.yaml /p/.writ /home/dev/.local/share/writ/x /home/dev/.local/share/writ /home/dev/.local/share /home/dev /home
			/home/dev/.bashrc /home/dev/.zshenv /home/dev/.profile /home/dev/.config/fish/config.fish /etc/profile.d/x.sh /etc/profile
			/home/dev/.ssh/id_ed25519 /home/dev/.gitconfig /home/dev/.aws/credentials /home/dev/.netrc`},
	}
	for _, tt := range tests {
		for _, p := range strings.Fields(tt.paths) {
			if got := Classify(caseLayout, p); got.Class != tt.class {
				t.Errorf("%s: %s, want %s", p, got.Class, tt.class)
			}
		}
	}
	elsewhere := caseLayout
	elsewhere.DataDir = "/data" // what hooks run lies there all the same
	if got := Classify(elsewhere, "/home/dev/.local/share/writ/bin/writ"); got.Class != ClassProtected {
		t.Errorf("the program of the hooks is %s", got.Class)
	}
}

func TestClassifyWhereFilesystemsIgnoreCase(t *testing.T) {
	l := caseLayout
	l.CaseInsensitive = true
	for p, want := range map[string]string{
		"/P/Plan.MD": ClassPlan, "/p/FINDINGS.md": ClassFindings, "/p/.Claude/Settings.json": ClassProtected, "/p/.GIT/hooks/x": ClassProtected,
		"/p/.claude/\u017fettings.json": ClassProtected, "/p/.wr\u200dit/config.yaml": ClassProtected, "/p/.git/hoo\u212as/x": ClassProtected, "/p/.git/hooks\ufe0f/x": ClassProtected,
		"/TMP/x": ClassScratch, "/Home/Dev/.BashRC": ClassProtected, "/P/src/a.go": ClassCode,
	} {
		if got := Classify(l, p); got.Class != want {
			t.Errorf("%s: %s, want %s", p, got.Class, want)
		}
	}
	if got := Classify(l, "/P/PLAN.md"); got.Rel != PlanFile {
		t.Errorf("rel %q", got.Rel)
	}
}

func TestProjectInATempFolder(t *testing.T) {
	l := Layout{Project: "/tmp/w/p", Home: "/tmp/w/home", DataDir: "/tmp/w/data", Temp: []string{"/tmp", "/tmp/w/p/tmp"}}
	for p, want := range map[string]string{
		"/tmp/w/p/a.go": ClassCode, "/tmp/w/p/tmp/a.go": ClassCode, "/tmp/w/p/.git/config": ClassProtected, "/tmp/w/home/.bashrc": ClassProtected,
		"/tmp/w/home/.claude/settings.json": ClassProtected, "/tmp/w/data/x": ClassProtected, "/tmp/other": ClassScratch, "/tmp/w/home/x": ClassOutside,
	} {
		if got := Classify(l, p); got.Class != want {
			t.Errorf("%s: %s, want %s", p, got.Class, want)
		}
	}
}

func TestFindingsFileIsConfigurable(t *testing.T) {
	l := caseLayout
	l.Findings = "docs/./review.md"
	if got := Classify(l, "/p/docs/review.md").Class; got != ClassFindings {
		t.Error(got)
	}
	if got := Classify(l, "/p/findings.md").Class; got != ClassCode {
		t.Error(got)
	}
}

func FuzzClassify(f *testing.F) {
	for _, p := range []string{"/p/plan.md", "/p/../p/.git/hooks/x", "~/.ssh/id", "", "//", "/p/\x00/\xff", "link/../../etc/profile", "/tmp/../p/.writ", strings.Repeat("a/", 300)} {
		f.Add(p, "../x", false)
		f.Add(p, "/p/.git", true)
	}
	f.Fuzz(func(t *testing.T, p, target string, fold bool) {
		l := caseLayout
		l.CaseInsensitive = fold
		count := 0
		readlink := func(at string) (string, bool) {
			if !path.IsAbs(at) || path.Clean(at) != at {
				t.Fatalf("asked for the link %q", at)
			}
			count++
			return target, strings.HasSuffix(at, "link")
		}
		abs := Resolve(p, "/p", "/home/dev", readlink)
		if !path.IsAbs(abs) || path.Clean(abs) != abs {
			t.Fatalf("Resolve(%q) = %q", p, abs)
		}
		if count > len(p)+maxLinks*(len(target)+2)+4 {
			t.Fatalf("%d links read", count)
		}
		got := Classify(l, abs)
		if got.Path != abs || got.Class == "" {
			t.Fatalf("%q: %+v", abs, got)
		}
		if again := Classify(l, abs); again != got {
			t.Fatalf("%+v, then %+v", got, again)
		}
		in := abs == "/p" || strings.HasPrefix(abs, "/p/")
		if !fold && in != (got.Rel != "") {
			t.Fatalf("%q: %+v", abs, got)
		}
		for _, never := range []string{"/p/.git/hooks", "/p/.writ", "/home/dev/.ssh", caseLayout.DataDir} {
			if (abs == never || strings.HasPrefix(abs, never+"/")) && got.Class != ClassProtected {
				t.Fatalf("%q: %+v", abs, got)
			}
		}
	})
}
