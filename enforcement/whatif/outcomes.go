package whatif

import (
	"time"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/schemas"
)

// Outcomes is what use has taught about rules, as it was known at a moment that
// only goes forward. The rule of counting is that of the view "frequency".
type Outcomes struct {
	rules    map[string]projections.Outcomes
	sessions map[ruleSession]int
	coming   []schemas.Event // recorded later than the moment, in the log's order
}

type ruleSession struct{ rule, session string }

// NewOutcomes returns what is known before the first outcome.
func NewOutcomes() *Outcomes {
	return &Outcomes{rules: map[string]projections.Outcomes{}, sessions: map[ruleSession]int{}}
}

// Add takes an event of the log, in its order. It keeps outcomes alone.
func (o *Outcomes) Add(e schemas.Event) {
	if _, is := e.Data.(schemas.OutcomeRecorded); is {
		o.coming = append(o.coming, e)
	}
}

// Until goes forward to a moment: what had been recorded by then counts.
func (o *Outcomes) Until(moment time.Time) {
	for len(o.coming) > 0 && !o.coming[0].Time.After(moment) {
		o.count(o.coming[0])
		o.coming = o.coming[1:]
	}
}

func (o *Outcomes) count(e schemas.Event) {
	outcome, _ := e.Data.(schemas.OutcomeRecorded)
	rule := e.Aggregate.ID
	total := o.rules[rule]
	total.Rule, total.Last = rule, e.Position.Seq
	of := ruleSession{rule, outcome.Session}
	switch {
	case outcome.Session != "" && o.sessions[of] >= projections.SessionOutcomes:
		total.Ignored++
	case outcome.Positive:
		total.Positive++
	default:
		total.Negative++
	}
	o.sessions[of]++
	o.rules[rule] = total
}

// Confidence is a graduated rule's weight; false of one that counts by what it
// states.
func (o *Outcomes) Confidence(rule string) (weight float64, graduated bool) {
	g := o.rules[rule].Graduate("")
	return g.Weight, g.Graduated
}

// Graduated counts the rules that have graduated.
func (o *Outcomes) Graduated() (n int) {
	if o == nil {
		return 0
	}
	for id := range o.rules {
		if _, is := o.Confidence(id); is {
			n++
		}
	}
	return n
}
