package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"
	"time"
)

const (
	// LinkLife is how long a link waits to be opened.
	LinkLife = 2 * time.Minute
	// visitLife is how long a browser stays let in.
	visitLife = 12 * time.Hour
	// maxDoors bounds tickets and visits that are open at once, each.
	maxDoors = 64
	// secretBytes is the size of a ticket or visit: nobody guesses 32 bytes.
	secretBytes = 32
)

// doors knows who is let in. Secrets are kept as their digests, so that
// looking one up tells nothing by the time it takes.
type doors struct {
	now  func() time.Time
	seal [secretBytes]byte // of keys

	mu      sync.Mutex
	tickets map[[sha256.Size]byte]time.Time // until when
	visits  map[[sha256.Size]byte]time.Time
	readers map[[sha256.Size]byte]bool // of both, those who may only look
}

func newDoors(now func() time.Time) *doors {
	d := &doors{now: now, tickets: map[[sha256.Size]byte]time.Time{}, visits: map[[sha256.Size]byte]time.Time{}, readers: map[[sha256.Size]byte]bool{}}
	_, _ = rand.Read(d.seal[:]) // never fails: the program ends where there is no randomness
	return d
}

// key is what the page of a visit shows with whatever it asks. A browser sends the
// cookie of a visit to every server of this host's, whatever its port, an agent's among
// them; the key it keeps for the page alone.
func (d *doors) key(visit string) string {
	mac := hmac.New(sha256.New, d.seal[:])
	_, _ = mac.Write([]byte(visit)) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func secret() (string, error) {
	raw := make([]byte, secretBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("dashboard: no randomness: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(raw), nil
}

// ticket makes a secret that admits once, a reader only to look.
func (d *doors) ticket(reads bool) (string, error) {
	return d.open(d.tickets, LinkLife, reads)
}

func (d *doors) open(into map[[sha256.Size]byte]time.Time, life time.Duration, reads bool) (string, error) {
	s, err := secret()
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if len(into) >= maxDoors {
		delete(into, oldest(into))
	}
	key := sha256.Sum256([]byte(s))
	into[key] = d.now().Add(life)
	if reads {
		d.readers[key] = true
	}
	return s, nil
}

func oldest(of map[[sha256.Size]byte]time.Time) (key [sha256.Size]byte) {
	var first time.Time
	for k, until := range of {
		if first.IsZero() || until.Before(first) {
			key, first = k, until
		}
	}
	return key
}

func (d *doors) sweep() {
	now := d.now()
	for _, all := range []map[[sha256.Size]byte]time.Time{d.tickets, d.visits} {
		for k, until := range all {
			if !now.Before(until) {
				delete(all, k)
			}
		}
	}
	for k := range d.readers {
		if d.tickets[k].IsZero() && d.visits[k].IsZero() {
			delete(d.readers, k)
		}
	}
}

// admit takes a ticket for a visit.
func (d *doors) admit(ticket string) (visit string, ok bool) {
	key := sha256.Sum256([]byte(ticket))
	d.mu.Lock()
	d.sweep()
	_, ok = d.tickets[key]
	reads := d.readers[key]
	delete(d.tickets, key)
	d.mu.Unlock()
	if !ok {
		return "", false
	}
	visit, err := d.open(d.visits, visitLife, reads)
	return visit, err == nil
}

// knows says whether a visit was admitted.
func (d *doors) knows(visit string) bool {
	key := sha256.Sum256([]byte(visit))
	d.mu.Lock()
	defer d.mu.Unlock()
	until, ok := d.visits[key]
	return ok && d.now().Before(until)
}

// reads says whether a visit may only look.
func (d *doors) reads(visit string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.readers[sha256.Sum256([]byte(visit))]
}

// leave ends a visit.
func (d *doors) leave(visit string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.visits, sha256.Sum256([]byte(visit)))
}
