package corpus

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// The values a rule's fields take; persisted, only ever add. Scope is a free
// word: projects have scopes of their own.
var (
	severities  = []string{"critical", "high", "medium", "low"}
	confidences = []string{"battle-tested", "production-validated", "peer-reviewed", "speculative"}
	authorities = []string{"human", "ai-provisional", "ai-promoted"}
	contexts    = []string{"code", "string", "comment"}
)

// CheckNode says everything that is wrong with a node in itself, one sentence
// each, in canonical order of its fields: what Parse would refuse in its file.
// A node that did not come from a file is checked with it before it is stored,
// so that its export can be imported again.
func CheckNode(r schemas.Rule) []string {
	d := document{rule: r}
	d.check()
	out := make([]string, len(d.problems))
	for i, p := range d.problems {
		out[i] = p.Reason
	}
	return out
}

// check reports every value that is missing or outside its set.
func (d *document) check() {
	r := &d.rule
	d.checkFields(fields, reflect.ValueOf(r).Elem(), "")
	if strings.TrimSpace(r.ID) != "" && !ValidID(r.ID) {
		d.problem(d.line("id"), "id %q is malformed: capital letters, digits and hyphens, three parts or more, like GO-CTX-FIRST-001", r.ID)
	}
	d.oneOf("severity", r.Severity, severities)
	d.oneOf("confidence", r.Confidence, confidences)
	d.oneOf("authority", r.Authority, authorities)
	if strings.TrimSpace(r.LastValidated) != "" {
		if _, err := time.Parse(time.DateOnly, r.LastValidated); err != nil {
			d.problem(d.line("last_validated"), "last_validated %q is no date: write it as 2026-01-31", r.LastValidated)
		}
	}
	if r.StalenessWindow < 0 {
		d.problem(d.line("staleness_window"), "staleness_window counts days and is not negative")
	}
	if r.Body != trimBody(r.Body) || !utf8.ValidString(r.Body) || strings.ContainsFunc(r.Body, isControl) {
		d.problem(d.line("body"), "body has blank lines around it or characters that a file cannot hold")
	}
	d.checkType()
	d.checkCheck()
	d.checkEdges()
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}

// checkFields reports blank texts and list entries, and what is required and
// not there.
func (d *document) checkFields(fields []field, v reflect.Value, within string) {
	for _, f := range fields {
		at, value := join(within, f.key), v.Field(f.index)
		_, present := d.lines[at]
		switch f.kind {
		case textValue:
			s := value.String()
			if (f.required || present || s != "") && strings.TrimSpace(s) == "" {
				d.problem(d.line(at), "%s is missing or blank", at)
			}
			d.checkText(at, s)
		case listValue:
			list := value.Interface().([]string)
			if f.required && len(list) == 0 {
				d.problem(d.line(at), "%s is missing or empty", at)
			}
			for i, s := range list {
				if strings.TrimSpace(s) == "" {
					d.problem(d.line(at), "%s: entry %d is blank", at, i+1)
				}
				d.checkText(at, s)
			}
		case mapValue:
			if !value.IsNil() {
				d.checkFields(f.sub, value.Elem(), at)
			}
		default:
		}
	}
}

func (d *document) checkText(at, s string) {
	if !utf8.ValidString(s) {
		d.problem(d.line(at), "%s is not UTF-8", at)
	}
}

// checkType holds a node to the fields of its type.
func (d *document) checkType() {
	own := d.rule.NodeType()
	if !slices.Contains(schemas.NodeTypes(), own) {
		d.problem(d.line("type"), "type %q is unknown: use %s", own, either(schemas.NodeTypes()))
		return
	}
	v := reflect.ValueOf(d.rule)
	for _, t := range schemas.NodeTypes() {
		key, has := detailKeys[t]
		if !has {
			continue
		}
		f, _ := fieldOf(fields, key)
		switch missing := v.Field(f.index).IsNil(); {
		case t == own && missing:
			d.problem(d.line(key), "a %s has its own fields under the key %s: add it", own, key)
		case t != own && !missing:
			d.problem(d.line(key), "a %s has no key %s: correct the type, or remove the key", own, key)
		}
	}
	if p := d.rule.Playbook; p != nil && len(p.Phases) == 0 && len(p.Steps) == 0 {
		d.problem(d.line("playbook"), "playbook.phases and playbook.steps are missing or empty: a playbook has one of them")
	}
	if p := d.rule.Phase; p != nil && p.Order < 1 {
		d.problem(d.line("phase.order"), "phase.order counts from 1")
	}
	if a := d.rule.Abstraction; a != nil && a.Ratio < 0 {
		d.problem(d.line("abstraction.ratio"), "abstraction.ratio is not negative")
	}
}

// checkCheck holds a machine-readable check to what a machine can run.
func (d *document) checkCheck() {
	c := d.rule.Check
	if c == nil {
		return
	}
	if own := d.rule.NodeType(); own != schemas.NodeRule {
		d.problem(d.line("check"), "a %s has no check: only a Rule has one", own)
	}
	if (c.Pattern == "") == (c.Query == "") {
		d.problem(d.line("check"), "check has either a pattern or a query")
	}
	for _, e := range []struct{ key, text string }{{"check.pattern", c.Pattern}, {"check.unless", c.Unless}} {
		if _, err := regexp.Compile(e.text); err != nil {
			d.problem(d.line(e.key), "%s is no regular expression: %v", e.key, err)
		}
	}
	for _, context := range c.Contexts {
		d.oneOf("check.contexts", context, contexts)
	}
}

func (d *document) checkEdges() {
	own := d.rule.NodeType()
	for i, e := range d.rule.Edges {
		switch {
		case !startsFrom(e.Type, own):
			d.problem(d.edgeLine(i), "%s", CheckEdge(e, own, ""))
		case strings.TrimSpace(e.Target) == "":
			d.problem(d.edgeLine(i), "edge %s has no target", e.Type)
		case e.Target == d.rule.ID:
			d.problem(d.edgeLine(i), "edge %s points to the rule itself", e.Type)
		case slices.Contains(d.rule.Edges[:i], e):
			d.problem(d.edgeLine(i), "edge %s to %s appears twice", e.Type, e.Target)
		}
	}
}

func (d *document) oneOf(key, value string, allowed []string) {
	if strings.TrimSpace(value) != "" && !slices.Contains(allowed, value) {
		d.problem(d.line(key), "%s %q is unknown: use one of %s", key, value, strings.Join(allowed, ", "))
	}
}

// line returns where a key stands; for one that is missing the line of the
// mapping it belongs to, or the first line.
func (d *document) line(key string) int {
	if n, ok := d.lines[key]; ok {
		return n
	}
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		return d.line(key[:i])
	}
	return max(d.first, 1)
}

func (d *document) edgeLine(i int) int {
	if i < len(d.edges) {
		return d.edges[i]
	}
	return max(d.first, 1)
}
