package benchmark

import (
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval"
)

// Searcher answers queries; [retrieval.Index] does.
type Searcher interface {
	Search(retrieval.Query) retrieval.Answer
	// Mandatory are the rules that every session is shown.
	Mandatory() retrieval.Block
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
	// Silent is the share of queries that were given nothing, no line either.
	Silent    Interval `json:"silent"`
	Rules     float64  `json:"rules"`     // given for a query, on average
	Precision float64  `json:"precision"` // share of the rules that were given that is relevant; 0 where none was given
	Reached   float64  `json:"reached"`   // share of the relevant rules that were given, in full or as a line
	Tokens    float64  `json:"tokens"`    // that were given for a query, on average
}

// Judged is one query's answer.
type Judged struct {
	Query    Query    `json:"query"`
	Ranking  []string `json:"ranking"` // the best ten; relevant rules that are always shown come first
	Measures Measures `json:"measures"`
	Already  []string `json:"already,omitempty"` // relevant ids that every session is shown
	Injected []string `json:"injected"`          // ids given with their text
	Titles   []string `json:"titles"`            // ids of which only the title was given
	P        float64  `json:"probability"`
	Tokens   int      `json:"tokens"` // of what was given
}

// promptTokens is the room that a prompt of a session has for rules.
const promptTokens = 150

// Judge asks every query twice: for the whole ranking, and as an agent would.
func Judge(s Searcher, truth []Query, profile string) []Judged {
	out := make([]Judged, len(truth))
	for i, q := range truth {
		j := Judged{Query: q, Ranking: already(q, s.Mandatory().Rules), Injected: []string{}, Titles: []string{}}
		j.Already = slices.Clone(j.Ranking)
		for _, h := range s.Search(retrieval.Query{Text: q.Query, Profile: profile, Raw: true, Beside: true, Limit: 10}).Rules {
			j.Ranking = append(j.Ranking, h.ID)
		}
		j.Ranking = j.Ranking[:min(len(j.Ranking), 10)]
		j.Measures = Measure(j.Ranking, q.Relevant)
		answer := s.Search(retrieval.Query{Text: q.Query, Profile: profile, Languages: q.Languages, Domains: q.Domains, Subjects: q.Subjects, Project: q.Project, BudgetTokens: promptTokens})
		j.P, j.Tokens = answer.Probability, answer.Tokens
		for _, h := range answer.Rules {
			switch h.Rendered {
			case retrieval.RenderedWhole, retrieval.RenderedShort, retrieval.RenderedAlready:
				j.Injected = append(j.Injected, h.ID)
			case retrieval.RenderedTitle:
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
	var injected, found, shown, silent []float64
	right, reached, all := 0.0, 0.0, 0.0
	for i, j := range judged {
		clusters[i] = j.Query.Target()
		for m, v := range j.Measures.values() {
			values[m] = append(values[m], v)
		}
		injected = append(injected, retrieval.Indicate(len(j.Injected) > 0))
		found = append(found, retrieval.Indicate(given(j)))
		shown = append(shown, retrieval.Indicate(given(j) || holds(j.Titles, j.Query.Relevant)))
		silent = append(silent, retrieval.Indicate(len(j.Injected)+len(j.Titles) == 0))
		q.Rules += float64(len(j.Injected)) / float64(len(judged))
		q.Tokens += float64(j.Tokens) / float64(len(judged))
		right += float64(relevant(j.Injected, j.Query.Relevant))
		reached += float64(relevant(j.Injected, j.Query.Relevant) + relevant(j.Titles, j.Query.Relevant))
		all += float64(len(j.Query.Relevant))
	}
	q.Precision = right / max(q.Rules*float64(len(judged)), 1)
	q.Reached = reached / max(all, 1)
	q.Silent = Bootstrap(silent, clusters, seed)
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

// already are the relevant rules that every session is shown: nobody has to
// find them, so they count as found first.
func already(q Query, band []string) []string {
	shown := []string{}
	for _, id := range band {
		if slices.ContainsFunc(q.Relevant, func(r string) bool { return strings.EqualFold(r, id) }) {
			shown = append(shown, id)
		}
	}
	return shown
}

// given says that an agent has a relevant rule, of this answer or already.
func given(j Judged) bool { return len(j.Already) > 0 || holds(j.Injected, j.Query.Relevant) }

func holds(ids, relevant []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return Measure([]string{id}, relevant).Hit1 == 1 })
}

// relevant is how many of some ids are.
func relevant(ids, of []string) (n int) {
	for _, id := range ids {
		if holds([]string{id}, of) {
			n++
		}
	}
	return n
}
