package daemon

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// status reports the daemon's health.
func (d *Daemon) status(ctx context.Context, _ bus.None) (schemas.Status, error) {
	index := d.corpus.Current()
	s := schemas.Status{
		Version: config.Version, PID: os.Getpid(), Started: d.started, DataDir: d.layout.Root, URL: d.url,
		Durability: d.settings.Durability, External: d.settings.NATSURL != "", Memory: residentMemory(),
		Rules: index.Len(), Sessions: d.sessions.len(), Embedder: index.Embedder(),
		Metrics: d.telemetry.URL(), FailMode: "closed", Confine: d.confined.String(), Classifier: d.classifier(), Model: d.modelStatus(),
	}
	for _, stream := range schemas.Streams() {
		state, err := d.conn.State(ctx, stream)
		if err != nil {
			return s, err
		}
		s.Streams = append(s.Streams, schemas.StreamStatus{
			Name: stream, First: state.First, Last: state.Last, Messages: state.Messages, Bytes: state.Bytes,
		})
	}
	for _, v := range d.runtime.Status() {
		s.Views = append(s.Views, viewStatus(v))
	}
	d.warnMu.Lock()
	s.Warnings = append([]string(nil), d.warnings...)
	d.warnMu.Unlock()
	s.Warnings = append(s.Warnings, d.audit.Problems()...)
	if d.health != nil {
		if err := d.health(); err != nil {
			s.Warnings = append(s.Warnings, err.Error())
		}
	}
	if problem := d.corpus.Problem(); problem != "" && !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, problem) }) {
		s.Warnings = append(s.Warnings, "rules are found by their words alone: "+problem)
	}
	if left := index.Mandatory().Overflow; len(left) > 0 {
		s.Warnings = append(s.Warnings, "these mandatory rules do not fit into the band of "+strconv.Itoa(retrieval.MandatoryCap)+" tokens and reach no agent: "+strings.Join(left, ", "))
	}
	return s, nil
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

// doctorSession begins the ids of the sessions by which writ doctor proves that
// the gate is live. They are in the log, and nobody looks for them in a list.
const doctorSession = "writ-doctor-"

// defaultSessions is how many sessions a list shows.
const defaultSessions = 50

func (d *Daemon) sessionList(ctx context.Context, q schemas.SessionQuery) (schemas.SessionList, error) {
	if q.Limit <= 0 {
		q.Limit = defaultSessions
	}
	list := schemas.SessionList{Sessions: []schemas.SessionSummary{}}
	if err := d.runtime.Await(ctx, schemas.StreamSessions, viewSessions); err != nil {
		return list, err
	}
	err := d.runtime.Read(viewSessions, func(reader projections.Reader) error {
		for s, err := range d.views.sessions.List(reader) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(s.ID, doctorSession) || q.Project != "" && q.Project != s.Project {
				continue
			}
			state, _, err := d.sessions.state(ctx, s.ID)
			if err != nil {
				return err
			}
			list.Sessions = append(list.Sessions, summary(s, state))
			if len(list.Sessions) == q.Limit {
				break
			}
		}
		return nil
	})
	return list, err
}

// summary joins what the list's view counted with the state that decides.
func summary(s projections.SessionSummary, state enforcement.State) schemas.SessionSummary {
	return schemas.SessionSummary{
		Session: s.ID, Host: state.Host, Project: state.Project, Parent: state.Parent,
		Mode: state.Mode, Phase: state.Phase(), Started: s.Started, LastSeen: s.Last, Ended: state.Ended,
		Refusals: state.Refusals, Events: s.Events,
	}
}

func (d *Daemon) sessionShow(ctx context.Context, q schemas.SessionQuery) (schemas.SessionView, error) {
	if q.At != 0 || !q.Moment.IsZero() {
		return d.sessionThen(ctx, q)
	}
	state, err := d.known(ctx, q.Session)
	if err != nil {
		return schemas.SessionView{}, err
	}
	counted, err := d.counted(ctx, q.Session)
	if err != nil {
		return schemas.SessionView{}, err
	}
	return viewOf(counted, state, state.Drifted(d.watched(d.sessionProject(state), state)))
}

// viewOf shows a state. Drift is what is known of the approved files, by gate.
func viewOf(counted projections.SessionSummary, state enforcement.State, drift map[string][]schemas.FileChange) (schemas.SessionView, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return schemas.SessionView{}, err
	}
	view := schemas.SessionView{
		SessionSummary: summary(counted, state), Dir: state.Dir, Model: state.Model, Gates: []schemas.SessionGate{},
		Shown: state.Shown, Written: state.Written, Next: state.Guidance(), State: raw,
		Pending: len(state.Violations), Untested: state.PendingTests, Failing: state.Failing, Audit: audit(state),
	}
	for _, name := range []string{enforcement.GatePlan, enforcement.GateTests, enforcement.GateImplementation} {
		gate := schemas.SessionGate{Gate: name, State: "none"}
		if g, approved := state.Work.Gates[name]; approved {
			gate.State, gate.Fingerprint, gate.Channel, gate.ApprovedAt, gate.Files = "approved", g.Fingerprint, g.Channel, g.ApprovedAt, g.Files
			if len(drift[name]) > 0 {
				gate.State = "drifted"
			}
		}
		view.Gates = append(view.Gates, gate)
	}
	return view, nil
}

// counted returns what the list's view knows of a session, with everything in
// it that was acknowledged before the call.
func (d *Daemon) counted(ctx context.Context, id string) (s projections.SessionSummary, err error) {
	_, seq, err := d.sessions.state(ctx, id)
	if err != nil {
		return s, err
	}
	if err := d.runtime.WaitFor(ctx, viewSessions, schemas.Position{Stream: schemas.StreamSessions, Seq: seq}); err != nil {
		return s, err
	}
	err = d.runtime.Read(viewSessions, func(reader projections.Reader) error {
		s, _, err = d.views.sessions.Session(reader, id)
		return err
	})
	return s, err
}

func viewStatus(v projections.Status) schemas.ViewStatus {
	out := schemas.ViewStatus{Name: v.Name, Version: v.Version, State: string(v.State), Quarantined: int(v.Quarantined)}
	for _, s := range v.Streams {
		out.Lag += s.Lag
	}
	out.Error = v.Error
	return out
}

// audit is a session's sum as it stands.
func audit(s enforcement.State) *schemas.SessionAudited {
	a := s.Audit()
	return &a
}
