package daemon

import (
	"context"
	"path/filepath"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/projections/transparency/ledger"
	"github.com/writbus/writ/schemas"
)

// tellFindings warns of what was ever found wrong with the log.
func (d *Daemon) tellFindings(found []embedded.Finding) error {
	lines, err := embedded.KeepFindings(d.damageFile(), found, d.now())
	for _, line := range lines {
		d.warn(d.damageText(line))
	}
	return err
}

// tellDamage warns of what is found while the daemon runs.
func (d *Daemon) tellDamage(f embedded.Finding) {
	if _, err := embedded.KeepFindings(d.damageFile(), []embedded.Finding{f}, d.now()); err != nil {
		d.logger.Error("note damage of the log", "error", err)
	}
	d.warn(d.damageText(f.String()))
}

func (d *Daemon) damageFile() string { return filepath.Join(d.layout.Root, "damage.txt") }

func (d *Daemon) damageText(line string) string {
	return "the log was damaged: " + line + ". Delete " + d.damageFile() + " once you know"
}

// metGap has the log read for what a reader could not.
func (d *Daemon) metGap(schemas.Stream) { d.server.Look() }

// recordLost records in the log what a repair gave up of it.
func (d *Daemon) recordLost(ctx context.Context) error {
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

// lost is what the log says of records of a stream that were given up.
func (d *Daemon) lost(s schemas.Stream) ([]schemas.RecordsLost, error) {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	return d.reading.Lost(ctx, s)
}
