package projections

import (
	"encoding/binary"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// Activity counts what sessions did, writ doctor's left out: per hour of the events' own time, and per
// rule. A query helper takes a Reader of the view "activity".
//
//	h<hour>     Hour
//	r/<rule>    RuleActivity, of the corpus's rules and of the gates'
//
// An hour is eight bytes that order as time does.
type Activity struct {
	hours *drafts[Hour]
	rules *drafts[RuleActivity]
}

// Hour is one hour of all sessions.
type Hour struct {
	Start   time.Time `json:"start"`
	Prompts uint64    `json:"prompts"`
	// Answered are the prompts that rules were shown for, Shown those rules and
	// Tokens the size of their blocks; Best is the sum of each block's best
	// score, so that Best / Answered is its mean.
	Answered uint64  `json:"answered"`
	Shown    uint64  `json:"shown"`
	Tokens   uint64  `json:"tokens"`
	Memory   uint64  `json:"memory,omitempty"` // tokens of observations that were given
	Files    uint64  `json:"files,omitempty"`  // tokens of files that were given
	Best     float64 `json:"best"`
	Allowed  uint64  `json:"allowed"`
	Asked    uint64  `json:"asked"`
	Denied   uint64  `json:"denied"`
	Followed uint64  `json:"followed"` // outcomes for a rule
	Ignored  uint64  `json:"ignored"`  // outcomes against a rule
}

// RuleActivity is what became of one rule, in all sessions.
type RuleActivity struct {
	Rule     string    `json:"rule"`
	Shown    uint64    `json:"shown"`    // times injected
	Denied   uint64    `json:"denied"`   // requests it refused
	Violated uint64    `json:"violated"` // violations found in changed lines
	Followed uint64    `json:"followed"` // outcomes for it, also those beyond a session's share
	Ignored  uint64    `json:"ignored"`  // outcomes against it
	Last     time.Time `json:"last"`     // the latest of all these
}

// NewActivity returns the view.
func NewActivity() Activity {
	return Activity{hours: newDrafts[Hour](), rules: newDrafts[RuleActivity]()}
}

// Begin implements Batcher.
func (a Activity) Begin() {
	a.hours.begin()
	a.rules.begin()
}

// Continue implements Continuer.
func (a Activity) Continue() {
	a.hours.goOn()
	a.rules.goOn()
}

// Flush implements Batcher.
func (a Activity) Flush(v View) error { return errors.Join(a.hours.flush(v), a.rules.flush(v)) }

// Name implements Projector.
func (Activity) Name() string { return "activity" }

// Version implements Projector.
func (Activity) Version() int { return 3 }

// Types implements Projector.
func (Activity) Types() []schemas.Type {
	return []schemas.Type{
		schemas.PromptSubmitted{}.EventType(), schemas.RulesShown{}.EventType(), schemas.ToolDecided{}.EventType(),
		schemas.RuleViolated{}.EventType(), schemas.OutcomeRecorded{}.EventType(),
		schemas.MemoryShown{}.EventType(), schemas.ArtifactShown{}.EventType(),
	}
}

// Apply implements Projector.
func (a Activity) Apply(v View, e schemas.Event) error {
	if strings.HasPrefix(e.Aggregate.ID, schemas.ProbeSession) {
		return nil // writ doctor's
	}
	switch p := e.Data.(type) {
	case schemas.PromptSubmitted:
		return a.inHour(v, e, func(h *Hour) { h.Prompts++ })
	case schemas.RulesShown:
		return a.shown(v, e, p)
	case schemas.MemoryShown:
		return a.inHour(v, e, func(h *Hour) { h.Memory += uint64(max(p.Tokens, 0)) })
	case schemas.ArtifactShown:
		return a.inHour(v, e, func(h *Hour) { h.Files += uint64(max(p.Tokens, 0)) })
	case schemas.ToolDecided:
		return a.decided(v, e, p)
	case schemas.RuleViolated:
		for _, one := range p.Violations {
			if err := a.ofRule(v, e, one.Rule, func(r *RuleActivity) { r.Violated++ }); err != nil {
				return err
			}
		}
		return nil
	case schemas.OutcomeRecorded:
		if err := a.inHour(v, e, func(h *Hour) { count(p.Positive, &h.Followed, &h.Ignored) }); err != nil {
			return err
		}
		return a.ofRule(v, e, e.Aggregate.ID, func(r *RuleActivity) { count(p.Positive, &r.Followed, &r.Ignored) })
	}
	return nil
}

func count(first bool, one, other *uint64) {
	if first {
		*one++
	} else {
		*other++
	}
}

func (a Activity) shown(v View, e schemas.Event, p schemas.RulesShown) error {
	best, retrieved := 0.0, uint64(0)
	for _, r := range p.Rules {
		if err := a.ofRule(v, e, r.ID, func(of *RuleActivity) { of.Shown++ }); err != nil {
			return err
		}
		if r.Band == "retrieved" {
			best = max(best, r.Score)
			retrieved++
		}
	}
	return a.inHour(v, e, func(h *Hour) {
		h.Shown += retrieved
		h.Tokens += uint64(max(p.Tokens, 0))
		if p.Trigger == "prompt" && retrieved > 0 {
			h.Answered++
			h.Best += best
		}
	})
}

func (a Activity) decided(v View, e schemas.Event, p schemas.ToolDecided) error {
	if p.Verdict == "deny" && p.Rule != "" {
		if err := a.ofRule(v, e, p.Rule, func(r *RuleActivity) { r.Denied++ }); err != nil {
			return err
		}
	}
	return a.inHour(v, e, func(h *Hour) {
		switch p.Verdict {
		case "allow":
			h.Allowed++
		case "ask":
			h.Asked++
		default:
			h.Denied++
		}
	})
}

func (a Activity) inHour(v View, e schemas.Event, change func(*Hour)) error {
	start := e.Time.UTC().Truncate(time.Hour)
	if start.Year() > 9999 {
		return nil // no time that JSON can hold: a zone pushed it over the edge
	}
	h, err := a.hours.of(v, hourKey(start))
	if err == nil {
		h.Start = start
		change(h)
	}
	return err
}

func (a Activity) ofRule(v View, e schemas.Event, id string, change func(*RuleActivity)) error {
	if id == "" {
		return nil
	}
	r, err := a.rules.of(v, idKey('r', id))
	if err != nil {
		return err
	}
	r.Rule = id
	if e.Time.After(r.Last) && e.Time.UTC().Year() <= 9999 {
		r.Last = e.Time.UTC()
	}
	change(r)
	return nil
}

func hourKey(start time.Time) []byte {
	return binary.BigEndian.AppendUint64([]byte{'h'}, uint64(start.Unix())^1<<63)
}

// Rules yields what became of every rule that anything became of, by id.
func (Activity) Rules(r Reader) iter.Seq2[RuleActivity, error] {
	return documents[RuleActivity](r, []byte{'r'})
}

// Hours yields the hours from one on, oldest first. Hours in which nothing
// happened are left out.
func (Activity) Hours(r Reader, from time.Time) iter.Seq2[Hour, error] {
	return func(yield func(Hour, error) bool) {
		for h, err := range documents[Hour](r, []byte{'h'}) {
			if err == nil && h.Start.Before(from.UTC().Truncate(time.Hour)) {
				continue
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}
