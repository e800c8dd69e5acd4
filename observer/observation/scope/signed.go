package scope

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/digest"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// What envelopes say that they hold (persisted; never change).
const (
	CardType      = schemas.ScopeSigned + "card+json"
	RosterType    = schemas.ScopeSigned + "roster+json"
	RecordType    = schemas.ScopeSigned + "record+json"
	TombstoneType = schemas.ScopeSigned + "tombstone+json"
)

// Bounds.
const (
	MaxMembers  = 200
	MaxEpochs   = 1000
	MaxNumber   = 2000      // observations of one author in a scope, forgotten ones too
	MaxText     = 8 << 10   // bytes of an observation
	MaxEnvelope = 384 << 10 // bytes
)

// Errors of what is not taken. ErrKnown is no fault: it was taken before, or destroyed.
var (
	ErrKnown   = errors.New("it was taken before")
	ErrEarly   = errors.New("it is of an epoch that is not known yet")
	ErrRefused = errors.New("refused")
)

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRefused}, args...)...)
}

// Card is a key to which epoch keys are sent, certified by its person.
type Card struct {
	Person    string    `json:"person"`    // public key, which signs it
	Recipient string    `json:"recipient"` // X25519, as age writes it
	Made      time.Time `json:"made"`
}

// Name is how its person is called, with the hash of the key.
func (c Card) Name() string { return NameOf(c.Person) }

// Called says whether a name, with or without its key, is that of the person.
func (c Card) Called(name string) bool {
	short, _, _ := strings.Cut(c.Person, "+")
	return name == short || name == c.Name() || name == c.Person
}

// NameOf names a public key in short.
func NameOf(person string) string {
	parts := strings.SplitN(person, "+", 3)
	if len(parts) < 3 {
		return person
	}
	return parts[0] + "+" + parts[1]
}

// Roster is who is in a scope from an epoch on, with the epoch's key.
type Roster struct {
	Scope   string            `json:"scope"`
	Epoch   int               `json:"epoch"`            // the first is 1
	Before  string            `json:"before,omitempty"` // digest of the roster before
	Made    time.Time         `json:"made"`
	Owners  []string          `json:"owners"`  // public keys of who may sign the next
	Members []json.RawMessage `json:"members"` // cards, in their envelopes
	Check   string            `json:"check"`   // what [KeyCheck] says of the epoch's key
	Key     []byte            `json:"key"`     // the epoch's, an age file to all members
	// Earlier are the keys of the epochs before, an age file to those who are new.
	Earlier []byte `json:"earlier,omitempty"`
	// Kept are, of each who left, the digests of the records that still count.
	Kept map[string][]string `json:"kept,omitempty"`

	Cards []Card `json:"-"` // what Members says
}

// Record is one observation that a member shares.
type Record struct {
	Scope  string    `json:"scope"`
	Epoch  int       `json:"epoch"`
	Author string    `json:"author"` // recipient of the author's card
	Number int       `json:"number"` // of the author's in this scope; the first is 1
	Made   time.Time `json:"made"`
	Key    []byte    `json:"key"`    // of the observation, sealed under the epoch's
	Sealed []byte    `json:"sealed"` // what it says, under its own key
}

// Tombstone destroys a record. Its author signs it together with the record, and keeps it.
type Tombstone struct {
	Scope  string `json:"scope"`
	Author string `json:"author"`
	Number int    `json:"number"`
	Record string `json:"record"` // digest
}

// name is what a scope may be called: one token of a subject and of a file's name.
var name = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// CheckName says what is wrong with a scope's name.
func CheckName(s string) error {
	if !name.MatchString(s) {
		return schemas.Faultf(schemas.CodeBadRequest, "a scope is called by up to 40 small letters, digits, - and _, such as team, not %.60q", s)
	}
	return nil
}

// ID is the id of an observation in the memory of who takes it.
func ID(author string, number int) string {
	return digest.Hex(fmt.Sprintf("%s %d", author, number))[:32]
}

// Claim is what an envelope says of itself, before anything was checked.
type Claim struct {
	Type   string `json:"-"`
	Scope  string `json:"scope"`
	Epoch  int    `json:"epoch"`
	Author string `json:"author"`
	Number int    `json:"number"`
}

// Peek reads what an envelope claims to be.
func Peek(raw []byte) (c Claim, err error) {
	var e struct {
		PayloadType string `json:"payloadType"`
		Payload     []byte `json:"payload"`
	}
	if len(raw) > MaxEnvelope {
		return c, refused("it has %d bytes, and at most %d are taken", len(raw), MaxEnvelope)
	}
	if err := json.Unmarshal(raw, &e); err != nil || !strings.HasPrefix(e.PayloadType, schemas.ScopeSigned) {
		return c, refused("it is nothing of shared memory")
	}
	if err := json.Unmarshal(e.Payload, &c); err != nil {
		return c, refused("it is nothing of shared memory")
	}
	c.Type = e.PayloadType
	return c, nil
}

// open returns what one of some keys signed, with the digest of it.
func open[T any](kind string, raw []byte, keys ...string) (v T, sum string, err error) {
	var trusted []note.Verifier
	for _, k := range keys {
		key, err := note.NewVerifier(k)
		if err != nil {
			return v, "", refused("%.80q is no public key", k)
		}
		trusted = append(trusted, key)
	}
	if len(raw) > MaxEnvelope {
		return v, "", refused("it has %d bytes, and at most %d are taken", len(raw), MaxEnvelope)
	}
	payload, _, err := attest.Unseal(kind, raw, trusted)
	if err != nil {
		return v, "", refused("%w", err)
	}
	if err := json.Unmarshal(payload, &v); err != nil {
		return v, "", refused("%w", err)
	}
	return v, digest.Hex(payload), nil
}

// OpenCard reads a card that its own person signed.
func OpenCard(raw []byte) (c Card, err error) {
	var e struct {
		Payload []byte `json:"payload"`
	}
	if len(raw) > MaxEnvelope || json.Unmarshal(raw, &e) != nil || json.Unmarshal(e.Payload, &c) != nil {
		return c, refused("it is no card")
	}
	if c, _, err = open[Card](CardType, raw, c.Person); err != nil {
		return Card{}, fmt.Errorf("the card of %.80q: %w", NameOf(c.Person), err)
	}
	if !strings.HasPrefix(c.Recipient, "age1") || len(c.Recipient) > 100 {
		return Card{}, refused("the card of %s names no key", c.Name())
	}
	return c, nil
}

// Sign signs what a daemon asks a person to sign of a scope, and nothing else, under
// their key as evidence.NewKey drew it.
func Sign(all []schemas.ScopeToSign, key string) (envelopes []json.RawMessage, err error) {
	signer, _, err := evidence.ReadKey(key)
	for _, one := range all {
		if err == nil && !strings.HasPrefix(one.Type, schemas.ScopeSigned) {
			err = errors.New("the daemon asks for a signature on something else")
		}
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		raw, err = attest.Seal(one.Type, one.Payload, signer)
		envelopes = append(envelopes, raw)
	}
	return envelopes, err
}
