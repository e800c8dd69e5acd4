package relocate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/pause"
)

const (
	askWithin = 2 * time.Second // a daemon says whether it runs
	lookEvery = 2 * time.Second // whether the streams are still this daemon's
	// looks are how many in a row must say that they are not: a server that just came back
	// tells what it knew.
	looks = 3
)

// Claim is a daemon's hold of the streams of its log on a NATS of somebody else.
type Claim struct {
	Place  Place
	conn   *bus.Conn
	id     string
	labels map[string]string
	// Warning tells of streams that another daemon had, "" for none.
	Warning string
}

// Take makes the streams at a place those of the daemon with an id, as its data directory
// says, or returns ErrElsewhere. A directory that never had a log goes on with the streams
// of a daemon that does not answer any more.
func Take(ctx context.Context, conn *bus.Conn, dir string, p Place, daemon string, r bus.Retention) (*Claim, error) {
	c := &Claim{Place: p, conn: conn, id: newID()}
	found, had := 0, uint64(0)
	for _, s := range schemas.Streams() {
		labels, err := bus.Labels(ctx, conn, s)
		if errors.Is(err, bus.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found++
		epoch, _ := strconv.ParseUint(labels[labelEpoch], 10, 64)
		if err := c.mayTake(ctx, p, s, labels, epoch, daemon); err != nil {
			return nil, err
		}
		had = max(had, epoch)
	}
	switch {
	case found == 0 && p.Log != "":
		return nil, fmt.Errorf("%w: its streams are not at %s. Is it another NATS, or another account of it, than the one where the log lies?", ErrElsewhere, p.URL)
	case p.Log == "":
		c.Place.Log, c.Place.Epoch = cmp.Or(c.Place.Log, newID()), had+1
	}
	c.labels = c.Place.labels(daemon, c.id, "")
	r.Labels = c.labels
	if err := conn.EnsureStreams(ctx, r); err != nil {
		return nil, err
	}
	if c.Place == p {
		return c, nil
	}
	return c, c.Place.save(dir)
}

// mayTake looks at the labels of one stream.
func (c *Claim) mayTake(ctx context.Context, p Place, s schemas.Stream, has map[string]string, epoch uint64, daemon string) error {
	owner := has[labelDaemon]
	switch {
	case has[labelLog] == "":
		return nil // an older Writ's
	case p.Log != "" && has[labelLog] != p.Log:
		return fmt.Errorf("%w: %s at %s is of another log, of the daemon %s. Each daemon needs an account of its own there (writ help log)", ErrElsewhere, s, p.URL, owner)
	case has[labelMoving] != "" && epoch > p.Epoch:
		return fmt.Errorf("%w: it was moved away from %s, or to it, in epoch %d, and this data directory is a copy from epoch %d", ErrElsewhere, p.URL, epoch, p.Epoch)
	case p.Log != "" && epoch > p.Epoch:
		return fmt.Errorf("%w: the daemon %s goes on with it since epoch %d, and this data directory is a copy from epoch %d", ErrElsewhere, owner, epoch, p.Epoch)
	}
	runs, err := served(ctx, c.conn, owner)
	switch {
	case runs:
		return fmt.Errorf("%w: %s at %s belongs to the daemon %s, which runs. Each daemon needs an account of its own there (writ help log)", ErrElsewhere, s, p.URL, owner)
	case err != nil && owner != daemon:
		return fmt.Errorf("%w: %s at %s belongs to the daemon %s, and whether it runs cannot be told: %w", ErrElsewhere, s, p.URL, owner, err)
	case p.Log == "" && c.Place.Log != "" && c.Place.Log != has[labelLog]:
		return fmt.Errorf("%w: the streams at %s are of several logs", ErrElsewhere, p.URL)
	case p.Log == "":
		c.Place.Log = has[labelLog]
		if owner != daemon {
			c.Warning = fmt.Sprintf("the streams at %s were those of the daemon %s, which does not answer: this one goes on with them", p.URL, owner)
		}
	}
	return nil
}

func served(ctx context.Context, conn *bus.Conn, daemon string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return bus.Served(ctx, conn, daemon)
}

// Watch looks until the context ends whether the streams are still this daemon's, and
// says once that they are not.
func (c *Claim) Watch(ctx context.Context, lost func(error)) {
	for seen := 0; seen < looks && pause.For(ctx, lookEvery); {
		has, err := bus.Labels(ctx, c.conn, schemas.StreamSessions)
		var why error
		switch {
		case err != nil && !errors.Is(err, bus.ErrNotFound):
			continue // an election, or no way there: nothing is stored then either
		case err != nil:
			why = fmt.Errorf("%w: its streams are not at %s any more", ErrElsewhere, c.Place.URL)
		case has[labelClaim] != c.id:
			why = fmt.Errorf("%w: the daemon %s took the streams at %s, in epoch %s", ErrElsewhere, has[labelDaemon], c.Place.URL, has[labelEpoch])
		}
		if seen++; why == nil {
			seen = 0
		} else if seen == looks {
			lost(why)
		}
	}
}
