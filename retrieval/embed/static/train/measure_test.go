package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Parameters of the comparison.
const (
	cutoff     = 10   // of nDCG
	rrfK       = 60   // Cormack, Clarke and Büttcher, SIGIR 2009
	rrfDepth   = 100  // of each list
	resamples  = 2000 // of the bootstrap
	resampling = 7    // its seed
)

// Scored is a document, by its place in the set, and its score.
type Scored struct {
	Document int
	Score    float64
}

// WordIndex makes a word index of documents: a function that returns every
// document a query's words match, with its BM25 score, in any order.
type WordIndex func([]Document) func(query string) []Scored

// Embed turns a text into a unit vector, or one of zeros.
type Embed func(text string) []float32

// The systems that [Evaluate] compares.
const (
	SystemBM25   = "bm25"
	SystemStatic = "static" // cosine alone
	SystemRRF    = "rrf"    // both lists, weighted equally
	SystemConvex = "convex" // (1−α)·bm25/max + α·minmax(cosine)
)

// Interval is a mean and its bootstrap interval of 95 %.
type Interval struct{ Mean, Low, High float64 }

// Score is one system's nDCG@10 on a set, and by how much it is above BM25.
type Score struct {
	System string
	NDCG   Interval
	Gain   Interval
}

// Report is what a set gave.
type Report struct {
	Set                string
	Queries, Documents int
	Scores             []Score
}

// Evaluate ranks the documents of a set for each of its queries with every
// system. Queries that share a first answer are resampled together.
func Evaluate(set Set, words WordIndex, embed Embed, alpha float64) Report {
	search := words(set.Documents)
	vectors := make([][]float32, len(set.Documents))
	place := make(map[string]int, len(set.Documents))
	for i, d := range set.Documents {
		vectors[i] = embed(d.Text())
		place[d.ID] = i
	}
	systems := []string{SystemBM25, SystemStatic, SystemRRF, SystemConvex}
	gains := make([][]float64, len(systems))
	clusters := make([]string, len(set.Queries))
	for i, q := range set.Queries {
		relevant := map[int]bool{}
		for _, id := range q.Relevant {
			relevant[place[id]] = true
		}
		clusters[i] = q.Relevant[0]
		byWords, byMeaning := search(q.Text), cosines(embed(q.Text), vectors)
		for s, list := range [][]Scored{byWords, byMeaning, fuseRanks(byWords, byMeaning), fuseScores(byWords, byMeaning, alpha)} {
			gains[s] = append(gains[s], ndcg(best(list, cutoff), relevant))
		}
	}
	report := Report{Set: set.Name, Queries: len(set.Queries), Documents: len(set.Documents)}
	for s, system := range systems {
		difference := make([]float64, len(gains[s]))
		for i := range difference {
			difference[i] = gains[s][i] - gains[0][i]
		}
		report.Scores = append(report.Scores, Score{system, bootstrap(gains[s], clusters), bootstrap(difference, clusters)})
	}
	return report
}

// Of is the score of a system.
func (r Report) Of(system string) Score {
	for _, s := range r.Scores {
		if s.System == system {
			return s
		}
	}
	return Score{}
}

func cosines(query []float32, vectors [][]float32) []Scored {
	list := make([]Scored, len(vectors))
	for i, v := range vectors {
		var sum float64
		for d := range v {
			sum += float64(query[d]) * float64(v[d])
		}
		list[i] = Scored{i, sum}
	}
	return list
}

// best returns the k best, ties by place.
func best(list []Scored, k int) []Scored {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
	})
	return sorted[:min(k, len(sorted))]
}

func fuseRanks(lists ...[]Scored) []Scored {
	sum := map[int]float64{}
	for _, list := range lists {
		for rank, s := range best(list, rrfDepth) {
			sum[s.Document] += 1 / float64(rrfK+rank+1)
		}
	}
	return flat(sum)
}

func fuseScores(words, meaning []Scored, alpha float64) []Scored {
	var top float64
	for _, s := range words {
		top = max(top, s.Score)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range meaning {
		low, high = min(low, s.Score), max(high, s.Score)
	}
	sum := map[int]float64{}
	for _, s := range words {
		if top > 0 {
			sum[s.Document] += (1 - alpha) * s.Score / top
		}
	}
	for _, s := range meaning {
		if high > low {
			sum[s.Document] += alpha * (s.Score - low) / (high - low)
		}
	}
	return flat(sum)
}

func flat(sum map[int]float64) []Scored {
	list := make([]Scored, 0, len(sum))
	for document, score := range sum {
		list = append(list, Scored{document, score})
	}
	return list
}

// ndcg is the normalised discounted cumulative gain with gains of one
// (Järvelin and Kekäläinen, TOIS 2002).
func ndcg(ranked []Scored, relevant map[int]bool) float64 {
	var gain, ideal float64
	for i, s := range ranked {
		if relevant[s.Document] {
			gain += 1 / math.Log2(float64(i)+2)
		}
	}
	for i := range min(len(relevant), cutoff) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return gain / ideal
}

// bootstrap resamples whole clusters and takes the percentiles of the mean.
func bootstrap(values []float64, clusters []string) Interval {
	type cluster struct{ sum, n float64 }
	at := map[string]int{}
	var all []cluster
	var total cluster
	for i, v := range values {
		k, ok := at[clusters[i]]
		if !ok {
			k = len(all)
			at[clusters[i]] = k
			all = append(all, cluster{})
		}
		all[k].sum += v
		all[k].n++
		total.sum += v
		total.n++
	}
	if total.n == 0 {
		return Interval{}
	}
	random := rand.New(rand.NewPCG(resampling, resampling))
	means := make([]float64, resamples)
	for i := range means {
		var drawn cluster
		for range all {
			c := all[random.IntN(len(all))]
			drawn.sum += c.sum
			drawn.n += c.n
		}
		means[i] = drawn.sum / drawn.n
	}
	slices.Sort(means)
	return Interval{total.sum / total.n, means[resamples*25/1000], means[resamples*975/1000-1]}
}
