package retrieval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// MandatoryCap is the most tokens that all always-on rules may need together.
const MandatoryCap = 5000

// BandBudget is how many tokens of them every session is shown, once: with the
// greeting before it, a session begins with 600 at most.
const BandBudget = 500

// ErrMandatoryOverflow is returned by [CheckMandatory].
var ErrMandatoryOverflow = errors.New("retrieval: the mandatory rules exceed their cap")

// Block is a rendered text.
type Block struct {
	Rules    []string `json:"rules"` // ids, in order
	Text     string   `json:"text"`  // "" without rules
	Tokens   int      `json:"tokens"`
	Encoding string   `json:"encoding"`
	Overflow []string `json:"overflow,omitempty"` // ids of always-on rules that there was no room for
}

// CheckMandatory tells whether all always-on rules among the documents stay
// below their cap, superseded ones aside. The error is [ErrMandatoryOverflow]
// and names the rules that do not, the least important first to go.
func CheckMandatory(docs []Document) error {
	band := bandOf(docs)
	need := countTokens(bandStart) + countTokens(bandEnd)
	for _, d := range band {
		need += cost(bandPieces(d))
	}
	block := renderBand(band, MandatoryCap)
	if len(block.Overflow) == 0 {
		return nil
	}
	return fmt.Errorf("%w of %d tokens: they need %d, and there is no room for %s",
		ErrMandatoryOverflow, MandatoryCap, need, strings.Join(block.Overflow, ", "))
}

// Band renders the band of an index that holds these always-on documents.
func Band(docs []Document) Block { return renderBand(bandOf(docs), BandBudget) }

// bandOf are the always-on documents that no other one supersedes, by id.
func bandOf(docs []Document) []*Document {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b Document) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	ids := make(map[string]int32, len(docs))
	for i := range docs {
		ids[fold(docs[i].Rule.ID)] = int32(i)
	}
	g := newGraph(docs, ids)
	var band []*Document
	for i := range docs {
		if docs[i].AlwaysOn() && !g.superseded(int32(i)) {
			band = append(band, &docs[i])
		}
	}
	return band
}

// importance orders the band: mandatory rules before what is only always shown,
// and each of them by severity.
func importance(d *Document) float64 {
	if d.Rule.Mandatory {
		return 1 + severity(d.Rule)
	}
	return severity(d.Rule)
}

// bandPieces are what a mandatory rule shows of itself: one line.
func bandPieces(d *Document) []piece { return []piece{measured(bandLine(d.Rule))} }

// bandLine is "- GO-ERR-001: Wrap an error once. Add the operation with %w."
func bandLine(r *schemas.Rule) string {
	line := excerpt.Line(r.Statement)
	if title := strings.TrimRight(excerpt.Line(r.Title), "."); title != "" {
		line = title + ". " + line
	}
	return labelled("- "+excerpt.Line(r.ID)+": ", line)
}

// renderBand renders the documents, most important first, then by id, as far as
// so many tokens go. The documents come sorted by id.
func renderBand(docs []*Document, most int) Block {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b *Document) int {
		return cmp.Compare(importance(b), importance(a))
	})
	block := Block{Rules: []string{}, Encoding: Encoding}
	if len(docs) == 0 {
		return block
	}
	start, end := measured(bandStart), measured(bandEnd)
	pieces := []piece{start}
	room := most - start.tokens - end.tokens
	for _, doc := range docs {
		own := bandPieces(doc)
		if need := cost(own); need <= room {
			room -= need
			pieces = append(pieces, own...)
			block.Rules = append(block.Rules, doc.Rule.ID)
		} else {
			block.Overflow = append(block.Overflow, doc.Rule.ID)
		}
	}
	if len(block.Rules) > 0 {
		pieces = append(pieces, end)
		block.Text, block.Tokens = join(pieces), cost(pieces)
	}
	return block
}
