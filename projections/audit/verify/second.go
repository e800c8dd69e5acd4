package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/writbus/writ/schemas"
)

// Second is a hub as the second place that a log is held against.
type Second struct {
	Hub     string    `json:"hub"`
	Witness string    `json:"witness,omitempty"` // its key
	Seen    time.Time `json:"seen,omitzero"`     // when it last spoke
	// Missing is why the log is not held against what the witness cosigned.
	Missing  string                `json:"missing,omitempty"`
	Findings []schemas.TeamFinding `json:"findings,omitempty"`
	cosigned string                // the newest checkpoints, as files of them are
}

// NewSecond is the hub that a machine is a member of; nil where it is in no team.
func NewSecond(r schemas.TeamReply) *Second {
	if r.URL == "" {
		return nil
	}
	s := &Second{Hub: r.URL, Witness: r.Witness, Seen: r.Seen, Findings: r.Findings}
	for _, one := range r.Streams {
		if one.Checkpoint != "" {
			s.cosigned += one.Checkpoint + "\n"
		}
	}
	switch {
	case s.cosigned != "":
	case r.Connected:
		s.Missing = "its witness cosigned no checkpoint of this epoch yet"
	default:
		s.Missing = cmp.Or(r.Problem, "it is not connected")
	}
	return s
}

// Problems are what says that the log is not the one that the witness saw: a fork, or a
// rollback of which the log itself tells no restore.
func (s *Second) Problems(restored bool) (all []string) {
	if s == nil {
		return nil
	}
	newest := uint64(0)
	for _, f := range s.Findings {
		newest = max(newest, f.Epoch)
	}
	for _, f := range s.Findings {
		if f.Epoch == newest && (f.Kind == schemas.TeamFork || f.Kind == schemas.TeamRollback && !restored) {
			all = append(all, "the hub's witness found a "+f.String())
		}
	}
	return slices.Compact(all)
}

// String is what people read of it.
func (s *Second) String() string {
	switch {
	case s == nil:
		return ""
	case s.Missing != "":
		return "NOT held against the hub " + s.Hub + ": " + s.Missing
	}
	return "held against what the witness of " + s.Hub + " cosigned up to " + s.Seen.Local().Format(time.DateTime)
}
