package evidence

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/writbus/writ/schemas"
)

// ErrProof is returned for a proof that does not prove what it says.
var ErrProof = errors.New("evidence: the proof does not hold")

// Kinds of proofs. Persisted; never change.
const (
	KindInclusion   = "writ.inclusion.v1"   // this record is in the stream
	KindConsistency = "writ.consistency.v1" // the later checkpoint only added to the earlier
)

// MaxProof bounds the hashes of a proof: twice the height of the highest tree.
const MaxProof = 128

// Proof is a file that anybody with the public key can check, without the log.
type Proof struct {
	Kind string `json:"kind"`
	// Checkpoint is signed; Earlier too, of a proof of consistency.
	Checkpoint string  `json:"checkpoint"`
	Earlier    string  `json:"earlier,omitempty"`
	Record     *Record `json:"record,omitempty"` // of a proof of inclusion
	Hashes     []Hash  `json:"hashes"`           // RFC 6962, section 2.1.1 or 2.1.2
}

// Record is a record of the log, whole.
type Record struct {
	Stream  schemas.Stream      `json:"stream"`
	Seq     uint64              `json:"seq"`
	Subject string              `json:"subject"`
	Header  map[string][]string `json:"header,omitempty"`
	Body    []byte              `json:"body"`
}

// Proven is what a proof showed.
type Proven struct {
	Kind       string          `json:"kind"`
	Key        string          `json:"key"` // name of the key that signed
	Checkpoint Checkpoint      `json:"checkpoint"`
	Earlier    *Checkpoint     `json:"earlier,omitempty"`
	Record     *schemas.Record `json:"-"`
}

// ReadProof reads a proof. It returns ErrProof for what is none.
func ReadProof(text []byte) (p Proof, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("%w: it cannot be read: %w", ErrProof, err)
	}
	switch {
	case p.Kind != KindInclusion && p.Kind != KindConsistency:
		return p, fmt.Errorf("%w: its kind is %.60q, not %s or %s", ErrProof, p.Kind, KindInclusion, KindConsistency)
	case len(p.Hashes) > MaxProof:
		return p, fmt.Errorf("%w: it has %d hashes, and no tree needs over %d", ErrProof, len(p.Hashes), MaxProof)
	case p.Kind == KindInclusion && p.Record == nil:
		return p, fmt.Errorf("%w: it holds no record", ErrProof)
	}
	return p, nil
}

// Verify checks a proof against a public key and returns what it shows. It
// returns ErrProof, ErrSignature or ErrCheckpoint.
func (p Proof) Verify(key note.Verifier) (Proven, error) {
	shown := Proven{Kind: p.Kind, Key: key.Name()}
	c, err := Open([]byte(p.Checkpoint), key)
	if err != nil {
		return shown, err
	}
	shown.Checkpoint = c
	if p.Kind == KindConsistency {
		return shown, p.verifyConsistency(&shown, key)
	}
	r, err := p.VerifyUnder(c)
	shown.Record = &r
	return shown, err
}

// VerifyUnder checks a proof of inclusion against a checkpoint whose signature
// the caller has checked, and returns the record. It returns ErrProof.
func (p Proof) VerifyUnder(c Checkpoint) (schemas.Record, error) {
	if p.Record == nil {
		return schemas.Record{}, fmt.Errorf("%w: it holds no record", ErrProof)
	}
	r := schemas.Record{Stream: p.Record.Stream, Seq: p.Record.Seq, Message: schemas.Message{
		Subject: p.Record.Subject, Header: p.Record.Header, Body: p.Record.Body,
	}}
	switch {
	case r.Stream != c.Stream:
		return r, fmt.Errorf("%w: the record is of %s, the checkpoint of %s", ErrProof, r.Stream, c.Stream)
	case r.Seq < c.First || r.Seq > c.Last():
		return r, fmt.Errorf("%w: the checkpoint covers %d to %d, not %d", ErrProof, c.First, c.Last(), r.Seq)
	}
	leaf := new(Hasher).Leaf(r.Message)
	if err := tlog.CheckRecord(p.Hashes, c.Size, c.Root, int64(r.Seq-c.First), leaf); err != nil {
		return r, fmt.Errorf("%w: record %d of %s is not the one that was signed", ErrProof, r.Seq, r.Stream)
	}
	return r, nil
}

func (p Proof) verifyConsistency(shown *Proven, key note.Verifier) error {
	earlier, err := Open([]byte(p.Earlier), key)
	if err != nil {
		return fmt.Errorf("the earlier checkpoint: %w", err)
	}
	shown.Earlier = &earlier
	later := shown.Checkpoint
	switch {
	case earlier.Stream != later.Stream:
		return fmt.Errorf("%w: one checkpoint is of %s, the other of %s", ErrProof, earlier.Stream, later.Stream)
	case earlier.Size > later.Size || earlier.First != later.First:
		return fmt.Errorf("%w: the earlier checkpoint covers %d records from %d, the later %d from %d",
			ErrProof, earlier.Size, earlier.First, later.Size, later.First)
	case earlier.Size == 0:
		return nil // everything extends nothing
	}
	if err := tlog.CheckTree(p.Hashes, later.Size, later.Root, earlier.Size, earlier.Root); err != nil {
		return fmt.Errorf("%w: the later checkpoint does not extend the earlier one: a record under it was changed", ErrProof)
	}
	return nil
}
