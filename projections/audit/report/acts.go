// Package report turns the log into what a reviewer reads: who approved
// what, when, by which channel and with which fingerprints, what was refused,
// and who changed the rules. It writes CSV, JSON Lines and Markdown.
//
// It guarantees: every act names the record it stands for, so that it can be
// proven (writ audit prove); and no text of the log can become markup, a
// formula of a spreadsheet, or a line of its own.
//
// It does not: read the log or check it; both are its caller's.
package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// Kinds of acts, in the words of the report.
const (
	Approved  = "approved"
	Refused   = "approval refused"
	Withdrawn = "approval withdrawn"
	Drifted   = "approved files changed"
	Denied    = "denied"
	Mode      = "mode"
	Rule      = "rule"
	Memory    = "memory"
	Session   = "session"
)

// Act is one thing of consequence that somebody did.
type Act struct {
	Time        time.Time           `json:"time"`
	Kind        string              `json:"kind"`
	What        string              `json:"what"`              // the gate, rule, mode, tool
	Who         string              `json:"who,omitempty"`     // as schemas.Actor is written
	Channel     string              `json:"channel,omitempty"` // by which the user spoke
	Assurance   string              `json:"assurance,omitempty"`
	Reason      string              `json:"reason,omitempty"`
	Fingerprint string              `json:"fingerprint,omitempty"`
	Files       []schemas.FileState `json:"files,omitempty"`
	Session     string              `json:"session,omitempty"`
	Project     string              `json:"project,omitempty"`
	Host        string              `json:"host,omitempty"`
	Event       string              `json:"event"`
	Stream      schemas.Stream      `json:"stream"`
	Seq         uint64              `json:"seq"`
	Type        schemas.Type        `json:"type"`
}

// Collector turns events, in the order of their streams, into acts.
type Collector struct {
	sessions map[string]session
	Acts     []Act
	Counts   Counts
}

// Counts is what a report counts instead of listing.
type Counts struct {
	Sessions, Prompts, Allowed, Denied, Asked int
	DeniedBy                                  map[string]int // by rule
	Undecodable                               int
}

type session struct{ project, host string }

// NewCollector returns an empty one.
func NewCollector() *Collector {
	return &Collector{sessions: map[string]session{}, Counts: Counts{DeniedBy: map[string]int{}}}
}

// Add takes an event. Events before the time that is reported may be given too,
// with silent set: they say which project a session belongs to.
func (c *Collector) Add(e schemas.ReplayEvent, silent bool) {
	if e.Undecodable != "" {
		if !silent {
			c.Counts.Undecodable++
		}
		return
	}
	a := Act{Time: e.Time, Who: e.Actor, Event: e.ID, Stream: e.Position.Stream, Seq: e.Position.Seq, Type: e.Type}
	if e.Aggregate.Kind == schemas.KindSession {
		a.Session = e.Aggregate.ID
	}
	told := c.read(e, &a)
	if silent {
		return
	}
	c.count(e)
	if !told {
		return
	}
	known := c.sessions[a.Session]
	a.Project, a.Host = known.project, known.host
	c.Acts = append(c.Acts, a)
}

// as decodes an event's data. What does not decode is empty: the event itself
// was decoded before it was shown.
func as[T any](e schemas.ReplayEvent) (data T) {
	_ = json.Unmarshal(e.Data, &data)
	return data
}

func (c *Collector) count(e schemas.ReplayEvent) {
	switch e.Type {
	case schemas.SessionStarted{}.EventType():
		c.Counts.Sessions++
	case schemas.PromptSubmitted{}.EventType():
		c.Counts.Prompts++
	case schemas.ToolDecided{}.EventType():
		d := as[schemas.ToolDecided](e)
		switch d.Verdict {
		case "allow":
			c.Counts.Allowed++
		case "ask":
			c.Counts.Asked++
		default:
			c.Counts.Denied++
			c.Counts.DeniedBy[d.Rule]++
		}
	}
}

