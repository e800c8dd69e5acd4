package corpus

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// takeEdges reads edges however they are written: a list of {type, target}, or
// lines like "- DEPENDS_ON: GO-CTX-FIRST-001".
func (c *conversion) takeEdges(v legacyValue) {
	switch list := v.value.(type) {
	case []any:
		for _, item := range list {
			c.takeEdge(item, v.line)
		}
	case string:
		line := v.line
		for s := range strings.SplitSeq(list, "\n") {
			c.takeEdge(s, line)
			line++
		}
	default:
		c.takeEdge(v.value, v.line)
	}
}

func (c *conversion) takeEdge(v any, line int) {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return
		}
		kind, targets := edgeLine(v)
		if kind == "" || len(targets) == 0 {
			c.skipped(line, "edge %q is not understood: left out", strings.TrimSpace(v))
		}
		for _, target := range targets {
			c.addEdge(kind, target, line)
		}
	case map[string]any:
		target := v["target"]
		for _, other := range []string{"target_id", "to"} {
			if isEmpty(target) {
				target = v[other]
			}
		}
		if isEmpty(v["type"]) || isEmpty(target) {
			c.skipped(line, "edge %q is not understood: left out", pair(v))
			return
		}
		c.addEdge(asText(v["type"]), asText(target), line)
	default:
		c.skipped(line, "edge %q is not understood: left out", asText(v))
	}
}

var (
	edgeWord = regexp.MustCompile(`[A-Za-z]+(?:_[A-Za-z]+)*`)
	idInText = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:-[A-Z][A-Z0-9]*)+(?:-[0-9]{3})?\b`)
)

// edgeLine reads one written edge: the first word that is an edge type's name,
// or else the first word, and every id.
func edgeLine(s string) (kind string, targets []string) {
	targets = idInText.FindAllString(s, -1)
	plain := idInText.ReplaceAllString(s, " ")
	found := edgeWord.FindAllString(strings.NewReplacer("type:", " ", "target:", " ").Replace(plain), -1)
	for _, w := range found {
		if slices.Contains(EdgeTypes(), strings.ToUpper(w)) {
			return w, targets
		}
	}
	if len(found) > 0 {
		kind = found[0]
	}
	return kind, targets
}

// mentions adds a RELATED_TO edge for every node that the text of a block
// names and no edge of its own points to: that is how blocks refer to others.
func (d *document) mentions(known func(id string) bool) {
	r := &d.rule
	for _, text := range []string{r.Trigger, r.Statement, r.Enforcement, r.Rationale, r.Body} {
		for _, id := range idInText.FindAllString(text, -1) {
			linked := slices.ContainsFunc(r.Edges, func(e schemas.Edge) bool { return e.Target == id })
			if id != r.ID && !linked && known(id) {
				r.Edges = append(r.Edges, schemas.Edge{Type: "RELATED_TO", Target: id})
				d.edges = append(d.edges, d.first)
			}
		}
	}
}
