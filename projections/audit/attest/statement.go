// Package attest says what the log knows about the files of a commit, in a form
// that travels: an in-toto statement in a DSSE envelope, which a forge checks
// without log or daemon.
//
// Files are known by the digest of their content, so that a statement goes on to
// hold after a squash, a rebase or an amended commit. It guarantees that what is
// said of a file is drawn from events alone ([Collector]), and that [Judge] finds
// nothing in order that no statement under a pinned key bears out: whoever
// verifies asks git for the difference, never the statement.
//
// It does not read git or the log; both are its callers'. It cannot tell who typed
// a change, and content that was approved once is in order again later.
package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

// Names of the formats (persisted; never change).
const (
	StatementType = "https://in-toto.io/Statement/v1" // in-toto Attestation Framework 1.0
	PredicateType = "https://github.com/writbus/writ/attestation/change/v1"
)

// Statement is an in-toto statement whose subject is a commit.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Predicate `json:"predicate"`
}

// Subject is what a statement is about, by its digest.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Predicate is what a log knows about the files that a commit changed.
type Predicate struct {
	Log       string     `json:"log"` // the signer's name, as in the key
	Made      time.Time  `json:"made"`
	First     string     `json:"first_commit,omitempty"` // of the repository
	Base      []string   `json:"base"`                   // commits that the difference is against
	Paths     []Path     `json:"paths"`
	Approvals []Approval `json:"approvals,omitempty"`
	Tests     []Tests    `json:"tests,omitempty"`
	// Releases are those under whose rules the writes were decided.
	Releases []string `json:"releases,omitempty"`
	// Checkpoints are the signed checkpoints over the events that are named.
	Checkpoints []string `json:"checkpoints,omitempty"`
	Limits      []string `json:"limits"`
}

// States of a path (persisted; never change).
const (
	Written    = "written"    // as an allowed write left it
	Unapproved = "unapproved" // as a write left it that the gate would have refused
	Changed    = "changed"    // the log has writes of it, and none left it so
	Unknown    = "none"       // the log has nothing about it
	Parent     = "parent"     // as in a parent
)

// Path is what the log knows about one file.
type Path struct {
	Path   string `json:"path"`
	Mode   string `json:"mode,omitempty"`
	SHA256 string `json:"sha256,omitempty"` // "" for a file that is gone
	State  string `json:"state"`
	Rule   string `json:"rule,omitempty"` // that would have refused it
	Write  *Write `json:"write,omitempty"`
}

// Write is the write that left a file as it is.
type Write struct {
	Session string    `json:"session"`
	Host    string    `json:"host,omitempty"`
	Tool    string    `json:"tool"`
	Verdict string    `json:"verdict"` // allow, or ask: the host's user was asked
	Mode    string    `json:"mode,omitempty"`
	Phase   string    `json:"phase,omitempty"`
	Class   string    `json:"class,omitempty"` // code, test, plan, …; "" where it was not judged by its path
	Time    time.Time `json:"time"`
	Decided Event     `json:"decided"`
	Ended   Event     `json:"ended"`
	// Releases are those whose rules were in force.
	Releases []string `json:"releases,omitempty"`
	// Policy is the released one that let it pass, as acme@3/deps; "" for none.
	Policy string `json:"policy,omitempty"`
	// Approvals are the indices of those that were in force.
	Approvals []int `json:"approvals,omitempty"`
	// Red is the event by which its tests were seen to fail before their approval.
	Red *Event `json:"red,omitempty"`
}

// Approval is the act of a person that let a gate open.
type Approval struct {
	Session     string              `json:"session"`
	Gate        string              `json:"gate"`
	Channel     string              `json:"channel"`
	Assurance   string              `json:"assurance"`
	Fingerprint string              `json:"fingerprint"`
	Files       []schemas.FileState `json:"files,omitempty"`
	Planned     []string            `json:"planned_files,omitempty"`
	Time        time.Time           `json:"time"`
	Event       Event               `json:"event"`
	// Act is the person's act, and Signed the signature over it, nil for none.
	Act    string          `json:"act,omitempty"`
	Signed *schemas.Signed `json:"signed,omitempty"`
	// With are the signatures of others over acts of their own, which approve the same.
	With []schemas.Signed `json:"with,omitempty"`
}

