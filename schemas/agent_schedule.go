package schemas

import "time"

func registerAgentSchedules(add func(Type, definition)) {
	add(define[ScheduleAdded](KindAgent, unchanged))
	add(define[ScheduleFired](KindAgent))
	add(define[SchedulePaused](KindAgent))
	add(define[ScheduleResumed](KindAgent))
	add(define[ScheduleCancelled](KindAgent))
}

// AgentSchedule returns the aggregate of one schedule. A fire is appended with
// the expectation of its last event, so that of several daemons one fires.
func AgentSchedule(id string) Aggregate { return Aggregate{KindAgent, "schedule " + id} }

// ScheduleAdded is a message to an agent at a later time. The moment it was
// given is the event's time.
type ScheduleAdded struct {
	ScheduleID string `json:"schedule_id"`
	Line       string `json:"line"` // PHRASE: MESSAGE
	Zone       string `json:"zone"` // IANA name or an offset such as +02:00; times of day are meant in it
	Agent      string `json:"agent"`
	File       string `json:"file"` // of the outermost caller's constitution; read anew when it fires
	Workspace  string `json:"workspace"`
	// Chain are the agent's callers, the outermost first: what it may do then
	// is what all of them may.
	Chain []string `json:"chain,omitempty"`
	Run   string   `json:"run,omitempty"`
	// Origin is that of the message, OriginAgent or OriginOutside.
	Origin string `json:"origin,omitempty"`
}

// EventType names the event "schedule.added".
func (ScheduleAdded) EventType() Type { return "schedule.added" }

// Check requires what a fire needs.
func (p ScheduleAdded) Check() error {
	return require("schedule_id", p.ScheduleID, "line", p.Line, "zone", p.Zone, "agent", p.Agent, "file", p.File, "workspace", p.Workspace)
}

// ScheduleFired claims a fire: whoever appended it starts the run.
type ScheduleFired struct {
	At     time.Time `json:"at"`               // the moment it was due
	Missed int       `json:"missed,omitempty"` // earlier moments that came while nobody was there
	Run    string    `json:"run"`              // id of the run it starts
}

// EventType names the event "schedule.fired".
func (ScheduleFired) EventType() Type { return "schedule.fired" }

// Check requires the run.
func (p ScheduleFired) Check() error { return require("run", p.Run) }

// SchedulePaused stops a schedule until it is resumed.
type SchedulePaused struct {
	By string `json:"by,omitempty"`
}

// EventType names the event "schedule.paused".
func (SchedulePaused) EventType() Type { return "schedule.paused" }

// ScheduleResumed lets a schedule go on.
type ScheduleResumed struct {
	By string `json:"by,omitempty"`
}

// EventType names the event "schedule.resumed".
func (ScheduleResumed) EventType() Type { return "schedule.resumed" }

// ScheduleCancelled ends a schedule.
type ScheduleCancelled struct {
	By string `json:"by,omitempty"`
}

// EventType names the event "schedule.cancelled".
func (ScheduleCancelled) EventType() Type { return "schedule.cancelled" }
