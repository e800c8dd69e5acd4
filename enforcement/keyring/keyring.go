// Package keyring is the service of passkeys: it gives out links that enrol one,
// challenges to sign, records what was signed, and lists and removes passkeys.
//
// It guarantees that a passkey is enrolled only with the code of a link that the
// admin's credential asked for, once and within minutes; that a challenge is the
// daemon's own, is used once, and is of the dashboard's present origin; and that a
// signature is in the log before anything is approved by it. What counts as a
// signature is the business of package passkey.
package keyring

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/passkey"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

const (
	// codeLife is how long a link waits for its passkey.
	codeLife = 5 * time.Minute
	// challengeLife is how long a challenge waits for its signature.
	challengeLife = 5 * time.Minute
	// kept bounds the codes and the challenges that wait, each.
	kept = 64
	// maxName bounds a passkey's name, in characters.
	maxName = 40
	// nonceBytes is the size of a nonce and of a code: nobody guesses 32 bytes.
	nonceBytes = 32
)

// Options are what the keyring stands on.
type Options struct {
	Conn *bus.Conn
	Log  *bus.Writer
	Now  func() time.Time
	// Link opens the dashboard, once, at a page of it.
	Link func(page string) (schemas.DashReply, error)
	// Origin is the dashboard's, "" while it is not served.
	Origin func() string
}

// Keyring holds the passkeys. It is safe for concurrent use.
type Keyring struct {
	Options

	mu         sync.Mutex
	state      bus.Kept[passkey.State]
	codes      map[string]waiting // what a link enrols, by its code
	challenges map[string]waiting // what was asked to be signed, by its nonce
}

// waiting is a code or a challenge that was given out.
type waiting struct {
	until    time.Time
	name     string // of a passkey that is to be enrolled
	preimage string
	used     bool
}

// New returns the keyring of a log.
func New(o Options) *Keyring {
	return &Keyring{
		Options: o, codes: map[string]waiting{}, challenges: map[string]waiting{},
		state: bus.Kept[passkey.State]{Conn: o.Conn, Log: o.Log, Aggregate: schemas.Passkeys(), Evolve: passkey.Evolve},
	}
}

// Endpoints are what it answers.
func (k *Keyring) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("passkey_list", schemas.SvcPasskeys, k.list),
		bus.Answer("passkey_add", schemas.SvcPasskeyAdd, k.add),
		bus.Answer("passkey_enrol", schemas.SvcPasskeyEnrol, k.enrol),
		bus.Answer("passkey_remove", schemas.SvcPasskeyRemove, k.remove),
		bus.Answer("passkey_challenge", schemas.SvcPasskeyChallenge, k.challenge),
	}
}

// record decides on the passkeys and appends. The caller holds the lock.
func (k *Keyring) record(ctx context.Context, channel string, decide func(passkey.State) ([]schemas.Payload, error)) (passkey.State, error) {
	return k.state.Decide(ctx, enforcement.Person(channel), decide)
}

// fault is how a refusal reaches who asked.
func fault(err error) error {
	if errors.Is(err, passkey.ErrRefused) {
		return schemas.Faultf(schemas.CodeRefused, "%v", err)
	}
	return err
}

func nonce() string {
	raw := make([]byte, nonceBytes)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

// put keeps what waits, in the place of the oldest where there are too many.
func put(all map[string]waiting, key string, w waiting, now time.Time) {
	oldest := ""
	for name, one := range all {
		if !now.Before(one.until) {
			delete(all, name)
		} else if oldest == "" || one.until.Before(all[oldest].until) {
			oldest = name
		}
	}
	if len(all) >= kept {
		delete(all, oldest)
	}
	all[key] = w
}

// spend takes a challenge, which nobody gets a second time.
func (k *Keyring) spend(nonce string) (waiting, error) {
	w, known := k.challenges[nonce]
	switch {
	case !known || !k.Now().Before(w.until):
		return w, fmt.Errorf("%w: its challenge is none that waits: it is too old, or this daemon never gave it out; begin again", passkey.ErrRefused)
	case w.used:
		return w, fmt.Errorf("%w: its challenge was used before, and counts once; begin again", passkey.ErrRefused)
	}
	w.used = true
	k.challenges[nonce] = w
	return w, nil
}

func (k *Keyring) origin() (string, error) {
	if origin := k.Origin(); origin != "" {
		return origin, nil
	}
	return "", schemas.Faultf(schemas.CodeNotReady, "the dashboard is not open; writ dash opens it")
}

func (k *Keyring) list(ctx context.Context, _ bus.None) (schemas.PasskeyList, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	state, _, err := k.state.Refresh(ctx)
	reply := schemas.PasskeyList{Passkeys: []schemas.Passkey{}}
	for _, key := range state.Keys() {
		reply.Passkeys = append(reply.Passkeys, shown(key))
	}
	return reply, err
}

func shown(k passkey.Key) schemas.Passkey {
	return schemas.Passkey{CredentialID: k.CredentialID, Name: k.Name, Enrolled: k.At, Used: k.Used, Uses: k.Uses, CounterFell: k.Fell}
}

// add gives out a link by which a browser enrols a passkey. That a person at a
// terminal asks for it, the client saw to.
func (k *Keyring) add(_ context.Context, r schemas.PasskeyAddRequest) (schemas.DashReply, error) {
	name := strings.TrimSpace(r.Name)
	if name == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }) {
		return schemas.DashReply{}, schemas.Faultf(schemas.CodeBadRequest, "a passkey needs a name of 1 to %d characters, such as laptop", maxName)
	}
	code := nonce()
	reply, err := k.Link("#/passkey/" + code)
	if err != nil {
		return reply, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	put(k.codes, code, waiting{until: k.Now().Add(codeLife), name: name}, k.Now())
	return reply, nil
}

