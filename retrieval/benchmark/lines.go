package benchmark

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Line is a query of some kind.
type Line interface {
	// Named gives its id and its text.
	Named() (id, text string)
}

var errNoLine = errors.New("there is no query in it")

// ReadLines reads one JSON object a line; blank lines are skipped. A line that
// is no such object, lacks its id or its text, repeats an id, or is refused by
// check is an error that names its number. No line at all is an error, too.
func ReadLines[Q Line](r io.Reader, check func(*Q) error) ([]Q, error) {
	var queries []Q
	seen := map[string]int{}
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff")) // which editors put before UTF-8
		}
		if len(bytes.TrimSpace(line)) > 0 {
			q, wrong := parseLine(line, check)
			id, _ := q.Named()
			if wrong == nil && seen[id] > 0 {
				wrong = fmt.Errorf("id %q is that of line %d", id, seen[id])
			}
			if wrong != nil {
				return nil, fmt.Errorf("line %d: %w", number, wrong)
			}
			seen[id] = number
			queries = append(queries, q)
		}
		if err == io.EOF {
			if len(queries) == 0 {
				return nil, errNoLine
			}
			return queries, nil
		}
	}
}

func parseLine[Q Line](line []byte, check func(*Q) error) (Q, error) {
	var q Q
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("the JSON object does not end on its line")
		case errors.As(err, &syntax):
			err = fmt.Errorf("no JSON object: %w", err)
		case errors.As(err, &kind) && kind.Field == "":
			err = fmt.Errorf("a JSON %s, where an object is wanted", kind.Value)
		case errors.As(err, &kind):
			err = fmt.Errorf("%s is a %s, where a %s is wanted", kind.Field, kind.Value, kind.Type)
		}
		return q, err
	}
	if _, err := d.Token(); err != io.EOF {
		return q, errors.New("more than one value")
	}
	switch id, text := q.Named(); {
	case strings.TrimSpace(id) == "":
		return q, errors.New("the id is missing")
	case strings.TrimSpace(text) == "":
		return q, fmt.Errorf("%s: the query is blank", id)
	}
	return q, check(&q)
}
