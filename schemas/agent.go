package schemas

func registerAgent(add func(Type, definition)) {
	add(define[CommandDispatched](KindAgent, unchanged))
	add(define[CommandDenied](KindAgent, unchanged))
	add(define[CommandFinished](KindAgent, unchanged))
	add(define[DiagnosticReported](KindAgent))
	add(define[AgentStarted](KindAgent, unchanged))
	add(define[AgentMessaged](KindAgent, unchanged))
	add(define[AgentReplied](KindAgent))
	add(define[AgentFinished](KindAgent))
	add(define[AdviceGiven](KindAgent))
	add(define[ArtifactKept](KindAgent))
	registerAgentBooks(add)
	registerAgentSchedules(add)
}

// AgentRun returns the aggregate of one run: a conversation with one agent.
func AgentRun(id string) Aggregate { return Aggregate{KindAgent, id} }

// Where a message came from. What is not known is not the user's. Persisted; never
// change.
const (
	OriginUser    = "user"    // the user wrote it
	OriginAgent   = "agent"   // an agent did, and nothing from outside was before it
	OriginOutside = "outside" // text from outside was before whoever wrote it
)

// AgentStarted records that an agent begins a conversation, and what it may do.
type AgentStarted struct {
	Agent   string `json:"agent"`
	Message string `json:"message"` // what it is asked
	Origin  string `json:"origin,omitempty"`
	// Trigger says what started it: run, dispatch, agent, parallel, pane or
	// schedule.
	Trigger      string   `json:"trigger"`
	Model        string   `json:"model,omitempty"`
	File         string   `json:"file,omitempty"` // of its constitution
	Workspace    string   `json:"workspace,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"` // its own, as written
	Chain        []string `json:"chain,omitempty"`        // its callers, the outermost first
	Parent       string   `json:"parent,omitempty"`       // the caller's run
	Command      string   `json:"command,omitempty"`      // id of the command that started it
	Schedule     string   `json:"schedule,omitempty"`     // id of the schedule that started it
	Daemon       string   `json:"daemon,omitempty"`       // where it is at work
}

// EventType names the event "agent.started".
func (AgentStarted) EventType() Type { return "agent.started" }

// Check requires agent and trigger.
func (p AgentStarted) Check() error { return require("agent", p.Agent, "trigger", p.Trigger) }

// AgentMessaged is a further message of the same conversation.
type AgentMessaged struct {
	Message string `json:"message"`
	From    string `json:"from,omitempty"` // user, writ or the agent that sent it
	Origin  string `json:"origin,omitempty"`
}

// EventType names the event "agent.messaged".
func (AgentMessaged) EventType() Type { return "agent.messaged" }

// Check requires the message.
func (p AgentMessaged) Check() error { return require("message", p.Message) }

// AgentReplied is one response of the model, commands included, as it came.
type AgentReplied struct {
	Turn         int    `json:"turn"` // model call of the message, from 1
	Text         string `json:"text"`
	Model        string `json:"model,omitempty"`
	InputTokens  int    `json:"input_tokens,omitempty"`
	OutputTokens int    `json:"output_tokens,omitempty"`
	Stop         string `json:"stop,omitempty"` // end, length, cut
	// Problem says why the response is not whole; nothing of it is run then.
	Problem string `json:"problem,omitempty"`
	Millis  int64  `json:"millis,omitempty"`
}

// EventType names the event "agent.replied".
func (AgentReplied) EventType() Type { return "agent.replied" }

// AgentFinished ends a message of a conversation.
type AgentFinished struct {
	// Outcome is answered, halted (by the advisor), exhausted (a bound was
	// reached first), stopped (by a person or the daemon's end) or failed.
	Outcome      string `json:"outcome"`
	Answer       string `json:"answer,omitempty"` // the visible text of the last response
	Reason       string `json:"reason,omitempty"`
	Calls        int    `json:"calls,omitempty"` // of the model
	InputTokens  int    `json:"input_tokens,omitempty"`
	OutputTokens int    `json:"output_tokens,omitempty"`
	Millis       int64  `json:"millis,omitempty"`
}

// EventType names the event "agent.finished".
func (AgentFinished) EventType() Type { return "agent.finished" }

// Check requires the outcome.
func (p AgentFinished) Check() error { return require("outcome", p.Outcome) }

// AdviceGiven is an answer of an agent's advisor.
type AdviceGiven struct {
	Mode      string `json:"mode"`               // consult, gate
	Question  string `json:"question,omitempty"` // of a consultation
	Verdict   string `json:"verdict,omitempty"`  // of the gate: CONTINUE, REDIRECT, HALT
	Text      string `json:"text,omitempty"`     // answer, guidance or reason
	Model     string `json:"model,omitempty"`
	Malformed bool   `json:"malformed,omitempty"` // the advisor's answer was no verdict
}

// EventType names the event "advice.given".
func (AdviceGiven) EventType() Type { return "advice.given" }

// Check requires the mode.
func (p AdviceGiven) Check() error { return require("mode", p.Mode) }

// ArtifactKept is something that a conversation keeps, to be read by its number.
type ArtifactKept struct {
	ArtifactID string `json:"artifact_id"`
	Name       string `json:"name,omitempty"` // a path or a title
	MIME       string `json:"mime,omitempty"`
	Size       int    `json:"size"` // bytes of the content
	Content    []byte `json:"content"`
}

// EventType names the event "artifact.kept".
func (ArtifactKept) EventType() Type { return "artifact.kept" }

// Check requires the id.
func (p ArtifactKept) Check() error { return require("artifact_id", p.ArtifactID) }
