package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	rules "github.com/writbus/writ/retrieval/benchmark"
)

// ErrQueries is returned by [ReadQueries]; its text names the line.
var ErrQueries = errors.New("benchmark: the queries cannot be read")

// Query is a judged query.
type Query struct {
	ID    string `json:"id"`
	Query string `json:"query"`
	// Relevant are the paths of the files that answer it, with their grades: a
	// list of paths, all of grade 1, or an object from path to grade.
	Relevant Grades `json:"relevant"`
	// Project is whose files are asked for: "" the project at hand, else a Go
	// module and its version, "path@version", the standard library, "std@go1.26.8",
	// or a folder among the sources, "crates/smoltcp@0.11.0".
	Project string `json:"project,omitempty"`
	// Kind is what the query is like, such as "symbol"; "nothing" means that the
	// project does not answer it, and no path is relevant.
	Kind string `json:"kind,omitempty"`
}

// KindNothing is the kind of queries that nothing answers.
const KindNothing = "nothing"

var errGrades = errors.New("relevant is neither a list of paths nor an object from path to grade")

// Grades say how relevant paths are, above 0.
type Grades map[string]float64

// UnmarshalJSON reads a list of paths, or an object from path to grade.
func (g *Grades) UnmarshalJSON(b []byte) error {
	*g = Grades{}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		var paths []string
		if err := json.Unmarshal(b, &paths); err != nil {
			return errGrades
		}
		for _, path := range paths {
			(*g)[path] = 1
		}
		return nil
	}
	if err := json.Unmarshal(b, (*map[string]float64)(g)); err != nil {
		return errGrades
	}
	return nil
}

// Named gives the id and the text.
func (q Query) Named() (id, text string) { return q.ID, q.Query }

// ReadQueries reads one JSON object a line, as [rules.ReadLines] does. An error
// wraps [ErrQueries].
func ReadQueries(r io.Reader) ([]Query, error) {
	queries, err := rules.ReadLines(r, (*Query).check)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrQueries, err)
	}
	return queries, nil
}

func (q *Query) check() error {
	switch nothing := q.Kind == KindNothing; {
	case nothing && len(q.Relevant) > 0:
		return fmt.Errorf("%s: paths are relevant, but its kind is %s", q.ID, KindNothing)
	case nothing:
		return nil
	case len(q.Relevant) == 0:
		return fmt.Errorf("%s: no path is relevant", q.ID)
	}
	for path, grade := range q.Relevant {
		switch {
		case strings.TrimSpace(path) == "":
			return fmt.Errorf("%s: a relevant path is blank", q.ID)
		case !(grade > 0) || math.IsInf(grade, 0):
			return fmt.Errorf("%s: the grade of %s is %v, not above 0", q.ID, path, grade)
		}
	}
	return nil
}
