package benchmark

import (
	"cmp"
	"slices"

	rules "github.com/writbus/writ/retrieval/benchmark"
)

// stages are the steps of a search, in order.
var stages = []string{"total", "analyse", "bm25", "semantic", "rank"}

// sum turns the values into means with intervals.
func (r *run) sum() {
	for i, m := range r.Methods {
		q := Quality{Method: m, Measures: r.intervals(func(query, measure int) float64 { return r.values[i][query][measure] })}
		q.Calibration = rules.CalibrationError(r.chances[i])
		for _, stage := range stages {
			if took := r.took[i][stage]; len(took) > 0 {
				q.Latency = append(q.Latency, Latency{Stage: stage, P50: percentile(took, 0.50), P95: percentile(took, 0.95), P99: percentile(took, 0.99)})
			}
		}
		r.report.Methods = append(r.report.Methods, q)
		if i > 0 {
			r.report.Differences = append(r.report.Differences, Difference{
				Method: m, Over: r.Methods[0],
				Measures: r.intervals(func(query, measure int) float64 { return r.values[i][query][measure] - r.values[0][query][measure] }),
			})
		}
	}
	slices.SortFunc(r.report.Missing, func(a, b Missing) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path)) })
}

// intervals are those of each measure over the queries, each its own cluster.
func (r *run) intervals(value func(query, measure int) float64) map[string]rules.Interval {
	out := map[string]rules.Interval{}
	for m, name := range MeasureNames {
		values := make([]float64, len(r.clusters))
		for q := range values {
			values[q] = value(q, m)
		}
		out[name] = rules.Bootstrap(values, r.clusters, r.Seed)
	}
	return out
}

// percentile is the nearest-rank one.
func percentile(values []float64, share float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}
