package schemas

import "time"

// Subjects of the services of reflection. Persisted; never change.
const (
	SvcMemoryReflect   = "writ.svc.memory.reflect"   // MemoryReflectRequest → MemoryReflectReply; admin
	SvcMemoryProposals = "writ.svc.memory.proposals" // MemoryProposalsRequest → MemoryProposals; admin
	SvcMemoryTriage    = "writ.svc.memory.triage"    // MemoryTriageRequest → MemoryTriageReply; admin
)

// MemoryReflectRequest reflects on what is allowed and was not read yet.
type MemoryReflectRequest struct {
	Scope string `json:"scope,omitempty"` // "" is every one
}

// MemoryReflectReply says what came of it.
type MemoryReflectReply struct {
	By        string `json:"by"`
	Read      int    `json:"read"`
	Proposals int    `json:"proposals"`
	Merged    int    `json:"merged"`
	Left      int    `json:"left,omitempty"` // allowed and not read, beyond what one reflection takes
}

// MemoryProposalsRequest lists proposals, oldest first.
type MemoryProposalsRequest struct {
	Scope string `json:"scope,omitempty"`
	All   bool   `json:"all,omitempty"` // also those that were decided
}

// MemoryProposals is a list of proposals.
type MemoryProposals struct {
	Proposals []MemoryProposal `json:"proposals"`
	// Withheld counts those that rest on an observation which is not allowed any
	// more, or was forgotten: they are shown to nobody.
	Withheld int `json:"withheld"`
}

// MemoryProposal is a note or rule that reflection proposes.
type MemoryProposal struct {
	ID           string    `json:"proposal_id"`
	Scope        string    `json:"scope"`
	Kind         string    `json:"kind"`
	Text         string    `json:"text"`
	Rule         string    `json:"rule,omitempty"` // the content for the structural gate
	Observations []string  `json:"observations,omitempty"`
	By           string    `json:"by,omitempty"`
	Time         time.Time `json:"time"`
	Decision     string    `json:"decision,omitempty"` // "" is open
	Reason       string    `json:"reason,omitempty"`
}

// MemoryTriageRequest decides about a proposal.
type MemoryTriageRequest struct {
	ID       string `json:"proposal_id"`
	Decision string `json:"decision"` // accepted, rejected
	Reason   string `json:"reason,omitempty"`
}

// MemoryTriageReply says what an accepted proposal became.
type MemoryTriageReply struct {
	ID            string            `json:"proposal_id"`
	Decision      string            `json:"decision"`
	ObservationID string            `json:"observation_id,omitempty"` // of a note
	Rule          *RuleProposeReply `json:"rule,omitempty"`           // the structural gate's verdict
	Message       string            `json:"message"`
}
