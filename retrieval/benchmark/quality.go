package benchmark

import (
	"slices"

	"github.com/writbus/writ/retrieval"
)

// Searcher answers queries; [retrieval.Index] does.
type Searcher interface {
	Search(retrieval.Query) retrieval.Answer
}

// Quality is how good the answers to some queries are.
type Quality struct {
	Kind     string              `json:"kind"` // "all" is every on-topic query
	Queries  int                 `json:"queries"`
	Measures map[string]Interval `json:"measures,omitempty"` // of the whole ranking, by name; none for off-topic queries
	// Injected is the share of queries that were given rules, Found that were
	// given a relevant one, Shown that were given a relevant one or its title.
	Injected Interval `json:"injected"`
	Found    Interval `json:"found"`
	Shown    Interval `json:"shown"`
	Rules    float64  `json:"rules"` // given for a query, on average
}

// Judged is one query's answer.
type Judged struct {
	Query    Query
	Ranking  []string // the best ten
	Measures Measures
	Injected []string // ids given with their text
	Titles   []string // ids of which only the title was given
	P        float64
}

// Judge asks every query twice: for the whole ranking, and as an agent would.
func Judge(s Searcher, truth []Query, profile string) []Judged {
	out := make([]Judged, len(truth))
	for i, q := range truth {
		j := Judged{Query: q}
		for _, h := range s.Search(retrieval.Query{Text: q.Query, Profile: profile, Raw: true, Limit: 10}).Rules {
			j.Ranking = append(j.Ranking, h.ID)
		}
		j.Measures = Measure(j.Ranking, q.Relevant)
		answer := s.Search(retrieval.Query{Text: q.Query, Profile: profile})
		j.P = answer.Probability
		for _, h := range answer.Rules {
			if h.Tier == retrieval.TierInject {
				j.Injected = append(j.Injected, h.ID)
			} else {
				j.Titles = append(j.Titles, h.ID)
			}
		}
		out[i] = j
	}
	return out
}

// Summarise sums judged answers up: all on-topic ones first, then by kind,
// sorted.
func Summarise(judged []Judged, seed uint64) []Quality {
	var kinds []string
	for _, j := range judged {
		kinds = append(kinds, j.Query.Kind)
	}
	slices.Sort(kinds)
	out := []Quality{}
	onTopic := slices.DeleteFunc(slices.Clone(judged), func(j Judged) bool { return j.Query.OffTopic() })
	if len(onTopic) > 0 {
		out = append(out, summary("all", onTopic, seed))
	}
	for _, kind := range slices.Compact(kinds) {
		own := slices.DeleteFunc(slices.Clone(judged), func(j Judged) bool { return j.Query.Kind != kind })
		out = append(out, summary(kind, own, seed))
	}
	return out
}

func summary(kind string, judged []Judged, seed uint64) Quality {
	q := Quality{Kind: kind, Queries: len(judged)}
	clusters := make([]string, len(judged))
	values := make([][]float64, len(MeasureNames))
	var injected, found, shown []float64
	for i, j := range judged {
		clusters[i] = j.Query.target()
		for m, v := range j.Measures.values() {
			values[m] = append(values[m], v)
		}
		injected = append(injected, indicator(len(j.Injected) > 0))
		found = append(found, indicator(holds(j.Injected, j.Query.Relevant)))
		shown = append(shown, indicator(holds(j.Injected, j.Query.Relevant) || holds(j.Titles, j.Query.Relevant)))
		q.Rules += float64(len(j.Injected)) / float64(len(judged))
	}
	if kind != KindOffTopic {
		q.Measures = map[string]Interval{}
		for m, name := range MeasureNames {
			q.Measures[name] = Bootstrap(values[m], clusters, seed)
		}
	}
	q.Injected = Bootstrap(injected, clusters, seed)
	q.Found = Bootstrap(found, clusters, seed)
	q.Shown = Bootstrap(shown, clusters, seed)
	return q
}

func holds(ids, relevant []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return Measure([]string{id}, relevant).Hit1 == 1 })
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
