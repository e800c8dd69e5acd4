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
	// Done is the share of its records that a build has read, 0 to 1, and Left the
	// time it takes for the others at its pace so far, 0 where that is not known
	// yet. Neither is set for a view that is not being built.
	Done float64       `json:"done,omitempty"`
	Left time.Duration `json:"left,omitempty"`
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
	if applied, all := v.pace.at(v.positions); v.state == Rebuilding || v.state == Live && all-applied > smallBuild { // which takes as long
		st.State = Rebuilding
		st.Done, st.Left = v.pace.left(v.positions, time.Now())
	}
	for _, s := range v.in.streams {
		line := StreamStatus{Stream: s, Applied: v.positions[s], End: max(ends[s], v.positions[s])}
		line.Lag = line.End - line.Applied
		st.Streams = append(st.Streams, line)
		st.Quarantined += v.skipped[s]
	}
	if v.trouble != nil {
		st.Error = v.trouble.Error()
	}
	if failed, ok := errors.AsType[*failure](v.trouble); ok {
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

// pace is how fast a build goes on.
type pace struct {
	began time.Time                 // when its turn came
	from  uint64                    // records that were applied then
	ends  map[schemas.Stream]uint64 // of the streams, when it began
}

// at is how many records are applied, and how many there are.
func (p pace) at(positions map[schemas.Stream]uint64) (applied, all uint64) {
	for s, end := range p.ends {
		applied += min(positions[s], end)
		all += end
	}
	return applied, all
}

// paceLeast is for how long a build runs before its pace says anything.
const paceLeast = 500 * time.Millisecond

// left is the share of the records that is applied, and the time that the others
// take.
func (p pace) left(positions map[schemas.Stream]uint64, now time.Time) (done float64, left time.Duration) {
	applied, all := p.at(positions)
	if all == 0 {
		return 1, 0
	}
	done = float64(applied) / float64(all)
	if took := now.Sub(p.began); !p.began.IsZero() && took >= paceLeast && applied > p.from {
		left = time.Duration(float64(took) * float64(all-applied) / float64(applied-p.from))
	}
	return done, left
}
