package enforcement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// RuleReviewOrder refuses to have the quality of changes reviewed before
// somebody compared them with the plan.
const RuleReviewOrder = "ENF-REVIEW-ORDER"

// Roles of sub-agents (persisted; never change).
const (
	RoleExplore       = "explore"
	RolePlan          = "plan"
	RoleTest          = "test"
	RoleImplement     = "implement"
	RoleReviewSpec    = "review_spec"
	RoleReviewQuality = "review_quality"
)

// maxBriefs bounds State.Briefs and State.Roles.
const maxBriefs = 32

// Brief is a sub-agent that was asked for and has not started.
type Brief struct {
	Type string `json:"type,omitempty"`
	Role string `json:"role"`
}

// Task is what a tool would hand to a sub-agent.
type Task struct {
	Type   string // the sub-agent's, as the host names it
	Title  string
	Prompt string
}

// roleWords tell a role by a task's type and title, the first match wins; what
// a prompt says further down is not looked at, since it names all kinds of work.
var roleWords = []struct {
	role  string
	words *regexp.Regexp
}{
	{RoleReviewSpec, regexp.MustCompile(`\b(spec|specification|compliance|acceptance|requirements?|plan|conformance)[- ]?(\w+ )?(review|reviewer|check|audit)|\breview(ing|s)? (\w+ )*(against|for) (\w+ )?(spec|plan|requirements|compliance)|\b(review|check|verify|compare)\w* .*\bagainst the (spec|plan)`)},
	{RoleReviewQuality, regexp.MustCompile(`\b(code|quality|security|style|performance)[- ]?(quality )?(review|reviewer|audit)|\breview(ing|s|er)?\b|\bcritique\b|\bcode-review`)},
	{RoleExplore, regexp.MustCompile(`\b(explore|exploring|explorer|search|find|locate|investigat\w+|research\w*|understand|map|analy[sz]e)\b`)},
	{RolePlan, regexp.MustCompile(`\b(plan|planner|planning|design|architect\w*)\b`)},
	{RoleTest, regexp.MustCompile(`\b(tests?|tester|testing|skeletons?|qa)\b`)},
	{RoleImplement, regexp.MustCompile(`\b(implement\w*|build|write|fix|refactor\w*|code|coder|develop\w*|migrate|add)\b`)},
}

// RoleOf tells a sub-agent's role by what it is asked, "" where that says
// nothing.
func RoleOf(t Task) string {
	for _, text := range []string{t.Type + " " + t.Title, firstLine(t.Prompt)} {
		text = strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(text))
		for _, r := range roleWords {
			if r.words.MatchString(text) {
				return r.role
			}
		}
	}
	return ""
}

func firstLine(text string) string { return excerpt.Runes(excerpt.First(text), 300) }

// rolePrompts tell a sub-agent what it is there for.
var rolePrompts = map[string]string{
	RoleExplore:       "Your role: explore. Read and report; change nothing. Answer with paths and lines, and say what you did not look at.",
	RolePlan:          "Your role: plan. Propose the files, the analysis, the rules that apply and the capabilities; the main session writes plan.md.",
	RoleTest:          "Your role: test. Write tests that assert what the plan promises and that fail without it; no production code.",
	RoleImplement:     "Your role: implement. Do the one task you were given, by the approved plan and its tests; run the tests, and report the command and its result.",
	RoleReviewSpec:    "Your role: review against the plan. Compare what was built with every point of plan.md and capabilities.md: what is missing, what was not asked for, what differs. Leave style to the next review, and change nothing.",
	RoleReviewQuality: "Your role: review of quality. The comparison with the plan is done; look for faults, needless complexity, broken rules and weak tests. Name file, line and consequence, and change nothing.",
}

// RolePrompt is what a sub-agent of a role is told about it, with the session
// that it works for.
func RolePrompt(role, session string) string {
	text := rolePrompts[role]
	if session != "" {
		text = strings.TrimSpace(text + fmt.Sprintf("\nYou work for the session %s: `writ session show %s` says where it stands. Approvals are its user's, not yours.", session, session))
	}
	return text
}

// ordered judges a review that comes too early: what is well made and not what
// was asked for is reviewed in vain.
func (st stance) ordered(t *Task) ruling {
	if t == nil || st.exempt || !st.building() || RoleOf(*t) != RoleReviewQuality || len(st.Unreviewed) == 0 {
		return allowed
	}
	return ruling{rule: RuleReviewOrder, gate: "review", text: wording{
		"nobody compared " + fileList(st.Unreviewed) + " with the plan since it changed; that review comes before the one of quality.",
		"Start a sub-agent that reviews the changes against plan.md (\"spec review\"); when it is done, this one.",
	}}
}

// brief is the record of a sub-agent that may start.
func (c RequestTool) brief() []schemas.Payload {
	if c.Task == nil {
		return nil
	}
	return []schemas.Payload{schemas.SubagentBriefed{
		AgentType: c.Task.Type, Role: RoleOf(*c.Task), Title: excerpt.Runes(c.Task.Title, 120), Digest: Hash([]byte(c.Task.Prompt)), ToolUseID: c.ToolUseID,
	}}
}

func (s State) briefed(p schemas.SubagentBriefed) State {
	if p.Role == "" {
		return s
	}
	briefs := append(slices.Clone(s.Briefs), Brief{p.AgentType, p.Role})
	s.Briefs = briefs[max(0, len(briefs)-maxBriefs):]
	return s
}

// began gives a sub-agent that starts the role it was asked for in: that of the
// oldest request of its type.
func (s State) began(p schemas.SubagentStarted) State {
	s.Agents = insert(s.Agents, p.AgentID)
	at := slices.IndexFunc(s.Briefs, func(b Brief) bool { return b.Type == p.AgentType })
	if at < 0 {
		return s
	}
	role := s.Briefs[at].Role
	s.Briefs = slices.Delete(slices.Clone(s.Briefs), at, at+1)
	if len(s.Briefs) == 0 {
		s.Briefs = nil
	}
	if len(s.Roles) < maxBriefs {
		s.Roles = cloned(s.Roles)
		s.Roles[p.AgentID] = role
	}
	return s
}

// left takes a sub-agent's end in; one that compared the work with the plan
// leaves nothing to compare.
func (s State) agentLeft(id string) State {
	s.Agents = remove(s.Agents, id)
	role, known := s.Roles[id]
	if !known {
		return s
	}
	s.Roles = cloned(s.Roles)
	delete(s.Roles, id)
	if len(s.Roles) == 0 {
		s.Roles = nil
	}
	if role == RoleReviewSpec {
		s.Unreviewed = nil
	}
	return s
}
