package retrieval

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// MandatoryCap is the most tokens the always-on band may take.
const MandatoryCap = 5000

// ErrMandatoryOverflow is returned by [CheckMandatory].
var ErrMandatoryOverflow = errors.New("retrieval: the mandatory rules exceed their cap")

// Block is a rendered text.
type Block struct {
	Rules    []string `json:"rules"` // ids, in order
	Text     string   `json:"text"`  // "" without rules
	Tokens   int      `json:"tokens"`
	Encoding string   `json:"encoding"`
	Overflow []string `json:"overflow,omitempty"` // ids of mandatory rules that the cap left out
}

// CheckMandatory tells whether all always-on rules among the documents fit into
// their band, superseded ones aside. The error is [ErrMandatoryOverflow] and
// names the rules that do not, the least severe first to go.
func CheckMandatory(docs []Document) error {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b Document) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	ids := make(map[string]int32, len(docs))
	for i := range docs {
		ids[fold(docs[i].Rule.ID)] = int32(i)
	}
	superseded := newGraph(docs, ids).superseded
	var band []*Document
	need := 0
	for i := range docs {
		if docs[i].AlwaysOn() && !superseded[i] {
			band = append(band, &docs[i])
			need += cost(bandPieces(&docs[i]))
		}
	}
	block := renderBand(band)
	if len(block.Overflow) == 0 {
		return nil
	}
	need += countTokens(bandStart) + countTokens(bandEnd)
	return fmt.Errorf("%w of %d tokens: they need %d, and there is no room for %s",
		ErrMandatoryOverflow, MandatoryCap, need, strings.Join(block.Overflow, ", "))
}

// bandPieces are what a mandatory rule shows of itself.
func bandPieces(d *Document) []piece {
	pieces := []piece{d.piece(segTitle), d.piece(segWhen), d.piece(segRule)}
	if d.Type == string(schemas.NodeForbiddenResponse) {
		pieces = append(pieces, d.piece(segCorrect))
	}
	return pieces
}

// renderBand renders the documents, most severe first, then by id, as far as
// the cap goes. The documents come sorted by id.
func renderBand(docs []*Document) Block {
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, func(a, b *Document) int {
		return cmp.Compare(severity(b.Rule), severity(a.Rule))
	})
	block := Block{Rules: []string{}, Encoding: Encoding}
	if len(docs) == 0 {
		return block
	}
	start, end := measured(bandStart), measured(bandEnd)
	pieces := []piece{start}
	room := MandatoryCap - start.tokens - end.tokens
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
