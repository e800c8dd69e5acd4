package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Subjects of the tamper evidence; all are the admin's. Persisted; never
// change.
const (
	SvcAuditSeal  = "writ.svc.audit.seal"  // {} → AuditSealed
	SvcAuditProve = "writ.svc.audit.prove" // AuditProveRequest → AuditProof
	// SvcAuditAttest makes a signed statement on what the log says of a commit's
	// files.
	SvcAuditAttest = "writ.svc.audit.attest" // AttestRequest → Attested
	// SvcLeaving writes the copies of events that may leave this machine to a file.
	SvcLeaving = "writ.svc.audit.leaving" // LeavingRequest → LeavingReply
	// SvcTeam joins a hub, leaves it, and says how this machine stands with it.
	SvcTeam = "writ.svc.team" // TeamRequest → TeamReply
)

// AuditSealed says where the tamper evidence stands, with everything that was
// in the log at the request under signed checkpoints, where that was possible.
type AuditSealed struct {
	Key      string        `json:"key"`               // public, as it is given to those who verify
	Dir      string        `json:"dir"`               // where checkpoints and hashes are kept
	Witness  string        `json:"witness,omitempty"` // the file outside of the data folder that remembers checkpoints
	Streams  []AuditStream `json:"streams"`
	Publish  []AuditPlace  `json:"publish,omitempty"`
	Problems []string      `json:"problems,omitempty"` // for people; a stream with one has not been signed anew
}

// AuditStream is the newest checkpoint of a stream.
type AuditStream struct {
	Stream     Stream `json:"stream"`
	Records    int64  `json:"records"`
	Root       string `json:"root"` // base64
	Checkpoint string `json:"checkpoint,omitempty"`
	Problem    string `json:"problem,omitempty"`
}

// AuditPlace is a second place that checkpoints are published to.
type AuditPlace struct {
	Place   string `json:"place"` // without a password
	Problem string `json:"problem,omitempty"`
}

// AuditProveRequest asks for a proof of inclusion, of an event by its id or of
// a record by its place, or with Earlier for one of consistency.
type AuditProveRequest struct {
	Event  string `json:"event,omitempty"`
	Stream Stream `json:"stream,omitempty"`
	Seq    uint64 `json:"seq,omitempty"`
	// Earlier and Later are signed checkpoints of one stream; without Later it
	// is the newest.
	Earlier string `json:"earlier,omitempty"`
	Later   string `json:"later,omitempty"`
}

// AuditProof is a proof, as it is kept in a file.
type AuditProof struct {
	Proof json.RawMessage `json:"proof"`
}

// AttestRequest names a commit and what it changed, as git says it: whoever
// verifies the statement asks git again, so that nothing rests on this.
type AttestRequest struct {
	// Roots are the absolute folders of the repository's work trees.
	Roots []string `json:"roots"`
	// Repository is the one that the commit is in, by what its clones share; a work
	// tree's root, so that nothing is below it.
	Repository Repository     `json:"repository,omitzero"`
	Commit     string         `json:"commit"`  // full id
	Tree       string         `json:"tree"`    // full id
	Parents    []string       `json:"parents"` // ids that the difference is against
	Changes    []AttestChange `json:"changes"` // by path
}

// AttestChange is a file that is not the same in a commit and in a parent.
type AttestChange struct {
	Path   string `json:"path"`             // from the repository's root, slashes
	Mode   string `json:"mode,omitempty"`   // git's, "" for a file that is gone
	SHA256 string `json:"sha256,omitempty"` // of its content, hex; "" for a file that is gone
	// Parents are git's mode and the SHA-256 of its content, with a space between, in
	// each parent; "" where it was not.
	Parents []string `json:"parents"`
}

// Attested is a statement, signed.
type Attested struct {
	Envelope json.RawMessage `json:"envelope"` // DSSE, of an in-toto statement
	Key      string          `json:"key"`      // public, whose signature it bears
}

// LeavingRequest names the file that copies are written to.
type LeavingRequest struct {
	File string `json:"file"` // absolute; there must be none yet
}

