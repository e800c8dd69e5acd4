// Package tune fits a profile to judged queries.
//
// Every profile of a grid is judged once; cross-validation over targets then
// says what a profile chosen so is worth on queries it was not chosen on, beside
// the profile in use, with the interval of the difference. The same rules,
// truth and seed give the same result.
//
// It changes nothing: the caller decides what to do with the profile.
package tune

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
	"github.com/writbus/writ/schemas"
)

// ErrTooFew is returned by [Fit] when the truth has too few targets to divide.
var ErrTooFew = errors.New("tune: too few judged queries")

// ErrNoProfile is returned by [Fit] when the current profile is not known.
var ErrNoProfile = errors.New("tune: no such profile")

// Config is what to fit.
type Config struct {
	Rules   []schemas.Rule
	Truth   []benchmark.Query // off-topic ones do not count: they have no order
	Options retrieval.Options // the embedder, and further profiles
	Current string            // the profile to beat; "" is the embedder's
	Folds   int               // 0 is 5
	Seed    uint64
}

// Result is what was found.
type Result struct {
	Current retrieval.Profile `json:"current"`
	Best    retrieval.Profile `json:"best"` // chosen on all queries
	// CurrentScore is the current profile's nDCG@10; HeldOut that of the profiles
	// chosen without the queries they are judged on; Difference the second less
	// the first, query by query.
	CurrentScore benchmark.Interval `json:"current_score"`
	HeldOut      benchmark.Interval `json:"held_out"`
	Difference   benchmark.Interval `json:"difference"`
	// Better tells that the whole interval of the difference is above zero.
	Better  bool    `json:"better"`
	Queries int     `json:"queries"`
	Folds   int     `json:"folds"`
	Chosen  []Fold  `json:"chosen"`
	Tried   []Trial `json:"tried"` // every profile on all queries, best first
}

// Fold is one division: what was chosen without its queries, and its score on them.
type Fold struct {
	Profile string  `json:"profile"`
	Queries int     `json:"queries"`
	Score   float64 `json:"score"`
}

// Trial is a profile's score on all queries.
type Trial struct {
	Profile retrieval.Profile `json:"profile"`
	Score   float64           `json:"score"`
}

const defaultFolds = 5

// Fit judges the grid and picks.
func Fit(c Config) (Result, error) {
	truth := slices.DeleteFunc(slices.Clone(c.Truth), benchmark.Query.OffTopic)
	folds := c.Folds
	if folds < 2 {
		folds = defaultFolds
	}
	targets, places := divide(truth, folds)
	if targets < folds {
		return Result{}, fmt.Errorf("%w: %d targets for %d folds", ErrTooFew, targets, folds)
	}
	docs, err := retrieval.AnalyseAll(c.Rules, c.Options.Embedder)
	if err != nil {
		return Result{}, err
	}
	grid := Grid(c.Options.Embedder != nil)
	opt := c.Options
	opt.Profiles = append(slices.Clone(opt.Profiles), grid...)
	ix, err := retrieval.NewIndex(docs, opt)
	if err != nil {
		return Result{}, err
	}
	current, err := currentProfile(docs, c)
	if err != nil {
		return Result{}, err
	}
	r := Result{Current: current, Queries: len(truth), Folds: folds}
	base := judge(ix, truth, current.Name)
	scores := make([][]float64, len(grid))
	for i, p := range grid {
		scores[i] = judge(ix, truth, p.Name)
		r.Tried = append(r.Tried, Trial{p, mean(scores[i], nil)})
	}
	held := make([]float64, len(truth))
	for fold := range folds {
		best := pick(scores, func(q int) bool { return places[q] != fold })
		in := func(q int) bool { return places[q] == fold }
		n := 0
		for q := range truth {
			if in(q) {
				held[q] = scores[best][q]
				n++
			}
		}
		r.Chosen = append(r.Chosen, Fold{grid[best].Name, n, mean(scores[best], in)})
	}
	r.Best = grid[pick(scores, nil)]
	clusters := make([]string, len(truth))
	difference := make([]float64, len(truth))
	for q := range truth {
		clusters[q], difference[q] = truth[q].Target(), held[q]-base[q]
	}
	r.CurrentScore = benchmark.Bootstrap(base, clusters, c.Seed)
	r.HeldOut = benchmark.Bootstrap(held, clusters, c.Seed)
	r.Difference = benchmark.Bootstrap(difference, clusters, c.Seed)
	r.Better = r.Difference.Low > 0
	slices.SortStableFunc(r.Tried, func(a, b Trial) int { return cmp.Compare(b.Score, a.Score) })
	return r, nil
}

