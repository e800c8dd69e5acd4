package schemas

import (
	"fmt"
	"time"
)

func registerOthers(add func(Type, definition)) {
	add(define[ObservationRecorded](KindMemory, unchanged))
	add(define[ObservationRegated](KindMemory))
	registerMemory(add)
	registerReflection(add)
	registerArtifact(add)
	registerAgent(add)
	add(define[MessageQuarantined](KindQuarantine))
	add(define[RecordsLost](KindQuarantine, unchanged))
	add(define[LogRestored](KindQuarantine))
	add(define[LogMoved](KindQuarantine))
	add(define[SessionsClosed](KindQuarantine))
	add(define[RecordsArchived](KindQuarantine))
}

// ObservationRecorded is one observation with its verdict. Every observation
// is stored, whatever the verdict.
type ObservationRecorded struct {
	ObservationID string  `json:"observation_id"`
	Original      []byte  `json:"original"`      // as observed, byte for byte
	Text          string  `json:"text"`          // cleaned
	Verdict       string  `json:"write_verdict"` // allow, hold, discard; "" counts as allow
	Confidence    float64 `json:"write_confidence"`
	Reason        string  `json:"write_reason,omitempty"`
	GateVersion   string  `json:"write_gate_version,omitempty"`
	Fallback      bool    `json:"write_gate_fallback,omitempty"`
	Category      string  `json:"category,omitempty"`
	Origin        string  `json:"source,omitempty"`
	Session       string  `json:"session,omitempty"`
	// Redacted names the kinds of the secrets that were taken out before
	// anything was stored, one for each; the original then holds marks in their
	// place.
	Redacted []string `json:"redacted,omitempty"`
	// Sealed holds original, text, category and the reason of a verdict that is
	// no fallback, encrypted under a key of this observation's own; the fields
	// themselves are then empty. Without the key nobody reads them any more.
	Sealed []byte `json:"sealed,omitempty"`
}

// EventType names the event "observation.recorded".
func (ObservationRecorded) EventType() Type { return "observation.recorded" }

// Check requires the observation's id.
func (p ObservationRecorded) Check() error { return require("observation_id", p.ObservationID) }

// ObservationRegated changes a verdict; the history stays.
type ObservationRegated struct {
	ObservationID string `json:"observation_id"`
	Verdict       string `json:"write_verdict"`
	Reason        string `json:"reason"`
}

// EventType names the event "observation.regated".
func (ObservationRegated) EventType() Type { return "observation.regated" }

// Check requires all fields.
func (p ObservationRegated) Check() error {
	return require("observation_id", p.ObservationID, "write_verdict", p.Verdict, "reason", p.Reason)
}

// MessageQuarantined keeps what could not be understood, verbatim.
type MessageQuarantined struct {
	Stream  Stream `json:"stream"`
	Seq     uint64 `json:"seq"`
	Subject string `json:"subject"`
	Header  Header `json:"header,omitempty"`
	Body    []byte `json:"body"`
	Reason  string `json:"reason"`
}

// EventType names the event "message.quarantined".
func (MessageQuarantined) EventType() Type { return "message.quarantined" }

// Check requires stream and reason.
func (p MessageQuarantined) Check() error {
	return require("stream", string(p.Stream), "reason", p.Reason)
}

// LostRecords is the aggregate of all [RecordsLost].
func LostRecords() Aggregate { return Aggregate{Kind: KindQuarantine, ID: "lost-records"} }

