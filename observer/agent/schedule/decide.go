package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// AtMost bounds the schedules of one agent in a workspace that are not over.
const AtMost = 100

// Command is what somebody wants of a schedule.
type Command interface {
	// decide answers the command. A refusal is a Refused.
	decide(s State) (Decision, error)
}

// Decision is what Decide answers.
type Decision struct {
	// Record is to be appended, one event. Empty: nothing changes.
	Record []schemas.Payload
	// Message tells what was done.
	Message string
}

// Refused says why a command changes nothing, and what to do instead.
type Refused struct{ What, Adapt string }

func (r Refused) Error() string { return r.What + "; " + r.Adapt }

var errNoCommand = errors.New("schedule: no command")

// Decide answers a command on a schedule as it is. A refusal is a Refused; other
// errors are those of a command that is nil and of a zone that is not known here.
func Decide(s State, c Command) (Decision, error) {
	if c == nil {
		return Decision{}, errNoCommand
	}
	return c.decide(s)
}

func refused(what, adapt string) (Decision, error) { return Decision{}, Refused{what, adapt} }

func noSuch(id string) (Decision, error) {
	return refused("there is no schedule "+id, "/schedule list shows them")
}

// Add makes a schedule, where there is none.
type Add struct {
	schemas.ScheduleAdded
	Now time.Time
	// Others is how many schedules of the agent are not over.
	Others int
}

func (c Add) decide(s State) (Decision, error) {
	zone, err := LoadZone(c.Zone)
	if err != nil {
		return Decision{}, err
	}
	plan, err := Parse(c.Line, c.Now, zone)
	switch {
	case err != nil:
		return refused(strings.TrimPrefix(err.Error(), ErrPhrase.Error()+": "), "/help schedule shows the phrases")
	case c.Others >= AtMost:
		return refused(fmt.Sprintf("there are %d schedules already", c.Others), "cancel some of them")
	case s.Known():
		return refused("there is a schedule "+c.ScheduleID+" already", "try again")
	}
	first := plan.First().In(zone).Format("2006-01-02 15:04 MST")
	return Decision{[]schemas.Payload{c.ScheduleAdded}, "schedule " + c.ScheduleID + " first fires at " + first}, nil
}

// Act cancels, pauses or resumes a schedule.
type Act struct {
	ID   string
	Name string // "cancel", "pause" or "resume"
	By   string
}

func (c Act) decide(s State) (Decision, error) {
	var d Decision
	switch c.Name {
	case "cancel":
		d = Decision{[]schemas.Payload{schemas.ScheduleCancelled{By: c.By}}, "is cancelled"}
	case "pause":
		d = Decision{[]schemas.Payload{schemas.SchedulePaused{By: c.By}}, "is paused"}
	case "resume":
		d = Decision{[]schemas.Payload{schemas.ScheduleResumed{By: c.By}}, "goes on"}
	default:
		return refused("there is no act "+c.Name, "use cancel, pause or resume")
	}
	if !s.Known() {
		return noSuch(c.ID)
	}
	status := s.Status()
	switch {
	case status.Ended():
		return refused(c.ID+" is "+string(status), "make a new one")
	case c.Name == "pause" && s.Paused:
		return refused(c.ID+" is paused already", "resume or cancel it")
	case c.Name == "resume" && !s.Paused:
		return refused(c.ID+" is not paused", "pause or cancel it")
	}
	return d, nil
}

// ActOf is an act of an agent, which knows the schedules that are its own.
type ActOf struct {
	Agent, Workspace string
	Act
}

func (c ActOf) decide(s State) (Decision, error) {
	if !s.Of(c.Agent, c.Workspace) {
		s = State{}
	}
	return c.Act.decide(s)
}

// Claim fires what is due, for a run that is to begin. What is not due is not
// claimed.
type Claim struct {
	Now time.Time
	Run string
}

func (c Claim) decide(s State) (Decision, error) {
	if !s.Known() || s.Status() != Active {
		return Decision{}, nil
	}
	plan, err := s.Plan()
	if err != nil {
		return Decision{}, err
	}
	due, ok := plan.Due(s.since(plan, c.Now), c.Now)
	if !ok {
		return Decision{}, nil
	}
	return Decision{Record: []schemas.Payload{schemas.ScheduleFired{At: due.At, Missed: due.Missed, Run: c.Run}}}, nil
}
