package hosts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/test/hosts/script"
)

// hollow tests nothing, and noted is what an agent observes.
const (
	hollow = "package shop\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { _ = t }\n"
	noted  = "Prices of this shop are whole cents."
)

// TestFeatures: beside the conversation, what a user of an agent notices: rules are
// told once, tests that assert nothing are not approved, an agent may observe, and
// what was there before Writ is there again after it.
func TestFeatures(t *testing.T) {
	folders(t)
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			if a.slow && os.Getenv("WRIT_TEST_HOSTS_SLOW") == "" {
				t.Skip("it takes seconds to start: WRIT_TEST_HOSTS_SLOW=1 drives it as well")
			}
			t.Parallel()
			own := ownSettings[a.name]
			plain := a.prepare
			a.prepare = func(r *rig) {
				plain(r)
				r.vars = append(r.vars, "WRIT_HOOK_BUDGET=9s")
				r.write(own.path, own.text)
			}
			r := guarded(t, a)
			writ := filepath.Join(os.Getenv("WRIT_TEST_BIN"), "writ")
			empty := append([]script.Reply{{Calls: []script.Call{a.file(filepath.Join(r.project, "cart_test.go"), hollow)}}}, r.model.Scripts[planApproved][2])
			r.model.Scripts[planApproved], r.model.Scripts[goOn] = empty, empty
			r.model.Scripts[testsApproved] = []script.Reply{
				{Calls: []script.Call{a.file(filepath.Join(r.project, "cart.go"), code)}},
				{Calls: []script.Call{a.shell(writ + ` memory add "` + noted + `"`)}},
				{Text: "Done."},
			}
			r.model.Scripts[writeIt] = r.model.Scripts[testsApproved]

			told, _ := r.turn(wish)
			if n := strings.Count(told, "--- WRIT MANDATORY RULES ---"); n != 1 {
				t.Errorf("the rules that always hold were told %d times", n)
			}
			id, _ := r.session()
			next := planApproved
			if a.nobody {
				r.atTerminal("plan", id)
				next = goOn
			}
			r.turn(next)
			told, results := r.turn(testsApproved)
			r.wantResults(results, "ENF-GATE-TEST: cart.go", "allow")
			if !a.nobody && a.name != "copilot" && !strings.Contains(told, "it cannot be approved yet") { // it hears nothing beside a prompt
				t.Errorf("the model was not told why:\n%s", tail(told))
			}
			if _, phase := r.session(); phase != "testing" {
				t.Errorf("tests that assert nothing were approved: phase %s", phase)
			}
			if out := r.must("writ", "find", "--in", "memory", "prices in whole cents"); !strings.Contains(out, noted) {
				t.Errorf("what the agent observed is not found: %s", out)
			}
			r.must("writ", "uninstall")
			if now, err := os.ReadFile(filepath.Join(r.project, own.path)); err != nil || string(now) != own.text {
				t.Errorf("after Writ the settings are %q, %v", now, err)
			}
		})
	}
}

// ownSettings are a user's own, laid out as nobody would write them.
var ownSettings = map[string]struct{ path, text string }{
	"claude":   {".claude/settings.json", "{ \"permissions\":\t{\"allow\": [ \"Read\" ]\n} }"},
	"codex":    {".codex/hooks.json", "{\"hooks\":{ \"Stop\" :[]}}\r\n"},
	"gemini":   {".gemini/settings.json", "{\n  // mine\n  \"ui\": {\"hideTips\": true} /* tips */\n}\n"},
	"copilot":  {".github/hooks/writ.json", "{ \"version\": 1, \"hooks\":{}\n\n}"},
	"opencode": {"opencode.json", "{ }"},
}