// Seconds are the others of the given persons whose signatures an approval bears.
func (a Approval) Seconds(keys []note.Verifier) (names []string) {
	for _, one := range a.With {
		other := Approval{Session: a.Session, Gate: a.Gate, Fingerprint: a.Fingerprint, Act: ":" + one.Act, Signed: &one}
		if name, is := other.Person(keys); is && one.Key != a.Signed.Key {
			names = append(names, name)
		}
	}
	return names
}

// Person is whose signature an approval bears, if it is one of the keys'.
func (a Approval) Person(keys []note.Verifier) (name string, is bool) {
	if a.Signed == nil || !strings.HasSuffix(a.Act, ":"+a.Signed.Act) {
		return "", false
	}
	by, err := evidence.Person(schemas.Session(a.Session), schemas.GateApproved{Gate: a.Gate, Fingerprint: a.Fingerprint, Signed: a.Signed})
	if err != nil {
		return "", false
	}
	return by.Name(), slices.ContainsFunc(keys, func(k note.Verifier) bool { return k.Name() == by.Name() && k.KeyHash() == by.KeyHash() })
}

// Tests is how the tests of a session ended last, after its last write of a file
// of the statement.
type Tests struct {
	Session string    `json:"session"`
	Command string    `json:"command"`
	Outcome string    `json:"outcome"`
	Time    time.Time `json:"time"`
	Event   Event     `json:"event"`
}

// Event is the place of an event in the log; `writ audit prove` proves it.
type Event struct {
	ID     string         `json:"id"`
	Stream schemas.Stream `json:"stream"`
	Seq    uint64         `json:"seq"`
}

func placeOf(e schemas.Event) Event {
	return Event{ID: e.ID, Stream: e.Position.Stream, Seq: e.Position.Seq}
}

// limits are what no statement shows.
var limits = []string{
	"who typed a change, or that nothing else ran, is not known",
	"content that was approved once is in order again later",
	"whether a file can be run is stated as the commit has it, whoever set it",
	"an event is named by its place; writ audit prove shows the event itself",
}

// New is the statement about a commit.
func New(r schemas.AttestRequest, log string, made time.Time, c *Collector, checkpoints []string) Statement {
	p := Predicate{Log: log, Made: made.UTC(), First: r.Repository.First, Base: r.Parents, Checkpoints: checkpoints, Limits: limits}
	if p.Base == nil {
		p.Base = []string{}
	}
	p.Paths, p.Approvals, p.Tests = c.about(r.Changes)
	for _, one := range p.Paths {
		if one.Write != nil {
			p.Releases = append(p.Releases, one.Write.Releases...)
		}
	}
	slices.Sort(p.Releases)
	p.Releases = slices.Compact(p.Releases)
	return Statement{
		Type: StatementType, PredicateType: PredicateType, Predicate: p,
		Subject: []Subject{
			{Name: "commit", Digest: map[string]string{"gitCommit": r.Commit}},
			{Name: "tree", Digest: map[string]string{"gitTree": r.Tree}},
			{Name: "difference", Digest: map[string]string{"sha256": Difference(r.Changes)}},
		},
	}
}

// Difference is the SHA-256, in hex, over the changed files: of each, in the order
// of the paths, "MODE SHA256 PATH" and a zero byte; "-" stands for what is gone.
func Difference(changes []schemas.AttestChange) string {
	sorted := slices.SortedFunc(slices.Values(changes), func(a, b schemas.AttestChange) int { return strings.Compare(a.Path, b.Path) })
	h := sha256.New()
	for _, c := range sorted {
		mode, sum := c.Mode, c.SHA256
		if sum == "" {
			mode, sum = "-", "-"
		}
		h.Write([]byte(mode + " " + sum + " " + c.Path + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil))
}
