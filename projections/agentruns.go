package projections

import (
	"cmp"
	"fmt"
	"iter"
	"time"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// AgentRuns lists the runs of agents, the one with the latest event first. A
// query helper takes a Reader of ViewAgentRuns.
//
//	o/<8 bytes>  RunSummary, under the complement of its last sequence
//	s/<run>      those eight bytes
//	u/<run>      "": it is at work
type AgentRuns struct{}

// RunSummary is one run in a list.
type RunSummary struct {
	Run       string    `json:"run"`
	Agent     string    `json:"agent"`
	Message   string    `json:"message,omitempty"` // the first one, shortened
	Trigger   string    `json:"trigger"`
	Workspace string    `json:"workspace,omitempty"`
	Parent    string    `json:"parent,omitempty"`
	Model     string    `json:"model,omitempty"`
	Daemon    string    `json:"daemon,omitempty"`  // where it is, or was, at work
	Outcome   string    `json:"outcome,omitempty"` // of the last message; "" while it is at work
	Started   time.Time `json:"started"`
	Last      time.Time `json:"last"`
	Seq       uint64    `json:"seq"` // of the last event
	Calls     int       `json:"calls"`
	Commands  int       `json:"commands"`
	Denied    int       `json:"denied"`
	Tokens    int       `json:"tokens"`
}

// shortMessage is how much of a message stands in a list, in runes.
const shortMessage = 200

// Name implements Projector.
func (AgentRuns) Name() string { return ViewAgentRuns }

// Version implements Projector.
func (AgentRuns) Version() int { return 1 }

// Types implements Projector.
func (AgentRuns) Types() []schemas.Type {
	return []schemas.Type{
		schemas.AgentStarted{}.EventType(), schemas.AgentMessaged{}.EventType(), schemas.AgentReplied{}.EventType(),
		schemas.AgentFinished{}.EventType(), schemas.CommandDispatched{}.EventType(), schemas.CommandDenied{}.EventType(),
	}
}

// Apply implements Projector.
func (AgentRuns) Apply(v View, e schemas.Event) error {
	key := idKey('s', e.Aggregate.ID)
	s, at, known, err := runSummary(v, key)
	if err != nil {
		return err
	}
	started, starts := e.Data.(schemas.AgentStarted)
	if starts == known {
		return nil // commands that others recorded, without a run
	}
	if known {
		if err := v.Delete(at); err != nil {
			return err
		}
	}
	s.Last, s.Seq = e.Time, e.Position.Seq
	switch p := e.Data.(type) {
	case schemas.AgentStarted:
		s.Run, s.Agent, s.Trigger, s.Workspace = e.Aggregate.ID, started.Agent, started.Trigger, started.Workspace
		s.Parent, s.Model, s.Started = started.Parent, started.Model, e.Time
		s.Message, s.Daemon = shortened(started.Message), started.Daemon
	case schemas.AgentMessaged:
		s.Outcome = ""
	case schemas.AgentReplied:
		s.Calls++
		s.Tokens += p.InputTokens + p.OutputTokens
		s.Model = cmp.Or(p.Model, s.Model)
	case schemas.CommandDispatched:
		s.Commands++
	case schemas.CommandDenied:
		s.Denied++
	case schemas.AgentFinished:
		s.Outcome = p.Outcome
	}
	if err := atWork(v, s); err != nil {
		return err
	}
	at = latestFirst(s.Seq)
	if err := v.Set(key, at); err != nil {
		return err
	}
	return setDocument(v, at, s)
}

func atWork(v View, s RunSummary) error {
	key := idKey('u', s.Run)
	if s.Outcome == "" {
		return v.Set(key, nil)
	}
	return v.Delete(key)
}

func shortened(text string) string { return excerpt.Runes(text, shortMessage+1) }

func runSummary(from getter, key []byte) (s RunSummary, at []byte, found bool, err error) {
	at, found, err = from.Get(key)
	if err != nil || !found {
		return s, nil, false, err
	}
	s, found, err = getDocument[RunSummary](from, at)
	if err == nil && !found {
		err = fmt.Errorf("projections: run %q is listed nowhere: %w", key, errDangling)
	}
	return s, at, found, err
}

// Run returns the summary of one run.
func (AgentRuns) Run(r Reader, id string) (RunSummary, bool, error) {
	s, _, found, err := runSummary(r, idKey('s', id))
	return s, found, err
}

// List returns the runs, the one with the latest event first. It reads no more of
// them than are taken.
func (AgentRuns) List(r Reader) iter.Seq2[RunSummary, error] {
	return documents[RunSummary](r, []byte("o/"))
}

// AtWork returns the runs whose last message has no outcome.
func (w AgentRuns) AtWork(r Reader) ([]RunSummary, error) {
	var all []RunSummary
	for e, err := range r.Scan(idPrefix('u')) {
		if err != nil {
			return nil, err
		}
		id, err := schemas.DecodeToken(string(e.Key[2:]))
		if err != nil {
			return nil, fmt.Errorf("projections: key %q: %w", e.Key, err)
		}
		s, found, err := w.Run(r, id)
		if err != nil {
			return nil, err
		}
		if found {
			all = append(all, s)
		}
	}
	return all, nil
}