// LeavingReply says what was written.
type LeavingReply struct {
	File   string `json:"file"`
	Copies int64  `json:"copies"`
	// Unread counts records that could not be decoded: nothing of them leaves.
	Unread int    `json:"unread,omitempty"`
	Key    string `json:"key"` // public, that signed the checkpoint at the end
}

// Acts on the membership of a hub.
const (
	TeamJoin   = "join"
	TeamLeave  = "leave"
	TeamStatus = "status"
	TeamDoctor = "doctor"
)

// TeamRequest asks for an act on the membership of a hub.
type TeamRequest struct {
	Act string `json:"act"` // join, leave, status or doctor
	// Of joining: the addresses of the hub's leaf nodes, separated by commas; who this
	// machine is there, "" for the one whom the credential names; what it signs in with;
	// a file with the authorities of its certificate; the public key of its witness, if
	// it is known; and the digest of the list that the person was shown.
	URL        string `json:"url,omitempty"`
	Member     string `json:"member,omitempty"`
	Credential string `json:"credential,omitempty"`
	CA         string `json:"ca,omitempty"`
	Witness    string `json:"witness,omitempty"`
	List       string `json:"list,omitempty"`
}

// TeamReply says how this machine stands with its hub.
type TeamReply struct {
	URL       string    `json:"url,omitempty"` // "" where none was joined
	Member    string    `json:"member,omitempty"`
	Log       string    `json:"log,omitempty"` // name of the key that signs
	Epoch     uint64    `json:"epoch,omitempty"`
	Connected bool      `json:"connected,omitempty"`
	Problem   string    `json:"problem,omitempty"` // why nothing is brought to the hub at the moment
	Started   time.Time `json:"started,omitzero"`  // of the daemon, which starts anew after an act
	// Streams are those that copies or checkpoints leave of.
	Streams []TeamStream `json:"streams,omitempty"`
	// Witness is the public key of the hub's witness, Seen when it last spoke of this
	// member, Findings what it found.
	Witness  string        `json:"witness,omitempty"`
	Seen     time.Time     `json:"seen,omitzero"`
	Findings []TeamFinding `json:"findings,omitempty"`
	Checks   []TeamCheck   `json:"checks,omitempty"` // of the doctor
}

// What a witness of a hub finds.
const (
	TeamFork     = "fork"     // one log tells two stories
	TeamRollback = "rollback" // an epoch does not go on from the one before
)

// TeamFinding is one thing that a hub's witness found (persisted at hubs; never change).
type TeamFinding struct {
	Kind   string `json:"kind,omitempty"` // fork, rollback or ""
	Epoch  uint64 `json:"epoch,omitempty"`
	Stream Stream `json:"stream,omitempty"`
	At     uint64 `json:"at,omitempty"` // sequence of the message at the hub
	What   string `json:"what"`
}

func (f TeamFinding) String() string {
	text := f.What
	if f.Stream != "" {
		text = string(f.Stream) + ": " + text
	}
	if f.Epoch > 0 {
		text = fmt.Sprintf("epoch %d: %s", f.Epoch, text)
	}
	if f.Kind != "" {
		text = strings.ToUpper(f.Kind) + " in " + text
	}
	return text
}

// TeamStream is what of a stream is at the hub.
type TeamStream struct {
	Stream  Stream `json:"stream"`
	Last    uint64 `json:"last"`    // record here
	Through uint64 `json:"through"` // record up to which what leaves is at the hub
	Copies  int64  `json:"copies"`  // at the hub
	// Cosigned are the copies, and Sealed the records, that the witness has cosigned.
	Cosigned int64 `json:"cosigned,omitempty"`
	Sealed   int64 `json:"sealed,omitempty"`
	// Checkpoint is the one of the log's own tree over those records, as the log signed
	// and the witness cosigned it.
	Checkpoint string `json:"checkpoint,omitempty"`
}

// TeamCheck is one of the doctor's.
type TeamCheck struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says,omitempty"` // what is wrong and what to do
}
