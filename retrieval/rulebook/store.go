package rulebook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// viewRetrieval is the view that the index follows.
var viewRetrieval = (*projections.RetrievalIndex)(nil).Name()

// store reads rules from their views, and records what was decided on them.
type store struct {
	conn      *bus.Conn
	writer    *bus.Writer
	runtime   *projections.Runtime
	rules     projections.Rules[rule.State]
	frequency *projections.Frequency
	now       func() time.Time
}

// await waits until the rules are read as the log has them.
func (s *store) await(ctx context.Context) error {
	return s.runtime.AwaitToDecide(ctx, schemas.StreamRules, s.rules.Name())
}

// reads waits until the rules are read up to a record, also by the view that is rebuilt where
// the one before it does not hold that.
func (s *store) reads(ctx context.Context, seq uint64) error {
	behind := false
	err := errors.Join(s.await(ctx), s.runtime.Read(s.rules.Name(), func(reader projections.Reader) error {
		behind = reader.Position(schemas.StreamRules) < seq
		return nil
	}))
	if err == nil && behind {
		err = s.runtime.WaitFor(ctx, s.rules.Name(), schemas.Position{Stream: schemas.StreamRules, Seq: seq})
	}
	return err
}

// awaitOutcomes waits for their outcomes, too.
func (s *store) awaitOutcomes(ctx context.Context) error {
	return errors.Join(s.await(ctx), s.runtime.Await(ctx, schemas.StreamRules, s.frequency.Name()))
}

// visible waits until queries see what was appended up to a position.
func (s *store) visible(ctx context.Context, at schemas.Position) error {
	return errors.Join(s.runtime.WaitFor(ctx, s.rules.Name(), at), s.runtime.WaitFor(ctx, viewRetrieval, at))
}

// rule is a rule as it is given, of any status; one that the log knows nothing of has
// no revision.
func (s *store) rule(id string) (rule.Given, error) {
	state, err := s.whole(id)
	return state.Given(), err
}

// whole is a rule in all of its layers.
func (s *store) whole(id string) (state rule.State, err error) {
	state = rule.Unknown(id)
	err = s.runtime.Read(s.rules.Name(), func(reader projections.Reader) error {
		found, is, err := s.rules.Rule(reader, id)
		if is {
			state = found
		}
		return err
	})
	return state, err
}

// each calls f with the rules of every status as they are given, in the order of
// their encoded ids, and with what reads them.
func (s *store) each(f func(projections.Reader, rule.Given) error) error {
	return s.runtime.Read(s.rules.Name(), func(reader projections.Reader) error {
		for state, err := range s.rules.All(reader) {
			if err == nil {
				err = f(reader, state.Given())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// from calls f with the rules whose last import came from a source that begins
// with a prefix. It reads no others.
func (s *store) from(source string, f func(id string, state rule.State)) error {
	return s.runtime.Read(s.rules.Name(), func(reader projections.Reader) error {
		for id, err := range s.rules.From(reader, source) {
			if err != nil {
				return err
			}
			state, _, err := s.rules.Rule(reader, id)
			if err != nil {
				return err
			}
			f(id, state)
		}
		return nil
	})
}

// version is a rule after one of its events.
type version struct {
	revision projections.RuleRevision
	state    rule.State
}

// versions folds a rule's history from the log, a version per revision.
func (s *store) versions(ctx context.Context, id string) ([]version, error) {
	var versions []version
	err := s.runtime.Read(s.rules.Name(), func(reader projections.Reader) error {
		for revision, err := range s.rules.History(reader, id) {
			if err != nil {
				return err
			}
			versions = append(versions, version{revision: revision})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var state rule.State
	for i := range versions {
		at := versions[i].revision.Position
		record, err := s.conn.Get(ctx, at.Stream, at.Seq)
		if err != nil {
			return nil, fmt.Errorf("revision %d of %s: %w", versions[i].revision.Revision, id, err)
		}
		events, err := record.Events()
		if err != nil {
			return nil, fmt.Errorf("revision %d of %s: %w", versions[i].revision.Revision, id, err)
		}
		for _, e := range events {
			if e.Position == at {
				state = rule.Evolve(state, e)
			}
		}
		versions[i].state = state
	}
	return versions, nil
}

// outcomes are those of a rule that count.
func (s *store) outcomes(id string) (o projections.Outcomes, err error) {
	err = s.runtime.Read(s.frequency.Name(), func(reader projections.Reader) error {
		o, err = s.frequency.Rule(reader, id)
		return err
	})
	return o, err
}

// change decides on a rule as the log has it and records the decision, again if
// another change came between. It returns once queries see it.
func (s *store) change(ctx context.Context, id string, actor schemas.Actor, command func(rule.State) (rule.Command, error)) (rule.State, rule.Decision, error) {
	return s.decide(ctx, id, actor, command, s.visible)
}

// changeAll does what change does to several rules, and returns once queries see all
// of it: the index is not built for each. It says how many it came to.
func (s *store) changeAll(ctx context.Context, actor schemas.Actor, ids []string, command func(id string) rule.Command) (n int, err error) {
	var last schemas.Position
	for _, id := range ids {
		_, _, err = s.decide(ctx, id, actor, plain(command(id)), func(_ context.Context, at schemas.Position) error {
			last = at
			return nil
		})
		if err != nil {
			break
		}
		n++
	}
	if last.Seq > 0 {
		err = errors.Join(err, s.visible(ctx, last))
	}
	return n, err
}

func (s *store) decide(ctx context.Context, id string, actor schemas.Actor, command func(rule.State) (rule.Command, error), await func(context.Context, schemas.Position) error) (state rule.State, d rule.Decision, err error) {
	aggregate := schemas.RuleAggregate(id)
	if err := aggregate.Check(); err != nil {
		return state, d, err
	}
	load := func(ctx context.Context) (state rule.State, seq uint64, err error) {
		last, err := s.conn.LastOf(ctx, aggregate) // before the view: what comes in between is a conflict
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return state, 0, err
		}
		if err := s.reads(ctx, last.Seq); err != nil {
			return state, 0, err
		}
		state, err = s.whole(id)
		return state, last.Seq, err
	}
	state, _, err = bus.Decide(ctx, s.writer, load, rule.Evolve, func(state rule.State) ([]schemas.Payload, error) {
		c, err := command(state)
		if err == nil {
			d, err = rule.Decide(state, c)
		}
		return d.Record, err
	}, bus.Change{Event: schemas.Event{Actor: actor, Aggregate: aggregate}, Await: await})
	return state, d, err
}

// plain is a command that needs nothing of the state.
func plain(c rule.Command) func(rule.State) (rule.Command, error) {
	return func(rule.State) (rule.Command, error) { return c, nil }
}

// record appends a fact of a rule that depends on nothing.
func (s *store) record(ctx context.Context, id string, actor schemas.Actor, p schemas.Payload) (schemas.Position, error) {
	return bus.Record(ctx, s.writer, schemas.Event{Actor: actor, Aggregate: schemas.RuleAggregate(id), Data: p})
}
