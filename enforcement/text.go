package enforcement

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// wording is what an agent is told about a refusal: why, and what it can do.
type wording struct {
	why  string
	next string
}

// render writes rule, subject, cause and next step as one paragraph.
func (w wording) render(rule, subject string, v Verdict) string {
	verb := "is refused"
	if v == Ask {
		verb = "needs the user's answer"
	}
	return strings.TrimSpace(fmt.Sprintf("%s: %s %s: %s %s", rule, shortPath(subject), verb, w.why, w.next))
}

var (
	textProtected = wording{
		"it belongs to Writ, to an agent's, git's or the shell's settings, or holds credentials; no agent writes it, in any mode.",
		"Leave it as it is and tell the user what you would change and why; the user edits it.",
	}
	textPrivate = wording{
		"it is Writ's own data, credentials included; agents do not read it.",
		"Use `writ status` or `writ find` for what you need to know.",
	}
	textUnset = wording{
		"no mode is chosen, so only plan.md and capabilities.md may be written.",
		"Begin with `writ mode set work`: plan, tests, approvals, then code. For work without them the user types `/writ-mode small`, `/writ-mode debug` or `/writ-mode conversation`; no agent does.",
	}
	textReview = wording{
		"review mode evaluates and does not change the project.",
		"Write what you found to the findings file. To change the project the user chooses another mode, with `/writ-mode work` for instance.",
	}
	textDebug = wording{
		"debug mode changes tests, scratch files and what belongs to the declared reproduction.",
		"Reproduce the fault in a test first; which files the reproduction may change, the user says: `/writ-mode debug --repro PATH…`.",
	}
	textOutside = wording{
		"it lies outside the project.",
		"Write inside the project or to a temp folder; what must change elsewhere, tell the user.",
	}
	textOutsideAsk = wording{
		"it lies outside the project.",
		"Without a yes, write inside the project or to a temp folder.",
	}
	textBeyondTwo = wording{
		"the plan that two persons approved does not name it.",
		"Say why it is needed; a plan that names it takes both approvals again (writ session phase invalidate plan, by the user).",
	}
	textPlan = wording{
		"the plan is not approved yet; planning writes plan.md and capabilities.md only.",
		"Complete plan.md (Files, Analysis, Rules Applied, Capabilities), show it and wait. The user approves it " + wordsForPlan + ".",
	}
	textTests = wording{
		"the tests are not approved yet; testing writes test files only.",
		"Write tests that assert what the plan promises, show them and wait. The user approves them " + wordsForTests + ".",
	}
	textLock = wording{
		"the user approved this plan, and it stays as approved.",
		"Go on by the plan as it is. If it has to change, tell the user why: `writ session phase invalidate plan --reason …` at their terminal opens planning again.",
	}
	textNoPlan = wording{
		"the plan that the dialog would show is empty.",
		"Write it to the file that plan mode drafts in and, the same, to plan.md (Files, Analysis, Rules Applied, Capabilities); then present it.",
	}
	textVerify = wording{
		"verification ticks capabilities.md and writes findings; code and tests stay as they are.",
		"Tell the user what needs a fix: `writ session phase reopen` at their terminal goes back to implementation.",
	}
	textUnknownEffect = wording{
		"nobody can tell from the command what it writes, and code may not be written now.",
		"Use commands whose effect is plain, or let the user answer.",
	}
)

func textUnproven(why, holds string) wording {
	next := "Use a tool whose name and input say that it only reads, or let the user answer."
	if holds != "" {
		next += " A yes holds in this project for " + excerpt.Runes(holds, 120) + "."
	}
	return wording{"what this tool does is not known: " + excerpt.Runes(why, 160) + ", and code may not be written now.", next}
}

func textMisplaced(name string, t schemas.Target) wording {
	root, found := strings.CutSuffix(t.Path, t.Rel)
	if !found {
		root = ""
	}
	return wording{"a " + name + " counts at the project's root only.", "Write it to " + shortPath(root+name) + "."}
}

func textWrit(command string) wording {
	return wording{
		fmt.Sprintf("`writ %s` is the user's, not an agent's.", excerpt.Runes(command, 60)),
		"Tell the user what you need; approvals are given with `/writ-approve` in the conversation, in the dashboard, or with `writ approve` at their terminal.",
	}
}

func textDrift(gate string, changes []schemas.FileChange) wording {
	var files []string
	for i, c := range changes {
		if i == 3 {
			files = append(files, fmt.Sprintf("%d more", len(changes)-i))
			break
		}
		what := "changed"
		if c.Is == "" {
			what = "gone"
		}
		files = append(files, shortPath(c.Path)+" ("+what+")")
	}
	return wording{
		fmt.Sprintf("the approved %s is no longer what the user approved: %s, from outside this session's allowed writes.", gate, strings.Join(files, ", ")),
		fmt.Sprintf("Restore the approved content exactly, or show the change and wait: the user approves it anew with `/writ-approve %s`.", gate),
	}
}

func textInvalidPlan(problems []string) wording {
	return wording{
		"the plan is not valid: " + excerpt.Runes(sentence(problems), 330) + ".",
		"Mend it and present it again; all problems are listed.",
	}
}

// howToApprove tells a person the ways to approve.
func (s Settings) howToApprove(gate string) string {
	if rung(s.Approval) > rung(AssurancePrompt) {
		how := waysIn(s.Approval)
		return strings.ToUpper(how[:1]) + how[1:] + "."
	}
	return fmt.Sprintf("Approve with `/writ-approve %s`, in the dashboard, or with `writ approve` at a terminal.", gate)
}

// shortPath keeps a path's end, which tells more than its beginning.
func shortPath(p string) string {
	const most = 120
	if utf8.RuneCountInString(p) <= most {
		return p
	}
	r := []rune(p)
	return "…" + string(r[len(r)-most+1:])
}
