package schemas

// Subjects of what a person does about a gate that waits. Persisted; never
// change.
const (
	SvcOffer   = "writ.svc.approve.offer"   // OfferRequest → GateOffer; admin
	SvcDecline = "writ.svc.approve.decline" // DeclineRequest → ActReply; admin
)

// OfferRequest asks to see what waits for approval.
type OfferRequest struct {
	Session string `json:"session"`
	Gate    string `json:"gate,omitempty"` // "": whichever waits
}

// GateOffer is what an approval would approve, as it stands now.
type GateOffer struct {
	Session     string      `json:"session"`
	Gate        string      `json:"gate,omitempty"` // "": nothing waits
	Fingerprint string      `json:"fingerprint,omitempty"`
	Problems    []string    `json:"problems,omitempty"` // why it cannot be approved
	Declined    string      `json:"declined,omitempty"` // what the user wanted changed before
	Files       []OfferFile `json:"files"`
}

// OfferFile is a file of an offer and how it differs from what the user
// approved before.
type OfferFile struct {
	FileState
	// Diff is a unified diff against the content last approved in this session;
	// of a file never approved it adds every line. "" where nothing changed.
	Diff string `json:"diff,omitempty"`
	New  bool   `json:"new,omitempty"` // never approved in this session
	// Unshown says why there is no diff: too large, not text, changed meanwhile.
	Unshown string `json:"unshown,omitempty"`
}

// DeclineRequest declines what waits, with the user's words for the agent.
type DeclineRequest struct {
	Session     string `json:"session"`
	Gate        string `json:"gate,omitempty"` // "": whichever waits
	Fingerprint string `json:"fingerprint"`    // of what the user saw
	Reason      string `json:"reason"`
	Channel     string `json:"channel"` // terminal, dashboard
	ActID       string `json:"act_id"`
}
