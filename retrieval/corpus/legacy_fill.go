package corpus

import (
	"reflect"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// fillIn says what a required field is taken from where an older format did
// not have it: the first of these fields that holds something.
type fillIn struct {
	path string
	from []string
}

// fillIns are for the fields that all nodes share.
var fillIns = []fillIn{
	{"statement", []string{"title", bodyKey}},
	{"trigger", []string{"title", "statement"}},
}

// ownFillIns are for the fields of one type.
var ownFillIns = map[schemas.NodeType][]fillIn{
	schemas.NodeAbstraction: {{"abstraction.summary", []string{"statement"}}},
	schemas.NodeSkill:       {{"skill.steps", []string{bodyKey, "statement"}}},
	schemas.NodeTechnique:   {{"technique.steps", []string{bodyKey, "statement"}}},
	schemas.NodeAntiPattern: {
		{"anti_pattern.appeal", []string{"trigger"}},
		{"anti_pattern.harm", []string{"rationale", "statement"}},
		{"anti_pattern.instead", []string{"pass_example", "enforcement", "statement"}},
	},
	schemas.NodeForbiddenResponse: {{"forbidden_response.instead", []string{"pass_example", "statement"}}},
	schemas.NodePhase:             {{"phase.exit", []string{bodyKey, "statement"}}},
	schemas.NodeRationalization: {
		{"rationalization.excuse", []string{"title", "trigger"}},
		{"rationalization.reality", []string{"statement"}},
	},
	schemas.NodePressureScenario: {
		{"pressure_scenario.prompt", []string{bodyKey, "trigger"}},
		{"pressure_scenario.expected_compliance", []string{"statement"}},
	},
	schemas.NodeWorkedExample: {
		{"worked_example.situation", []string{"trigger"}},
		{"worked_example.after", []string{"pass_example", "statement"}},
		{"worked_example.lesson", []string{"statement"}},
	},
	schemas.NodeSubagentRole: {{"subagent_role.prompt_template", []string{bodyKey, "statement"}}},
}

// memberEdges are the edges that tell a required list of ids.
var memberEdges = map[schemas.NodeType]struct{ path, edge string }{
	schemas.NodeAbstraction: {"abstraction.members", "ABSTRACTS"},
	schemas.NodePlaybook:    {"playbook.phases", "CONTAINS"},
}

// fillIn completes what today's format requires from what is there.
func (c *conversion) fillIn() {
	if c.rule.Severity == "" {
		c.rule.Severity = "medium"
		c.filled("severity", "medium, for there was none")
	}
	for _, f := range slices.Concat(fillIns, ownFillIns[c.own]) {
		c.fillField(f)
	}
	if p := c.rule.Phase; p != nil && p.Order < 1 {
		p.Order = 1
		c.filled("phase.order", "1, the lowest there is")
	}
	if m, has := memberEdges[c.own]; has {
		if _, into := c.at(m.path); into.Len() == 0 {
			var ids []string
			for _, e := range c.rule.Edges {
				if e.Type == m.edge {
					ids = append(ids, e.Target)
				}
			}
			if len(ids) > 0 {
				into.Set(reflect.ValueOf(ids))
				c.filled(m.path, "the targets of its "+m.edge+" edges")
			}
		}
	}
}

func (c *conversion) filled(path, from string) {
	c.note(c.line(path), KindFilled, "%s was missing: taken as %s", path, from)
}

func (c *conversion) fillField(f fillIn) {
	target, into := c.at(f.path)
	if target.kind == listValue && into.Len() > 0 || target.kind == textValue && strings.TrimSpace(into.String()) != "" {
		return
	}
	for _, source := range f.from {
		text := c.rule.Body
		if source != bodyKey {
			_, v := c.at(source)
			text = v.String()
		}
		if target.kind == listValue && source == bodyKey {
			// Prose is no list of steps; a statement is at least one.
			if list := bullets(text); len(list) > 0 {
				into.Set(reflect.ValueOf(slices.DeleteFunc(list, func(s string) bool { return s == "" })))
			}
			if into.Len() > 0 {
				c.filled(f.path, "the list in the body")
				return
			}
			continue
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if target.kind == listValue {
			into.Set(reflect.ValueOf([]string{text}))
		} else {
			into.SetString(text)
		}
		c.filled(f.path, source)
		return
	}
}
