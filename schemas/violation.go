package schemas

func registerViolation(add func(Type, definition)) {
	add(define[RuleViolated](KindSession))
	add(define[ViolationFixed](KindSession))
	add(define[TurnEnded](KindSession))
	add(define[WriteUnapproved](KindSession, unchanged))
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

// UnapprovedChange is a file that a command changed and the gate would have
// refused to have changed.
type UnapprovedChange struct {
	Path   string `json:"path"`   // relative to the project, slashes
	Change string `json:"change"` // created, changed, deleted
	Rule   string `json:"rule"`
	// PutBack says that the file is as it was before.
	PutBack bool `json:"put_back,omitempty"`
}

// WriteUnapproved records what a command changed although nobody could judge
// it beforehand, found by comparing the work tree.
type WriteUnapproved struct {
	ToolUseID string             `json:"tool_use_id,omitempty"`
	Changes   []UnapprovedChange `json:"changes"`
	More      int                `json:"more,omitempty"` // changes beyond those listed
	Agent     string             `json:"agent,omitempty"`
}

// EventType names the event "write.unapproved".
func (WriteUnapproved) EventType() Type { return "write.unapproved" }
