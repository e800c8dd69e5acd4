package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/retrieval/rulerelease"
	"github.com/writbus/writ/schemas"
)

// under releases terms after what was released before.
func (p *publisher) under(terms schemas.ReleaseTerms) []byte {
	p.w.t.Helper()
	reply, err := p.w.releases(schemas.ReleaseRequest{
		Act: schemas.ReleaseDraft, Name: "acme", Layer: schemas.LayerOrganisation, Number: p.number + 1, Key: p.public, Envelope: p.last, Terms: terms,
	})
	if err != nil {
		p.w.t.Fatal(err)
	}
	raw, err := rulerelease.Seal(reply.Draft, p.key)
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.last, p.number = raw, p.number+1
	return raw
}

// TestAgentsInCIWorkUnderAReleasedPolicy: what it names may be written there, nothing
// else, whatever is said, and nothing once it does not hold any more.
func TestAgentsInCIWorkUnderAReleasedPolicy(t *testing.T) {
	w := startWith(t, t.TempDir(), newProject(t, "mode: conversation\n"), func(s *config.Settings) { s.Policy = "acme/deps" })
	w.git("init", "-q")
	w.git("remote", "add", "origin", "https://git.example.org/shop/web.git")
	p := newPublisher(w)
	refused := func(what string, r schemas.HookReply, why string) {
		t.Helper()
		if !strings.Contains(r.Stdout+r.Stderr, `"deny"`) || !strings.Contains(r.Stdout+r.Stderr, why) {
			t.Errorf("%s: %s %s, want %q", what, r.Stdout, r.Stderr, why)
		}
	}
	allowed := func(what string, r schemas.HookReply) {
		t.Helper()
		if r.Exit != 0 || strings.Contains(r.Stdout, `"deny"`) || strings.Contains(r.Stdout, `"ask"`) {
			t.Errorf("%s: %s %s", what, r.Stdout, r.Stderr)
		}
	}
	bash := func(command string) schemas.HookReply {
		return w.send("PreToolUse", map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": command}})
	}
	terms := schemas.ReleaseTerms{Policies: []schemas.ReleasePolicy{{Name: "deps", Repository: "git.example.org/shop/web", Write: []string{"go.mod", "docs/**"}}}}

	w.send("SessionStart", map[string]any{"source": "startup"})
	refused("nobody is followed", w.write("go.mod", "module x\n"), "none holds here")
	if _, err := w.releases(schemas.ReleaseRequest{Act: schemas.ReleaseFollow, Envelope: p.under(terms), Key: p.public, Place: "/rules"}); err != nil {
		t.Fatal(err)
	}
	if r := w.send("SessionStart", map[string]any{"source": "resume"}); !strings.Contains(r.Stdout, "acme@1/deps") {
		t.Errorf("the agent is not told: %s", r.Stdout)
	}
	allowed("a named file", w.write("go.mod", "module x\n"))
	w.wrote("go.mod", "module x\n")
	allowed("in a named folder", w.write("docs/a.md", "a\n"))
	for _, words := range []string{"approved", "/writ-mode conversation", "/writ-approve plan", "add main.go to the plan"} {
		w.prompt(words)
		refused("code, after "+words, w.write("main.go", "package x\n"), "acme@1/deps")
	}
	refused("a command's target", bash("echo x > main.go"), "ENF-POLICY")
	refused("what a user would be asked", bash("git push --force"), "Nobody is asked")
	for _, command := range []string{"team release follow /x --root y", "team release make . --name acme", "team release update", "team release leave acme", "approve second take x.signed", "approve second sign x", "approve key --new ann", "approve settings"} {
		refused(command, bash("writ "+command), "")
	}
	refused("its own settings", w.write(config.ProjectFile, "approval: prompt\n"), enforcement.RuleProtected)
	if err := os.MkdirAll(filepath.Join(w.project, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../src", filepath.Join(w.project, "docs", "out")); err != nil {
		if err = os.MkdirAll(filepath.Join(w.project, "docs"), 0o755); err == nil {
			err = os.Symlink("../src", filepath.Join(w.project, "docs", "out"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	refused("through a link", w.write("docs/out/a.go", "package a\n"), "ENF-POLICY")

	decided := schemas.ToolDecided{}
	for _, e := range w.history("s1") {
		var d schemas.ToolDecided
		if e.Type == d.EventType() && json.Unmarshal(e.Data, &d) == nil && d.Verdict == "allow" {
			decided = d
		}
	}
	if decided.Policy != "acme@1/deps" || len(decided.Releases) != 1 {
		t.Errorf("decided under %+v", decided)
	}

	take := func(terms schemas.ReleaseTerms) {
		t.Helper()
		if _, err := w.releases(schemas.ReleaseRequest{Act: schemas.ReleaseTake, Envelope: p.under(terms)}); err != nil {
			t.Fatal(err)
		}
	}
	terms.Policies[0].Repository = "git.example.org/shop/bank"
	take(terms)
	refused("another project's policy", w.write("go.mod", "module y\n"), "is for git.example.org/shop/bank")
	terms.Policies[0].Repository = "git.example.org/shop/web"
	take(terms)
	allowed("named again", w.write("go.mod", "module y\n"))
	take(schemas.ReleaseTerms{Until: time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly)})
	refused("taken back", w.write("go.mod", "module y\n"), "no policy")
	take(terms)
	if _, err := w.releases(schemas.ReleaseRequest{Act: schemas.ReleaseLeave, Name: "acme"}); err != nil {
		t.Fatal(err)
	}
	refused("left", w.write("go.mod", "module y\n"), "none holds here")
}
