package schemas

func registerSubagent(add func(Type, definition)) {
	add(define[SubagentBriefed](KindSession))
}

// SubagentBriefed records that an agent was allowed to start a sub-agent, and
// in which role.
type SubagentBriefed struct {
	AgentType string `json:"agent_type,omitempty"` // as the host names it
	Role      string `json:"role,omitempty"`       // explore, plan, test, implement, review_spec, review_quality
	Title     string `json:"title,omitempty"`
	Digest    string `json:"digest,omitempty"` // SHA-256 of what it was told
	ToolUseID string `json:"tool_use_id,omitempty"`
}

// EventType names the event "subagent.briefed".
func (SubagentBriefed) EventType() Type { return "subagent.briefed" }
