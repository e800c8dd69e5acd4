package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/transparency"
	"github.com/writbus/writ/projections/transparency/ledger"
	"github.com/writbus/writ/schemas"
)

// damage tells of what was found wrong with the log, and remembers it in a file.
type damage struct {
	file   string
	now    func() time.Time
	warn   func(string)
	logger *slog.Logger
}

func (d *Daemon) damage() damage {
	return damage{d.layout.Damage(), d.now, d.warn, d.logger}
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
}

func (d damage) tell(line string) {
	d.warn("the log was damaged: " + line + ". Delete " + d.file + " once you know")
}

// recordLost records in the log what a repair gave up of it.
func recordLost(ctx context.Context, d *Daemon) error {
	holes, err := embedded.Holes(d.layout.Log())
	if err != nil {
		d.warn(err.Error())
		return nil
	}
	for _, h := range holes {
		lost := schemas.RecordsLost{Stream: schemas.Stream(h.Stream), First: h.First, Last: h.Last, Path: h.Kept}
		if _, err := ledger.GiveUp(ctx, d.conn, d.log, d.layout.Audit(), lost); err != nil {
			return err
		}
	}
	return nil
}

// lostOn asks the log for what was given up of a stream.
func lostOn(conn *bus.Conn) transparency.Lost {
	return func(s schemas.Stream) ([]schemas.RecordsLost, error) {
		ctx, cancel := context.WithTimeout(context.Background(), logPatience)
		defer cancel()
		return conn.Lost(ctx, s)
	}
}
