package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

// TestEverySettingIsDecidedOn: a new setting loosens by any change, unless the table
// says when it does not.
func TestEverySettingIsDecidedOn(t *testing.T) {
	alwaysWaits := []string{"findings", "domains", "test_command"}
	settings := reflect.TypeFor[Project]()
	for i := range settings.NumField() {
		key := settings.Field(i).Tag.Get("yaml")
		if (tightens[key] != nil) == slices.Contains(alwaysWaits, key) {
			t.Errorf("%s: say in the table when it asks no less of an agent, or here that it never does", key)
		}
	}
}

// TestWhatWaits: what asks more takes effect at once, what asks less waits, and the
// rest of the file counts all the same.
func TestWhatWaits(t *testing.T) {
	for _, c := range []struct {
		was, is, waits, rules string
	}{
		{"mode: work\n", "mode: work # the same\n", "", "mode: work\n"},
		{"mode: work\n", "mode: conversation\n", "mode: work → conversation", "mode: work\n"},
		{"mode: work\n", "", "mode: work → (none)", "mode: work\n"},
		{"mode: conversation\n", "mode: work\n", "", "mode: work\n"},
		{"mode: review\n", "mode: work\n", "", "mode: work\n"},
		{"", "fail: open\n", "fail: closed → open", ""},
		{"fail: open\n", "fail: closed\n", "", ""},
		{"", "deny_to_ask: false\n", "", "deny_to_ask: false\n"},
		{"deny_to_ask: false\n", "", "deny_to_ask: false → true", "deny_to_ask: false\n"},
		{"", "subagents: exempt\nrequire_work: true\n", "subagents: (none) → exempt", "require_work: true\n"},
		{"subagents: exempt\n", "subagents: inherit\n", "", "subagents: inherit\n"},
		{"require_work: true\n", "mcp_writers: [a]\n", "require_work: true → false", "require_work: true\nmcp_writers: [a]\n"},
		{"mcp_writers: [a, b]\n", "mcp_writers: [b]\n", "mcp_writers: [a b] → [b]", "mcp_writers: [a, b]\n"},
		{"mcp_writers: [a, b]\n", "mcp_writers: [b, a]\n", "", "mcp_writers: [b, a]\n"},
		{"", "approval_phrases: [passt]\n", "approval_phrases: [] → [passt]", ""},
		{"approval_phrases: [passt]\n", "", "", ""},
		{"unsourced_prompts: refuse\n", "unsourced_prompts: allow\n", "unsourced_prompts: refuse → allow", "unsourced_prompts: refuse\n"},
		{"", "approval: passkey\n", "", "approval: passkey\n"},
		{"approval: terminal\n", "approval: passkey\n", "", "approval: passkey\n"},
		{"approval: passkey\n", "approval: terminal\n", "approval: passkey → terminal", "approval: passkey\n"},
		{"approval: terminal\n", "", "approval: terminal → prompt", "approval: terminal\n"},
		{"", "tests: \"off\"\n", "tests: on → off", ""},
		{"", "test_command: ./x\n", "test_command: (none) → ./x", ""},
		{"", "findings: main.go\n", "findings: findings.md → main.go", ""},
		{"", "advance_on_green: true\n", "advance_on_green: false → true", ""},
		{"", "budget_tokens: 0\n", "budget_tokens: 150 → 0", ""},
		{"", "memory: \"off\"\nbudget_tokens: 5000\n", "", "memory: \"off\"\nbudget_tokens: 5000\n"},
	} {
		was, is, rules := parsed(t, c.was), parsed(t, c.is), parsed(t, c.rules)
		ruling, waits := tightened(was, is)
		if got := strings.Join(waits, "; "); got != c.waits {
			t.Errorf("%q → %q waits %q, want %q", c.was, c.is, got, c.waits)
		}
		if !reflect.DeepEqual(meaning(ruling), meaning(rules)) {
			t.Errorf("%q → %q rules %v, want %v", c.was, c.is, meaning(ruling), meaning(rules))
		}
		if back := meant(meaning(is)); !reflect.DeepEqual(meaning(back), meaning(is)) {
			t.Errorf("%q is read back as %v", c.is, meaning(back))
		}
	}
}

func parsed(t *testing.T, text string) Project {
	t.Helper()
	p := DefaultProject()
	if err := decodeYAML("config.yaml", []byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAcceptance: the first sight accepts, once; an accepted digest is valid in
// every work tree and on every branch; a folder of a project accepts nothing by
// being there; a file that cannot be read changes nothing.
func TestAcceptance(t *testing.T) {
	main := t.TempDir()
	put := func(root, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(root, ".writ"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, ProjectFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var state Accepted
	rule := func(root string) Ruling {
		t.Helper()
		file, fault := LoadProject(root)
		return state.Rule(root, file, fault)
	}
	accept := func(r Ruling) {
		state = EvolveAccepted(state, schemas.Event{Data: r.Entry, Time: time.Unix(1, 0)})
	}
	expect := func(what string, r Ruling, mode string, waits int) {
		t.Helper()
		if r.Mode != mode || len(r.Waits) != waits || r.First {
			t.Errorf("%s: %q, waits %v, first %v", what, r.Mode, r.Waits, r.First)
		}
	}
	put(main, "mode: work\n")
	for _, dir := range []string{"objects", "refs", "worktrees/w"} {
		if err := os.MkdirAll(filepath.Join(main, ".git", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first := rule(main)
	if !first.First || first.Mode != "work" {
		t.Fatalf("%+v", first)
	}
	accept(first)
	expect("as it was", rule(main), "work", 0)
	put(main, "mode: conversation\n")
	loose := rule(main)
	expect("loosened", loose, "work", 1)
	put(main, "mode: [\n")
	expect("broken", rule(main), "work", 0)
	if err := os.RemoveAll(filepath.Join(main, ".writ")); err != nil {
		t.Fatal(err)
	}
	expect("gone", rule(main), "work", 1)
	put(main, "mode: conversation\n")
	put(filepath.Join(main, "sub"), "mode: conversation\n")
	expect("a folder of it", rule(filepath.Join(main, "sub")), "work", 1)
	accept(loose)
	expect("accepted", rule(main), "conversation", 0)
	put(main, "mode: work\n")
	expect("tightened", rule(main), "work", 0)

	linked := t.TempDir()
	put(linked, "mode: conversation\n")
	if !rule(linked).First {
		t.Error("a folder that nobody knows")
	}
	for name, text := range map[string]string{
		filepath.Join(linked, ".git"):                           "gitdir: " + filepath.Join(main, ".git", "worktrees", "w") + "\n",
		filepath.Join(main, ".git", "HEAD"):                     "ref: refs/heads/main\n",
		filepath.Join(main, ".git", "worktrees/w/HEAD"):         "ref: refs/heads/w\n",
		filepath.Join(main, ".git", "worktrees/w", "commondir"): "../..\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect("a work tree", rule(linked), "conversation", 0)
	put(linked, "mode: conversation\nfail: open\n")
	expect("a work tree, loosened", rule(linked), "conversation", 1)
}