func currentProfile(docs []retrieval.Document, c Config) (retrieval.Profile, error) {
	plain, err := retrieval.NewIndex(docs, c.Options)
	if err != nil {
		return retrieval.Profile{}, err
	}
	name := c.Current
	if name == "" {
		name = plain.Search(retrieval.Query{Text: "profile"}).Profile
	}
	p, ok := plain.Profile(name)
	if !ok {
		return p, fmt.Errorf("%w: %q", ErrNoProfile, name)
	}
	return p, nil
}

// Grid lists the profiles to try: convex ones over the share of meaning and the
// priors; without vectors over the priors alone.
func Grid(vectors bool) []retrieval.Profile {
	shares := []float64{0}
	if vectors {
		shares = []float64{0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 1}
	}
	var grid []retrieval.Profile
	for _, share := range shares {
		for _, prior := range []float64{0, 0.5, 1, 2} {
			grid = append(grid, retrieval.Profile{
				Name:   fmt.Sprintf("convex-%.2f-%.1f", share, prior),
				Fusion: retrieval.FusionConvex, Vector: share, BM25: 1 - share,
				Severity: 0.06 * prior, Confidence: 0.04 * prior, Graph: 0.01, Pairs: retrieval.PairWeight,
			})
		}
	}
	return grid
}

// divide deals the targets out to the folds, in the order in which they first
// come, so that wordings of one question are never on both sides.
func divide(truth []benchmark.Query, folds int) (targets int, places []int) {
	seen := map[string]int{}
	for _, q := range truth {
		key := q.Target()
		if _, ok := seen[key]; !ok {
			seen[key] = len(seen)
		}
		places = append(places, seen[key]%folds)
	}
	return len(seen), places
}

func judge(ix *retrieval.Index, truth []benchmark.Query, profile string) []float64 {
	scores := make([]float64, len(truth))
	for i, q := range truth {
		var ids []string
		for _, h := range ix.Search(retrieval.Query{Text: q.Query, Profile: profile, Raw: true, Limit: 10, BudgetTokens: -1}).Rules {
			ids = append(ids, h.ID)
		}
		scores[i] = benchmark.Measure(ids, q.Relevant).NDCG10
	}
	return scores
}

// pick is the profile with the best mean; of equal ones the first.
func pick(scores [][]float64, in func(int) bool) int {
	best := 0
	for i := range scores {
		if mean(scores[i], in) > mean(scores[best], in) {
			best = i
		}
	}
	return best
}

func mean(values []float64, in func(int) bool) float64 {
	var sum, n float64
	for i, v := range values {
		if in == nil || in(i) {
			sum += v
			n++
		}
	}
	return sum / max(n, 1)
}

// Write prints the result for people.
func (r Result) Write(w io.Writer) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "PROFILE\tNDCG@10 on %d queries\n", r.Queries)
	fmt.Fprintf(t, "%s (current)\t%s\n", r.Current.Name, r.CurrentScore)
	fmt.Fprintf(t, "fitted, %d folds held out\t%s\n", r.Folds, r.HeldOut)
	fmt.Fprintf(t, "difference\t%+.3f (%+.3f to %+.3f)\n", r.Difference.Mean, r.Difference.Low, r.Difference.High)
	if err := t.Flush(); err != nil {
		return err
	}
	p := r.Best
	fmt.Fprintf(&b, "\nfitted on all queries: %s fusion, vector %.2f, bm25 %.2f, severity %.2f, confidence %.2f, graph %.2f\n",
		p.Fusion, p.Vector, p.BM25, p.Severity, p.Confidence, p.Graph)
	if r.Better {
		b.WriteString("It is better than the current profile: the whole interval of the difference is above zero.\n")
	} else {
		b.WriteString("It is not proven better than the current profile: the interval of the difference holds zero. Keep the current one, or judge more queries.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
