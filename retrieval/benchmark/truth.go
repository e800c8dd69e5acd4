package benchmark

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrTruth is returned by [ReadTruth]; its text names the line.
var ErrTruth = errors.New("benchmark: the truth file cannot be read")

// KindOffTopic is the kind of a query that no rule answers.
const KindOffTopic = "offtopic"

// Query is a judged query. Its kind is free, but for off-topic ones.
type Query struct {
	ID       string   `json:"id"`
	Query    string   `json:"query"`
	Relevant []string `json:"relevant"` // ids of the rules that answer it
	Kind     string   `json:"kind"`     // "" is direct, or off-topic without relevant rules
	// Languages and Domains are those of the project the query is asked in, as a
	// hook knows them; none is any.
	Languages []string `json:"languages,omitempty"`
	Domains   []string `json:"domains,omitempty"`
	Subjects  []string `json:"subjects,omitempty"`
	Project   bool     `json:"project,omitempty"`  // nothing else is known of the project
	Disputed  []string `json:"disputed,omitempty"` // ids that one reader of two holds to answer it: neither right nor wrong
	Group     string   `json:"group,omitempty"`    // what is held out together when a decision is fitted
	Weight    float64  `json:"weight,omitempty"`   // of the query in such a fit; 0 is 1
}

// OffTopic tells whether no rule answers the query.
func (q Query) OffTopic() bool { return len(q.Relevant) == 0 }

// Target is what the bootstrap resamples: queries for the same rules go together.
func (q Query) Target() string {
	if q.OffTopic() {
		return "query " + q.ID
	}
	var ids []string
	for _, id := range q.Relevant {
		ids = append(ids, strings.ToLower(id))
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// Named gives the id and the text.
func (q Query) Named() (id, text string) { return q.ID, q.Query }

// ReadTruth reads one JSON object a line, as [ReadLines] does.
func ReadTruth(r io.Reader) ([]Query, error) {
	queries, err := ReadLines(r, (*Query).complete)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; a line is such as %s", ErrTruth, err, `{"id":"q1","query":"…","relevant":["GO-CTX-FIRST-001"]}`)
	}
	return queries, nil
}

// complete checks a query and gives it a kind where it has none.
func (q *Query) complete() error {
	switch {
	case slices.ContainsFunc(q.Relevant, func(id string) bool { return strings.TrimSpace(id) == "" }):
		return fmt.Errorf("%s: a relevant id is blank", q.ID)
	case q.Kind == KindOffTopic && !q.OffTopic():
		return fmt.Errorf("%s: off-topic, and yet %v are relevant", q.ID, q.Relevant)
	case q.Kind != KindOffTopic && q.Kind != "" && q.OffTopic():
		return fmt.Errorf("%s: of kind %s, and no rule is relevant", q.ID, q.Kind)
	}
	if q.Kind == "" {
		q.Kind = "direct"
		if q.OffTopic() {
			q.Kind = KindOffTopic
		}
	}
	return nil
}
