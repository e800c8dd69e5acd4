package enforcement

import (
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

// CheckTree reports what a command that nobody could judge changed in the work
// tree.
type CheckTree struct {
	Changes   []TreeChange
	ToolUseID string
	// Since is a command that had ended before the changes, and may have left
	// something running; "" where they were made while it ran.
	Since     string
	Actor     Actor
	Workspace Workspace
	Settings  Settings
}

func (CheckTree) check() error { return nil }

// decide judges every change as if it had been asked for. One that would have
// been refused is recorded, told with the way back, and counts as a refusal; a
// question the user would have been asked was his to answer.
func (c CheckTree) decide(s State) Decision {
	st := stanceOf(s, c.Actor, c.Workspace, c.Settings)
	var found []schemas.UnapprovedChange
	for _, change := range c.Changes {
		if r := st.write(change.Target); r.verdict == Deny {
			name := change.Target.Rel
			if name == "" {
				name = change.Target.Path
			}
			found = append(found, schemas.UnapprovedChange{Path: name, Change: change.Change, Rule: r.rule})
		}
	}
	d := Decision{Verdict: Allow}
	if len(found) == 0 {
		return d
	}
	event := schemas.WriteUnapproved{ToolUseID: c.ToolUseID, Changes: found, Agent: c.Actor.Agent}
	if len(found) > maxUnapproved {
		event.Changes, event.More = found[:maxUnapproved], len(found)-maxUnapproved
	}
	d.Record = append(d.Record, event)
	text := fmt.Sprintf("the command changed %s that may not be written now:\n%s\nTell the user before anything else: `git checkout -- FILE` brings back a tracked file, a new one is removed.", plural(len(found), "file"), changeList(found))
	if c.Since != "" {
		text = fmt.Sprintf("after `%s` had ended, %s changed that may not be written now:\n%s\nWhat it left running may have done it, or the user: stop the job, and ask before anything is put back.", excerpt.Runes(c.Since, 100), plural(len(found), "file"), changeList(found))
	}
	d.Context = "Writ: " + text
	d.Notice = "writ: " + text
	return d
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
