package search

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/schemas/glob"
)

// Method is how documents are found.
type Method string

// The methods. Names are part of the command line; never change.
const (
	BM25     Method = "bm25"      // words alone, no signals
	Semantic Method = "semantic"  // meaning alone
	TwoStage Method = "two-stage" // words, then words, meaning and signals among the candidates
)

// Methods lists the methods.
func Methods() []Method { return []Method{BM25, Semantic, TwoStage} }

var (
	// ErrMethod is returned for an unknown method; its text lists the known ones.
	ErrMethod = errors.New("search: unknown method")
	// ErrNoEmbedder is returned for a semantic search of an index without
	// vectors.
	ErrNoEmbedder = errors.New("search: the index has no vectors: an embedder must be chosen before it is built")
)

// ParseMethod reads a method's name; "" is [TwoStage]. An error wraps
// [ErrMethod].
func ParseMethod(name string) (Method, error) {
	if name == "" {
		return TwoStage, nil
	}
	if m := Method(name); slices.Contains(Methods(), m) {
		return m, nil
	}
	return "", UnknownMethod(name)
}

// UnknownMethod is the error for a name that is not one of a method; it lists
// those that are.
func UnknownMethod(name string) error {
	names := make([]string, 0, 3)
	for _, m := range Methods() {
		names = append(names, string(m))
	}
	return fmt.Errorf("%w %q: use %s", ErrMethod, name, strings.Join(names, ", "))
}

// Filter says which documents may be found. Every part that is set must admit a
// document; the zero filter admits all.
type Filter struct {
	Types []artifact.Type // any of them
	Tags  []string        // any of them, in any letter case
	// Untagged lets documents without any tag pass the test of tags.
	Untagged bool
	Phases   []string // any of them; a document without a phase passes
	Paths    []string // any of these patterns, see [glob.Glob]
}

func (f Filter) empty() bool {
	return len(f.Types) == 0 && len(f.Tags) == 0 && len(f.Phases) == 0 && len(f.Paths) == 0
}

// Query is what is looked for.
type Query struct {
	Text   string
	Method Method // "" is TwoStage
	Filter Filter
	// Pool is how many candidates the first stage gives, 0 is 100; Limit how
	// many hits come back, 0 is 10.
	Pool, Limit int
	// PerFile is how many hits of one file may come back, 0 is 3.
	PerFile int
	// MinScore leaves out hits whose score is less.
	MinScore float64
	// MinShare leaves out files whose sum is less than this share of the best
	// one's, and everything where the answer's Sure is below [LeastSure]; of the
	// best file of each type that the filter names half of it is enough. 0 leaves
	// out nothing.
	MinShare float64
	Explain  bool
	Weights  *Weights // nil is DefaultWeights
	// Clock returns nanoseconds, for the latencies of the stages; nil measures
	// nothing.
	Clock func() int64
}

// Defaults of a query.
const (
	DefaultPool    = 100
	DefaultLimit   = 10
	DefaultPerFile = 3
)

// Answer is what was found, best first; ties are in the order of paths.
type Answer struct {
	Method   Method
	Embedder string // of the vectors that took part, "" for none
	Problem  string // why vectors took no part that should have; "" for none
	Hits     []Hit
	Sure     float64 // the chance that anything of the index answers; see calibrate.go
	Best     float64 // the best file's sum, in the unit of BM25; 0 for none
	Stages   []Stage
}

// Stage is one step of a search.
type Stage struct {
	Name       string
	Candidates int   // documents that the step gave
	Nanos      int64 // by the query's clock
}

// Hit is a chunk that was found.
type Hit struct {
	Document *artifact.Document // without chunks and symbols; must not be changed
	Chunk    int                // its place among the document's chunks
	Lines    [2]int
	Heading  string
	Symbols  []string // that the chunk declares
	Tokens   int      // of the chunk
	Copies   []string // paths of other files that were found, with the same bytes
	// Score is the chance, 0 to 1, that the file answers the query; see
	// calibrate.go. Of later chunks of one file it is less.
	Score float64
	// Why are the parts of the score, if they were asked for.
	Why map[string]float64
}

// compile makes the filter's test of a document.
func (f Filter) compile() (func(d *document) bool, error) {
	if f.empty() {
		return nil, nil
	}
	globs, err := glob.ParseAll(f.Paths)
	if err != nil {
		return nil, err
	}
	has := func(list []string, s string) bool {
		return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
	}
	return func(d *document) bool {
		switch {
		case len(f.Types) > 0 && !slices.Contains(f.Types, d.Type):
			return false
		case len(f.Tags) > 0 && !(f.Untagged && len(d.Tags) == 0) && !slices.ContainsFunc(d.Tags, func(t string) bool { return has(f.Tags, t) }):
			return false
		case len(f.Phases) > 0 && d.Phase != "" && !has(f.Phases, d.Phase):
			return false
		}
		return len(globs) == 0 || glob.Any(globs, d.Path)
	}, nil
}