// RecordsLost says that records of a stream cannot be read any more and were given
// up by a person, so that whoever reads the stream goes on behind them; or, where
// their leaves say what is there now, that their texts were erased for a person.
type RecordsLost struct {
	Stream Stream `json:"stream"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	Path   string `json:"path,omitempty"` // the damaged file as it was, below the folder of the streams
	// Reason is what a person had forgotten, and why; "" for damage.
	Reason string `json:"reason,omitempty"`
	// Leaves are what stands for the records in the stream's Merkle tree, in their
	// order: as they were signed, or, of records that nobody signed, of nothing.
	Leaves []LostLeaf `json:"leaves"`
}

// LostLeaf is a lost record's leaf.
type LostLeaf struct {
	SHA256 []byte `json:"sha256"`
	ID     string `json:"id,omitempty"`     // of the record's main event
	Signed bool   `json:"signed,omitempty"` // the leaf was under a checkpoint
	Now    []byte `json:"now,omitempty"`    // SHA-256 of the leaf of what is left of the record, where its texts were erased
}

// EventType names the event "records.lost".
func (RecordsLost) EventType() Type { return "records.lost" }

// Check requires the stream and a leaf for each record.
func (p RecordsLost) Check() error {
	if p.First == 0 || p.Last < p.First || uint64(len(p.Leaves)) != p.Last-p.First+1 {
		return fmt.Errorf("%w: records %d to %d with %d leaves", ErrInvalid, p.First, p.Last, len(p.Leaves))
	}
	return require("stream", string(p.Stream))
}

// SessionsClosed says that the gates of all sessions whose events may be among those
// that a stream lacks are closed. It belongs to [LostRecords].
type SessionsClosed struct {
	Stream Stream `json:"stream"`
	// First and Last are the records that are missing for good: their sequences
	// are not given out again. 0 where it is not known which those are.
	First    uint64   `json:"first,omitempty"`
	Last     uint64   `json:"last,omitempty"`
	Reason   string   `json:"reason"`             // what the log lacks, for people
	Sessions []string `json:"sessions,omitempty"` // in which something was open
}

// EventType names the event "sessions.closed".
func (SessionsClosed) EventType() Type { return "sessions.closed" }

// Check requires stream and reason.
func (p SessionsClosed) Check() error {
	return require("stream", string(p.Stream), "reason", p.Reason)
}

// RestoredLog is the aggregate of all [LogRestored].
func RestoredLog() Aggregate { return Aggregate{Kind: KindQuarantine, ID: "restored-log"} }

// LogRestored says that the data folder is a backup that a person put back, and
// what had been signed of the log beyond it.
type LogRestored struct {
	Manifest string          `json:"manifest"`    // digest of the backup's manifest
	Backup   time.Time       `json:"backup_time"` // the moment that it is of
	Restored time.Time       `json:"restored"`
	Streams  []StreamRestore `json:"streams,omitempty"` // of which more had been signed
	Path     string          `json:"path,omitempty"`    // where the checkpoints beyond it are kept
}

// StreamRestore is how far a stream had been signed before a restore, and how far
// it was signed in the backup.
type StreamRestore struct {
	Stream Stream `json:"stream"`
	Had    uint64 `json:"had"`
	Has    uint64 `json:"has"`
}

// EventType names the event "log.restored".
func (LogRestored) EventType() Type { return "log.restored" }

// Check requires the manifest's digest.
func (p LogRestored) Check() error { return require("manifest", p.Manifest) }

// Gone is how many records had been signed that the backup lacks.
func (p LogRestored) Gone() (n uint64) {
	for _, s := range p.Streams {
		n += s.Had - s.Has
	}
	return n
}

// MovedLog is the aggregate of all [LogMoved].
func MovedLog() Aggregate { return Aggregate{Kind: KindQuarantine, ID: "moved-log"} }

// LogMoved says that the log is brought to another place. It is the last event that its
// daemon's own append stores at the old one.
type LogMoved struct {
	Epoch uint64 `json:"epoch"` // of the log from then on; one more at each move
	From  string `json:"from"`  // address of a NATS, or "here" for the daemon's own
	To    string `json:"to"`    // likewise
	Move  string `json:"move"`  // names the move, which may be taken up again
}

// EventType names the event "log.moved".
func (LogMoved) EventType() Type { return "log.moved" }

// Check requires both places and an epoch.
func (p LogMoved) Check() error {
	if p.Epoch == 0 {
		return fmt.Errorf("%w: a move without an epoch", ErrInvalid)
	}
	return require("from", p.From, "to", p.To, "move", p.Move)
}

// ArchivedRecords is the aggregate of all [RecordsArchived].
func ArchivedRecords() Aggregate { return Aggregate{Kind: KindQuarantine, ID: "archived-records"} }

// RecordsArchived says that records of a stream stand in a segment, a file that was
// written and read back; from then on the stream may be without them.
type RecordsArchived struct {
	Stream  Stream `json:"stream"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Records uint64 `json:"records"` // in the segment; those that were given up are not
	// Path is the segment, absolute, or its name in the data directory's folder
	// "archive".
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // of the segment
	// SHA256 is the root over the records' leaves in the stream's Merkle tree, those
	// of lost and forgotten records as they were signed.
	SHA256 []byte `json:"sha256"`
	// Sessions are those with a record in the segment: to each an append is still
	// told from its first.
	Sessions []ArchivedSession `json:"sessions"`
}

// ArchivedSession is a session with records in a segment.
type ArchivedSession struct {
	Session string `json:"session"`
	Last    uint64 `json:"last"` // sequence of its last record there
}

// EventType names the event "records.archived".
func (RecordsArchived) EventType() Type { return "records.archived" }

// Check requires a stream, a path and records.
func (p RecordsArchived) Check() error {
	if p.First == 0 || p.Last < p.First {
		return fmt.Errorf("%w: records %d to %d", ErrInvalid, p.First, p.Last)
	}
	return require("stream", string(p.Stream), "path", p.Path)
}
