package tune

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/retrieval/benchmark"
)

// Giving is a fitted decision about what is given, and what it was worth on the
// groups it was not fitted on.
type Giving struct {
	Decision retrieval.Decision `json:"decision"`
	Held     []GivenShares      `json:"held_out"` // at several least chances of a rule in full
	// Error is the expected calibration error: the mean distance, over ten bins of
	// as many rules, between the chance and the share that was right.
	Error   float64 `json:"calibration_error"`
	Queries int     `json:"queries"`
	Rules   int     `json:"rules"` // judged
	Groups  int     `json:"groups"`
}

// GivenShares are what comes of a least chance.
type GivenShares struct {
	Whole     float64 `json:"whole"`     // the least chance of a rule in full
	Given     int     `json:"given"`     // rules in full
	Precision float64 `json:"precision"` // share of them that is right
	Covered   float64 `json:"covered"`   // share of the queries that have a right rule and were given one, in full or as a line
	Reached   float64 `json:"reached"`   // share of the right rules that were given, in full or as a line
	Wrongly   float64 `json:"wrongly"`   // share of those that have none and were given one in full
	Talk      float64 `json:"talk"`      // share of off-topic queries that were given anything
}

// judgedRule is a rule that was judged for a query.
type judgedRule struct {
	query    int
	evidence []float64
	right    bool
	disputed bool
	chance   float64
}

// ridge is the precision of the belief, in deviations, that a weight is 0.
const ridge = 2

// FitGiving fits a decision by logistic regression, each group in turn held
// out. A rule that one reader of two holds to be right counts little against.
func FitGiving(c Config, start retrieval.Decision) (Giving, error) {
	docs, err := retrieval.AnalyseAll(c.Rules, c.Options.Embedder)
	if err != nil {
		return Giving{}, err
	}
	ix, err := retrieval.NewIndex(docs, c.Options)
	if err != nil {
		return Giving{}, err
	}
	rules := judgedRules(ix, c.Truth)
	if len(rules) == 0 {
		return Giving{}, fmt.Errorf("%w: no rule was judged; the embedder %q gives no evidence", ErrTooFew, ix.Embedder())
	}
	line, beyond, err := tasksAndTalk(c)
	if err != nil {
		return Giving{}, err
	}
	for _, r := range rules {
		r.evidence[placeOf("task")] = beyond[r.query]
	}
	start.Task = line
	g := Giving{Decision: start, Queries: len(c.Truth), Rules: len(rules)}
	groups := map[string]bool{}
	for _, q := range c.Truth {
		groups[q.Group] = true
	}
	for group := range groups {
		weights := logistic(rules, c.Truth, func(q int) bool { return c.Truth[q].Group != group })
		for i := range rules {
			if c.Truth[rules[i].query].Group == group {
				rules[i].chance = chance(weights, rules[i].evidence)
			}
		}
	}
	g.Groups = len(groups)
	g.Error = calibrationError(rules)
	for _, least := range []float64{0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7} {
		d := start
		d.Whole = least
		g.Held = append(g.Held, shares(d, rules, c.Truth))
	}
	final := logistic(rules, c.Truth, func(int) bool { return true })
	g.Decision.Weights = map[string]float64{}
	for i, name := range retrieval.EvidenceNames {
		g.Decision.Weights[name] = math.Round(final[i]*1000) / 1000
	}
	return g, nil
}

// judgedRules asks every query and labels what was judged.
func judgedRules(ix *retrieval.Index, truth []benchmark.Query) []judgedRule {
	var rules []judgedRule
	for i, q := range truth {
		answer := ix.Search(retrieval.Query{Text: q.Query, Languages: q.Languages, Domains: q.Domains, Subjects: q.Subjects, Project: q.Project, Raw: true, Explain: true, BudgetTokens: -1})
		for _, hit := range answer.Rules {
			if hit.Why.Evidence == nil || hit.Why.Pinned {
				continue
			}
			rules = append(rules, judgedRule{
				query: i, evidence: hit.Why.Evidence,
				right: slices.Contains(q.Relevant, hit.ID), disputed: slices.Contains(q.Disputed, hit.ID),
			})
		}
	}
	return rules
}

func (r judgedRule) weight(q benchmark.Query) float64 {
	weight := cmp.Or(q.Weight, 1)
	if r.disputed && !r.right {
		weight *= 0.3
	}
	return weight
}

