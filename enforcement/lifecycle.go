package enforcement

import (
	"cmp"
	"maps"
	"slices"

	"github.com/writbus/writ/schemas"
)

func (c StartSession) decide(s State) Decision {
	after := Evolve(s, schemas.Event{Data: c.SessionStarted})
	return Decision{Verdict: Allow, Record: []schemas.Payload{c.SessionStarted}, Context: after.Guidance()}
}

func (c EndSession) decide(s State) Decision {
	d := record(schemas.SessionEnded{
		Reason: c.Reason, Shown: s.Shown, Denied: slices.Sorted(maps.Keys(s.Denials)),
		Written: len(s.Written), Refusals: s.Refusals,
	})
	d.Record = append(d.Record, s.Audit())
	return d
}

func (c StartSubagent) decide(s State) Decision { return record(c.SubagentStarted) }
func (c StopSubagent) decide(s State) Decision  { return record(c.SubagentStopped) }
func (c Observe) decide(s State) Decision       { return record(c.HookObserved) }

// BandInstructions is the band of rules that the host's own instructions hold
// (persisted; never change).
const BandInstructions = "instructions"

// BandLine is the band of rules of which a line was shown (persisted; never
// change).
const BandLine = "line"

func (c ShowRules) decide(s State) Decision {
	if len(c.Rules) == 0 {
		return Decision{Verdict: Allow}
	}
	p := c.RulesShown
	p.Phase = cmp.Or(p.Phase, s.Work.Phase)
	return record(p)
}

func (c Compact) decide(s State) Decision {
	d := record(c.ContextCompacted)
	if c.Stage == "after" {
		d.Context = s.Guidance()
	}
	return d
}

func record(p schemas.Payload) Decision {
	return Decision{Verdict: Allow, Record: []schemas.Payload{p}}
}
