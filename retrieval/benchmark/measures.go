package benchmark

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Measures are those of one ranking, or the means of several, 0 to 1. nDCG has
// gain 1 for a relevant rule and discount log2(rank+1) (Järvelin and
// Kekäläinen, TOIS 2002).
type Measures struct {
	Hit1     float64 `json:"hit@1"`
	Hit5     float64 `json:"hit@5"`
	MRR5     float64 `json:"mrr@5"`
	MRR10    float64 `json:"mrr@10"`
	NDCG10   float64 `json:"ndcg@10"`
	Recall10 float64 `json:"recall@10"`
}

// MeasureNames are the names of the measures, in order.
var MeasureNames = []string{"hit@1", "hit@5", "mrr@5", "mrr@10", "ndcg@10", "recall@10"}

func (m Measures) values() []float64 {
	return []float64{m.Hit1, m.Hit5, m.MRR5, m.MRR10, m.NDCG10, m.Recall10}
}

// Measure judges a ranking, best first. Ids are compared in any letter case; a
// relevant one counts once.
func Measure(ranking, relevant []string) Measures {
	wanted := map[string]bool{}
	for _, id := range relevant {
		wanted[strings.ToLower(id)] = true
	}
	number := len(wanted)
	if number == 0 {
		return Measures{}
	}
	var m Measures
	var gain, ideal, found float64
	for i, id := range ranking[:min(10, len(ranking))] {
		id = strings.ToLower(id)
		if !wanted[id] {
			continue
		}
		delete(wanted, id)
		rank := float64(i + 1)
		if found == 0 {
			m.MRR10 = 1 / rank
			if i == 0 {
				m.Hit1 = 1
			}
			if i < 5 {
				m.Hit5, m.MRR5 = 1, 1/rank
			}
		}
		found++
		gain += 1 / math.Log2(rank+1)
	}
	for i := range min(number, 10) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	m.NDCG10, m.Recall10 = gain/ideal, found/float64(number)
	return m
}

// Interval is a mean and the 95 % interval of its bootstrap.
type Interval struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// rounds of the bootstrap: enough for the second decimal of its ends.
const rounds = 2000

// Bootstrap gives the mean of values and its interval, resampling whole
// clusters with replacement (percentile method, Efron 1979); cluster i is that
// of value i. The same seed gives the same interval.
func Bootstrap(values []float64, clusters []string, seed uint64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	names := slices.Clone(clusters)
	slices.Sort(names)
	names = slices.Compact(names)
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	sums, counts := make([]float64, len(names)), make([]float64, len(names))
	var sum float64
	for i, v := range values {
		at := place[clusters[i]]
		sums[at] += v
		counts[at]++
		sum += v
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(values))))
	means := make([]float64, rounds)
	for r := range means {
		var s, n float64
		for range names {
			at := random.IntN(len(names))
			s += sums[at]
			n += counts[at]
		}
		means[r] = s / n
	}
	slices.Sort(means)
	return Interval{Mean: sum / float64(len(values)), Low: means[rounds*25/1000], High: means[rounds*975/1000-1]}
}

// Chance is how likely something was said to be right, and whether it was.
type Chance struct {
	Said  float64
	Right bool
}

// CalibrationError is the expected calibration error: the mean distance, over ten
// bins of as many chances, between what was said and the share that was right. It
// sorts the list; of an empty one it is 0.
func CalibrationError(all []Chance) float64 {
	const bins = 10
	slices.SortStableFunc(all, func(a, b Chance) int { return cmp.Compare(a.Said, b.Said) })
	sum := 0.0
	for bin := range bins {
		gap := 0.0
		for _, c := range all[bin*len(all)/bins : (bin+1)*len(all)/bins] {
			if gap += c.Said; c.Right {
				gap--
			}
		}
		sum += math.Abs(gap)
	}
	return sum / float64(max(len(all), 1))
}
