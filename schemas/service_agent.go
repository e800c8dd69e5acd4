package schemas

import "time"

// Subjects of the services of agents, all of them the user's own acts: admin.
// Persisted; never change.
const (
	SvcAgentRun    = "writ.svc.agent.run"     // AgentRunRequest → AgentRunReply
	SvcDispatch    = "writ.svc.dispatch"      // AgentRunRequest with a transcript → AgentRunReply
	SvcAgentFollow = "writ.svc.agent.follow"  // AgentFollowRequest → AgentFollowReply
	SvcAgentAnswer = "writ.svc.agent.answer"  // AgentAnswerRequest → {}
	SvcAgentStop   = "writ.svc.agent.stop"    // AgentQuery → {}
	SvcAgentList   = "writ.svc.agent.list"    // AgentQuery → AgentList
	SvcAgentShow   = "writ.svc.agent.show"    // AgentQuery → AgentView
	SvcSchedules   = "writ.svc.schedule.list" // ScheduleQuery → ScheduleList
	SvcScheduleAct = "writ.svc.schedule.act"  // ScheduleActRequest → {}
)

// VerbSubject is where commands of a verb are handled. Persisted; never change.
func VerbSubject(verb string) string { return "writ.verb." + verb }

// AgentRunRequest starts a run.
type AgentRunRequest struct {
	Run       string `json:"run,omitempty"` // id; chosen by the client, so that a retry starts nothing twice
	File      string `json:"file"`          // absolute path of the constitution
	Workspace string `json:"workspace"`     // absolute
	Message   string `json:"message,omitempty"`
	Model     string `json:"model,omitempty"`
	// Transcript is a recorded response whose commands are run instead of asking
	// a model.
	Transcript []byte `json:"transcript,omitempty"`
	// Confirms says that somebody is there to answer questions.
	Confirms bool `json:"confirms,omitempty"`
}

// AgentRunReply names the run, which goes on.
type AgentRunReply struct {
	Run   string `json:"run"`
	Agent string `json:"agent"`
}

// AgentFollowRequest asks for what a run does, after a frame. The answer waits a
// while for the next one.
type AgentFollowRequest struct {
	Run   string `json:"run"`
	After uint64 `json:"after,omitempty"`
}

// AgentFollowReply is a stretch of a run as it is watched.
type AgentFollowReply struct {
	Frames []AgentFrame `json:"frames,omitempty"`
	Done   bool         `json:"done,omitempty"` // nothing comes after these
	// Lost counts frames that were let go because nobody fetched them in time;
	// the log has all of it.
	Lost     int            `json:"lost,omitempty"`
	Finished *AgentFinished `json:"finished,omitempty"` // with Done
	Batch    string         `json:"batch,omitempty"`    // with Done, of a dispatch: the message the agent gets
}

// Kinds of frames. Persisted in scripts; never change.
const (
	FrameStarted  = "started"  // an agent begins; Text is its name
	FrameProse    = "prose"    // visible text
	FrameCommand  = "command"  // a command that runs
	FrameResult   = "result"   // what came of it
	FrameDenied   = "denied"   // a command that was not granted
	FrameNote     = "note"     // a diagnostic, or what Writ did
	FrameAdvice   = "advice"   // of the advisor
	FrameConfirm  = "confirm"  // a question; answered with its ID
	FrameFinished = "finished" // an agent ends; Text is its outcome
)

// AgentFrame is a piece of what a run does.
type AgentFrame struct {
	Seq   uint64 `json:"seq"`
	Kind  string `json:"kind"`
	Run   string `json:"run"`
	Agent string `json:"agent"`
	Depth int    `json:"depth,omitempty"` // callers above it
	Text  string `json:"text,omitempty"`
	ID    string `json:"id,omitempty"` // of a question
}

// AgentAnswerWithin is how long a question waits for its answer, which is then no.
const AgentAnswerWithin = 5 * time.Minute

// AgentAnswerRequest answers a question.
type AgentAnswerRequest struct {
	Run string `json:"run"`
	ID  string `json:"id"`
	Yes bool   `json:"yes"`
}

// AgentQuery names a run, or filters the list of them.
type AgentQuery struct {
	Run       string `json:"run,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	Limit     int    `json:"limit,omitempty"` // 0: 50
}

// AgentSummary is one run in a list.
type AgentSummary struct {
	Run       string    `json:"run"`
	Agent     string    `json:"agent"`
	Message   string    `json:"message,omitempty"` // the first one, shortened
	Trigger   string    `json:"trigger,omitempty"`
	Workspace string    `json:"workspace,omitempty"`
	Parent    string    `json:"parent,omitempty"`
	Model     string    `json:"model,omitempty"`
	Outcome   string    `json:"outcome,omitempty"` // "" while it is at work
	Started   time.Time `json:"started,omitzero"`
	Last      time.Time `json:"last,omitzero"`
	Calls     int       `json:"calls,omitempty"` // of the model
	Commands  int       `json:"commands,omitempty"`
	Denied    int       `json:"denied,omitempty"`
	Tokens    int       `json:"tokens,omitempty"`
}

// AgentList is newest first.
type AgentList struct {
	Runs []AgentSummary `json:"runs"`
}

// AgentView is one run with all its events.
type AgentView struct {
	AgentSummary
	Events []ReplayEvent `json:"events"`
}

// ScheduleQuery filters the list of schedules.
type ScheduleQuery struct {
	Agent     string `json:"agent,omitempty"`
	Workspace string `json:"workspace,omitempty"`
	All       bool   `json:"all,omitempty"` // also those that are over
}

// ScheduleView is one schedule.
type ScheduleView struct {
	ID        string    `json:"id"`
	Line      string    `json:"line"`
	Agent     string    `json:"agent"`
	Workspace string    `json:"workspace"`
	State     string    `json:"state"` // active, paused, cancelled, over
	Given     time.Time `json:"given"`
	Next      time.Time `json:"next,omitzero"`
	Fired     int       `json:"fired,omitempty"`
	LastRun   string    `json:"last_run,omitempty"`
}

// ScheduleList is ordered by what fires next.
type ScheduleList struct {
	Schedules []ScheduleView `json:"schedules"`
}

// ScheduleActRequest changes a schedule.
type ScheduleActRequest struct {
	ID  string `json:"id"`
	Act string `json:"act"` // cancel, pause, resume
}
