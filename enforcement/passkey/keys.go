package passkey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

// State is the passkeys of a person. The zero State has none.
type State struct {
	keys map[string]Key // by credential id, removed ones too: they are enrolled again as another
}

// Key is a passkey that was enrolled.
type Key struct {
	schemas.PasskeyEnrolled
	Event   string // id of its enrolment
	At      time.Time
	Seq     uint64 // of its enrolment in the log
	Removed bool
	Used    time.Time
	Uses    int
	Highest uint64 // counter
	Fell    int    // uses whose counter was below the highest
}

// Evolve folds an event in.
func Evolve(s State, e schemas.Event) State {
	next := maps.Clone(s.keys)
	if next == nil {
		next = map[string]Key{}
	}
	switch p := e.Data.(type) {
	case schemas.PasskeyEnrolled:
		next[p.CredentialID] = Key{PasskeyEnrolled: p, Event: e.ID, At: e.Time, Seq: e.Position.Seq, Highest: p.Counter}
	case schemas.PasskeyRemoved:
		k := next[p.CredentialID]
		k.Removed = true
		next[p.CredentialID] = k
	case schemas.PasskeyUsed:
		k := next[p.CredentialID]
		k.Used, k.Highest = e.Time, max(k.Highest, p.Counter)
		k.Uses++
		if p.CounterWas > 0 {
			k.Fell++
		}
		next[p.CredentialID] = k
	default:
		return s
	}
	return State{next}
}

// Keys are the passkeys that approve, oldest first.
func (s State) Keys() []Key {
	all := slices.DeleteFunc(slices.Collect(maps.Values(s.keys)), func(k Key) bool { return k.Removed || k.Event == "" })
	slices.SortFunc(all, func(a, b Key) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.CredentialID, b.CredentialID)
	})
	return all
}

// maxKeys bounds the passkeys that are enrolled at once.
const maxKeys = 32

// Enrol takes a passkey in. It returns ErrRefused for one too many and for a
// credential that was enrolled before, also where it was removed since.
func (s State) Enrol(p schemas.PasskeyEnrolled) ([]schemas.Payload, error) {
	if len(s.Keys()) >= maxKeys {
		return nil, refused("%d passkeys are enrolled, which is as many as can be; remove one", maxKeys)
	}
	if k, known := s.keys[p.CredentialID]; known {
		if k.Removed {
			return nil, refused("this very credential was removed; make another one")
		}
		return nil, refused("it is enrolled already, as %q", k.Name)
	}
	return []schemas.Payload{p}, nil
}

// Find is the one passkey of a name, or whose credential id begins so. It returns
// ErrRefused where there is none or more than one.
func (s State) Find(which string) (Key, error) {
	var found []Key
	for _, k := range s.Keys() {
		if k.Name == which || which != "" && strings.HasPrefix(k.CredentialID, which) {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		return Key{}, refused("%d passkeys are called %q or have an id that begins so; `writ approve passkey list` shows them.", len(found), which)
	}
	return found[0], nil
}

// Doubts are why a passkey may have been removed though the log does not say so.
type Doubts struct {
	Lost     []schemas.RecordsLost // of the stream of passkeys
	Restored time.Time             // when the log was last put back from a backup
}

// of says why a key is in doubt, "" where it is not.
func (d Doubts) of(k Key) string {
	if d.Restored.After(k.At) {
		return "the log was put back from a backup"
	}
	if slices.ContainsFunc(d.Lost, func(l schemas.RecordsLost) bool { return l.Last > k.Seq }) {
		return "the log lost records"
	}
	return ""
}

// Use is the record of a signature over an approval, by a passkey that is enrolled.
// A counter that fell is recorded and refuses nothing: it says that the passkey may
// have been copied, which is the person's to judge, and many count nothing at all.
// It returns ErrRefused.
func (s State) Use(u schemas.PasskeyUsed, d Doubts) (schemas.PasskeyUsed, error) {
	k, known := s.keys[u.CredentialID]
	switch doubt := d.of(k); {
	case known && !k.Removed && doubt != "":
		return u, refused("%s since the passkey %q was enrolled, which may have been removed then; remove it (writ approve passkey remove) and enrol another (writ approve passkey add)", doubt, k.Name)
	case !known || k.Event == "":
		return u, refused("no passkey of this credential is enrolled; writ approve passkey add enrols one")
	case k.Removed:
		return u, refused("the passkey %q was removed", k.Name)
	}
	u.Enrolment, u.PublicKey = k.Event, k.PublicKey
	counter, err := Verify(u)
	if err != nil {
		return u, err
	}
	u.Counter = counter
	if counter < k.Highest {
		u.CounterWas = k.Highest
	}
	return u, nil
}

// ActID is the act of an approval by a passkey (persisted; never change).
func ActID(nonce string) string { return "passkey:" + nonce }

// Describe says what a fallen counter means, "" where it did not fall.
func Describe(u schemas.PasskeyUsed) string {
	if u.CounterWas == 0 {
		return ""
	}
	return fmt.Sprintf("the passkey's counter fell from %d to %d: it may have been copied", u.CounterWas, u.Counter)
}