// read fills an act from its event, and says whether it is one to tell.
func (c *Collector) read(e schemas.ReplayEvent, a *Act) bool {
	switch e.Type {
	case schemas.SessionStarted{}.EventType():
		s := as[schemas.SessionStarted](e)
		c.sessions[a.Session] = session{s.Project, s.Host}
		a.Kind, a.What = Session, "started"
		return true
	case schemas.GateApproved{}.EventType():
		g := as[schemas.GateApproved](e)
		a.Kind, a.What, a.Channel, a.Assurance, a.Fingerprint, a.Files = Approved, g.Gate, g.Channel, g.Assurance, g.Fingerprint, g.Files
		a.Reason = signedBy(e.Aggregate, g)
	case schemas.ApprovalGiven{}.EventType():
		g := as[schemas.ApprovalGiven](e)
		a.Kind, a.What, a.Channel, a.Fingerprint = Approved, g.Gate+", one of two", g.Channel, g.Fingerprint
		a.Reason = signedBy(e.Aggregate, g.Act())
	case schemas.ApprovalRefused{}.EventType():
		r := as[schemas.ApprovalRefused](e)
		a.Kind, a.What, a.Channel, a.Reason = Refused, r.Gate, r.Channel, strings.Join(append([]string{r.Reason}, r.Problems...), "; ")
	case schemas.GateInvalidated{}.EventType():
		g := as[schemas.GateInvalidated](e)
		a.Kind, a.What, a.Reason = Withdrawn, g.Gate, joined(g.Reason, g.Rule, g.Diagnosis)
	case schemas.GatesClosed{}.EventType():
		a.Kind, a.What, a.Reason = Withdrawn, "all gates", as[schemas.GatesClosed](e).Reason
	case schemas.GateDrifted{}.EventType():
		g := as[schemas.GateDrifted](e)
		a.Kind, a.What = Drifted, g.Gate
		for _, f := range g.Changes {
			a.Files = append(a.Files, schemas.FileState{Path: f.Path, SHA256: f.Is})
		}
	case schemas.ModeChanged{}.EventType():
		m := as[schemas.ModeChanged](e)
		a.Kind, a.What, a.Reason = Mode, m.To, "from "+orNone(m.From)
	case schemas.ToolDecided{}.EventType():
		d := as[schemas.ToolDecided](e)
		a.Kind, a.What, a.Reason = Denied, joined(d.Tool, targetOf(d)), withRule(d.Rule, d.Reason)
		return d.Verdict != "allow"
	case schemas.CommandDenied{}.EventType():
		d := as[schemas.CommandDenied](e)
		a.Kind, a.What, a.Reason = Denied, "command "+d.Verb, d.Reason
	default:
		return ruleOrMemory(e, a)
	}
	return true
}

func ruleOrMemory(e schemas.ReplayEvent, a *Act) bool {
	reason := as[struct {
		Reason string `json:"reason"`
	}](e).Reason
	verb := strings.TrimPrefix(string(e.Type), "rule.")
	switch e.Type {
	case schemas.RuleEdited{}.EventType(), schemas.RuleRetired{}.EventType(), schemas.RuleProposed{}.EventType(),
		schemas.RulePromoted{}.EventType(), schemas.RuleRejected{}.EventType(), schemas.RuleDownweighted{}.EventType():
		a.Kind, a.What, a.Reason = Rule, e.Aggregate.ID+" "+verb, reason
	case schemas.ObservationRegated{}.EventType():
		r := as[schemas.ObservationRegated](e)
		a.Kind, a.What, a.Reason = Memory, r.ObservationID+" now "+r.Verdict, r.Reason
	case schemas.ObservationForgotten{}.EventType():
		f := as[schemas.ObservationForgotten](e)
		a.Kind, a.What, a.Reason = Memory, f.ObservationID+" forgotten", f.Reason
	default:
		return false
	}
	return true
}

// signedBy says with whose key an act was signed, "" where it was not.
func signedBy(on schemas.Aggregate, act schemas.PersonAct) string {
	if act.Signature() == nil {
		return ""
	}
	key, err := evidence.Person(on, act)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("signed with the key %s+%08x", key.Name(), key.KeyHash())
}

func targetOf(d schemas.ToolDecided) string {
	var all []string
	for _, t := range d.Targets {
		if t.Rel != "" {
			all = append(all, t.Rel)
		} else {
			all = append(all, t.Path)
		}
	}
	if len(all) == 0 {
		return d.Command
	}
	return strings.Join(all, ", ")
}

func joined(parts ...string) string { return excerpt.Joined(": ", parts...) }

// withRule puts a rule's id before a reason that does not begin with it.
func withRule(rule, reason string) string {
	if strings.HasPrefix(reason, rule) {
		return reason
	}
	return joined(rule, reason)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}
