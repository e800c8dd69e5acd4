package schemas

import "time"

// SvcActivity is the subject by which the counts of what happened are read.
// Persisted; never change.
const SvcActivity = "writ.svc.activity" // ActivityRequest → Activity

// ActivityRequest asks for the counts since a while ago.
type ActivityRequest struct {
	Hours int `json:"hours,omitempty"` // 0: 24, at most 24 × 90
}

// Activity is what happened, per hour and per rule.
type Activity struct {
	Hours []ActivityHour `json:"hours"` // oldest first; hours without events are left out
	Rules []ActivityRule `json:"rules"` // by id, of all time
}

// ActivityHour is one hour of all sessions.
type ActivityHour struct {
	Start    time.Time `json:"start"`
	Prompts  uint64    `json:"prompts"`
	Answered uint64    `json:"answered"` // prompts that rules were shown for
	Shown    uint64    `json:"shown"`    // rules shown
	Tokens   uint64    `json:"tokens"`   // of their blocks
	Memory   uint64    `json:"memory"`   // tokens of observations that were given
	Files    uint64    `json:"files"`    // tokens of files that were given
	Best     float64   `json:"best"`     // mean of the best scores, 0 to 1
	Allowed  uint64    `json:"allowed"`
	Asked    uint64    `json:"asked"`
	Denied   uint64    `json:"denied"`
	Followed uint64    `json:"followed"` // outcomes for a rule
	Ignored  uint64    `json:"ignored"`  // outcomes against a rule
}

// ActivityRule is what became of one rule.
type ActivityRule struct {
	ID       string    `json:"id"`
	Shown    uint64    `json:"shown"`
	Denied   uint64    `json:"denied"`
	Violated uint64    `json:"violated"`
	Followed uint64    `json:"followed"`
	Ignored  uint64    `json:"ignored"`
	Last     time.Time `json:"last,omitzero"`
}
