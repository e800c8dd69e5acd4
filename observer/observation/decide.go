package observation

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Command is what somebody wants of an observation.
type Command interface {
	// decide answers the command. A refusal is a schemas.Fault: its code is what
	// clients tell refusals apart by.
	decide(s State) (Decision, error)
}

// Decision is what Decide answers.
type Decision struct {
	// Record is to be appended, in this order. Who carries the decision out is
	// the actor of events that name none, at that time.
	Record []schemas.Event
	// Message tells a person what was done.
	Message string
}

// ErrUnsealed is returned for an observation that would be recorded in the clear.
var ErrUnsealed = errors.New("observation: what it says is not sealed")

var errNoCommand = errors.New("observation: no command")

// Decide answers a command on an observation as it is. A refusal is a
// schemas.Fault; other errors are ErrUnsealed, and that of a command that is nil.
func Decide(s State, c Command) (Decision, error) {
	if c == nil {
		return Decision{}, errNoCommand
	}
	return c.decide(s)
}

func recorded(scope, message string, all ...schemas.Payload) Decision {
	d := Decision{Message: message}
	for _, p := range all {
		d.Record = append(d.Record, schemas.Event{Aggregate: schemas.Memory(scope), Data: p})
	}
	return d
}

func refuse(code, format string, args ...any) (Decision, error) {
	return Decision{}, schemas.Faultf(code, format, args...)
}

// Remember takes an observation in, once: where its id is known nothing changes.
type Remember struct {
	Recorded schemas.ObservationRecorded // sealed
}

func (c Remember) decide(s State) (Decision, error) {
	if s.Known() {
		return Decision{}, nil
	}
	if !isSealed(c.Recorded) {
		return Decision{}, ErrUnsealed
	}
	return recorded(s.Scope, "", c.Recorded), nil
}

// isSealed reports whether a record says nothing to who has no key.
func isSealed(r schemas.ObservationRecorded) bool {
	return len(r.Original) == 0 && r.Text == "" && r.Category == "" && (r.Fallback || r.Reason == "")
}

// Regate is a person's change of a verdict.
type Regate struct {
	Verdict, Reason string
	Scopes          []string // that have one of the id, where none was named
}

func (c Regate) decide(s State) (Decision, error) {
	switch {
	case !slices.Contains([]string{Allow, Hold, Discard}, c.Verdict):
		return refuse(schemas.CodeBadRequest, "a verdict is allow, hold or discard, not %q", c.Verdict)
	case strings.TrimSpace(c.Reason) == "":
		return refuse(schemas.CodeBadRequest, "changing a verdict needs a reason")
	}
	if err := s.found(c.Scopes); err != nil {
		return Decision{}, err
	}
	if s.Forgotten != nil {
		return refuse(schemas.CodeRefused, "observation %s was forgotten: %s", s.ID, s.Forgotten.Reason)
	}
	return recorded(s.Scope, s.ID+" is "+c.Verdict+" now",
		schemas.ObservationRegated{ObservationID: s.ID, Verdict: c.Verdict, Reason: c.Reason}), nil
}

// Forget is a person's decision that what an observation says is erased: its key
// is, before this is recorded.
type Forget struct {
	Reason string
	Scopes []string // that have one of the id, where none was named
}

func (c Forget) decide(s State) (Decision, error) {
	if strings.TrimSpace(c.Reason) == "" {
		return refuse(schemas.CodeBadRequest, "forgetting needs a reason, which stays in the place of the text")
	}
	if err := s.found(c.Scopes); err != nil {
		return Decision{}, err
	}
	if s.Forgotten != nil {
		return refuse(schemas.CodeRefused, "observation %s is forgotten already: %s", s.ID, s.Forgotten.Reason)
	}
	message := "forgot " + s.ID + ": its key is erased, no copy of the log can be read"
	if len(s.Recorded.Sealed) == 0 {
		message = "forgot " + s.ID + " for recall and export; it was recorded unsealed, so the log still holds its text"
	}
	return recorded(s.Scope, message, schemas.ObservationForgotten{ObservationID: s.ID, Reason: c.Reason}), nil
}

