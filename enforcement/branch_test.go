package enforcement

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestGitActsAreTheUsersToAllow judges git commands by what stands to be lost.
func TestGitActsAreTheUsersToAllow(t *testing.T) {
	clean := &Repository{}
	dirty := &Repository{Dirty: []string{"src/cart.py", "README.md"}}
	staged := &Repository{Staged: true}
	published := &Repository{Published: true}
	for _, c := range []struct {
		stance, command string
		repo            *Repository
		want            Verdict
		rule, says      string
	}{
		{PhaseImplementation, "git reset --hard", clean, Allow, "", ""},
		{PhaseImplementation, "git reset --hard", dirty, Ask, RuleBranch, "src/cart.py, README.md"},
		{PhaseImplementation, "git reset --hard", staged, Ask, RuleBranch, "what is staged"},
		{PhaseImplementation, "git reset --hard", nil, Ask, RuleBranch, "cannot be told"},
		{PhaseImplementation, "git checkout -- src", dirty, Ask, RuleBranch, "src/cart.py"},
		{PhaseImplementation, "git checkout -- docs", dirty, Allow, "", ""},
		{PhaseImplementation, "git restore src/cart.py", clean, Allow, "", ""},
		{PhaseImplementation, "git commit --amend --no-edit", clean, Allow, "", ""},
		{PhaseImplementation, "git commit --amend --no-edit", published, Ask, RuleBranch, "a remote has"},
		{PhaseImplementation, "git rebase main", published, Ask, RuleBranch, "git revert"},
		{PhaseImplementation, "git rebase main", clean, Ask, RulePlan, "the plan names files"},
		{PhaseImplementation, "git push -f", nil, Ask, RuleBranch, "force"},
		{PhaseImplementation, "git push origin feature", nil, Allow, "", ""},
		{PhaseImplementation, "git branch -D old", nil, Ask, RuleBranch, "cannot bring back"},
		{PhaseImplementation, "git clean -fdx", nil, Deny, RuleProtected, ".writ"},
		{PhaseImplementation, "git clean -fd build", nil, Allow, "", ""},
		{PhaseImplementation, "git switch main", clean, Ask, RuleBranch, "git switch -c NAME"},
		{PhaseImplementation, "git switch -c feature", clean, Allow, "", ""},
		{PhaseImplementation, "git symbolic-ref HEAD refs/heads/x", clean, Ask, RuleBranch, "approved the plan"},
		{PhaseImplementation, "git worktree add /tmp/x", nil, Allow, "", ""},
		{PhasePlanning, "git worktree add /tmp/x", nil, Deny, RulePlan, "second work tree"},
		{PhaseTesting, "git apply --cached /tmp/x.patch", nil, Deny, RuleTests, "straight into the repository"},
		{ModeReview, "git update-index --cacheinfo 100644,abc,src/cart.py", nil, Deny, RuleReview, ""},
		{PhasePlanning, "git switch -c feature", clean, Allow, "", ""},
		{PhasePlanning, "git push --force", nil, Ask, RuleBranch, ""},
		{PhasePlanning, "git reset --hard", dirty, Deny, RulePlan, ""},
		{ModeConversation, "git reset --hard", dirty, Ask, RuleBranch, ""},
		{ModeConversation, "git switch main", clean, Allow, "", ""},
		{ModeConversation, "git stash drop", nil, Ask, RuleBranch, ""},
		{ModeConversation, "cd docs && git clean -fd", nil, Ask, RuleBranch, "git clean -n"},
		{ModeConversation, "cd /tmp/x && git reset --hard && git branch -D a", dirty, Allow, "", ""},
		{ModeConversation, "cd /tmp/x && git push -f", nil, Ask, RuleBranch, ""},
		{ModeConversation, "git -C /tmp/x clean -fdx", nil, Allow, "", ""},
		{ModeConversation, "cd $(cat where) && git stash clear", nil, Ask, RuleBranch, ""},
	} {
		var x *session
		if c.stance == ModeReview || c.stance == ModeConversation {
			x = newSession(t, c.stance)
		} else {
			x = reach(t, c.stance)
		}
		shell := Inspect(caseLayout, "/p", c.command, nil, nil)
		d := x.do(RequestTool{Tool: "Bash", ToolUseID: "u", Shell: shell, Repository: c.repo, Workspace: x.workspace(), Settings: DefaultSettings()})
		if d.Verdict != c.want || d.Rule != c.rule || !strings.Contains(d.Reason, c.says) {
			t.Errorf("%s, %s, %+v: %s %q, want %s %q with %q: %s", c.stance, c.command, c.repo, d.Verdict, d.Rule, c.want, c.rule, c.says, d.Reason)
		}
		if n := utf8.RuneCountInString(d.Reason); n > MaxReason {
			t.Errorf("%s: a reason of %d characters", c.command, n)
		}
	}
}
