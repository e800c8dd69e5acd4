package benchmark

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
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
	// module and its version, "path@version", or the standard library,
	// "std@go1.26.8".
	Project string `json:"project,omitempty"`
}

// Grades say how relevant paths are, above 0.
type Grades map[string]float64

// UnmarshalJSON reads a list of paths, or an object from path to grade.
func (g *Grades) UnmarshalJSON(b []byte) error {
	*g = Grades{}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		var paths []string
		if err := json.Unmarshal(b, &paths); err != nil {
			return fmt.Errorf("relevant is neither a list of paths nor an object from path to grade: %w", err)
		}
		for _, path := range paths {
			(*g)[path] = 1
		}
		return nil
	}
	if err := json.Unmarshal(b, (*map[string]float64)(g)); err != nil {
		return fmt.Errorf("relevant is neither a list of paths nor an object from path to grade: %w", err)
	}
	return nil
}

// ReadQueries reads one JSON object a line; blank lines are skipped. A line that
// is no query, or repeats an id, is an error that names its number and wraps
// [ErrQueries].
func ReadQueries(r io.Reader) ([]Query, error) {
	var queries []Query
	seen := map[string]int{}
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%w: line %d: %w", ErrQueries, number, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			q, wrong := parseQuery(line)
			if wrong == nil && seen[q.ID] > 0 {
				wrong = fmt.Errorf("id %q is that of line %d", q.ID, seen[q.ID])
			}
			if wrong != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrQueries, number, wrong)
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
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the JSON object does not end on its line")
		}
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
	case len(q.Relevant) == 0:
		return q, fmt.Errorf("%s: no path is relevant", q.ID)
	}
	for path, grade := range q.Relevant {
		switch {
		case strings.TrimSpace(path) == "":
			return q, fmt.Errorf("%s: a relevant path is blank", q.ID)
		case !(grade > 0) || math.IsInf(grade, 0):
			return q, fmt.Errorf("%s: the grade of %s is %v, not above 0", q.ID, path, grade)
		}
	}
	return q, nil
}
