package observation

import (
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// State is one observation as its events leave it. The zero State, or Unknown,
// is one of which nothing was heard. It is stored as JSON.
//
// What holds of every state, whatever the log holds:
//
//  1. It begins with its record or with its tombstone: its key, position, time
//     and actor are of that event. What names it before changes nothing, and
//     neither do other observations. TestAnObservationsFirstEventMakesIt.
//  2. What was recorded stays as it was, but for forgetting: neither a changed
//     verdict, nor a merge, nor a second record of the id touches it. TestModel.
//  3. One that was forgotten stays so and says nothing: no text, no ciphertext,
//     no category, and no reason but that of a fallback. TestModel,
//     TestATombstoneComesFirst.
//  4. The verdict that holds is the last of Regated, which only grows, or the
//     recorded one. TestModel.
//
// What holds of the states that decisions led to, besides:
//
//  5. Nothing is recorded of what is forgotten, and its id is not taken in again.
//     TestModel.
//  6. Nothing is recorded in the clear. TestNothingIsRecordedInTheClear,
//     TestModel.
//  7. A verdict moves to one of the three, by a person with a reason; what was
//     imported keeps those it came with. Writ itself makes only notes stricter.
//     TestModel.
//  8. Merges form no cycle: from each observation MergedInto leads to one that
//     is merged into none. TestModel, TestMergesFormNoCycle.
//  9. A note is never more open than what it rests on became, and is forgotten
//     with it. TestModel.
//  10. An observation is read by reflection once, and Shown counts each session
//     once. TestModel, projections.TestObservationsFollowTheirHistory.
type State struct {
	schemas.ObservationKey
	// Recorded is the event, sealed as it was. Only its id is left of one that
	// was forgotten, with verdict, confidence and, of a fallback, the reason.
	Recorded schemas.ObservationRecorded `json:"recorded"`
	Position schemas.Position            `json:"position"` // of the first event
	Time     time.Time                   `json:"time"`
	Actor    string                      `json:"actor,omitempty"`
	Regated  []Regated                   `json:"regated,omitempty"` // oldest first
	// Forgotten says who had it erased, and why.
	Forgotten *Regated `json:"forgotten,omitempty"`
	Shown     int      `json:"shown,omitempty"` // to how many sessions
	// Reflected is the reflection that read it, which happens once. MergedInto
	// is the observation of its scope that says nearly the same.
	Reflected        string  `json:"reflected,omitempty"`
	MergedInto       string  `json:"merged_into,omitempty"`
	MergedSimilarity float64 `json:"merged_similarity,omitempty"`
}

// Regated is a change of a verdict, or of a forgotten observation the act of
// forgetting.
type Regated struct {
	Verdict string    `json:"verdict,omitempty"`
	Reason  string    `json:"reason"`
	Actor   string    `json:"actor,omitempty"`
	Time    time.Time `json:"time"`
}

// Unknown is the state of an observation before its first event.
func Unknown(k schemas.ObservationKey) State { return State{ObservationKey: k} }

// Known reports whether the observation was recorded or forgotten.
func (s State) Known() bool { return s.Recorded.ObservationID != "" }

// Verdict is the one that holds.
func (s State) Verdict() string {
	if n := len(s.Regated); n > 0 {
		return s.Regated[n-1].Verdict
	}
	return s.Recorded.Verdict
}

// KeptBack reports whether the observation surfaces nowhere unasked, nor what
// rests on it.
func (s State) KeptBack() bool {
	verdict := s.Verdict()
	return s.Forgotten != nil || !MayReflect(&verdict)
}

// Evolve folds one event that may name the observation. It cannot fail. Whoever
// folds hands in a MemoryShown where it is the first of its session.
func Evolve(s State, e schemas.Event) State {
	scope := e.Aggregate.ID
	switch p := e.Data.(type) {
	case schemas.ObservationRecorded:
		if !s.Known() {
			s = begun(e, p.ObservationID)
			s.Recorded = p
		}
	case schemas.ObservationForgotten:
		if !s.Known() {
			s = begun(e, p.ObservationID)
		}
		if s.is(scope, p.ObservationID) && s.Forgotten == nil {
			s.Recorded = emptied(s.Recorded)
			s.Forgotten = &Regated{Reason: p.Reason, Actor: e.Actor.String(), Time: e.Time}
		}
	case schemas.ObservationRegated:
		if s.is(scope, p.ObservationID) {
			s.Regated = append(slices.Clip(s.Regated), Regated{Verdict: p.Verdict, Reason: p.Reason, Actor: e.Actor.String(), Time: e.Time})
		}
	case schemas.ObservationMerged:
		if s.is(scope, p.ObservationID) {
			s.MergedInto, s.MergedSimilarity = p.Into, p.Similarity
		}
	case schemas.ReflectionMade:
		if slices.ContainsFunc(p.Read, func(id string) bool { return s.is(scope, id) }) {
			s.Reflected = p.ReflectionID
		}
	case schemas.MemoryShown:
		if slices.ContainsFunc(p.Shown, func(h schemas.MemoryHit) bool { return s.is(h.Scope, h.ObservationID) }) {
			s.Shown++
		}
	}
	return s
}

func begun(e schemas.Event, id string) State {
	s := Unknown(schemas.ObservationKey{Scope: e.Aggregate.ID, ID: id})
	s.Position, s.Time, s.Actor = e.Position, e.Time, e.Actor.String()
	s.Recorded.ObservationID = id
	return s
}

// is reports whether an event names this observation, and it is there.
func (s State) is(scope, id string) bool { return s.Known() && s.ID == id && s.Scope == scope }

// emptied is a record of which only what is counted is left.
func emptied(r schemas.ObservationRecorded) schemas.ObservationRecorded {
	r.Original, r.Text, r.Category, r.Sealed = nil, "", "", nil
	if !r.Fallback {
		r.Reason = ""
	}
	return r
}

// Standing is observations as they stand, by key, each with those that it leads
// to by merges.
type Standing map[schemas.ObservationKey]State

// Of is the state of an observation, Unknown for one that is not among them.
func (all Standing) Of(k schemas.ObservationKey) State {
	if s, found := all[k]; found {
		return s
	}
	return Unknown(k)
}

// LeadsTo lists an observation and those that it leads to by merges.
func (all Standing) LeadsTo(k schemas.ObservationKey) (path []schemas.ObservationKey) {
	for k.ID != "" && !slices.Contains(path, k) {
		path = append(path, k)
		k.ID = all[k].MergedInto
	}
	return path
}