// enrol answers first with a challenge, then with the passkey.
func (k *Keyring) enrol(ctx context.Context, r schemas.PasskeyEnrolRequest) (schemas.PasskeyEnrolReply, error) {
	origin, err := k.origin()
	if err != nil {
		return schemas.PasskeyEnrolReply{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	code, known := k.codes[r.Code]
	if !known || !k.Now().Before(code.until) {
		return schemas.PasskeyEnrolReply{}, schemas.Faultf(schemas.CodeRefused, "this link enrolled a passkey already, is older than %d minutes, or never was one; run writ approve passkey add in a terminal of your own", int(codeLife.Minutes()))
	}
	if r.Made == nil {
		c, err := k.begin(ctx, func(nonce string) string { return passkey.EnrolmentPreimage(code.name, nonce) })
		c.Name = code.name
		return schemas.PasskeyEnrolReply{Challenge: &c}, err
	}
	w, err := k.spend(r.Made.Nonce)
	if err != nil {
		return schemas.PasskeyEnrolReply{}, fault(err)
	}
	made, err := passkey.Enrolled(*r.Made, code.name, w.preimage, origin)
	if err != nil {
		return schemas.PasskeyEnrolReply{}, fault(err)
	}
	state, err := k.record(ctx, enforcement.ChannelTerminal, func(s passkey.State) ([]schemas.Payload, error) { return s.Enrol(made) })
	if err != nil {
		return schemas.PasskeyEnrolReply{}, fault(err)
	}
	delete(k.codes, r.Code)
	key, err := state.Find(made.CredentialID)
	reply := shown(key)
	return schemas.PasskeyEnrolReply{Passkey: &reply}, err
}

// begin gives out a challenge. The caller holds the lock.
func (k *Keyring) begin(ctx context.Context, preimage func(nonce string) string) (schemas.PasskeyChallenge, error) {
	state, _, err := k.state.Refresh(ctx)
	if err != nil {
		return schemas.PasskeyChallenge{}, err
	}
	n := nonce()
	w := waiting{until: k.Now().Add(challengeLife), preimage: preimage(n)}
	put(k.challenges, n, w, k.Now())
	c := schemas.PasskeyChallenge{Nonce: n, Challenge: passkey.Challenge(w.preimage), RPID: passkey.RPID, Credentials: []string{}}
	for _, key := range state.Keys() {
		c.Credentials = append(c.Credentials, key.CredentialID)
	}
	return c, nil
}

func (k *Keyring) challenge(ctx context.Context, r schemas.PasskeyChallengeRequest) (schemas.PasskeyChallenge, error) {
	if r.Session == "" || r.Gate == "" || r.Fingerprint == "" {
		return schemas.PasskeyChallenge{}, schemas.Faultf(schemas.CodeBadRequest, "a challenge names the session, the gate and the fingerprint that it is for")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c, err := k.begin(ctx, func(nonce string) string { return passkey.Preimage(r.Session, r.Gate, r.Fingerprint, nonce) })
	if err == nil && len(c.Credentials) == 0 {
		return c, schemas.Faultf(schemas.CodeRefused, "no passkey is enrolled; run writ approve passkey add in a terminal of your own")
	}
	return c, err
}

func (k *Keyring) remove(ctx context.Context, r schemas.PasskeyRemoveRequest) (schemas.Passkey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var removed passkey.Key
	_, err := k.record(ctx, enforcement.ChannelTerminal, func(s passkey.State) ([]schemas.Payload, error) {
		var err error
		removed, err = s.Find(r.Passkey)
		return []schemas.Payload{schemas.PasskeyRemoved{CredentialID: removed.CredentialID}}, err
	})
	return shown(removed), fault(err)
}

// doubts are what the log says of records that may have removed a passkey.
func (k *Keyring) doubts(ctx context.Context) (d passkey.Doubts, err error) {
	if d.Lost, err = k.Conn.Lost(ctx, schemas.Passkeys().Kind.Stream()); err != nil {
		return d, err
	}
	for record, err := range k.Conn.Tail(ctx, schemas.RestoredLog(), 0) {
		if err != nil {
			return d, err
		}
		events, err := record.Events()
		if err != nil {
			return d, err
		}
		for _, e := range events {
			d.Restored = e.Time
		}
	}
	return d, nil
}

// Redeem takes a passkey's signature over an approval and puts it into the log.
// unproven says why it does not count, "" where it does; warning is what the person
// should hear of it. An error says that nobody can tell.
func (k *Keyring) Redeem(ctx context.Context, session, gate, fingerprint string, a schemas.PasskeyAnswer) (unproven, warning string, err error) {
	origin, err := k.origin()
	if err != nil {
		return "", "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	u := schemas.PasskeyUsed{
		CredentialID: a.CredentialID, AuthenticatorData: a.AuthenticatorData, ClientData: a.ClientData, Signature: a.Signature,
		RPID: passkey.RPID, Origin: origin, Nonce: a.Nonce, Session: session, Gate: gate, Fingerprint: fingerprint,
	}
	doubts, err := k.doubts(ctx)
	if err != nil {
		return "", "", err
	}
	w, err := k.spend(a.Nonce)
	if err == nil {
		u.Preimage = w.preimage
		_, err = k.record(ctx, enforcement.ChannelPasskey, func(s passkey.State) ([]schemas.Payload, error) {
			var err error
			u, err = s.Use(u, doubts)
			return []schemas.Payload{u}, err
		})
	}
	if errors.Is(err, passkey.ErrRefused) {
		return excerpt.Runes(err.Error(), 300), "", nil
	}
	return "", passkey.Describe(u), err
}
