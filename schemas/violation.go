package schemas

func registerViolation(add func(Type, definition)) {
	add(define[RuleViolated](KindSession))
	add(define[ViolationFixed](KindSession))
	add(define[TurnEnded](KindSession))
}

// Violation is a place in a file that a rule's mechanical check found.
type Violation struct {
	Rule    string `json:"rule"`
	Path    string `json:"path"` // relative to the project, slashes
	Line    int    `json:"line"` // from 1, when it was found
	Excerpt string `json:"excerpt,omitempty"`
	Message string `json:"message,omitempty"`
}

// Key tells a violation from others wherever in its file it stands by now.
func (v Violation) Key() string { return v.Rule + "\x00" + v.Path + "\x00" + v.Excerpt }

// RuleViolated records what the checks found on the lines that a tool changed.
type RuleViolated struct {
	Violations []Violation `json:"violations"`
	ToolUseID  string      `json:"tool_use_id,omitempty"`
}

// EventType names the event "rule.violated".
func (RuleViolated) EventType() Type { return "rule.violated" }

// ViolationFixed records pending violations that are no longer in their file.
type ViolationFixed struct {
	Violations []Violation `json:"violations"`
	ToolUseID  string      `json:"tool_use_id,omitempty"`
}

// EventType names the event "violation.fixed".
func (ViolationFixed) EventType() Type { return "violation.fixed" }

// TurnEnded records that an agent wanted to stop, and whether it was sent back
// to work.
type TurnEnded struct {
	Blocked    bool   `json:"blocked"`
	Reason     string `json:"reason,omitempty"`
	Violations int    `json:"violations,omitempty"` // pending
	Agent      string `json:"agent,omitempty"`
}

// EventType names the event "turn.ended".
func (TurnEnded) EventType() Type { return "turn.ended" }
