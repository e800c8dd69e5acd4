package schemas

import "time"

// SvcDash is the subject by which a person asks for a way into the dashboard.
// Persisted; never change.
const SvcDash = "writ.svc.dash" // {} → DashReply; admin

// DashReply is a link that opens the dashboard once.
type DashReply struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}
