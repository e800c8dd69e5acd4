package daemon

import (
	"context"
	"sync"
	"time"
)

// transcriptBudget bounds the reading of a transcript beside the hook that
// named it.
const transcriptBudget = 5 * time.Second

// transcripts is how far the transcripts of sessions were read. After a restart
// they are read again: what was observed is known and changes nothing.
type transcripts struct {
	mu      sync.Mutex
	read    map[string]int64
	reading map[string]bool
	wait    sync.WaitGroup
	running context.Context //nolint:containedctx // readings end with the services, not with their hook
}

// memories are what goes with a prompt, as far as the project wants any.
func (d *Daemon) memories(ctx context.Context, t turn, room int) string {
	if t.project.settings.Memory == "off" || t.Agent != "" {
		return ""
	}
	block, _ := d.memoriesFor(ctx, t.Session, t.project.root, t.Prompt, room)
	return block
}

// noteTranscript observes what the agent noted since the last time, beside the
// hook: a turn does not wait for it.
func (d *Daemon) noteTranscript(t turn) {
	if t.Transcript == "" || t.project.settings.Memory == "off" {
		return
	}
	d.transcripts.mu.Lock()
	defer d.transcripts.mu.Unlock()
	if d.transcripts.reading[t.Session] || d.transcripts.running == nil || d.transcripts.running.Err() != nil {
		return // the one under way reads to the end
	}
	if d.transcripts.read == nil {
		d.transcripts.read, d.transcripts.reading = map[string]int64{}, map[string]bool{}
	}
	d.transcripts.reading[t.Session] = true
	from := d.transcripts.read[t.Session]
	d.transcripts.wait.Go(func() {
		ctx, cancel := context.WithTimeout(d.transcripts.running, transcriptBudget)
		defer cancel()
		next, err := d.observeTranscript(ctx, t.Transcript, t.Session, t.project.root, from)
		if err != nil {
			d.logger.Warn("observe a transcript", "session", t.Session, "error", err)
		}
		d.transcripts.mu.Lock()
		defer d.transcripts.mu.Unlock()
		d.transcripts.read[t.Session] = next
		delete(d.transcripts.reading, t.Session)
	})
}
