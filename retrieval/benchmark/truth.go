package benchmark

import (
	"bufio"
	"bytes"
	"encoding/json"
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
}

// OffTopic tells whether no rule answers the query.
func (q Query) OffTopic() bool { return len(q.Relevant) == 0 }

// target is what the bootstrap resamples: queries for the same rules go together.
func (q Query) target() string {
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

// ReadTruth reads one JSON object a line; blank lines are skipped. A line that is
// no query, or repeats an id, is an error that names its number.
func ReadTruth(r io.Reader) ([]Query, error) {
	var queries []Query
	seen := map[string]int{}
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%w: line %d: %w", ErrTruth, number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			q, wrong := parseQuery(line)
			if wrong == nil && seen[q.ID] > 0 {
				wrong = fmt.Errorf("id %q is that of line %d", q.ID, seen[q.ID])
			}
			if wrong != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrTruth, number, wrong)
			}
			seen[q.ID] = number
			queries = append(queries, q)
		}
		if err == io.EOF {
			return queries, nil
		}
	}
}

func parseQuery(line []byte) (Query, error) {
	var q Query
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, err
	}
	if _, err := d.Token(); err != io.EOF {
		return q, errors.New("more than one value")
	}
	switch {
	case strings.TrimSpace(q.ID) == "":
		return q, errors.New("the id is missing")
	case strings.TrimSpace(q.Query) == "":
		return q, fmt.Errorf("%s: the query is blank", q.ID)
	case slices.ContainsFunc(q.Relevant, func(id string) bool { return strings.TrimSpace(id) == "" }):
		return q, fmt.Errorf("%s: a relevant id is blank", q.ID)
	case q.Kind == KindOffTopic && !q.OffTopic():
		return q, fmt.Errorf("%s: off-topic, and yet %v are relevant", q.ID, q.Relevant)
	case q.Kind != KindOffTopic && q.Kind != "" && q.OffTopic():
		return q, fmt.Errorf("%s: of kind %s, and no rule is relevant", q.ID, q.Kind)
	}
	if q.Kind == "" {
		q.Kind = "direct"
		if q.OffTopic() {
			q.Kind = KindOffTopic
		}
	}
	return q, nil
}
