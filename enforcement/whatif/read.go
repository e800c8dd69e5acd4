package whatif

import (
	"context"
	"fmt"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// Log reads streams from their start.
type Log interface {
	Follow(ctx context.Context, s schemas.Stream, after uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error
}

func read(ctx context.Context, log Log, s schemas.Stream, take func(schemas.Record)) error {
	return log.Follow(ctx, s, 0, bus.FollowOptions{MaxBatch: 4096, UntilEnd: true, Unparsed: true}, func(records []schemas.Record) error {
		for _, r := range records {
			take(r)
		}
		return nil
	})
}

// Search is how rules are found: today's rules, and what is tried in their place.
type Search struct {
	Rules   []schemas.Rule
	Other   []schemas.Rule     // tried; nil for the same
	Profile *retrieval.Profile // tried; nil for the same
	Options retrieval.Options  // of both
}

// Searching builds the index of today and that of the change, which are one where
// nothing else is tried, and reads from the log what came of the rules.
func (c *Change) Searching(ctx context.Context, log Log, s Search) (err error) {
	c.Outcomes = NewOutcomes()
	err = read(ctx, log, schemas.StreamRules, func(r schemas.Record) {
		events, _ := r.Events() // those of a later version are put aside by the views as well
		for _, e := range events {
			c.Outcomes.Add(e)
		}
	})
	if err != nil {
		return fmt.Errorf("the outcomes of the rules: %w", err)
	}
	s.Options.Confidence = c.Outcomes.Confidence
	if c.Now, err = indexOf(s.Rules, s.Options); err != nil {
		return err
	}
	if c.Then = c.Now; s.Other == nil && s.Profile == nil {
		return nil
	}
	if s.Other != nil {
		s.Rules = s.Other
	}
	if s.Profile != nil {
		s.Options.Profiles, s.Options.DefaultProfile = []retrieval.Profile{*s.Profile}, s.Profile.Name
	}
	c.Then, err = indexOf(s.Rules, s.Options)
	return err
}

func indexOf(rules []schemas.Rule, o retrieval.Options) (*retrieval.Index, error) {
	documents, err := retrieval.AnalyseAll(rules, o.Embedder)
	if err != nil {
		return nil, err
	}
	return retrieval.NewIndex(documents, o)
}

// Of runs a change over all sessions of a log.
func Of(ctx context.Context, log Log, c Change) (Report, error) {
	run := New(c)
	if err := read(ctx, log, schemas.StreamSessions, run.Record); err != nil {
		return Report{}, err
	}
	return run.Report(), nil
}
