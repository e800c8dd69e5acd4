package rulebook

import (
	"context"
	"slices"
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/schemas"
)

// feedback records what came of a rule that a session was shown.
func (b *Book) feedback(ctx context.Context, r schemas.RuleFeedbackRequest) (schemas.RuleFeedbackReply, error) {
	if r.Session == "" {
		return schemas.RuleFeedbackReply{}, schemas.Faultf(schemas.CodeBadRequest, "feedback names the session that was shown the rule")
	}
	ids, err := b.o.Shown(ctx, r.Session)
	if err != nil {
		return schemas.RuleFeedbackReply{}, err
	}
	_, shown := slices.BinarySearch(ids, r.ID)
	return b.say(ctx, r, shown)
}

// verdict records a person's own word on a rule. A day of it counts like a
// session.
func (b *Book) verdict(ctx context.Context, r schemas.RuleFeedbackRequest) (schemas.RuleFeedbackReply, error) {
	if r.Session == "" {
		r.Session = "person-" + b.now().Format(time.DateOnly)
	}
	return b.say(ctx, r, true)
}

// say records an outcome and returns the rule's record after it.
func (b *Book) say(ctx context.Context, r schemas.RuleFeedbackRequest, shown bool) (schemas.RuleFeedbackReply, error) {
	reply := schemas.RuleFeedbackReply{ID: r.ID}
	if err := b.await(ctx); err != nil {
		return reply, err
	}
	state, err := b.rule(r.ID)
	if err != nil {
		return reply, err
	}
	d, err := rule.Decide(state.State, rule.Feedback{
		Shown: shown, Outcome: schemas.OutcomeRecorded{Session: r.Session, Positive: r.Followed, Evidence: "feedback", Detail: r.Detail},
	})
	if err != nil {
		return reply, err
	}
	before, err := b.outcomes(r.ID)
	if err != nil {
		return reply, err
	}
	position, err := b.record(ctx, r.ID, schemas.Writ("outcomes"), d.Record[0])
	if err != nil {
		return reply, err
	}
	if err := b.runtime.WaitFor(ctx, b.frequency.Name(), position); err != nil {
		return reply, err
	}
	after, err := b.outcomes(r.ID)
	reply.Positive, reply.Negative = after.Positive, after.Negative
	reply.Counted = after.Ignored == before.Ignored
	reply.Weight = after.Graduate(state.Rule.Confidence).Weight
	return reply, err
}

// RecordOutcome records what a session's work says of a rule. It counts a bounded
// number of times a session, and more is not recorded.
func (b *Book) RecordOutcome(ctx context.Context, id string, o schemas.OutcomeRecorded) error {
	counted, err := b.counted(id, o.Session)
	if err != nil || counted >= projections.SessionOutcomes {
		return err
	}
	_, err = b.record(ctx, id, schemas.Writ("outcomes"), o)
	return err
}

// counted is how many outcomes of a rule count for a session so far.
func (s *store) counted(id, session string) (n int, err error) {
	err = s.runtime.Read(s.frequency.Name(), func(reader projections.Reader) error {
		n, err = s.frequency.Session(reader, id, session)
		return err
	})
	return n, err
}
