package classify

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a 95 % confidence interval of a bootstrap.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Quality says how well verdicts fit the labels: keeping is the positive kind.
type Quality struct {
	Precision float64  `json:"precision"`
	Recall    float64  `json:"recall"`
	F1        float64  `json:"f1"`
	F1CI      Interval `json:"f1_ci"`
}

// Report compares verdicts with storing everything and with chance.
type Report struct {
	Texts   int     `json:"texts"`
	Keep    int     `json:"keep"` // labelled worth keeping
	Allow   int     `json:"allow"`
	Hold    int     `json:"hold"`
	Discard int     `json:"discard"`
	Verdict Quality `json:"verdict"` // only what is allowed is kept
	// Reviewed is the quality if a person allowed of the held what is worth it.
	Reviewed Quality `json:"reviewed"`
	// Everything keeps all; Random keeps as many as were allowed, drawn by lot.
	Everything Quality `json:"store_everything"`
	Random     Quality `json:"random"`
	// The differences of F1, of the same texts drawn again and again.
	OverEverything   float64  `json:"f1_over_store_everything"`
	OverEverythingCI Interval `json:"f1_over_store_everything_ci"`
	OverRandom       float64  `json:"f1_over_random"`
	OverRandomCI     Interval `json:"f1_over_random_ci"`
	Lost             int      `json:"discarded_worth_keeping"` // the costly mistake
	Resamples        int      `json:"resamples"`
	Seed             uint64   `json:"seed"`
}

// resamples is how often the bootstrap draws; more move the intervals by less
// than a hundredth.
const resamples = 2000

// Evaluate compares verdicts, one for each text and in their order, with the
// labels. One seed, one report.
func Evaluate(data []Labelled, verdicts []string, seed uint64) Report {
	r := Report{Texts: len(data), Resamples: resamples, Seed: seed}
	gate, reviewed, everything := make([]bool, len(data)), make([]bool, len(data)), make([]bool, len(data))
	for i, v := range verdicts {
		if data[i].Keep {
			r.Keep++
		}
		switch v {
		case Allow:
			r.Allow++
		case Hold:
			r.Hold++
		default:
			r.Discard++
			if data[i].Keep {
				r.Lost++
			}
		}
		gate[i] = v == Allow
		reviewed[i] = v == Allow || v == Hold && data[i].Keep
		everything[i] = true
	}
	source := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a draw by lot that can be repeated
	r.Verdict, r.Reviewed, r.Everything = measure(data, gate, nil), measure(data, reviewed, nil), measure(data, everything, nil)
	// One lot would be luck; this is what lots come to.
	r.Random = Quality{Precision: ratio(r.Keep, len(data)), Recall: ratio(r.Allow, len(data))}
	r.Random.F1 = harmonic(r.Random.Precision, r.Random.Recall)
	r.OverEverything, r.OverRandom = r.Verdict.F1-r.Everything.F1, r.Verdict.F1-r.Random.F1
	r.bootstrap(data, gate, reviewed, everything, source)
	return r
}

// bootstrap draws the texts again with replacement, and the lot with them.
func (r *Report) bootstrap(data []Labelled, gate, reviewed, everything []bool, source *rand.Rand) {
	var f1, f1Reviewed, f1All, f1Random, overAll, overRandom []float64
	drawn, random := make([]int, len(data)), make([]bool, len(data))
	chance := ratio(r.Allow, len(data))
	for range resamples {
		for i := range drawn {
			drawn[i] = source.IntN(len(data))
			random[i] = source.Float64() < chance
		}
		own, all := measure(data, gate, drawn).F1, measure(data, everything, drawn).F1
		lot := measureLot(data, random, drawn).F1
		f1, f1Reviewed, f1All, f1Random = append(f1, own), append(f1Reviewed, measure(data, reviewed, drawn).F1), append(f1All, all), append(f1Random, lot)
		overAll, overRandom = append(overAll, own-all), append(overRandom, own-lot)
	}
	r.Verdict.F1CI, r.Reviewed.F1CI, r.Everything.F1CI, r.Random.F1CI = interval(f1), interval(f1Reviewed), interval(f1All), interval(f1Random)
	r.OverEverythingCI, r.OverRandomCI = interval(overAll), interval(overRandom)
}

// measure counts the texts that were drawn, all of them if drawn is nil.
func measure(data []Labelled, kept []bool, drawn []int) Quality {
	var c counts
	if drawn == nil {
		for i := range data {
			c.add(kept[i], data[i].Keep)
		}
	}
	for _, i := range drawn {
		c.add(kept[i], data[i].Keep)
	}
	return c.quality()
}

// measureLot is measure where each draw has its own lot.
func measureLot(data []Labelled, lot []bool, drawn []int) Quality {
	var c counts
	for n, i := range drawn {
		c.add(lot[n], data[i].Keep)
	}
	return c.quality()
}

type counts struct{ hits, picked, keep int }

func (c *counts) add(picked, keep bool) {
	if picked {
		c.picked++
	}
	if keep {
		c.keep++
	}
	if picked && keep {
		c.hits++
	}
}

func (c counts) quality() Quality {
	q := Quality{Precision: ratio(c.hits, c.picked), Recall: ratio(c.hits, c.keep)}
	q.F1 = harmonic(q.Precision, q.Recall)
	return q
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func harmonic(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return 2 * a * b / (a + b)
}

// interval takes the middle 95 % of a sample.
func interval(sample []float64) Interval {
	slices.SortFunc(sample, cmp.Compare[float64])
	at := func(share float64) float64 {
		return sample[min(int(math.Floor(share*float64(len(sample)))), len(sample)-1)]
	}
	return Interval{Low: at(0.025), High: at(0.975)}
}
