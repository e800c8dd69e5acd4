package passkey

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/enforcement/passkey/passkeytest"
	"github.com/writbus/writ/schemas"
)

const origin = "http://localhost:7410"

// enrolled is a state with one passkey, and its authenticator.
func enrolled(t *testing.T) (State, *passkeytest.Authenticator) {
	t.Helper()
	a := passkeytest.New(origin)
	preimage := EnrolmentPreimage("laptop", "n")
	p, err := Enrolled(a.Make(schemas.PasskeyChallenge{Challenge: Challenge(preimage)}), "laptop", preimage, origin)
	if err != nil {
		t.Fatal(err)
	}
	record, err := State{}.Enrol(p)
	if err != nil {
		t.Fatal(err)
	}
	return Evolve(State{}, schemas.Event{ID: "e1", Time: time.Unix(1, 0), Data: record[0]}), a
}

// signed is a signature over an approval of a fingerprint.
func signed(a *passkeytest.Authenticator, fingerprint string) schemas.PasskeyUsed {
	preimage := Preimage("s1", "plan", fingerprint, "nonce")
	said := a.Sign(schemas.PasskeyChallenge{Nonce: "nonce", Challenge: Challenge(preimage)})
	return schemas.PasskeyUsed{
		CredentialID: said.CredentialID, AuthenticatorData: said.AuthenticatorData, ClientData: said.ClientData, Signature: said.Signature,
		RPID: RPID, Origin: origin, Nonce: "nonce", Preimage: preimage, Session: "s1", Gate: "plan", Fingerprint: fingerprint,
	}
}

func TestUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		wrong  func(*passkeytest.Authenticator) // before it is signed
		alter  func(*schemas.PasskeyUsed)       // after
		says   string
		enrols func(State) State
	}{
		{name: "good"},
		{name: "altered fingerprint", alter: func(u *schemas.PasskeyUsed) { u.Fingerprint = "f2" }, says: "names something else"},
		{name: "altered fingerprint and preimage", alter: func(u *schemas.PasskeyUsed) {
			u.Fingerprint = "f2"
			u.Preimage = Preimage(u.Session, u.Gate, u.Fingerprint, u.Nonce)
		}, says: "another challenge"},
		{name: "another session", alter: func(u *schemas.PasskeyUsed) {
			u.Session = "s2"
			u.Preimage = Preimage(u.Session, u.Gate, u.Fingerprint, u.Nonce)
		}, says: "another challenge"},
		{name: "another port", wrong: func(a *passkeytest.Authenticator) { a.Origin = "http://localhost:7411" }, says: "http://localhost:7411"},
		{name: "another name of this machine", wrong: func(a *passkeytest.Authenticator) { a.Origin = "http://127.0.0.1:7410" }, says: "the dashboard is"},
		{name: "another relying party", wrong: func(a *passkeytest.Authenticator) { a.RPID = "example.com" }, says: "another relying party"},
		{name: "nobody verified", wrong: func(a *passkeytest.Authenticator) { a.Unverified = true }, says: "did not verify the person"},
		{name: "unknown credential", alter: func(u *schemas.PasskeyUsed) { u.CredentialID = "other" }, says: "no passkey of this credential"},
		{name: "removed credential", enrols: func(s State) State {
			return Evolve(s, schemas.Event{Data: schemas.PasskeyRemoved{CredentialID: s.Keys()[0].CredentialID}})
		}, says: "was removed"},
		{name: "altered signature", alter: func(u *schemas.PasskeyUsed) { u.Signature[len(u.Signature)-1] ^= 1 }, says: "signature is not"},
		{name: "altered authenticator data", alter: func(u *schemas.PasskeyUsed) { u.AuthenticatorData[36] ^= 1 }, says: "signature is not"},
		{name: "short authenticator data", alter: func(u *schemas.PasskeyUsed) { u.AuthenticatorData = u.AuthenticatorData[:36] }, says: "36 bytes"},
		{name: "no client data", alter: func(u *schemas.PasskeyUsed) { u.ClientData = nil }, says: "no JSON"},
		{name: "another key", alter: func(u *schemas.PasskeyUsed) { u.Signature = signed(passkeytest.New(origin), "f1").Signature }, says: "signature is not"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, a := enrolled(t)
			if c.enrols != nil {
				s = c.enrols(s)
			}
			if c.wrong != nil {
				c.wrong(a)
			}
			u := signed(a, "f1")
			if c.alter != nil {
				c.alter(&u)
			}
			got, err := s.Use(u, Doubts{})
			if c.says == "" {
				if err != nil || got.Enrolment != "e1" || len(got.PublicKey) == 0 || got.CounterWas != 0 {
					t.Fatalf("%+v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// TestCounter: authenticators that count nothing say 0 for ever; a counter that
// falls is recorded and shown.
func TestCounter(t *testing.T) {
	s, a := enrolled(t)
	for i, c := range []struct {
		counter uint32
		was     uint64
	}{{0, 0}, {0, 0}, {7, 0}, {7, 0}, {9, 0}, {3, 9}, {0, 9}, {10, 0}} {
		a.Counter = c.counter
		u, err := s.Use(signed(a, "f1"), Doubts{})
		if err != nil || u.Counter != uint64(c.counter) || u.CounterWas != c.was {
			t.Errorf("use %d: counter %d, was %d, %v; want %d, %d", i, u.Counter, u.CounterWas, err, c.counter, c.was)
		}
		if told := Describe(u); (told != "") != (c.was != 0) {
			t.Errorf("use %d: told %q", i, told)
		}
		s = Evolve(s, schemas.Event{Time: time.Unix(int64(i+2), 0), Data: u})
	}
	if k := s.Keys()[0]; k.Uses != 8 || k.Fell != 2 || !k.Used.Equal(time.Unix(9, 0)) {
		t.Errorf("%+v", k)
	}
}

func TestEnrol(t *testing.T) {
	preimage := EnrolmentPreimage("laptop", "n")
	for _, c := range []struct {
		name  string
		wrong func(*passkeytest.Authenticator)
		alter func(*schemas.PasskeyMade)
		says  string
	}{
		{"another port", func(a *passkeytest.Authenticator) { a.Origin = "http://localhost:1" }, nil, "the dashboard is"},
		{"nobody verified", func(a *passkeytest.Authenticator) { a.Unverified = true }, nil, "did not verify"},
		{"a signature in its place", nil, func(m *schemas.PasskeyMade) {
			m.ClientData = passkeytest.New(origin).Sign(schemas.PasskeyChallenge{Challenge: Challenge(preimage)}).ClientData
		}, `not for "webauthn.create"`},
		{"no credential", nil, func(m *schemas.PasskeyMade) {
			m.AuthenticatorData = slices.Clone(m.AuthenticatorData[:37])
			m.AuthenticatorData[32] &^= 1 << 6
		}, "names no credential"},
		{"half a credential", nil, func(m *schemas.PasskeyMade) { m.AuthenticatorData = m.AuthenticatorData[:60] }, "of which"},
		{"half a key", nil, func(m *schemas.PasskeyMade) { m.AuthenticatorData = m.AuthenticatorData[:100] }, "cannot be read"},
		{"another algorithm", nil, func(m *schemas.PasskeyMade) { m.AuthenticatorData[37+18+16+4] = 0x25 }, ""}, // -6 is none
	} {
		a := passkeytest.New(origin)
		if c.wrong != nil {
			c.wrong(a)
		}
		made := a.Make(schemas.PasskeyChallenge{Challenge: Challenge(preimage)})
		if c.alter != nil {
			c.alter(&made)
		}
		if _, err := Enrolled(made, "laptop", preimage, origin); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	s, _ := enrolled(t)
	again := s.Keys()[0].PasskeyEnrolled
	if _, err := s.Enrol(again); !errors.Is(err, ErrRefused) {
		t.Errorf("enrolled twice: %v", err)
	}
	s = Evolve(s, schemas.Event{Data: schemas.PasskeyRemoved{CredentialID: again.CredentialID}})
	if _, err := s.Enrol(again); !errors.Is(err, ErrRefused) || len(s.Keys()) != 0 {
		t.Errorf("enrolled again after its removal: %v, %d keys", err, len(s.Keys()))
	}
}

// FuzzAuthenticatorData: bytes of a browser never end the program.
func FuzzAuthenticatorData(f *testing.F) {
	f.Add(passkeytest.New(origin).Make(schemas.PasskeyChallenge{}).AuthenticatorData)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := readAuthenticator(raw)
		if err == nil {
			_, _ = publicKey(s.key)
		}
	})
}
