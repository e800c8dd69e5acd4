package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/writbus/writ/schemas"
)

// RPID is the relying party's id. An IP address cannot be one.
const RPID = "localhost"

// Algorithms are the COSE algorithms of passkeys that may be enrolled: ES256,
// EdDSA and RS256, which all authenticators have one of.
var Algorithms = []int64{int64(webauthncose.AlgES256), int64(webauthncose.AlgEdDSA), int64(webauthncose.AlgRS256)}

// ErrRefused is returned for what a browser sent that does not count. The text says
// why.
var ErrRefused = errors.New("the passkey does not count")

func refused(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, a...))
}

// Preimage names what a signature approves (persisted; never change). The
// challenge is its SHA-256.
func Preimage(session, gate, fingerprint, nonce string) string {
	return fmt.Sprintf("writ approval 1\nsession %q\ngate %q\nfingerprint %q\nnonce %q\n", session, gate, fingerprint, nonce)
}

// EnrolmentPreimage names the passkey that is made (persisted; never change).
func EnrolmentPreimage(name, nonce string) string {
	return fmt.Sprintf("writ enrolment 1\nname %q\nnonce %q\n", name, nonce)
}

// Challenge is the challenge of a preimage.
func Challenge(preimage string) []byte {
	sum := sha256.Sum256([]byte(preimage))
	return sum[:]
}

// What a browser says that it asked the authenticator for (section 5.8.1).
const (
	madeType = "webauthn.create"
	usedType = "webauthn.get"
)

// checkClient holds what the browser says against what was asked of it.
func checkClient(raw []byte, kind, preimage, origin string) error {
	var c struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return refused("what the browser says of it is no JSON: %v", err)
	}
	challenge, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(c.Challenge, "="))
	switch {
	case c.Type != kind:
		return refused("it was made for %.40q, not for %q", c.Type, kind)
	case err != nil || !bytes.Equal(challenge, Challenge(preimage)):
		return refused("it signs another challenge than that of what is approved")
	case c.Origin != origin:
		return refused("it was given to a page of %.80q, and the dashboard is %q", c.Origin, origin)
	case c.CrossOrigin:
		return refused("it was given to a page within another one")
	}
	return nil
}

// Flags of authenticator data (section 6.1).
const (
	flagPresent  = 1 << 0
	flagVerified = 1 << 2
	flagAttested = 1 << 6
)

// said is what authenticator data says.
type said struct {
	counter    uint64
	credential []byte // of a passkey that was made
	key        []byte // its COSE_Key
}

const (
	headBytes     = 37 // the hash of the relying party's id, flags and counter
	attestedBytes = 18 // the authenticator's model and the length of the credential's id
)

// readAuthenticator reads authenticator data and holds it to the relying party and
// to a person who was verified.
func readAuthenticator(raw []byte) (said, error) {
	if len(raw) < headBytes {
		return said{}, refused("what the authenticator says has %d bytes, at least %d are needed", len(raw), headBytes)
	}
	party := sha256.Sum256([]byte(RPID))
	flags := raw[32]
	switch {
	case !bytes.Equal(raw[:32], party[:]):
		return said{}, refused("it is for another relying party than %q", RPID)
	case flags&flagPresent == 0:
		return said{}, refused("the authenticator saw nobody")
	case flags&flagVerified == 0:
		return said{}, refused("the authenticator did not verify the person, by a PIN, a finger or a face")
	}
	s := said{counter: uint64(binary.BigEndian.Uint32(raw[33:headBytes]))}
	if flags&flagAttested == 0 {
		return s, nil
	}
	rest := raw[headBytes:]
	if len(rest) < attestedBytes {
		return said{}, refused("the authenticator's words on the credential end early")
	}
	size := int(binary.BigEndian.Uint16(rest[16:attestedBytes]))
	rest = rest[attestedBytes:]
	if size == 0 || len(rest) <= size {
		return said{}, refused("the credential's id has %d bytes, of which %d are there", size, len(rest))
	}
	s.credential, rest = rest[:size], rest[size:]
	var key any
	n, err := webauthncbor.UnmarshalFirst(rest, &key)
	if err != nil {
		return said{}, refused("its public key cannot be read: %v", err)
	}
	s.key = rest[:n]
	return s, nil
}

// Enrolled is the passkey that a browser made, for a preimage and the dashboard's
// origin. It returns ErrRefused.
func Enrolled(made schemas.PasskeyMade, name, preimage, origin string) (schemas.PasskeyEnrolled, error) {
	p := schemas.PasskeyEnrolled{
		Name: name, AuthenticatorData: made.AuthenticatorData, ClientData: made.ClientData,
		RPID: RPID, Origin: origin, Preimage: preimage,
	}
	if err := checkClient(made.ClientData, madeType, preimage, origin); err != nil {
		return p, err
	}
	s, err := readAuthenticator(made.AuthenticatorData)
	if err != nil {
		return p, err
	}
	if s.credential == nil {
		return p, refused("the authenticator names no credential")
	}
	if _, err := publicKey(s.key); err != nil {
		return p, err
	}
	p.CredentialID, p.PublicKey, p.Counter = base64.RawURLEncoding.EncodeToString(s.credential), s.key, s.counter
	return p, nil
}

// publicKey reads a COSE_Key of one of Algorithms.
func publicKey(raw []byte) (any, error) {
	key, err := webauthncose.ParsePublicKey(raw)
	if err != nil {
		return nil, refused("its public key cannot be read: %v", err)
	}
	algorithm := int64(0)
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		algorithm = k.Algorithm
	case webauthncose.OKPPublicKeyData:
		algorithm = k.Algorithm
	case webauthncose.RSAPublicKeyData:
		algorithm = k.Algorithm
	}
	if !slices.Contains(Algorithms, algorithm) {
		return nil, refused("its algorithm is %d; ES256 (-7), EdDSA (-8) and RS256 (-257) are taken", algorithm)
	}
	return key, nil
}

// Verify holds a use of a passkey against itself, with nothing but the public key
// in it: the signature is the key's, its challenge names the session, the gate, the
// fingerprint and the nonce, the page was of the origin, and the person was
// verified. Whether the key was enrolled, the caller knows. It returns the counter,
// or ErrRefused.
func Verify(u schemas.PasskeyUsed) (counter uint64, err error) {
	if u.Preimage != Preimage(u.Session, u.Gate, u.Fingerprint, u.Nonce) {
		return 0, refused("the challenge names something else than the session, gate and fingerprint that are approved")
	}
	if u.RPID != RPID || !strings.HasPrefix(u.Origin, "http://"+RPID+":") {
		return 0, refused("it is for the relying party %.40q at %.80q, not for %q", u.RPID, u.Origin, RPID)
	}
	if err := checkClient(u.ClientData, usedType, u.Preimage, u.Origin); err != nil {
		return 0, err
	}
	s, err := readAuthenticator(u.AuthenticatorData)
	if err != nil {
		return 0, err
	}
	key, err := publicKey(u.PublicKey)
	if err != nil {
		return 0, err
	}
	client := sha256.Sum256(u.ClientData)
	valid, err := webauthncose.VerifySignature(key, append(slices.Clone(u.AuthenticatorData), client[:]...), u.Signature)
	if err != nil || !valid {
		return 0, refused("the signature is not that of the enrolled key")
	}
	return s.counter, nil
}
