package enforcement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// RuleSecret refuses a write that would put a credential into a file.
const RuleSecret = "ENF-SECRET"

// maxViolations bounds State.Violations: a generated file must not let a
// session grow.
const maxViolations = 200

// toldViolations is how many violations a text names.
const toldViolations = 8

// Secret is a credential that a write would leave in a file.
type Secret struct {
	Path string // as the target has it
	Line int
	What string // "a GitHub token", never the credential
}

// CheckContent reports what the mechanical checks make of a file after a tool
// changed it.
type CheckContent struct {
	Path string // relative to the project
	// Found are the violations on the lines that changed.
	Found []schemas.Violation
	// Present are the keys of all violations in the file as it stands.
	Present   []string
	ToolUseID string
}

// EndTurn is an agent that wants to stop.
type EndTurn struct {
	// Again says that it was sent back once already and wants to stop again.
	Again bool
	Agent string
	// Gone are pending violations that are no longer in their files.
	Gone []schemas.Violation
}

func (c CheckContent) check() error { return named("path", c.Path) }
func (c EndTurn) check() error      { return nil }

// decide records new violations and those that are gone. It judges nothing:
// the write has happened.
func (c CheckContent) decide(s State) Decision {
	pending := map[string]bool{}
	var fixed []schemas.Violation
	for _, v := range s.Violations {
		if v.Path != c.Path {
			continue
		}
		if slices.Contains(c.Present, v.Key()) {
			pending[v.Key()] = true
		} else {
			fixed = append(fixed, v)
		}
	}
	var fresh []schemas.Violation
	for _, v := range c.Found {
		if !pending[v.Key()] {
			pending[v.Key()] = true
			fresh = append(fresh, v)
		}
	}
	d := Decision{Verdict: Allow}
	if len(fresh) > 0 {
		d.Record = append(d.Record, schemas.RuleViolated{Violations: fresh, ToolUseID: c.ToolUseID})
		d.Context = "Writ: this change breaks " + plural(len(fresh), "rule") + ". Fix it now:\n" + violationList(fresh)
	}
	if len(fixed) > 0 {
		d.Record = append(d.Record, schemas.ViolationFixed{Violations: fixed, ToolUseID: c.ToolUseID})
		if len(fresh) == 0 {
			d.Context = "Writ: fixed: " + ruleList(fixed) + "."
		}
	}
	return d
}

// decide sends an agent in work mode back to what it left broken, once in a
// row: one that cannot fix it must be able to say so.
func (c EndTurn) decide(s State) Decision {
	d := Decision{Verdict: Allow}
	if len(c.Gone) > 0 {
		s = s.mended(schemas.ViolationFixed{Violations: c.Gone})
	}
	ended := schemas.TurnEnded{Violations: len(s.Violations), Agent: c.Agent}
	if s.Mode == ModeWork && len(s.Violations) > 0 && c.Agent == "" {
		if !c.Again {
			d.Verdict, d.Rule = Deny, s.Violations[0].Rule
			d.Reason = "Writ: " + plural(len(s.Violations), "violation") + " of rules in the files you changed. Fix them, or tell the user why they stay:\n" + violationList(s.Violations)
			ended.Blocked, ended.Reason = true, shorten(d.Reason, MaxReason)
		} else {
			d.Notice = "writ: the agent stopped with " + plural(len(s.Violations), "violation") + " of rules left: " + ruleList(s.Violations) + "."
		}
	}
	d.Record = append(d.Record, ended)
	if len(c.Gone) > 0 {
		d.Record = append(d.Record, schemas.ViolationFixed{Violations: c.Gone})
	}
	return d
}

func violationList(all []schemas.Violation) string {
	var b strings.Builder
	for i, v := range all {
		if i == toldViolations {
			fmt.Fprintf(&b, "- and %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "- %s:%d: %s: %s\n", v.Path, v.Line, v.Rule, shorten(v.Message, 160))
	}
	return strings.TrimRight(b.String(), "\n")
}

func ruleList(all []schemas.Violation) string {
	var ids []string
	for _, v := range all {
		if !slices.Contains(ids, v.Rule) {
			ids = append(ids, v.Rule)
		}
	}
	slices.Sort(ids)
	if len(ids) > toldViolations {
		ids = append(ids[:toldViolations], "…")
	}
	return strings.Join(ids, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (s State) violated(p schemas.RuleViolated) State {
	all := slices.Clone(s.Violations)
	for _, v := range p.Violations {
		all = slices.DeleteFunc(all, func(old schemas.Violation) bool { return old.Key() == v.Key() })
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b schemas.Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key(), b.Key()))
	})
	s.Violations = all[:min(len(all), maxViolations)]
	return s
}

func (s State) mended(p schemas.ViolationFixed) State {
	left := slices.Clone(s.Violations)
	for _, v := range p.Violations {
		left = slices.DeleteFunc(left, func(old schemas.Violation) bool { return old.Key() == v.Key() })
	}
	if len(left) == 0 {
		left = nil
	}
	s.Violations = left
	return s
}

// exposes refuses a write that leaves a credential in a file of the project.
func exposes(secrets []Secret) ruling {
	if len(secrets) == 0 {
		return allowed
	}
	what := fmt.Sprintf("line %d would hold %s", secrets[0].Line, secrets[0].What)
	if len(secrets) > 1 {
		what += fmt.Sprintf(", and %d more", len(secrets)-1)
	}
	return ruling{rule: RuleSecret, text: wording{
		what + "; what is written to a file gets into history and logs.",
		"Read it from the environment or a secret store; in tests use an obvious placeholder such as EXAMPLE.",
	}}
}
