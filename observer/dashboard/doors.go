package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"maps"
	"slices"
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
	// secretBytes is the size of a ticket, visit or key: nobody guesses 32 bytes.
	secretBytes = 32
)

// pass is what is known of a ticket or visit. Its key is what the page shows with
// whatever it asks: a browser sends the cookie of a visit to every server of this host's,
// whatever its port, an agent's among them; the key is kept for the page alone.
type pass struct {
	until time.Time
	reads bool // may only look
	key   string
}

// opens says whether a key is the pass's own.
func (p pass) opens(key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(p.key)) == 1
}

// doors knows who is let in. Secrets are kept as their digests, so that
// looking one up tells nothing by the time it takes.
type doors struct {
	now func() time.Time

	mu              sync.Mutex
	tickets, visits map[[sha256.Size]byte]pass
}

func newDoors(now func() time.Time) *doors {
	return &doors{now: now, tickets: map[[sha256.Size]byte]pass{}, visits: map[[sha256.Size]byte]pass{}}
}

func secret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails: the program ends where there is no randomness
	return base64.RawURLEncoding.EncodeToString(raw)
}

// ticket makes a secret that admits once, a reader only to look.
func (d *doors) ticket(reads bool) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ticket, _ := d.open(d.tickets, LinkLife, reads)
	return ticket
}

func (d *doors) open(into map[[sha256.Size]byte]pass, life time.Duration, reads bool) (string, pass) {
	d.sweep()
	if len(into) >= maxDoors {
		sooner := func(a, b [sha256.Size]byte) int { return into[a].until.Compare(into[b].until) }
		delete(into, slices.MinFunc(slices.Collect(maps.Keys(into)), sooner))
	}
	s, p := secret(), pass{d.now().Add(life), reads, secret()}
	into[sha256.Sum256([]byte(s))] = p
	return s, p
}

func (d *doors) sweep() {
	now := d.now()
	for _, all := range []map[[sha256.Size]byte]pass{d.tickets, d.visits} {
		maps.DeleteFunc(all, func(_ [sha256.Size]byte, p pass) bool { return !now.Before(p.until) })
	}
}

// admit takes a ticket for a visit, with the key of the one before it that allowed as much.
func (d *doors) admit(ticket string, before pass) (visit string, p pass, ok bool) {
	key := sha256.Sum256([]byte(ticket))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	if p, ok = d.tickets[key]; ok {
		delete(d.tickets, key)
		visit, p = d.open(d.visits, visitLife, p.reads)
		if before.key != "" && before.reads == p.reads {
			p.key = before.key
			d.visits[sha256.Sum256([]byte(visit))] = p
		}
	}
	return visit, p, ok
}

// visit is what is known of one that was admitted.
func (d *doors) visit(visit string) (p pass, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep()
	p, ok = d.visits[sha256.Sum256([]byte(visit))]
	return p, ok
}

// leave ends a visit.
func (d *doors) leave(visit string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.visits, sha256.Sum256([]byte(visit)))
}
