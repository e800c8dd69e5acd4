package curation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/writbus/writ/schemas/excerpt"

	"github.com/writbus/writ/retrieval/corpus"
	"github.com/writbus/writ/schemas"
)

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
	for _, key := range slices.Sorted(maps.Keys(object)) {
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
		if _, has := object[key]; !has && required[key] == nil {
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

// required are the fields that may be neither missing nor blank, each with a
// value that nothing is wrong with.
var required = map[string]func(*schemas.Rule){
	"id":        func(r *schemas.Rule) { r.ID = "A-B-001" },
	"severity":  func(r *schemas.Rule) { r.Severity = "low" },
	"trigger":   func(r *schemas.Rule) { r.Trigger = "." },
	"statement": func(r *schemas.Rule) { r.Statement = "." },
}

// wellFormed checks the values of the fields, and what the edges point to. A
// field whose type is wrong has been reported and is not missing on top.
func wellFormed(p Proposal, node schemas.Rule, c Corpus) []Reason {
	filled := node
	for _, known := range p.Problems {
		if fill, is := required[known.Field]; is {
			fill(&filled)
		}
	}
	var found Proposal
	if !p.unreadable() {
		for _, sentence := range corpus.CheckNode(filled) {
			found.problem(fieldIn(sentence), sentence)
		}
	}
	kinds := map[string]schemas.NodeType{}
	for i := range c.Nodes {
		kinds[c.Nodes[i].ID] = c.Nodes[i].NodeType()
	}
	for _, e := range node.Edges {
		to, exists := kinds[e.Target]
		switch wrong := corpus.CheckEdge(e, node.NodeType(), to); {
		case e.Target == node.ID || strings.TrimSpace(e.Target) == "":
		case !exists:
			found.problem("edges", fmt.Sprintf("edge %s points to %q, which does not exist: correct the id or remove the edge", e.Type, e.Target))
		case wrong != "":
			found.problem("edges", wrong)
		}
	}
	return found.Problems
}

// unreadable says that there is no node to look at.
func (p Proposal) unreadable() bool {
	return slices.ContainsFunc(p.Problems, func(r Reason) bool { return r.Field == "" })
}

// fieldIn is the field that a sentence begins with, if any.
func fieldIn(sentence string) string {
	end := strings.IndexFunc(sentence, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
	if end < 0 {
		return ""
	}
	name := sentence[:end]
	if name == "edge" {
		return "edges"
	}
	for _, t := range schemas.NodeTypes() {
		if _, is := schemaFor(t).Properties[name]; is {
			return name
		}
	}
	return ""
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
		if s = strings.ToLower(excerpt.Line(s)); s != "" {
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
