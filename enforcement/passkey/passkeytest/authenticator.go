// Package passkeytest is an authenticator in software, with the browser before it,
// for tests: it makes a passkey and signs with it, and does what a test tells it to
// do wrong.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"

	"github.com/writbus/writ/schemas"
)

// Authenticator holds one ES256 passkey. Its fields may be changed between uses.
type Authenticator struct {
	Origin     string // of the page that asks
	RPID       string
	Unverified bool   // the person is not verified
	Counter    uint32 // of the next signature; 0 counts nothing

	id  []byte
	key *ecdsa.PrivateKey
}

// New returns an authenticator behind a page of an origin.
func New(origin string) *Authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is always randomness
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return &Authenticator{Origin: origin, RPID: "localhost", id: id, key: key}
}

func (a *Authenticator) client(kind string, challenge []byte) []byte {
	raw, err := json.Marshal(map[string]any{
		"type": kind, "challenge": base64.RawURLEncoding.EncodeToString(challenge), "origin": a.Origin, "crossOrigin": false,
	})
	if err != nil {
		panic(err) // of strings alone
	}
	return raw
}

func (a *Authenticator) head(flags byte) []byte {
	party := sha256.Sum256([]byte(a.RPID))
	if flags |= 1; !a.Unverified {
		flags |= 4
	}
	return binary.BigEndian.AppendUint32(append(party[:], flags), a.Counter)
}

// Make is what the browser says of the passkey, made for a challenge.
func (a *Authenticator) Make(c schemas.PasskeyChallenge) schemas.PasskeyMade {
	point, err := a.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err) // the curve has this form
	}
	data := binary.BigEndian.AppendUint16(append(a.head(1<<6), make([]byte, 16)...), uint16(len(a.id)))
	data = append(data, a.id...)
	data = append(data, 0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32) // a map of five: kty 2, alg -7, crv 1, x
	data = append(data, point[1:33]...)
	data = append(data, 0x22, 0x58, 32) // y
	return schemas.PasskeyMade{Nonce: c.Nonce, ClientData: a.client("webauthn.create", c.Challenge), AuthenticatorData: append(data, point[33:]...)}
}

// Sign answers a challenge.
func (a *Authenticator) Sign(c schemas.PasskeyChallenge) schemas.PasskeyAnswer {
	answer := schemas.PasskeyAnswer{
		Nonce: c.Nonce, CredentialID: a.ID(), ClientData: a.client("webauthn.get", c.Challenge), AuthenticatorData: a.head(0),
	}
	client := sha256.Sum256(answer.ClientData)
	digest := sha256.Sum256(append(append([]byte{}, answer.AuthenticatorData...), client[:]...))
	var err error
	if answer.Signature, err = ecdsa.SignASN1(rand.Reader, a.key, digest[:]); err != nil {
		panic(err) // the key is whole
	}
	return answer
}

// ID is the credential's.
func (a *Authenticator) ID() string { return base64.RawURLEncoding.EncodeToString(a.id) }
