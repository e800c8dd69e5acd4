package enforcement

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// maxUnapproved bounds the changes that an event lists.
const maxUnapproved = 50

// TreeChange is a file that is not as it was before a command ran.
type TreeChange struct {
	Target schemas.Target
	Change string // created, changed or deleted
}

// Restored is a protected file that a command changed, and that was put back.
type Restored struct {
	Path, Change string
	Told         string // what happened to it
	Failed       bool   // it is not as it was
}

// CheckTree reports what a command that nobody could judge changed in the work
// tree.
type CheckTree struct {
	Changes   []TreeChange
	Restored  []Restored
	ToolUseID string
	// Since is a command that had ended before the changes, and may have left
	// something running; "" where they were made while it ran.
	Since string
	// Meant is the file that a tool was allowed to write, where the change is in
	// another one; the zero Target for changes of a command.
	Meant     schemas.Target
	Actor     Actor
	Workspace Workspace
	Settings  Settings
}

func (CheckTree) check() error { return nil }

// decide judges every change as if it had been asked for. One that would have
// been refused is recorded, told with the way back, and counts as a refusal; of
// files that the plan does not name the user is told; another question the user
// would have been asked was his to answer.
func (c CheckTree) decide(s State) Decision {
	st := stanceOf(s, c.Actor, c.Workspace, c.Settings)
	var found []schemas.UnapprovedChange
	var beyond []schemas.Target
	for _, change := range c.Changes {
		r := st.write(change.Target)
		if r.beyond {
			beyond = append(beyond, change.Target)
		}
		if r.verdict == Deny || r.verdict == Ask && c.Meant.Path != "" {
			name := cmp.Or(change.Target.Rel, change.Target.Path)
			found = append(found, schemas.UnapprovedChange{Path: name, Change: change.Change, Rule: r.rule})
		}
	}
	d := Decision{Verdict: Allow}
	if names := st.Work.beyond(beyond); len(names) > 0 && c.Meant.Path == "" {
		text := textUnnamed(names, c.Since)
		d.Notice = "writ: " + text
		d.Context = "Writ: " + text + " Tell the user what it is; it stays as it is."
	}
	if len(c.Restored) > 0 {
		text := c.restored()
		d.Notice, d.Context = joinLines("writ: "+text, d.Notice), joinLines("Writ: "+text, d.Context)
	}
	unapproved := found
	for _, r := range c.Restored {
		found = append(found, schemas.UnapprovedChange{Path: r.Path, Change: r.Change, Rule: RuleProtected, PutBack: !r.Failed})
	}
	if len(found) == 0 {
		return d
	}
	event := schemas.WriteUnapproved{ToolUseID: c.ToolUseID, Changes: found, Agent: c.Actor.Agent}
	if len(found) > maxUnapproved {
		event.Changes, event.More = found[:maxUnapproved], len(found)-maxUnapproved
	}
	d.Record = append(d.Record, event)
	if len(unapproved) == 0 {
		return d
	}
	text := fmt.Sprintf("the command changed %s that may not be written now:\n%s\nTell the user before anything else: `git checkout -- FILE` brings back a tracked file, a new one is removed.", excerpt.Count(len(unapproved), "file"), changeList(unapproved))
	if c.Since != "" {
		text = fmt.Sprintf("after `%s` had ended, %s changed that may not be written now:\n%s\nWhat it left running may have done it, or the user: stop the job, and ask before anything is put back.", excerpt.Runes(c.Since, 100), excerpt.Count(len(unapproved), "file"), changeList(unapproved))
	}
	if c.Meant.Path != "" {
		text = fmt.Sprintf("%s was allowed to be written, and what was written is in another file, by a link that was put in the way:\n%s", excerpt.Runes(c.Meant.Path, 200), changeList(found))
	}
	d.Context = joinLines("Writ: "+text, d.Context)
	d.Notice = joinLines("writ: "+text, d.Notice)
	return d
}

// restored tells what was put back.
func (c CheckTree) restored() string {
	var b strings.Builder
	if c.Since == "" {
		b.WriteString(RuleProtected + ": the command changed what no agent changes:")
	} else {
		fmt.Fprintf(&b, "%s: after `%s` had begun, what no agent changes was changed. If it was the user, it has to be done once more when the turn is over:", RuleProtected, excerpt.Runes(c.Since, 100))
	}
	for i, r := range c.Restored {
		if i == toldViolations {
			fmt.Fprintf(&b, "\n- and %d more", len(c.Restored)-i)
			break
		}
		b.WriteString("\n- " + r.Told)
	}
	return b.String()
}

func changeList(found []schemas.UnapprovedChange) string {
	var b strings.Builder
	for i, f := range found {
		if i == toldViolations {
			fmt.Fprintf(&b, "- and %d more\n", len(found)-i)
			break
		}
		fmt.Fprintf(&b, "- %s (%s): %s\n", f.Path, f.Change, f.Rule)
	}
	return strings.TrimRight(b.String(), "\n")
}

// unapproved counts changes behind the gate as refusals.
func (s State) unapproved(p schemas.WriteUnapproved) State {
	s.Denials = cloned(s.Denials)
	for _, change := range p.Changes {
		s.Denials[change.Rule]++
	}
	s.Refusals++
	return s
}
