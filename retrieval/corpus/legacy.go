package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// legacyNode is a node of an older format as it was written: names and values,
// nothing judged yet.
type legacyNode struct {
	path   string
	line   int
	kind   string // the type it was given, "" where it gave none
	values []legacyValue
	edges  []legacyEdge
	body   string
	prose  bool // ids in its text are edges, too
}

// legacyValue is one property. Values are string, bool, int64, float64, []any
// and map[string]any.
type legacyValue struct {
	name  string // normal
	value any
	line  int
	path  string // of the file, where it is another one than the node's
}

type legacyEdge struct {
	edge schemas.Edge
	line int
	path string // as that of a value
}

// normal makes names of properties, sections and types comparable: letters
// and digits in lower case, words joined by underscores, what stands in
// parentheses left out ("Pass (good)" is pass).
func normal(name string) string {
	name, _, _ = strings.Cut(name, "(")
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "_")
}

// typeNamed finds a node type however its name is spelt: AntiPattern,
// anti_pattern, "Anti-Pattern".
func typeNamed(name string) (schemas.NodeType, bool) {
	plain := strings.ReplaceAll(normal(name), "_", "")
	for _, t := range schemas.NodeTypes() {
		if strings.ToLower(string(t)) == plain {
			return t, true
		}
	}
	return "", false
}

// idNames are the properties that hold the id of a node of a type; "id" and
// "node_id" do for every type.
var idNames = map[schemas.NodeType][]string{
	schemas.NodeRule:              {"rule_id"},
	schemas.NodeAbstraction:       {"abstraction_id"},
	schemas.NodeSkill:             {"skill_id"},
	schemas.NodePlaybook:          {"playbook_id"},
	schemas.NodeTechnique:         {"technique_id"},
	schemas.NodeAntiPattern:       {"antipattern_id", "anti_pattern_id"},
	schemas.NodeForbiddenResponse: {"forbidden_id", "forbidden_response_id"},
	schemas.NodePhase:             {"phase_id"},
	schemas.NodeRationalization:   {"rationalization_id"},
	schemas.NodePressureScenario:  {"scenario_id", "pressure_scenario_id"},
	schemas.NodeWorkedExample:     {"example_id", "worked_example_id"},
	schemas.NodeSubagentRole:      {"role_id", "subagent_role_id"},
	schemas.NodeCategory:          {"category_id"},
}

// nodeType is the type a node was given, or the one whose id it has.
func (n *legacyNode) nodeType() (schemas.NodeType, bool) {
	kind := n.kind
	for _, v := range n.values {
		if s, ok := v.value.(string); ok && kind == "" && (v.name == "node_type" || v.name == "type") {
			kind = s
		}
	}
	if kind != "" {
		return typeNamed(kind)
	}
	for _, t := range schemas.NodeTypes() {
		for _, name := range idNames[t] {
			if n.has(name) {
				return t, true
			}
		}
	}
	return schemas.NodeRule, true
}

func (n *legacyNode) has(name string) bool {
	return slices.ContainsFunc(n.values, func(v legacyValue) bool { return v.name == name })
}

// id is the node's own id, "" where it has none.
func (n *legacyNode) id(t schemas.NodeType) string {
	for _, name := range append(slices.Clone(idNames[t]), "id", "node_id") {
		for _, v := range n.values {
			if s, ok := v.value.(string); ok && v.name == name && strings.TrimSpace(s) != "" {
				return strings.TrimSpace(s)
			}
		}
	}
	return ""
}

// conversion turns a legacyNode into a node of today.
type conversion struct {
	*document
	from *legacyNode
	own  schemas.NodeType
}

// convert reads a node of an older format. What has no place is noted and left
// out, what today's format demands and the older one did not know is filled in
// from what is there and noted. Whatever is still wrong is in problems.
func (n *legacyNode) convert() *document {
	c := conversion{&document{path: n.path, lines: map[string]int{}, first: n.line}, n, schemas.NodeRule}
	own, known := n.nodeType()
	if !known {
		c.rule.ID = n.id(own)
		c.skipped(n.line, "node type %q is unknown: the node is left out", n.kind)
		c.notes[0].ID = c.rule.ID
		c.left = true
		return c.document
	}
	c.own = own
	if c.rule.Type = own; own == schemas.NodeRule {
		c.rule.Type = ""
	}
	if c.rule.ID = cleanText(n.id(own)); c.rule.ID == "" {
		c.problem(n.line, "the %s has no id", own)
	}
	c.rule.Body = trimBody(cleanBody(n.body))
	c.prose = n.prose
	c.detail()
	for _, v := range n.values {
		c.path = cmp.Or(v.path, n.path)
		c.take(v)
	}
	for _, e := range n.edges {
		c.path = cmp.Or(e.path, n.path)
		c.addEdge(e.edge.Type, e.edge.Target, e.line)
	}
	c.path = n.path
	c.fillIn()
	c.check()
	for i := range c.problems {
		c.problems[i].ID = c.rule.ID
	}
	for i := range c.notes {
		c.notes[i].ID = c.rule.ID
	}
	return c.document
}

// note records what is no error.
func (d *document) note(line int, kind Kind, format string, args ...any) {
	d.notes = append(d.notes, Problem{Path: d.path, Line: line, Kind: kind, Reason: fmt.Sprintf(format, args...)})
}

func (c *conversion) skipped(line int, format string, args ...any) {
	c.note(line, KindSkipped, format, args...)
}

// addEdge adds an edge. One that today's graph does not have from here becomes
// RELATED_TO, which joins everything; one that leads nowhere is left out.
func (c *conversion) addEdge(kind, target string, line int) {
	e := schemas.Edge{Type: strings.ToUpper(normal(kind)), Target: cleanText(strings.TrimSpace(target))}
	if e.Target == "" || e.Target == c.rule.ID {
		c.skipped(line, "edge %s points to nothing or to its own node: left out", e.Type)
		return
	}
	if !startsFrom(e.Type, c.own) {
		c.note(line, KindNoted, "edge %s starts from no %s here: kept as %s", e.Type, c.own, edgeRelated)
		c.notes[len(c.notes)-1].Target = e.Target
		e.Type = edgeRelated
	}
	if !slices.Contains(c.rule.Edges, e) {
		if c.path != c.from.path {
			line = c.from.line // an edge stands in the node's own file
		}
		c.rule.Edges = append(c.rule.Edges, e)
		c.edges = append(c.edges, line)
	}
}

// cleanText makes a text one that a file can hold.
func cleanText(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// cleanBody takes out control characters, which Markdown cannot escape.
func cleanBody(s string) string {
	return strings.Map(func(r rune) rune {
		if isControl(r) {
			return -1
		}
		return r
	}, cleanText(s))
}
