package rule

import (
	"errors"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/retrieval/curation"
	"github.com/writbus/writ/schemas"
)

// Sources of rules. Persisted; never change.
const (
	SourceShipped    = "embedded"   // with the program
	SourceTerminal   = "terminal"   // added or edited by a person, one at a time
	SourceCompressed = "compressed" // made by Writ of rules that say alike things
)

// Command is what somebody wants of a rule.
type Command interface {
	// decide answers the command. A refusal is a schemas.Fault: its code is what
	// clients tell refusals apart by.
	decide(s State) (Decision, error)
}

// Decision is what Decide answers.
type Decision struct {
	// Record is to be appended, one event. Empty: nothing changes.
	Record []schemas.Payload
	// Message tells a person what was done.
	Message string
	// Finding is the gate's of a proposal, and Near are the nodes nearest to it.
	Finding curation.Finding
	Near    []schemas.Neighbour
}

var errNoCommand = errors.New("rule: no command")

// Decide answers a command on a rule as it is. A refusal is a schemas.Fault; no
// other error is returned but for a command that is nil.
func Decide(s State, c Command) (Decision, error) {
	if c == nil {
		return Decision{}, errNoCommand
	}
	return c.decide(s)
}

// AsSeen is a command of somebody who decided on a revision that they saw: on
// another one it is refused. Revision 0 is any.
type AsSeen struct {
	Revision int
	Command
}

func (c AsSeen) decide(s State) (Decision, error) {
	if c.Revision != 0 && c.Revision != s.Revisions {
		id := s.Rule.ID
		return Decision{}, schemas.Faultf(schemas.CodeConflict, "rule %s has changed since you looked: it is at revision %d, you saw %d. writ rule log %s shows what happened", id, s.Revisions, c.Revision, id)
	}
	return Decide(s, c.Command)
}

func recorded(p schemas.Payload, message string) (Decision, error) {
	return Decision{Record: []schemas.Payload{p}, Message: message}, nil
}

func refuse(code, format string, args ...any) (Decision, error) {
	return Decision{}, schemas.Faultf(code, format, args...)
}

// NoSuch is the refusal of a command on a rule that is not there.
func NoSuch(id string) error {
	return schemas.Faultf(schemas.CodeNotFound, "there is no rule %q. `writ rule list` shows them.", id)
}

// Hash names a file's content, as an import keeps it.
func Hash(content string) string {
	return digest.Hex([]byte(content))
}
