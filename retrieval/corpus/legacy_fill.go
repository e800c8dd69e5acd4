package corpus

import (
	"reflect"
	"regexp"
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

// shared says whether it is for a field that all nodes have.
func (f fillIn) shared() bool { return !strings.Contains(f.path, ".") }

// memberEdges are the edges that tell a list of ids.
var memberEdges = map[schemas.NodeType]struct{ path, edge string }{
	schemas.NodeAbstraction: {"abstraction.members", "ABSTRACTS"},
	schemas.NodePlaybook:    {"playbook.phases", edgeContains},
}

// fillIn completes what today's format requires from what is there.
func (c *conversion) fillIn() {
	if c.rule.Severity == "" {
		c.rule.Severity = "medium"
		c.filled("severity", "medium, for there was none")
	}
	own := legacyOf()[c.own].fills
	for _, f := range slices.Concat(own, legacyOf()[ofAll].fills) {
		if f.shared() {
			c.fillField(f)
		}
	}
	c.fillMembers()
	for _, f := range own {
		if !f.shared() && (c.rule.Playbook == nil || len(c.rule.Playbook.Phases) == 0) {
			c.fillField(f)
		}
	}
	if p := c.rule.Phase; p != nil && p.Order < 1 {
		p.Order = 1
		c.filled("phase.order", "1, the lowest there is")
	}
	c.fillSpoken()
}

// fillSpoken takes what people say where such a node matters for its symptoms.
func (c *conversion) fillSpoken() {
	switch r := &c.rule; {
	case len(r.Symptoms) > 0:
	case r.Rationalization != nil && r.Rationalization.Excuse != "":
		r.Symptoms = []string{r.Rationalization.Excuse}
	case r.ForbiddenResponse != nil:
		r.Symptoms = slices.Clone(r.ForbiddenResponse.Phrases)
	}
}

func (c *conversion) fillMembers() {
	m, has := memberEdges[c.own]
	if !has {
		return
	}
	_, into := c.at(m.path)
	if into.Len() > 0 {
		return
	}
	var ids []string
	for _, e := range c.rule.Edges {
		if e.Type == m.edge {
			ids = append(ids, e.Target)
		}
	}
	if len(ids) > 0 {
		into.Set(reflect.ValueOf(ids))
		c.filled(m.path, "the targets of its "+m.edge+" edges")
		c.ordered = true
	}
}

func (c *conversion) filled(path, from string) {
	c.note(c.line(path), KindFilled, "%s was missing: taken as %s", path, from)
}

// stepHeading is a heading that numbers a step or a phase.
var stepHeading = regexp.MustCompile(`^#{2,6}[ \t]+(?:(?i:step|phase|stage)[ \t]+)?[0-9]{1,2}[.):]?[ \t]*[-–—:]*[ \t]*(\S.*)$`)

// steps finds the steps in a text: under numbered headings, else in its lists,
// numbered ones first.
func steps(text string) []string {
	var headed, numbered []string
	for line := range strings.SplitSeq(text, "\n") {
		if m := stepHeading.FindStringSubmatch(line); m != nil {
			headed = append(headed, m[1])
		}
		if s := strings.TrimLeft(line, " "); s != "" && s[0] >= '0' && s[0] <= '9' {
			numbered = append(numbered, bullets(line)...)
		}
	}
	if len(headed) > 1 {
		return headed
	}
	if len(numbered) > 1 {
		return bullets(onlyNumbered(text))
	}
	return bullets(text)
}

// onlyNumbered leaves of a text its numbered lists, with the lines that
// continue them.
func onlyNumbered(text string) string {
	var b strings.Builder
	inside := false
	for line := range strings.SplitSeq(text, "\n") {
		if m := bulletPattern.FindStringSubmatch(line); m != nil {
			inside = !strings.ContainsAny(strings.TrimLeft(line, " ")[:1], "-*+")
		} else if strings.HasPrefix(line, "#") {
			inside = false
		}
		if inside {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
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
			if list := steps(text); len(list) > 0 {
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
