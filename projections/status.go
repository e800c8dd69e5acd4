package projections

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/writbus/writ/schemas"
)

// State is what a view does.
type State string

// The states of a view.
const (
	Starting   State = "starting"   // not compared with the log yet
	Rebuilding State = "rebuilding" // being built; what it held before can be read
	Live       State = "live"       // follows the log
	Stopped    State = "stopped"    // its projector failed, or its store is damaged
)

// Status describes one view for people.
type Status struct {
	Name    string         `json:"name"`
	Version int            `json:"version"`
	State   State          `json:"state"`
	Streams []StreamStatus `json:"streams"`
	// Reason says why the view was last rebuilt in this run.
	Reason string `json:"reason,omitempty"`
	// Error is what stopped the view, or what keeps it from going on now.
	Error string `json:"error,omitempty"`
	// Failed is the event that stopped the view.
	Failed *FailedEvent `json:"failed,omitempty"`
	// Quarantined counts the records that the view passed over because they
	// could not be decoded.
	Quarantined uint64 `json:"quarantined"`
}

// StreamStatus is how far a view, or the build that will replace it, has read
// a stream.
type StreamStatus struct {
	Stream  schemas.Stream `json:"stream"`
	Applied uint64         `json:"applied"`
	End     uint64         `json:"end"`
	Lag     uint64         `json:"lag"` // sequences between the two
}

// FailedEvent names an event that could not be applied.
type FailedEvent struct {
	ID       string           `json:"id"`
	Type     schemas.Type     `json:"type"`
	Position schemas.Position `json:"position"`
}

func failedEvent(e schemas.Event) *FailedEvent {
	if e.Data == nil {
		return nil
	}
	return &FailedEvent{ID: e.ID, Type: e.Type(), Position: e.Position}
}

// Status describes every view, in the order NewRuntime got them. It asks the
// log for the ends of its streams, for at most a second; where the log does
// not answer the last known end stands.
func (r *Runtime) Status() []Status {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	ends := r.ends.of(ctx, r.order)
	all := make([]Status, len(r.order))
	for i, v := range r.order {
		all[i] = v.status(ends)
	}
	return all
}

func (v *runner) status(ends map[schemas.Stream]uint64) Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	st := Status{Name: v.p.Name(), Version: v.p.Version(), State: v.state, Reason: v.reason}
	for _, s := range v.in.streams {
		line := StreamStatus{Stream: s, Applied: v.positions[s], End: max(ends[s], v.positions[s])}
		line.Lag = line.End - line.Applied
		st.Streams = append(st.Streams, line)
		st.Quarantined += v.skipped[s]
	}
	if v.trouble != nil {
		st.Error = v.trouble.Error()
	}
	var failed *failure
	if errors.As(v.trouble, &failed) {
		st.Failed = failed.event
	}
	return st
}

// ends remembers how long the streams are.
type ends struct {
	log Log

	mu    sync.Mutex
	known map[schemas.Stream]uint64
}

func (e *ends) of(ctx context.Context, views []*runner) map[schemas.Stream]uint64 {
	now := map[schemas.Stream]uint64{}
	for _, v := range views {
		for _, s := range v.in.streams {
			if _, asked := now[s]; asked {
				continue
			}
			_, last, err := e.log.Bounds(ctx, s)
			e.mu.Lock()
			if e.known == nil {
				e.known = map[schemas.Stream]uint64{}
			}
			if err == nil {
				e.known[s] = last
			}
			now[s] = e.known[s]
			e.mu.Unlock()
		}
	}
	return now
}
