package curation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

// severities a node may have; persisted.
var severities = []string{"critical", "high", "medium", "low"}

// Of is a proposal of a node that is already typed.
func Of(node schemas.Rule) Proposal { return Proposal{Node: node} }

// Parse reads a proposal from the JSON of a node. It always returns one: what
// does not follow the JSON Schema of the node's type is a problem of that
// field, and the other fields are judged all the same.
func Parse(raw []byte) Proposal {
	var p Proposal
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil {
		if _, rest := decoder.Token(); !errors.Is(rest, io.EOF) {
			err = errors.New("more follows the value")
		}
	}
	object, is := value.(map[string]any)
	switch {
	case err != nil:
		p.problem("", fmt.Sprintf("the proposal is no JSON: %v", err))
		return p
	case !is:
		p.problem("", "the proposal is no JSON object: send the fields of one node")
		return p
	}
	kind := schemas.NodeRule
	if name, is := object["type"].(string); is {
		if slices.Contains(schemas.NodeTypes(), schemas.NodeType(name)) {
			kind = schemas.NodeType(name)
		} else {
			p.problem("type", fmt.Sprintf("type %q is unknown: use one of %v", name, schemas.NodeTypes()))
			delete(object, "type")
		}
	}
	schema := schemaFor(kind)
	for _, key := range sortedKeys(object) {
		known, has := schema.Properties[key]
		if !has {
			p.problem(key, fmt.Sprintf("%s is no field of a %s: remove it", key, kind))
			continue
		}
		if before := len(p.Problems); p.validate(known, key, key, object[key]) && len(p.Problems) == before {
			p.fill(key, object[key])
		}
	}
	for _, key := range schema.Required {
		if _, has := object[key]; !has && !slices.Contains(required, key) {
			p.problem(key, fmt.Sprintf("a %s needs %s: add it", kind, key))
		}
	}
	return p
}

// fill sets one field, which the schema admits.
func (p *Proposal) fill(key string, value any) {
	filled := p.Node
	raw, err := json.Marshal(map[string]any{key: value})
	if err == nil {
		err = json.Unmarshal(raw, &filled)
	}
	if err != nil {
		p.problem(key, fmt.Sprintf("%s does not fit: %v", key, err))
		return
	}
	p.Node = filled
}

func (p *Proposal) problem(field, text string) {
	p.Problems = append(p.Problems, Reason{Check: CheckSchema, Field: field, Text: text})
}

// required are the fields that may be neither missing nor blank.
var required = []string{"id", "severity", "trigger", "statement"}

// wellFormed checks the values of the fields, where their types are right.
func (g Gate) wellFormed(p Proposal, c Corpus) []Reason {
	node := p.Node
	checked := Proposal{}
	values := map[string]string{"id": node.ID, "severity": node.Severity, "trigger": node.Trigger, "statement": node.Statement}
	for _, key := range required {
		switch {
		case slices.ContainsFunc(p.Problems, func(r Reason) bool { return r.Field == key || r.Field == "" }):
		case strings.TrimSpace(values[key]) == "":
			checked.problem(key, fmt.Sprintf("%s is missing or blank: fill it", key))
		case key == "id" && !corpus.ValidID(node.ID):
			checked.problem(key, fmt.Sprintf("id %q is malformed: three or more parts of capital letters and digits joined by hyphens, the last one a word or three digits, like GO-CTX-FIRST-001", node.ID))
		case key == "severity" && !slices.Contains(severities, node.Severity):
			checked.problem(key, fmt.Sprintf("severity %q is unknown: use one of %s", node.Severity, strings.Join(severities, ", ")))
		}
	}
	if node.LastValidated != "" {
		if _, err := time.Parse(time.DateOnly, node.LastValidated); err != nil {
			checked.problem("last_validated", fmt.Sprintf("last_validated %q is no date: write it as 2026-01-31", node.LastValidated))
		}
	}
	if node.StalenessWindow < 0 {
		checked.problem("staleness_window", fmt.Sprintf("staleness_window %d is negative: give days", node.StalenessWindow))
	}
	checked.checkDetail(p)
	checked.checkPattern(node.Check)
	g.checkEdges(&checked, node, c)
	return checked.Problems
}

// checkDetail leaves it to the node whether it has the fields of its type,
// unless the schema already found fault with that.
func (p *Proposal) checkDetail(judged Proposal) {
	if len(judged.Problems) > 0 {
		return
	}
	whole := judged.Node
	whole.ID, whole.Severity, whole.Trigger, whole.Statement = "x", "x", "x", "x"
	if err := whole.Validate(); err != nil {
		p.problem("type", err.Error())
	}
}

func (p *Proposal) checkPattern(c *schemas.Check) {
	if c == nil {
		return
	}
	if (strings.TrimSpace(c.Pattern) == "") == (strings.TrimSpace(c.Query) == "") {
		p.problem("check", "a check has exactly one of pattern and query")
	}
	for _, expression := range []struct{ name, text string }{{"pattern", c.Pattern}, {"unless", c.Unless}} {
		if _, err := regexp.Compile(expression.text); err != nil {
			p.problem("check", fmt.Sprintf("check.%s is no regular expression (RE2): %v", expression.name, err))
		}
	}
}

func (g Gate) checkEdges(p *Proposal, node schemas.Rule, c Corpus) {
	kinds := map[string]schemas.NodeType{}
	for i := range c.Nodes {
		kinds[c.Nodes[i].ID] = c.Nodes[i].NodeType()
	}
	for _, e := range node.Edges {
		to, exists := kinds[e.Target]
		switch {
		case strings.TrimSpace(e.Type) == "":
			p.problem("edges", fmt.Sprintf("the edge to %q has no type", e.Target))
		case e.Target == node.ID:
			p.problem("edges", fmt.Sprintf("edge %s points to the node itself: remove it", e.Type))
		case !exists:
			p.problem("edges", fmt.Sprintf("edge %s points to %q, which does not exist: correct the id or remove the edge", e.Type, e.Target))
		case g.Edge != nil:
			if err := g.Edge(e.Type, node.NodeType(), to); err != nil {
				p.problem("edges", fmt.Sprintf("edge %s to %s: %v", e.Type, e.Target, err))
			}
		}
	}
}

// Incomplete lists the fields that a proposal must have before it is promoted:
// a rationale, for nodes that a query may find three symptoms, and for a rule
// both examples.
func Incomplete(node schemas.Rule) []string {
	var missing []string
	add := func(field, text string) {
		if strings.TrimSpace(text) == "" {
			missing = append(missing, field)
		}
	}
	add("rationale", node.Rationale)
	if node.NodeType() == schemas.NodeRule {
		add("violation", node.Violation)
		add("pass_example", node.PassExample)
	}
	symptoms := map[string]bool{}
	for _, s := range node.Symptoms {
		if s = strings.ToLower(strings.Join(strings.Fields(s), " ")); s != "" {
			symptoms[s] = true
		}
	}
	if node.NodeType().Retrievable() && len(symptoms) < leastSymptoms {
		missing = append(missing, "symptoms")
	}
	return missing
}

// leastSymptoms is how many symptoms a complete node has.
const leastSymptoms = 3