// logistic is the regression on the rules of the admitted queries, with a ridge
// on the standardised evidence; the first part of the evidence is the constant.
func logistic(rules []judgedRule, truth []benchmark.Query, admitted func(query int) bool) []float64 {
	n := len(rules[0].evidence)
	spread := make([]float64, n)
	mean := make([]float64, n)
	total := 0.0
	for _, r := range rules {
		for i, x := range r.evidence {
			mean[i] += x
			spread[i] += x * x
		}
		total++
	}
	for i := range spread {
		mean[i] /= total
		spread[i] = math.Sqrt(max(spread[i]/total-mean[i]*mean[i], 1e-12))
	}
	mean[0], spread[0] = 0, 1
	w := make([]float64, n)
	x := make([]float64, n)
	for range 30 {
		gradient := make([]float64, n)
		hessian := make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
			if i > 0 {
				gradient[i], hessian[i][i] = ridge*w[i], ridge
			} else {
				hessian[i][i] = 1e-9
			}
		}
		for _, r := range rules {
			if !admitted(r.query) {
				continue
			}
			for i, value := range r.evidence {
				x[i] = (value - mean[i]) / spread[i]
			}
			p, weight := chance(w, x), r.weight(truth[r.query])
			residual, bend := weight*(p-retrieval.Indicate(r.right)), weight*p*(1-p)
			for i := range n {
				gradient[i] += residual * x[i]
				for j := 0; j <= i; j++ {
					hessian[i][j] += bend * x[i] * x[j]
				}
			}
		}
		step := cholesky(hessian, gradient)
		for i := range w {
			w[i] -= step[i]
		}
	}
	for i := 1; i < n; i++ {
		w[i] /= spread[i]
		w[0] -= w[i] * mean[i]
	}
	return w
}

// cholesky solves a symmetric positive system whose lower half is given.
func cholesky(a [][]float64, b []float64) []float64 {
	n := len(b)
	x := slices.Clone(b)
	for i := range n {
		for j := 0; j <= i; j++ {
			sum := a[i][j]
			for k := range j {
				sum -= a[i][k] * a[j][k]
			}
			if i == j {
				a[i][i] = math.Sqrt(max(sum, 1e-12))
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
		for k := range i {
			x[i] -= a[i][k] * x[k]
		}
		x[i] /= a[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			x[i] -= a[k][i] * x[k]
		}
		x[i] /= a[i][i]
	}
	return x
}

func chance(weights, evidence []float64) float64 {
	var z float64
	for i, x := range evidence {
		z += weights[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// calibrationError is that of the rules that have any chance to speak of.
func calibrationError(rules []judgedRule) float64 {
	const least = 0.02
	var likely []benchmark.Chance
	for _, r := range rules {
		if r.chance >= least && (r.right || !r.disputed) {
			likely = append(likely, benchmark.Chance{Said: r.chance, Right: r.right})
		}
	}
	return benchmark.CalibrationError(likely)
}

// shares says what a decision would have given.
func shares(d retrieval.Decision, rules []judgedRule, truth []benchmark.Query) GivenShares {
	s := GivenShares{Whole: d.Whole}
	byQuery := make([][]judgedRule, len(truth))
	for _, r := range rules {
		byQuery[r.query] = append(byQuery[r.query], r)
	}
	var right, with, without, talk, covered, wrongly, spoken, reached, all float64
	for q, own := range byQuery {
		slices.SortStableFunc(own, func(a, b judgedRule) int { return -1 + 2*int(retrieval.Indicate(a.chance < b.chance)) })
		least := d.Any
		if len(own) > 0 {
			e := own[0].evidence
			least = d.Least(e[placeOf("task")])
		}
		whole, lines, hits, found := 0, 0, 0.0, 0.0
		for _, r := range own {
			if own[0].chance < least {
				break
			}
			switch {
			case r.chance >= d.Whole && whole < retrieval.MostWhole:
				whole++
				hits += retrieval.Indicate(r.right)
			case r.chance >= d.Line && lines < retrieval.MostLines:
				lines++
			default:
				continue
			}
			found += retrieval.Indicate(r.right)
		}
		task := strings.HasPrefix(truth[q].Group, taskGroup)
		switch {
		case !task && len(truth[q].Relevant) > 0:
			continue // fitted on, and measured elsewhere
		case len(truth[q].Relevant) > 0:
			with++
			covered += retrieval.Indicate(found > 0)
			reached += found
			all += float64(len(truth[q].Relevant))
		case !task:
			talk++
			spoken += retrieval.Indicate(whole+lines > 0)
		default:
			without++
			wrongly += retrieval.Indicate(whole > 0)
		}
		if task {
			s.Given += whole
			right += hits
		}
	}
	s.Precision, s.Covered, s.Reached = right/max(float64(s.Given), 1), covered/max(with, 1), reached/max(all, 1)
	s.Wrongly, s.Talk = wrongly/max(without, 1), spoken/max(talk, 1)
	return s
}

// taskGroup begins the groups of queries that are tasks, of which some have no
// right rule and are no talk for that.
const taskGroup = "domain-"

func placeOf(name string) int { return slices.Index(retrieval.EvidenceNames[:], name) }

// Write prints what was found for people.
func (g Giving) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d queries, %d judged rules, %d groups held out in turn; calibration error %.3f\n", g.Queries, g.Rules, g.Groups, g.Error)
	fmt.Fprintln(t, "FULL FROM\tGIVEN\tRIGHT\tCOVERED\tREACHED\tNONE RIGHT, GIVEN\tTALK, GIVEN")
	for _, s := range g.Held {
		fmt.Fprintf(t, "%.2f\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.3f\n", s.Whole, s.Given, s.Precision, s.Covered, s.Reached, s.Wrongly, s.Talk)
	}
	return t.Flush()
}
