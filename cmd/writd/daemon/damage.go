package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/enforcement/session"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/schemas"
)

// damage tells of what was found wrong with the log, and remembers it in a file.
type damage struct {
	file   string
	now    func() time.Time
	warn   func(string)
	logger *slog.Logger
	lost   func(embedded.Finding) // told of what is found while the daemon runs
}

func (d *Daemon) damage() damage {
	return damage{d.layout.Damage(), d.now, d.warn, d.logger, d.lostWhileServing}
}

// tellAll warns of what was ever found.
func (d damage) tellAll(found []embedded.Finding) error {
	lines, err := embedded.KeepFindings(d.file, found, d.now())
	for _, line := range lines {
		d.tell(line)
	}
	return err
}

// found warns of what is found while the daemon runs.
func (d damage) found(f embedded.Finding) {
	if _, err := embedded.KeepFindings(d.file, []embedded.Finding{f}, d.now()); err != nil {
		d.logger.Error("note damage of the log", "error", err)
	}
	d.tell(f.String())
	d.lost(f)
}

func (d damage) tell(line string) {
	d.warn("the log was damaged: " + line + ". Delete " + d.file + " once you know")
}

// unreadable are records of sessions that were found damaged while the daemon runs.
type unreadable struct {
	closing sync.Mutex // held while gates are closed for them
	mu      sync.Mutex
	holes   []session.Hole
}

func (u *unreadable) take() []session.Hole {
	u.mu.Lock()
	defer u.mu.Unlock()
	holes := u.holes
	u.holes = nil
	return holes
}

// lostWhileServing closes what a record that was found damaged may have closed.
func (d *Daemon) lostWhileServing(f embedded.Finding) {
	if schemas.Stream(f.Stream) != schemas.StreamSessions || f.First == 0 {
		return
	}
	d.unreadable.mu.Lock()
	d.unreadable.holes = append(d.unreadable.holes, session.Hole{First: f.First, Last: f.Last})
	d.unreadable.mu.Unlock()
	if d.serving.Load() {
		if err := d.closeAfterLoss(context.Background(), ""); err != nil {
			d.warn("the log lost records of sessions, and what they may have opened could not be closed: " + err.Error() + ". Run `writ down` and `writ up --detach`")
		}
	}
}

// closeLost closes, before anybody is answered, the gates that may be open only
// because the log lost records or is an older one.
func closeLost(ctx context.Context, d *Daemon) error {
	if d.server == nil {
		return nil // another's log: its retention may drop records
	}
	cut := ""
	for _, f := range d.server.Findings() {
		if errors.Is(f.Err, embedded.ErrLogTruncated) && schemas.Stream(f.Stream) == schemas.StreamSessions {
			cut = fmt.Sprintf("the log of sessions ended at record %d and ends at %d", f.Had, f.Has)
		}
	}
	if _, err := os.Stat(d.layout.Restored()); err == nil {
		cut = "the log was restored from a backup"
	}
	return d.closeAfterLoss(ctx, cut)
}

func (d *Daemon) closeAfterLoss(ctx context.Context, cut string) error {
	if d.server == nil {
		return nil
	}
	d.unreadable.closing.Lock()
	defer d.unreadable.closing.Unlock()
	closed, err := d.sessions.CloseAfterLoss(ctx, d.unreadable.take(), cut)
	for _, c := range closed {
		d.logger.Warn("gates are closed until somebody approves again", "reason", c.Reason, "sessions", c.Sessions)
	}
	return err
}

// closedSessions tells which sessions wait since a loss.
func closedSessions(ctx context.Context, sessions *session.Sessions) (lines []string) {
	still, err := sessions.ClosedAfterLoss(ctx)
	if err != nil {
		return []string{"which sessions a loss closed cannot be told: " + err.Error()}
	}
	for _, id := range slices.Sorted(maps.Keys(still)) {
		lines = append(lines, fmt.Sprintf("session %s: %s, so that what was approved or chosen in it before counts no more, as that may have been taken back. Look at its plan and approve it again (writ approve --session %s), or choose a mode (/writ-mode MODE in its conversation)", id, still[id], id))
	}
	return lines
}

// lostOn asks the log for what was given up of a stream.
func lostOn(conn *bus.Conn) audit.Lost {
	return func(s schemas.Stream) ([]schemas.RecordsLost, error) {
		ctx, cancel := context.WithTimeout(context.Background(), logPatience)
		defer cancel()
		return conn.Lost(ctx, s)
	}
}
