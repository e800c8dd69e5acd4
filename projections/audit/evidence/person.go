package evidence

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/schemas"
)

// ErrUnsigned is returned by Person for a signature that does not bear an act out.
var ErrUnsigned = errors.New("evidence: the person's signature does not hold")

// NewKey draws a key under a name, as two lines: what signs, and what is given away.
// A name has no blank and no plus sign.
func NewKey(name string) (string, error) {
	secret, public, err := note.GenerateKey(rand.Reader, name)
	return secret + "\n" + public + "\n", err
}

// ReadKey reads what NewKey drew.
func ReadKey(text string) (signer note.Signer, public string, err error) {
	secret, public, _ := strings.Cut(strings.TrimSpace(text), "\n")
	public = strings.TrimSpace(public)
	signer, err = note.NewSigner(strings.TrimSpace(secret))
	if err != nil {
		return nil, "", err
	}
	verifier, err := note.NewVerifier(public)
	if err == nil && (signer.Name() != verifier.Name() || signer.KeyHash() != verifier.KeyHash()) {
		err = errors.New("its lines do not belong together")
	}
	return signer, public, err
}

// SignAct signs an act on an aggregate under a person's key, as NewKey wrote it.
func SignAct(key string, on schemas.Aggregate, act schemas.PersonAct, s schemas.Signed) (schemas.Signed, error) {
	signer, public, err := ReadKey(key)
	if err != nil {
		return s, err
	}
	s.Key, s.Time = public, s.Time.UTC().Truncate(time.Second)
	s.Signature, err = signer.Sign(schemas.ActText(on.Subject(act.EventType()), act.ActDigest(), s))
	return s, err
}

// Person is who signed an act on an aggregate, by the key in the signature. That the
// key is somebody's, only who pins it knows. It returns ErrUnsigned.
func Person(on schemas.Aggregate, act schemas.PersonAct) (note.Verifier, error) {
	s := act.Signature()
	if s == nil {
		return nil, fmt.Errorf("%w: there is none", ErrUnsigned)
	}
	key, err := note.NewVerifier(s.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: its key: %w", ErrUnsigned, err)
	}
	if _, err := uuid.Parse(s.Act); err != nil { //nolint:forbidigo // makes none
		return nil, fmt.Errorf("%w: its act %.40q is no UUID", ErrUnsigned, s.Act)
	}
	if !key.Verify(schemas.ActText(on.Subject(act.EventType()), act.ActDigest(), *s), s.Signature) {
		return nil, fmt.Errorf("%w: %s did not sign this", ErrUnsigned, key.Name())
	}
	return key, nil
}

// FreshPerson is Person of an act that is about to be recorded, and signed no longer
// ago than is allowed.
func FreshPerson(on schemas.Aggregate, act schemas.PersonAct, now time.Time, most time.Duration) error {
	if act.Signature() == nil {
		return nil
	}
	if _, err := Person(on, act); err != nil {
		return err
	}
	if age := now.Sub(act.Signature().Time); age < -ActAge || age > most {
		return fmt.Errorf("%w: it is of %s, and it is %s now", ErrUnsigned, act.Signature().Time.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// Bounds of the time between a signature and its event.
const (
	ActAge    = 10 * time.Minute // either way
	SecondAge = 24 * time.Hour   // of an approval that comes from another machine
)

// Persons is what a log says of acts that persons signed.
type Persons struct {
	Acts int            `json:"acts"`
	By   map[string]int `json:"by,omitempty"` // acts by the name and hash of the key
	Bad  []BadAct       `json:"bad,omitempty"`
	seen map[string]bool
}

// BadAct names an act that its signature does not bear out.
type BadAct struct {
	Event string `json:"event"`
	On    string `json:"on"` // session or rule
	Why   string `json:"why"`
}

// Count takes an event of a session or a rule. What nobody signed it leaves out.
func (p *Persons) Count(e schemas.Event) {
	most := ActAge
	act, is := e.Data.(schemas.PersonAct)
	if given, half := e.Data.(schemas.ApprovalGiven); half {
		act, is, most = given.Act(), true, SecondAge
	} else if gate, whole := act.(schemas.GateApproved); whole && len(gate.With) > 0 {
		most = SecondAge
	}
	if !is || act.Signature() == nil {
		return
	}
	p.Acts++
	key, err := Person(e.Aggregate, act)
	s := act.Signature()
	approved, gate := act.(schemas.GateApproved)
	switch {
	case err != nil:
	case p.seen[s.Act]:
		err = fmt.Errorf("%w: its act was signed before, and counts once", ErrUnsigned)
	case gate && !strings.HasSuffix(approved.ActID, ":"+s.Act):
		err = fmt.Errorf("%w: it is for the act %.40s", ErrUnsigned, s.Act)
	case FreshPerson(e.Aggregate, act, e.Time, most) != nil:
		err = FreshPerson(e.Aggregate, act, e.Time, most)
	}
	if err != nil {
		p.Bad = append(p.Bad, BadAct{Event: e.ID, On: e.Aggregate.String(), Why: err.Error()})
		return
	}
	if p.seen == nil {
		p.seen, p.By = map[string]bool{}, map[string]int{}
	}
	p.seen[s.Act] = true
	p.By[fmt.Sprintf("%s+%08x", key.Name(), key.KeyHash())]++
}
