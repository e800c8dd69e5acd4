package team

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/evidence"
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
}

// Finding is one thing that a witness found.
type Finding struct {
	Epoch  uint64         `json:"epoch"`
	Stream schemas.Stream `json:"stream,omitempty"`
	At     uint64         `json:"at"` // sequence of the message at the hub
	What   string         `json:"what"`
}

func (f Finding) String() string {
	if f.Stream == "" {
		return fmt.Sprintf("epoch %d: %s", f.Epoch, f.What)
	}
	return fmt.Sprintf("epoch %d, %s: %s", f.Epoch, f.Stream, f.What)
}

// openSeen reads what a witness says, by the key that is pinned, or by its own.
func openSeen(raw []byte, pinned string) (s Seen, err error) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	if err := json.Unmarshal(line, &s); err != nil {
		return s, fmt.Errorf("%w: what the witness said: %w", ErrBatch, err)
	}
	if pinned != "" && pinned != s.Key {
		return s, fmt.Errorf("another witness speaks than the one that was pinned: its key is %.60s. Ask the hub's administrator, and join again with --witness", s.Key)
	}
	key, err := evidence.ParseKey(s.Key)
	if err == nil {
		_, err = note.Open(raw, note.VerifierList(key))
	}
	if err != nil {
		return s, fmt.Errorf("%w: what the witness said: %w", ErrBatch, err)
	}
	return s, nil
}

func (s Seen) sign(key note.Signer) ([]byte, error) {
	line, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: string(line) + "\n"}, key)
}
