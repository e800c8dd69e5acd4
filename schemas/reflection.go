package schemas

import "fmt"

func registerReflection(add func(Type, definition)) {
	add(define[ReflectionMade](KindMemory))
	add(define[ObservationMerged](KindMemory))
	add(define[ProposalMade](KindMemory, unchanged))
	add(define[ProposalTriaged](KindMemory))
}

// The kinds of proposals. Persisted; never change.
const (
	ProposalNote = "note" // a memory that stands for several
	ProposalRule = "rule" // a rule, for the structural gate
)

// The decisions about a proposal. Persisted; never change.
const (
	ProposalAccepted = "accepted"
	ProposalRejected = "rejected"
)

// ReflectionMade says that observations of a scope were reflected on: each is
// read once. What came of it travels in the same message.
type ReflectionMade struct {
	ReflectionID string `json:"reflection_id"`
	By           string `json:"by"` // embedded, or the model's name
	// Through is the watermark: the last record of the stream that was looked
	// at.
	Through   uint64   `json:"through"`
	Read      []string `json:"read"` // observations of the scope, all allowed
	Proposals int      `json:"proposals"`
	Merged    int      `json:"merged"`
}

// EventType names the event "reflection.made".
func (ReflectionMade) EventType() Type { return "reflection.made" }

// Check requires id and author.
func (p ReflectionMade) Check() error { return require("reflection_id", p.ReflectionID, "by", p.By) }

// ObservationMerged says that an observation says nearly the same as an older
// one of its scope: of the two, recall shows one. Both keep text and verdict.
type ObservationMerged struct {
	ObservationID string  `json:"observation_id"`
	Into          string  `json:"into"`
	Similarity    float64 `json:"similarity"` // share of their words in common
}

// EventType names the event "observation.merged".
func (ObservationMerged) EventType() Type { return "observation.merged" }

// Check requires both observations, and that they are two.
func (p ObservationMerged) Check() error {
	if p.ObservationID == p.Into {
		return fmt.Errorf("%w: an observation is merged into itself", ErrInvalid)
	}
	return require("observation_id", p.ObservationID, "into", p.Into)
}

// ProposalMade is a rule or note that reflection proposes. Its aggregate is the
// scope.
type ProposalMade struct {
	ProposalID   string   `json:"proposal_id"`
	Text         string   `json:"text"`
	Observations []string `json:"observations,omitempty"` // ids it rests on
	// Kind is ProposalNote or ProposalRule; "" is a note.
	Kind         string `json:"kind,omitempty"`
	ReflectionID string `json:"reflection_id,omitempty"`
	By           string `json:"by,omitempty"`
	// Sealed holds the text, and of a rule its content, encrypted under a key of
	// the proposal's own; Text is then empty. The key is erased with that of any
	// observation it rests on.
	Sealed []byte `json:"sealed,omitempty"`
}

// EventType names the event "proposal.made".
func (ProposalMade) EventType() Type { return "proposal.made" }

// Check requires id and text, open or sealed.
func (p ProposalMade) Check() error {
	if len(p.Sealed) > 0 {
		return require("proposal_id", p.ProposalID)
	}
	return require("proposal_id", p.ProposalID, "text", p.Text)
}

// ProposalTriaged is what a person decided about a proposal.
type ProposalTriaged struct {
	ProposalID    string `json:"proposal_id"`
	Decision      string `json:"decision"` // accepted, rejected
	Reason        string `json:"reason,omitempty"`
	RuleID        string `json:"rule_id,omitempty"`        // that the structural gate admitted
	ObservationID string `json:"observation_id,omitempty"` // the note
}

// EventType names the event "proposal.triaged".
func (ProposalTriaged) EventType() Type { return "proposal.triaged" }

// Check requires id and decision.
func (p ProposalTriaged) Check() error {
	return require("proposal_id", p.ProposalID, "decision", p.Decision)
}
