package schemas

// CommandDispatched records a command of the command language that runs.
type CommandDispatched struct {
	CommandID string `json:"command_id"`
	Verb      string `json:"verb"`
	Args      string `json:"args,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Turn      int    `json:"turn,omitempty"` // the response it stands in
	Line      int    `json:"line,omitempty"` // of that response, from 1
	BodyBytes int    `json:"body_bytes,omitempty"`
	// Confirmed says that a person agreed to it.
	Confirmed bool `json:"confirmed,omitempty"`
}

// EventType names the event "command.dispatched".
func (CommandDispatched) EventType() Type { return "command.dispatched" }

// Check requires id and verb.
func (p CommandDispatched) Check() error { return require("command_id", p.CommandID, "verb", p.Verb) }

// CommandDenied records a command that the capabilities did not grant.
type CommandDenied struct {
	CommandID string `json:"command_id"`
	Verb      string `json:"verb"`
	Reason    string `json:"reason"`
	Agent     string `json:"agent,omitempty"`
	Args      string `json:"args,omitempty"`
	Turn      int    `json:"turn,omitempty"`
	Line      int    `json:"line,omitempty"`
}

// EventType names the event "command.denied".
func (CommandDenied) EventType() Type { return "command.denied" }

// Check requires id, verb and reason.
func (p CommandDenied) Check() error {
	return require("command_id", p.CommandID, "verb", p.Verb, "reason", p.Reason)
}

// CommandFinished records a command's result.
type CommandFinished struct {
	CommandID string `json:"command_id"`
	OK        bool   `json:"ok"`
	Result    string `json:"result,omitempty"` // as the agent is shown it, before it is framed
	Millis    int64  `json:"millis,omitempty"`
	Verb      string `json:"verb,omitempty"`
	// Outcome is ok, skipped, asks (a person has to confirm it), or "" for a
	// command that failed.
	Outcome string            `json:"outcome,omitempty"`
	Trust   string            `json:"trust,omitempty"`   // where the result's text is from; "": Writ itself
	Reused  bool              `json:"reused,omitempty"`  // the result of the same command before
	Details map[string]string `json:"details,omitempty"` // facts, by verb
}

// EventType names the event "command.finished".
func (CommandFinished) EventType() Type { return "command.finished" }

// Check requires the id.
func (p CommandFinished) Check() error { return require("command_id", p.CommandID) }

// DiagnosticReported records what looked like a command and was not run.
type DiagnosticReported struct {
	// Kind is that of the scanner, or skipped_budget, needs_confirmation or
	// not_run.
	Kind       string `json:"kind"`
	Turn       int    `json:"turn,omitempty"`
	Line       int    `json:"line,omitempty"`
	Name       string `json:"name,omitempty"` // verb, terminator or mark
	Suggestion string `json:"suggestion,omitempty"`
	Note       string `json:"note,omitempty"` // as the agent is told
}

// EventType names the event "diagnostic.reported".
func (DiagnosticReported) EventType() Type { return "diagnostic.reported" }

// Check requires the kind.
func (p DiagnosticReported) Check() error { return require("kind", p.Kind) }
