package hub

import (
	"fmt"
	"time"

	"github.com/writbus/writ/schemas"
)

// Seen is what a witness says of a member: one line of JSON, signed as a note
// (persisted at hubs; never change).
type Seen struct {
	Member  string                        `json:"member"`
	Key     string                        `json:"key"` // public, of the witness
	Time    time.Time                     `json:"time"`
	Log     string                        `json:"log"` // name of the member's key
	Epoch   uint64                        `json:"epoch"`
	Why     string                        `json:"why,omitempty"` // the epoch began
	Streams map[schemas.Stream]SeenStream `json:"streams"`
	// Findings are what is wrong, or looks so, by time.
	Findings []Finding `json:"findings,omitempty"`
}

// SeenStream is how far a witness cosigned a stream of the epoch.
type SeenStream struct {
	Head       string `json:"head"`                 // over copies, with the cosignature
	Checkpoint string `json:"checkpoint,omitempty"` // of the log's own tree, with the cosignature
	Copies     int64  `json:"copies"`
	Records    int64  `json:"records,omitempty"` // under the checkpoint
	Through    uint64 `json:"through"`
	// Former are the records under the last checkpoint of an earlier epoch: the first
	// one of this epoch is to come with the proof that it extends that.
	Former int64 `json:"former,omitempty"`
}

// Finding is one thing that a witness found.
type Finding = schemas.TeamFinding

// openSeen reads what a witness says, by the key that is pinned, or by its own.
func openSeen(raw []byte, pinned string) (s Seen, err error) {
	if err := openLine(raw, &s, &s.Key); err != nil {
		return s, fmt.Errorf("what the witness said: %w", err)
	}
	if pinned != "" && pinned != s.Key {
		return s, fmt.Errorf("another witness speaks than the one that was pinned: its key is %.60s. Ask the hub's administrator, and join again with --witness", s.Key)
	}
	return s, nil
}