// found refuses an observation that is not there, or that its id alone does not
// name.
func (s State) found(scopes []string) error {
	switch {
	case len(scopes) > 1:
		return schemas.Faultf(schemas.CodeBadRequest, "the scopes %s each have an observation %q: say which with --scope", strings.Join(scopes, ", "), s.ID)
	case !s.Known():
		return schemas.Faultf(schemas.CodeNotFound, "there is no observation %q. writ memory export lists them all", s.ID)
	}
	return nil
}

// Merge says that an observation says nearly the same as another one of its
// scope. Where that leads back to this one, or this one is kept back, nothing
// changes.
type Merge struct {
	Into       []schemas.ObservationKey // the other one, and where it leads to by merges
	Similarity float64
}

func (c Merge) decide(s State) (Decision, error) {
	if !s.Known() || s.KeptBack() || len(c.Into) == 0 || slices.Contains(c.Into, s.ObservationKey) {
		return Decision{}, nil
	}
	return recorded(s.Scope, "", schemas.ObservationMerged{ObservationID: s.ID, Into: c.Into[0].ID, Similarity: c.Similarity}), nil
}

// Follow lets a note follow an observation that it rests on: it is forgotten with
// it, and never more open.
type Follow struct{ Fact State }

func (c Follow) decide(s State) (Decision, error) {
	verdict := c.Fact.Verdict()
	switch {
	case !s.Known() || s.Forgotten != nil:
		return Decision{}, nil
	case c.Fact.Forgotten != nil:
		return recorded(s.Scope, "", schemas.ObservationForgotten{ObservationID: s.ID, Reason: "rests on an observation that was forgotten"}), nil
	case strictness(s.Verdict()) >= strictness(verdict):
		return Decision{}, nil
	}
	return recorded(s.Scope, "", schemas.ObservationRegated{
		ObservationID: s.ID, Verdict: verdict, Reason: "rests on an observation that is " + verdict + " now",
	}), nil
}

// Import takes in an observation that was exported elsewhere, with its later
// verdicts, its merge and its tombstone. Of one that is known, what goes beyond
// it is taken in; one that is forgotten stays as it is.
type Import struct {
	Item     schemas.MemoryItem
	Recorded schemas.ObservationRecorded // the item's, sealed; not read of one that is known or was forgotten
	Into     []schemas.ObservationKey    // as in Merge; none without
	Now      time.Time                   // when what the item has no time of happened
}

func (c Import) decide(s State) (Decision, error) {
	var d Decision
	if s.Forgotten != nil {
		return d, nil
	}
	at := c.Item.Time.UTC()
	if at.IsZero() {
		at = c.Now
	}
	add := func(actor schemas.Actor, when time.Time, p schemas.Payload) {
		if when.IsZero() {
			when = at
		}
		d.Record = append(d.Record, schemas.Event{Time: when.UTC(), Actor: actor, Aggregate: schemas.Memory(s.Scope), Data: p})
	}
	item, imported := c.Item, schemas.Import("memory")
	if !s.Known() {
		if item.Forgotten != nil {
			c.Recorded = emptied(c.Recorded)
		}
		if !isSealed(c.Recorded) {
			return d, ErrUnsealed
		}
		add(imported, at, c.Recorded)
	}
	for _, g := range item.Regated[min(len(s.Regated), len(item.Regated)):] {
		add(schemas.ParseActor(g.Actor), g.Time, schemas.ObservationRegated{ObservationID: s.ID, Verdict: g.Verdict, Reason: g.Reason})
	}
	if len(c.Into) > 0 && s.MergedInto == "" && !slices.Contains(c.Into, s.ObservationKey) {
		add(imported, at, schemas.ObservationMerged{ObservationID: s.ID, Into: c.Into[0].ID, Similarity: item.MergedSimilarity})
	}
	if f := item.Forgotten; f != nil {
		add(schemas.ParseActor(f.Actor), f.Time, schemas.ObservationForgotten{ObservationID: s.ID, Reason: f.Reason})
	}
	return d, nil
}
