package enforcement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
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
	Present []string
	// Ran are the rules whose checks had something to look at in the change.
	Ran       []string
	ToolUseID string
}

func (c CheckContent) check() error { return named("path", c.Path) }

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
	if e := c.checked(s); len(e.Followed)+len(e.Broken) > 0 {
		d.Record = append(d.Record, e)
	}
	if len(fresh) > 0 {
		d.Record = append(d.Record, schemas.RuleViolated{Violations: fresh, ToolUseID: c.ToolUseID})
		d.Context = "Writ: this change breaks " + excerpt.Count(len(fresh), "rule") + ". Fix it now:\n" + violationList(fresh)
	}
	if len(fixed) > 0 {
		d.Record = append(d.Record, schemas.ViolationFixed{Violations: fixed, ToolUseID: c.ToolUseID})
		if len(fresh) == 0 {
			d.Context = "Writ: fixed: " + ruleList(fixed) + "."
		}
	}
	return d
}

// checked sorts the rules that the session was shown into those the change kept
// to and those it broke; a rule it was not shown counts only where it was broken.
// What was recorded of a rule before is not recorded again.
func (c CheckContent) checked(s State) schemas.ContentChecked {
	e := schemas.ContentChecked{Path: c.Path, ToolUseID: c.ToolUseID}
	for _, v := range c.Found {
		if _, known := slices.BinarySearch(s.Broken, v.Rule); !known {
			e.Broken = insert(e.Broken, v.Rule)
		}
	}
	for _, id := range c.Ran {
		_, known := slices.BinarySearch(s.Followed, id)
		broken := slices.ContainsFunc(c.Found, func(v schemas.Violation) bool { return v.Rule == id })
		if s.loaded(id) && !known && !broken {
			e.Followed = insert(e.Followed, id)
		}
	}
	return e
}

func (s State) checked(p schemas.ContentChecked) State {
	for _, id := range p.Followed {
		s.Followed = insert(s.Followed, id)
	}
	for _, id := range p.Broken {
		s.Broken = insert(s.Broken, id)
	}
	return s
}

func violationList(all []schemas.Violation) string {
	var b strings.Builder
	for i, v := range all {
		if i == toldViolations {
			fmt.Fprintf(&b, "- and %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "- %s:%d: %s: %s\n", v.Path, v.Line, v.Rule, excerpt.Runes(v.Message, 160))
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
