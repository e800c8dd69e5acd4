package corpus

import (
	"errors"
	"fmt"
	"strings"
)

// ErrInvalid is wrapped by every error of [Parse] and [Embedded].
var ErrInvalid = errors.New("corpus: invalid rule file")

// Kind says what a [Problem] means for the rule it names.
type Kind string

// The kinds of problem.
const (
	KindInvalid       Kind = "invalid"        // the file holds no valid rule; it is not among the files returned
	KindDuplicate     Kind = "duplicate"      // the id was taken by an earlier file; this file is not returned
	KindUnknownTarget Kind = "unknown_target" // an edge points to no rule of this folder; the rule is returned
	KindWrongEndpoint Kind = "wrong_endpoint" // an edge points to a node of a type that it does not join; the rule is returned
	KindSkipped       Kind = "skipped"        // something of an older format has no place here; the rest is returned
	KindDropped       Kind = "dropped"        // a property of an older format has no place here; the node is returned without it
	KindFilled        Kind = "filled"         // an older format lacked a required field; it was taken from another
	KindNoted         Kind = "noted"          // something was taken otherwise than written, or is worth a look; nothing is lost
	KindDowngraded    Kind = "downgraded"     // a claim was lowered; the rule is returned with the lower one
)

// Problem is one finding, placed so that an editor can jump to it.
type Problem struct {
	Path   string
	Line   int // from 1; 0 when the file could not be read
	Kind   Kind
	ID     string // of the rule, where it is known
	Target string // of the edge, where the problem is one
	Reason string // what is wrong and what to do
}

// String renders the problem as "path:line: reason".
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Reason)
}

// Error is what [Parse] returns: everything found wrong with one file, in the
// order of its lines. It wraps [ErrInvalid].
type Error struct{ Problems []Problem }

// Error joins the problems, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *Error) Unwrap() error { return ErrInvalid }
