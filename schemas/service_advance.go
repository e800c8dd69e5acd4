package schemas

// SvcAdvance is the subject by which an agent asks to go on to the next phase.
// Persisted; never change.
const SvcAdvance = "writ.svc.session.advance" // AdvanceRequest → ActReply

// AdvanceRequest is an agent's wish to go on. It consumes an approval that the
// user gave; where there is none it is refused and recorded as
// approval.refused.
type AdvanceRequest struct {
	Session string `json:"session"`
	Gate    string `json:"gate,omitempty"` // the gate believed open: plan, tests, implementation; "" for the present one
}
