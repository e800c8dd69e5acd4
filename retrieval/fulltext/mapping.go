package fulltext

import (
	"cmp"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

// layout is the version of the mapping, its analyser and the stored fields; raised when
// either changes, so that older indexes are built again. Persisted.
const layout = "2"

// analyzerName is the name of the shared analyser in a mapping; persisted.
const analyzerName = "writ"

func init() {
	err := registry.RegisterAnalyzer(analyzerName, func(map[string]any, *registry.Cache) (analysis.Analyzer, error) {
		return lexical.Analyzer(), nil
	})
	if err != nil {
		panic("fulltext: " + err.Error())
	}
}

// The fields of a rule: those of words, and those that are compared whole.
var (
	textFields    = []string{"title", "trigger", "statement", "symptoms", "violation", "pass_example", "enforcement", "rationale", "tags", "body"}
	keywordFields = []string{"id", "type", "domain", "severity", "scope", "confidence", "authority", "mandatory", "tag"}
)

// Fields lists the fields a request may name, sorted as they are stored.
func Fields() []string { return append(append([]string{}, textFields...), keywordFields...) }

func newMapping() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer = analyzerName
	doc := bleve.NewDocumentStaticMapping()
	for _, name := range textFields {
		field := bleve.NewTextFieldMapping()
		field.Analyzer, field.DocValues = analyzerName, false
		doc.AddFieldMappingsAt(name, field)
	}
	for _, name := range keywordFields {
		field := bleve.NewTextFieldMapping()
		field.Analyzer = keyword.Name
		field.IncludeInAll = name == "id"
		doc.AddFieldMappingsAt(name, field)
	}
	// Ids are found both whole and by their parts.
	parts := bleve.NewTextFieldMapping()
	parts.Name, parts.Analyzer, parts.DocValues, parts.Store = "id_words", analyzerName, false, false
	doc.AddFieldMappingsAt("id", parts)
	m.DefaultMapping = doc
	return m
}

// record is a rule as it is indexed. Keyword fields are in lower case, as
// requests are compared.
func record(d Document) map[string]any {
	r := d.Rule
	mandatory := "false"
	if r.Mandatory {
		mandatory = "true"
	}
	authority := cmp.Or(r.Authority, "human")
	return map[string]any{
		"id": strings.ToLower(r.ID), "type": strings.ToLower(d.Type), "domain": strings.ToLower(r.Domain), "severity": strings.ToLower(r.Severity),
		"scope": strings.ToLower(r.Scope), "confidence": strings.ToLower(r.Confidence), "authority": strings.ToLower(authority),
		"mandatory": mandatory, "tag": lowerAll(r.Tags), "title": r.Title, "trigger": r.Trigger, "statement": r.Statement,
		"symptoms": r.Symptoms, "violation": r.Violation, "pass_example": r.PassExample, "enforcement": r.Enforcement,
		"rationale": r.Rationale, "tags": r.Tags, "body": r.Body,
	}
}

func lowerAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.ToLower(s)
	}
	return out
}

// Document is a rule to index.
type Document struct {
	Type string // Rule, Skill, …
	Rule schemas.Rule
}
