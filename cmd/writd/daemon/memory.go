package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/observer/agent"
	"github.com/writbus/writ/observer/memory"
	"github.com/writbus/writ/projections"
)

// openMemory opens the memory, with the keys of its observations.
func (d *Daemon) openMemory() (*memory.Service, error) {
	m, err := memory.Open(d.views.memory, memory.Options{
		Log: d.log, Conn: d.conn, Views: d.runtime, Rules: d.views.rules, Verdicts: d.views.verdicts,
		Meter: d.telemetry, Now: d.now, Logger: d.logger,
		Keys: filepath.Join(d.layout.Root, "memory.keys"), KeysLater: d.settings.Durability == string(embedded.Interval),
		Settings: d.settings.Memory, Model: d.model, Propose: d.rules.Propose, Warn: d.warn,
		Relatives: relatives(d.runtime, d.views.sessions, d.logger),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	return m, nil
}

// agentFinder finds what agents keep with what finds observations.
type agentFinder struct{ finder *memory.Finder }

// Find implements agent.Finder.
func (f agentFinder) Find(_ context.Context, key string, seq uint64, texts func() []agent.Text, query string, limit int) ([]string, error) {
	return f.finder.Find(key, seq, func() []memory.Text {
		var all []memory.Text
		for _, t := range texts() {
			all = append(all, memory.Text(t))
		}
		return all
	}, query, limit)
}

// relatives tells the roots of a project's work trees and clones, its own among them.
func relatives(views *projections.Runtime, sessions projections.Sessions, logger *slog.Logger) func(project string) []string {
	return func(project string) (all []string) {
		err := views.Read(sessions.Name(), func(r projections.Reader) (err error) {
			all, err = sessions.Relatives(r, project)
			return err
		})
		if err != nil {
			logger.Warn("work trees and clones of a project", "project", project, "error", err)
			return []string{project}
		}
		return all
	}
}
