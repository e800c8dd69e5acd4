package memory

import (
	"context"
	"time"

	"github.com/writbus/writ/observer/observation"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// watchDrift compares the verdicts of the last window with the alarms that are
// raised, and records what changed.
func (d *Service) watchDrift(ctx context.Context) error {
	m := d.kept
	m.drift.Lock()
	defer m.drift.Unlock()
	for _, view := range []string{m.view.Name(), d.Verdicts.Name()} {
		if err := d.Views.AwaitToDecide(ctx, schemas.StreamMemory, view); err != nil {
			return err
		}
	}
	tally, err := d.verdictsOf("", d.Now().Add(-time.Duration(m.limits.WindowMinutes)*time.Minute), d.Now())
	if err != nil {
		return err
	}
	alarms, err := d.alarms()
	if err != nil {
		return err
	}
	raised := make([]string, len(alarms))
	for i, a := range alarms {
		raised[i] = a.Alarm
	}
	for _, c := range observation.Drifts(int(tally.Allow), int(tally.Hold), int(tally.Discard), int(tally.Fallback), raised, m.limits) {
		var data schemas.Payload = schemas.DriftCleared{Alarm: c.Alarm, Ratio: c.Ratio, Verdicts: c.Verdicts, WindowMinutes: m.limits.WindowMinutes}
		if c.Raised {
			data = schemas.DriftRaised{Alarm: c.Alarm, Ratio: c.Ratio, Limit: c.Limit, Verdicts: c.Verdicts, WindowMinutes: m.limits.WindowMinutes}
		}
		position, err := d.recordMemory(ctx, schemas.Event{Actor: schemas.Writ("reflection"), Aggregate: schemas.Memory(schemas.MemoryGlobal), Data: data})
		if err != nil {
			return err
		}
		if err := d.Views.WaitFor(ctx, m.view.Name(), position); err != nil {
			return err
		}
	}
	return nil
}

// verdictsOf counts the verdicts of a span of minutes, that of to included.
func (d *Service) verdictsOf(scope string, from, to time.Time) (t projections.Tally, err error) {
	err = d.Views.Read(d.Verdicts.Name(), func(r projections.Reader) error {
		t, err = d.Verdicts.Window(r, scope, from, to.Add(time.Minute))
		return err
	})
	return t, err
}

func (d *Service) alarms() (all []projections.Alarm, err error) {
	err = d.kept.read(func(r projections.Reader) error {
		for a, err := range d.kept.view.Alarms(r) {
			if err != nil {
				return err
			}
			all = append(all, a)
		}
		return nil
	})
	return all, err
}

const week = 7 * 24 * time.Hour

// health says what the write gate did in a window, or this week against
// the last.
func (d *Service) health(ctx context.Context, r schemas.MemoryHealthRequest) (schemas.MemoryHealth, error) {
	health := schemas.MemoryHealth{Alarms: []schemas.MemoryAlarm{}}
	if r.Minutes < 0 || r.Minutes > 366*24*60 {
		return health, schemas.Faultf(schemas.CodeBadRequest, "the window is 1 minute to 366 days, not %d minutes", r.Minutes)
	}
	search, err := d.upToDate(ctx)
	if err != nil {
		return health, err
	}
	if err := d.watchDrift(ctx); err != nil {
		return health, err
	}
	span := time.Hour
	if r.Minutes > 0 {
		span = time.Duration(r.Minutes) * time.Minute
	}
	if r.Week {
		span = week
	}
	health.To = d.Now()
	health.From = health.To.Add(-span)
	tally, err := d.verdictsOf(r.Scope, health.From, health.To)
	if err != nil {
		return health, err
	}
	health.Window = toldTally(tally)
	alarms, err := d.alarms()
	if err != nil {
		return health, err
	}
	for _, a := range alarms {
		health.Alarms = append(health.Alarms, schemas.MemoryAlarm{Alarm: a.Alarm, Ratio: a.Ratio, Limit: a.Limit, Since: a.Since})
	}
	health.Total, health.Forgotten = uint64(len(search.entries)), uint64(search.forgotten)
	if !r.Week {
		return health, nil
	}
	// The minute that this week begins in counts there alone.
	before, err := d.verdictsOf(r.Scope, health.From.Add(-span), health.From.Add(-time.Minute))
	if err != nil {
		return health, err
	}
	told := toldTally(before)
	health.Before = &told
	return health, d.proposalNoise(ctx, &health)
}

// proposalNoise counts the proposals that were made and that were rejected: of
// reflection, and rules that others proposed. A rule that reflection proposed
// counts as made once, though the rules have it as proposed, too.
func (d *Service) proposalNoise(ctx context.Context, health *schemas.MemoryHealth) error {
	within := func(t time.Time) bool { return !t.Before(health.From) && !t.After(health.To) }
	if err := d.kept.read(func(r projections.Reader) error {
		for p, err := range d.kept.view.Proposals(r) {
			if err != nil {
				return err
			}
			if within(p.Time) {
				health.Proposed++
			}
			if p.Triage != nil && p.Triage.Decision == schemas.ProposalRejected && within(p.Triage.Time) {
				health.Rejected++
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := d.Views.Await(ctx, schemas.StreamRules, d.Rules.Name()); err != nil {
		return err
	}
	err := d.Views.Read(d.Rules.Name(), func(r projections.Reader) error {
		for state, err := range d.Rules.All(r) {
			if err != nil {
				return err
			}
			for revision, err := range d.Rules.History(r, state.Rule.ID) {
				if err != nil {
					return err
				}
				if !within(revision.Time) {
					continue
				}
				switch revision.Type {
				case schemas.RuleProposed{}.EventType():
					if schemas.ParseActor(revision.Actor).Part() != sourceReflection {
						health.Proposed++
					}
				case schemas.RuleRejected{}.EventType():
					health.Rejected++
				}
			}
		}
		return nil
	})
	if health.Proposed > 0 {
		health.Noise = float64(health.Rejected) / float64(health.Proposed)
	}
	return err
}

func toldTally(t projections.Tally) schemas.MemoryTally {
	told := schemas.MemoryTally{Allow: t.Allow, Hold: t.Hold, Discard: t.Discard, Unknown: t.Unknown, Fallback: t.Fallback, Reasons: t.Reasons}
	if total := float64(t.Total()); total > 0 {
		told.HoldRatio, told.DiscardRatio, told.FallbackRatio = float64(t.Hold)/total, float64(t.Discard)/total, float64(t.Fallback)/total
	}
	return told
}
