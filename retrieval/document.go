package retrieval

import (
	"crypto/sha256"
	"hash/crc32"
	"strings"

	"github.com/writbus/writ/retrieval/lexical"
	"github.com/writbus/writ/schemas"
)

// AnalysisVersion names what [Analyse] computes: the analyser, the fields, the
// rendering, the token encoding and the texts that are embedded. A stored
// document of another version is analysed again. Persisted; only ever raise it.
const AnalysisVersion = 7

// StoredVersion is the version of documents that [Embed] gave an embedder's
// vectors: another analysis or another embedder is another version. The name is
// that of the embedder, "" of none.
func StoredVersion(embedder string) int {
	if embedder == "" || embedder == EmbedderNone {
		return storedVersion
	}
	return storedVersion<<24 | int(crc32.ChecksumIEEE([]byte(embedder))>>8)
}

// TypeRule is the node type of a rule.
const TypeRule = "Rule"

// Document is an analysed rule: the rule itself, its terms by field, what each
// part of its rendering costs and, once embedded, its vectors. Made by
// [Analyse] or [UnmarshalDocument]; copies share all of it but the type.
type Document struct {
	Type    string
	Rule    *schemas.Rule // never nil, and never changed
	words   *wording      // nil of the zero document
	meaning *meaning      // nil without vectors
}

// wording is what the analysis of a rule's text gave. Never changed, so that
// copies of a document share it.
type wording struct {
	fields string        // terms and counts by field, as they are stored
	pairs  lexical.Pairs // of the terms that stand beside each other
	tokens [numSegments]int32
	sum    [sha256.Size]byte // of the rule and the analysis
}

// meaning is what an embedder gave. Never changed, so that copies of a document
// share it.
type meaning struct {
	embedder string
	dim      int
	values   []float32 // a vector per view, of length one or all zeros, one after the other
}

// vectors is how many there are.
func (m *meaning) vectors() int {
	if m == nil || m.dim == 0 {
		return 0
	}
	return len(m.values) / m.dim
}

// vector is that of a view.
func (m *meaning) vector(view int) []float32 {
	return m.values[view*m.dim : (view+1)*m.dim : (view+1)*m.dim]
}

// Analyse prepares a rule for the index. It is the expensive step (stemming
// and token counting, about half a millisecond a rule), done once per version
// of a rule and persisted. Strings that are not UTF-8 are made so.
func Analyse(r schemas.Rule) Document {
	r = clean(r)
	doc := Document{Type: string(r.NodeType()), Rule: &r}
	texts := [lexical.NumFields][]string{
		lexical.Trigger:   append([]string{r.Trigger}, r.Symptoms...),
		lexical.Name:      {r.ID, r.Title},
		lexical.Statement: {r.Statement},
		lexical.Tags:      append([]string{r.Domain}, r.Tags...),
		lexical.Body:      append([]string{r.Body, r.Rationale, r.Violation, r.PassExample, r.Enforcement}, r.DetailTexts()...),
	}
	var fields lexical.Fields
	for field := range texts {
		fields[field] = lexical.CountTerms(texts[field]...)
	}
	pairs := map[lexical.Field][]lexical.Pair{}
	for _, field := range lexical.PairFields {
		pairs[field] = lexical.CountPairs(fields[field], texts[field]...)
	}
	words := wording{fields: packFields(&fields), pairs: lexical.PackPairs(pairs)}
	for seg := range words.tokens {
		words.tokens[seg] = int32(countTokens(segment(seg).render(&r)))
	}
	doc.words = &words
	words.sum = doc.identity()
	return doc
}

// AlwaysOn tells whether the document belongs to the mandatory band and is
// therefore never retrieved.
func (d Document) AlwaysOn() bool { return d.Rule.AlwaysShown() }

// Sum identifies the analysed rule: a SHA-256 over it and its analysis, without
// the vectors.
func (d Document) Sum() [sha256.Size]byte { return d.wording().sum }

// wording is that of the analysis, empty if there was none.
func (d *Document) wording() *wording {
	if d.words == nil {
		return &wording{}
	}
	return d.words
}

// EmbeddedBy names the embedder whose vectors the document carries, "" for none.
func (d Document) EmbeddedBy() string {
	if d.meaning == nil {
		return ""
	}
	return d.meaning.embedder
}

// clean makes every string valid UTF-8, so that the rule survives JSON, and
// empty lists nil.
func clean(r schemas.Rule) schemas.Rule {
	for _, s := range ruleTexts(&r) {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	for _, list := range ruleLists(&r) {
		*list = cleanAll(*list)
	}
	cleanDetails(&r)
	var edges []schemas.Edge
	for _, e := range r.Edges {
		edges = append(edges, schemas.Edge{
			Type: strings.ToValidUTF8(e.Type, "\uFFFD"), Target: strings.ToValidUTF8(e.Target, "\uFFFD"),
		})
	}
	r.Edges = edges
	return r
}

func cleanAll(in []string) []string {
	var out []string
	for _, s := range in {
		out = append(out, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}
