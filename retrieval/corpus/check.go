package corpus

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The values a rule's fields take; persisted, only ever add.
var (
	severities  = []string{"critical", "high", "medium", "low"}
	scopes      = []string{"line", "function", "file", "module", "project"}
	confidences = []string{"battle-tested", "production-validated", "peer-reviewed", "speculative"}
	authorities = []string{"human", "ai-provisional", "ai-promoted"}
	edgeTypes   = []string{
		"DEPENDS_ON", "PRECEDES", "CONFLICTS_WITH", "SUPPLEMENTS", "SUPERSEDES", "RELATED_TO", "APPLIES_TO",
		"TEACHES", "COUNTERS", "DEMONSTRATES", "DISPATCHES", "GATES", "PRESSURE_TESTS", "CONTAINS", "ATTACHED_TO", "ABSTRACTS",
	}
)

// check reports every value that is missing or outside its set.
func (d *document) check() {
	r := &d.rule
	for _, f := range fields {
		if f.text == nil {
			continue
		}
		_, present := d.lines[f.key]
		required := slices.Contains([]string{"id", "severity", "trigger", "statement"}, f.key)
		if (present || required) && strings.TrimSpace(*f.text(r)) == "" {
			d.problem(d.line(f.key), "%s is missing or blank", f.key)
		}
	}
	if r.ID != "" && !ValidID(r.ID) {
		d.problem(d.line("id"), "id %q is malformed: capital letters, digits and hyphens, three parts or more, like GO-CTX-FIRST-001", r.ID)
	}
	d.oneOf("severity", r.Severity, severities)
	d.oneOf("scope", r.Scope, scopes)
	d.oneOf("confidence", r.Confidence, confidences)
	d.oneOf("authority", r.Authority, authorities)
	if r.LastValidated != "" {
		if _, err := time.Parse(time.DateOnly, r.LastValidated); err != nil {
			d.problem(d.line("last_validated"), "last_validated %q is no date: write it as 2026-01-31", r.LastValidated)
		}
	}
	d.checkLists()
	slices.SortStableFunc(d.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}

func (d *document) checkLists() {
	for _, f := range fields {
		if f.list == nil {
			continue
		}
		for i, s := range *f.list(&d.rule) {
			if strings.TrimSpace(s) == "" {
				d.problem(d.line(f.key), "%s: entry %d is blank", f.key, i+1)
			}
		}
	}
	for i, e := range d.rule.Edges {
		switch {
		case !slices.Contains(edgeTypes, e.Type):
			d.problem(d.edges[i], "edge type %q is unknown: use one of %s", e.Type, strings.Join(edgeTypes, ", "))
		case strings.TrimSpace(e.Target) == "":
			d.problem(d.edges[i], "edge %s has no target", e.Type)
		case e.Target == d.rule.ID:
			d.problem(d.edges[i], "edge %s points to the rule itself", e.Type)
		case slices.Contains(d.rule.Edges[:i], e):
			d.problem(d.edges[i], "edge %s to %s appears twice", e.Type, e.Target)
		}
	}
}

func (d *document) oneOf(key, value string, allowed []string) {
	if strings.TrimSpace(value) != "" && !slices.Contains(allowed, value) {
		d.problem(d.line(key), "%s %q is unknown: use one of %s", key, value, strings.Join(allowed, ", "))
	}
}

// line returns where a key stands, or the first line for one that is missing.
func (d *document) line(key string) int {
	if n, ok := d.lines[key]; ok {
		return n
	}
	return 1
}
