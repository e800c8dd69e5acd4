package passkey

import (
	"bytes"
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

// Report is what a log says of its approvals by passkey.
type Report struct {
	Approvals int       `json:"approvals"`
	Bad       []Finding `json:"bad,omitempty"`
	// Fell counts signatures whose counter fell: the passkey may have been copied.
	Fell int `json:"fell,omitempty"`
}

// Finding names an approval that its signature does not bear out, or a signature
// that could not have been taken.
type Finding struct {
	Event   string `json:"event"`
	Session string `json:"session"`
	Gate    string `json:"gate"`
	Why     string `json:"why"`
}

// Audit checks the approvals by passkey of a log, from the public keys alone. The
// zero Audit has seen nothing. It takes the events of the passkeys first, in their
// order, and then those of the sessions.
type Audit struct {
	state  State
	used   map[string]signature // by nonce
	report Report
}

type signature struct {
	schemas.PasskeyUsed
	at       time.Time
	why      string // it does not count
	approved bool
}

// Passkey takes an event of the passkeys.
func (a *Audit) Passkey(e schemas.Event) {
	if u, is := e.Data.(schemas.PasskeyUsed); is {
		a.uses(e, u)
	}
	a.state = Evolve(a.state, e)
}

func (a *Audit) uses(e schemas.Event, u schemas.PasskeyUsed) {
	s := signature{PasskeyUsed: u, at: e.Time}
	k, known := a.state.keys[u.CredentialID]
	counter, err := Verify(u)
	switch {
	case err != nil:
		s.why = err.Error()
	case !known || k.Event == "" || k.Event != u.Enrolment:
		s.why = "its passkey was not enrolled before"
	case k.Removed:
		s.why = "its passkey had been removed"
	case !bytes.Equal(k.PublicKey, u.PublicKey):
		s.why = "its public key is not the enrolled one"
	case counter != u.Counter:
		s.why = fmt.Sprintf("it signs the counter %d, and %d is recorded", counter, u.Counter)
	}
	if a.used == nil {
		a.used = map[string]signature{}
	}
	if _, twice := a.used[u.Nonce]; twice {
		s.why = "its nonce was used before"
		a.report.Bad = append(a.report.Bad, Finding{e.ID, u.Session, u.Gate, s.why})
	}
	if u.CounterWas > 0 {
		a.report.Fell++
	}
	a.used[u.Nonce] = s
}

// Session takes an event of a session.
func (a *Audit) Session(e schemas.Event) {
	p, is := e.Data.(schemas.GateApproved)
	if !is || p.Channel != channelPasskey && p.Assurance != channelPasskey {
		return
	}
	a.report.Approvals++
	nonce := ""
	if len(p.ActID) > len(ActID("")) {
		nonce = p.ActID[len(ActID("")):]
	}
	s, known := a.used[nonce]
	why := s.why
	switch {
	case !known || p.ActID != ActID(nonce):
		why = "no signature is in the log for it"
	case why != "":
	case s.approved:
		why = "its signature approved something before"
	case s.Session != e.Aggregate.ID || s.Gate != p.Gate || s.Fingerprint != p.Fingerprint:
		why = fmt.Sprintf("its signature is over the %s of %s with the fingerprint %.12s", s.Gate, s.Session, s.Fingerprint)
	case s.at.After(e.Time):
		why = "it was signed afterwards"
	}
	if known {
		s.approved = true
		a.used[nonce] = s
	}
	if why != "" {
		a.report.Bad = append(a.report.Bad, Finding{e.ID, e.Aggregate.ID, p.Gate, why})
	}
}

// Report is what was found.
func (a *Audit) Report() Report { return a.report }

// channelPasskey is how an approval names its channel and its assurance (persisted;
// never change).
const channelPasskey = "passkey"
