package lexical

import (
	"cmp"
	"slices"
)

// Field is one of the weighted parts of a document.
type Field int

// The fields, in their stored order; persisted; never reorder.
const (
	Trigger   Field = iota // when the rule applies, and its symptoms
	Name                   // id and title
	Statement              // what the rule says
	Tags
	Body // everything else
	NumFields
)

// Boosts say how many times a word counts that stands once in the field.
var Boosts = [NumFields]float64{Trigger: 2, Name: 2, Statement: 1, Tags: 1, Body: 0.5}

// Count is a term of a field and how often the field holds it.
type Count struct {
	Term string
	N    uint32
}

// Fields are the term counts of one document, each field sorted by term.
type Fields [NumFields][]Count

// CountTerms analyses the texts and counts their terms, sorted by term.
func CountTerms(texts ...string) []Count {
	var terms []string
	for _, text := range texts {
		for _, term := range Analyse(text) {
			terms = append(terms, term.Text)
		}
	}
	slices.Sort(terms)
	var counts []Count
	for i, term := range terms {
		if i > 0 && term == terms[i-1] {
			counts[len(counts)-1].N++
			continue
		}
		counts = append(counts, Count{Term: term, N: 1})
	}
	return counts
}

func length(counts []Count) float64 {
	var n float64
	for _, c := range counts {
		n += float64(c.N)
	}
	return n
}

func byTerm(a, b Count) int { return cmp.Compare(a.Term, b.Term) }
