package schemas

import "time"

// Subjects of what a person does about a gate that waits. Persisted; never
// change.
const (
	SvcOffer   = "writ.svc.approve.offer"   // OfferRequest → GateOffer; admin
	SvcChanges = "writ.svc.session.changes" // ChangesRequest → SessionChanges
	SvcDecline = "writ.svc.approve.decline" // DeclineRequest → ActReply; admin
)

// OfferRequest asks to see what waits for approval.
type OfferRequest struct {
	Session string `json:"session"`
	Gate    string `json:"gate,omitempty"`    // "": whichever waits
	Channel string `json:"channel,omitempty"` // by which it would be approved
}

// GateOffer is what an approval would approve, as it stands now.
type GateOffer struct {
	Session     string      `json:"session"`
	Project     string      `json:"project,omitempty"`
	Gate        string      `json:"gate,omitempty"` // "": nothing waits
	Fingerprint string      `json:"fingerprint,omitempty"`
	Problems    []string    `json:"problems,omitempty"` // why it cannot be approved
	Declined    string      `json:"declined,omitempty"` // what the user wanted changed before
	Files       []OfferFile `json:"files"`
	Seen        []SeenFile  `json:"seen,omitempty"` // what running the tests showed
	// Wish is what the user asked for, in a line; Title the plan's, Plan its text
	// where the plan is what waits, and Covers the files that it lets be written.
	Wish   string   `json:"wish,omitempty"`
	Title  string   `json:"title,omitempty"`
	Plan   string   `json:"plan,omitempty"`
	Covers []string `json:"covers,omitempty"`
	// Asserts are the tests of each file with what they assert.
	Asserts []OfferTests `json:"asserts,omitempty"`
	// TooWeak is why an approval by the channel of the request would not count, ""
	// where it would.
	TooWeak string `json:"too_weak,omitempty"`
	// Second says who approved this and whose approval it waits for, where two persons
	// are needed.
	Second string `json:"second,omitempty"`
}

// OfferTests are the tests of a file of an offer.
type OfferTests struct {
	Path  string      `json:"path"`
	Tests []OfferTest `json:"tests"`
}

// OfferTest is a test and what it asserts, line by line as the file has it.
type OfferTest struct {
	Name    string   `json:"name,omitempty"`
	Line    int      `json:"line"`
	Asserts []string `json:"asserts,omitempty"`
}

// SeenFile is what running a test file of an offer showed.
type SeenFile struct {
	Path    string `json:"path"`
	Verdict string `json:"verdict,omitempty"` // as of TestsSeen; "": it did not run yet as it stands
	Text    string `json:"text"`              // in a line, with the path
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

// ChangesRequest asks which files a session changed.
type ChangesRequest struct {
	Session string `json:"session"`
	Diffs   bool   `json:"diffs,omitempty"` // with what changed in each
}

// SessionChanges are the files that a session changed, each with what allowed it.
type SessionChanges struct {
	Session string          `json:"session"`
	Files   []SessionChange `json:"files"`          // by path
	Base    string          `json:"base,omitempty"` // the commit that differences are to
	NoBase  string          `json:"no_base,omitempty"`
}

// SessionChange is a file that a session changed. Of several writes it has what
// allowed the last.
type SessionChange struct {
	Path   string    `json:"path"` // relative to the project, or absolute outside it
	Writes int       `json:"writes"`
	Last   time.Time `json:"last"`
	Mode   string    `json:"mode,omitempty"`
	Phase  string    `json:"phase,omitempty"`
	// Gate is the approval that let the phase begin in which it was written, with its
	// Fingerprint and Channel; "" where none was needed.
	Gate        string `json:"gate,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Channel     string `json:"channel,omitempty"`
	// Unapproved says that a command changed it although nothing allowed that.
	Unapproved bool   `json:"unapproved,omitempty"`
	SHA256     string `json:"sha256,omitempty"` // of what the session left, "" where it left none
	// Since says that it is not as the session left it.
	Since bool `json:"changed_since,omitempty"`
	// Diff is a unified difference from the base to what is there; Unshown says why
	// there is none.
	Diff    string `json:"diff,omitempty"`
	Unshown string `json:"unshown,omitempty"`
}
