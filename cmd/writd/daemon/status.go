package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit/ledger"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// elsewhere is the durability of a log whose syncs cannot be seen from here.
const elsewhere = "as its administrator set it"

func durabilityOf(s config.Settings) string {
	if s.NATSURL != "" {
		return elsewhere
	}
	return s.Durability
}

// status reports the daemon's health.
func (d *Daemon) status(ctx context.Context, _ bus.None) (schemas.Status, error) {
	index := d.corpus.Current()
	s := schemas.Status{
		Version: config.Version, PID: os.Getpid(), Started: d.started, DataDir: d.layout.Root, Format: config.Format(), URL: d.endpoint.URL,
		Durability: durabilityOf(d.settings), External: d.settings.NATSURL != "", Daemon: d.endpoint.Daemon, Memory: residentMemory(),
		Rules: index.Len(), Embedder: index.Embedder(),
		Metrics: d.telemetry.URL(), FailMode: "closed", Confine: d.runner.String(), Unheld: d.runner.Absent(), Classifier: d.memory.Classifier(), Model: d.modelStatus(),
	}
	for doc := range index.All() {
		if doc.Rule.NodeType() != schemas.NodeRule {
			s.Nodes++
		}
	}
	// A view that is being built counts nothing yet: health is told all the same.
	if counts, err := d.gates.Counts(ctx); err == nil {
		s.Counts, s.Sessions = counts, counts.Live
	}
	for _, stream := range schemas.Streams() {
		state, err := d.conn.State(ctx, stream)
		if err != nil {
			return s, err
		}
		stored, err := bus.Stored(ctx, d.conn, stream)
		if err != nil {
			return s, err
		}
		s.Streams = append(s.Streams, schemas.StreamStatus{
			Name: stream, First: state.First, Last: state.Last, Messages: state.Messages, Bytes: state.Bytes, Archived: state.Messages - min(stored.Messages, state.Messages),
		})
	}
	for _, v := range d.runtime.Status() {
		s.Views = append(s.Views, viewStatus(v))
	}
	d.warnMu.Lock()
	s.Warnings = append([]string(nil), d.warnings...)
	d.warnMu.Unlock()
	s.Warnings = append(append(s.Warnings, closedSessions(ctx, d.sessions)...), d.audit.Problems()...)
	s.Warnings = append(s.Warnings, d.team.Problems()...)
	if d.server != nil {
		at := d.server.Scrubbed()
		s.Scrub = &schemas.ScrubStatus{Stream: schemas.Stream(at.Stream), Block: at.Block, Ended: at.Ended, Damaged: at.Damaged}
		if err := d.server.Health(); err != nil {
			s.Warnings = append(s.Warnings, err.Error())
		}
	}
	stays := true
	if d.archive != nil {
		s.Warnings, stays = append(s.Warnings, d.archive.Problems()...), d.archive.Stays()
	}
	s.Warnings = append(s.Warnings, beyond(d.settings.MaxBytes, s.Streams, stays)...)
	if p := d.backups.Plan(); p.Problem != "" {
		s.Warnings = append(s.Warnings, "the planned backup was not written: "+p.Problem)
	}
	if problem := d.corpus.Problem(); problem != "" && !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, problem) }) {
		s.Warnings = append(s.Warnings, "the embedder of the settings does not serve: "+problem)
	}
	if left := index.Mandatory().Overflow; len(left) > 0 {
		s.Warnings = append(s.Warnings, "there is no room for these rules among the "+strconv.Itoa(retrieval.BandBudget)+" tokens that every session is shown; prompts find them like others: "+strings.Join(left, ", "))
	}
	return s, nil
}

// beyond tells of streams that have about as many bytes as each is to have, 0 for as many
// as come. Of sessions it does where old ones stay.
func beyond(most int64, all []schemas.StreamStatus, stay bool) (told []string) {
	for _, s := range all {
		why := "only sessions leave for the archive"
		if s.Name == bus.ArchivedStream {
			why = "none of it can leave for the archive now"
		}
		if most > 0 && int64(s.Bytes) >= most/100*ledger.ArchiveWarn && (stay || s.Name != bus.ArchivedStream) { //nolint:gosec // a size
			told = append(told, fmt.Sprintf("%s has %d bytes, of %d that max_bytes says, and %s. It goes on taking events while its disk has room: see that there is some, and raise max_bytes to be told of more", s.Name, s.Bytes, most, why))
		}
	}
	return told
}

// residentMemory is this process's, in bytes, 0 where the system does not say.
func residentMemory() uint64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 || runtime.GOOS != "linux" {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

func viewStatus(v projections.Status) schemas.ViewStatus {
	out := schemas.ViewStatus{
		Name: v.Name, Version: v.Version, State: string(v.State), Quarantined: int(v.Quarantined),
		Done: v.Done, LeftMillis: v.Left.Milliseconds(),
	}
	for _, s := range v.Streams {
		out.Lag += s.Lag
	}
	out.Error = v.Error
	return out
}
