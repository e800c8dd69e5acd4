package schemas

import "time"

// SvcDash is the subject by which a person asks for a way into the dashboard.
// Persisted; never change.
const SvcDash = "writ.svc.dash" // DashRequest → DashReply; admin

// DashRequest asks for a link.
type DashRequest struct {
	Reads bool `json:"reads,omitempty"` // it lets its reader look, and act on nothing
}

// DashReply is a link that opens the dashboard once.
type DashReply struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}
