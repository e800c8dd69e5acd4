package retrieval

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Fusion is how a profile combines the signals of a candidate.
type Fusion string

const (
	// FusionRRF weighs reciprocal ranks, (k+1)/(k+rank) with k = 60, of the
	// vector and BM25 lists (Cormack, Clarke and Büttcher, SIGIR 2009; rescaled
	// so that the first place is worth 1) and adds the priors with theirs.
	FusionRRF Fusion = "rrf"
	// FusionConvex weighs bm25/max and the min-max scaled cosine, and multiplies
	// the sum by 1 + Severity·severity + Confidence·confidence: a prior can then
	// reorder near ties only, never lift what is irrelevant.
	FusionConvex Fusion = "convex"
)

// Profile is a set of weights, which belong to the signals they were fitted on.
type Profile struct {
	Name       string
	Fusion     Fusion
	Vector     float64
	BM25       float64
	Severity   float64
	Confidence float64
	Graph      float64
	// Pairs is what two words that stand beside each other in the query and in a
	// rule add to BM25, as if they were one word, times this.
	Pairs float64
	// LiteralVector and LiteralBM25 replace Vector and BM25 for queries by id,
	// quoted phrase or exact name. Both zero: no change.
	LiteralVector, LiteralBM25 float64
	// Cover is the share of the best score that any text could have for the query's
	// words from which the best by words counts in full, in FusionConvex: words that
	// few of a query's are found by say little, whoever has most of them.
	Cover float64
	// Candidates is how many the vector search adds; 0 is 10.
	Candidates int
	// Embedders are beginnings of the names of those the weights were fitted
	// on, for which this is the default profile. "" is every one that no other
	// profile names.
	Embedders []string
}

// The names of the built-in profiles.
const (
	ProfileReference        = "reference"         // tuned for all-MiniLM-L6-v2 by the system this continues
	ProfileReferenceLexical = "reference-lexical" // reference without vectors, its other weights scaled to sum to 1
	ProfileStatic           = "static"            // convex combination, for the static embedder
	ProfileMiniLM           = "minilm"            // convex combination, for all-MiniLM encoders
	ProfileLexical          = "lexical"           // words alone; the default without an embedder
)

// PairWeight is the Pairs of the profiles that were fitted here; see DESIGN.md.
const PairWeight = 0.2

var builtin = []Profile{
	{
		Name: ProfileReference, Fusion: FusionRRF,
		Vector: 0.594, BM25: 0.198, Severity: 0.099, Confidence: 0.099, Graph: 0.01,
		LiteralVector: 0.396, LiteralBM25: 0.396,
	},
	{
		Name: ProfileStatic, Fusion: FusionConvex,
		Vector: 0.3, BM25: 0.7, Severity: 0.06, Confidence: 0.04, Graph: 0.01, Pairs: PairWeight, Cover: 0.75,
		Embedders: []string{""},
	},
	{
		Name: ProfileMiniLM, Fusion: FusionConvex,
		Vector: 0.5, BM25: 0.5, Severity: 0.06, Confidence: 0.04, Graph: 0.01, Pairs: PairWeight, Cover: 0.75,
		Embedders: []string{"all-MiniLM-"},
	},
	{
		Name: ProfileLexical, Fusion: FusionConvex,
		BM25: 1, Severity: 0.06, Confidence: 0.04, Graph: 0.01, Pairs: PairWeight,
	},
}

// withoutVectors is the profile for the case that no embedder answers: the
// vector's weight goes to the other signals in proportion (RRF), or to BM25
// (convex, whose priors are factors and stay). Its name says so.
func (p Profile) withoutVectors() Profile {
	if p.Vector == 0 && p.LiteralVector == 0 {
		return p
	}
	p.Name += "-lexical"
	if p.Fusion == FusionConvex {
		p.Vector, p.BM25 = 0, 1
	} else {
		rest := p.BM25 + p.Severity + p.Confidence + p.Graph
		p.Vector = 0
		p.BM25, p.Severity, p.Confidence, p.Graph = p.BM25/rest, p.Severity/rest, p.Confidence/rest, p.Graph/rest
	}
	p.LiteralVector, p.LiteralBM25 = 0, 0
	return p
}

// literal is the profile for a literal query.
func (p Profile) literal() Profile {
	if p.LiteralVector != 0 || p.LiteralBM25 != 0 {
		p.Vector, p.BM25 = p.LiteralVector, p.LiteralBM25
	}
	return p
}

// profile picks by name: the query's, else the options' default, else the
// embedder's, else lexical. An unknown name falls through to the next, and the
// answer tells which one was used.
func (ix *Index) profile(name string, vectors bool) Profile {
	for _, name := range []string{name, ix.opt.DefaultProfile} {
		if p, ok := ix.Profile(name); ok {
			if !vectors {
				return p.withoutVectors()
			}
			return p
		}
	}
	if vectors {
		return ix.own
	}
	p, _ := ix.Profile(ProfileLexical)
	return p.withoutVectors()
}

// Profile finds a profile by name: one of the options', or a built-in one.
func (ix *Index) Profile(name string) (Profile, bool) {
	for _, set := range [][]Profile{ix.opt.Profiles, builtin} {
		if at := slices.IndexFunc(set, func(p Profile) bool { return p.Name == name }); at >= 0 {
			return set[at], true
		}
	}
	return Profile{}, false
}

// embedderProfile is the one fitted on the index's embedder: of all that claim
// it, the one that names more of its name, the options' first.
func (ix *Index) embedderProfile() Profile {
	var best Profile
	longest := -1
	for _, p := range slices.Concat(ix.opt.Profiles, builtin) {
		for _, prefix := range p.Embedders {
			if len(prefix) > longest && strings.HasPrefix(ix.embedder, prefix) {
				best, longest = p, len(prefix)
			}
		}
	}
	return best
}

// Profiles lists the built-in profiles.
func Profiles() []Profile { return slices.Clone(builtin) }

// severity is a rule's prior by its severity; unknown ones count as medium.
func severity(r *schemas.Rule) float64 {
	switch r.Severity {
	case "critical":
		return 1
	case "high":
		return 0.75
	case "low":
		return 0.25
	}
	return 0.5
}

// confidence is a rule's prior by its stated confidence. One that states none
// counts as peer-reviewed if a person stands behind it, else as speculative.
func confidence(r *schemas.Rule) float64 {
	switch r.Confidence {
	case "battle-tested":
		return 1
	case "production-validated":
		return 0.8
	case "peer-reviewed":
		return 0.6
	case "speculative":
		return 0.3
	}
	if provisional(r) {
		return 0.3
	}
	return 0.6
}

// authority names who stands behind a rule; hand-authored rules need not say.
func authority(r *schemas.Rule) string {
	if r.Authority == "" {
		return "human"
	}
	return r.Authority
}

// authorityRank orders authorities: a person's rule, one a person promoted, and
// everything else, which is provisional.
func authorityRank(r *schemas.Rule) int {
	switch authority(r) {
	case "human":
		return 2
	case "ai-promoted":
		return 1
	}
	return 0
}

func provisional(r *schemas.Rule) bool { return authorityRank(r) == 0 }
