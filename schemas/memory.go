package schemas

func registerMemory(add func(Type, definition)) {
	add(define[ObservationForgotten](KindMemory))
	add(define[MemoryShown](KindMemory))
	add(define[DriftRaised](KindMemory))
	add(define[DriftCleared](KindMemory))
	add(define[TranscriptObserved](KindMemory))
	add(define[ObservationShared](KindMemory))
}

// ObservationKey names an observation. Its id is unique within its scope, the
// aggregate of its events.
type ObservationKey struct {
	Scope string `json:"scope"`
	ID    string `json:"id"`
}

// ObservationForgotten is the tombstone of an observation whose text was
// erased: its key is gone, so what the log holds of it cannot be read.
type ObservationForgotten struct {
	ObservationID string `json:"observation_id"`
	Reason        string `json:"reason"`
}

// EventType names the event "observation.forgotten".
func (ObservationForgotten) EventType() Type { return "observation.forgotten" }

// Check requires all fields.
func (p ObservationForgotten) Check() error {
	return require("observation_id", p.ObservationID, "reason", p.Reason)
}

// ObservationShared says that a person shared an observation with others.
type ObservationShared struct {
	ObservationID string `json:"observation_id"`
	With          string `json:"with"` // name of the scope
	Epoch         int    `json:"epoch"`
	Number        int    `json:"number"` // of this machine's in that scope
	Digest        string `json:"digest"` // SHA-256 of the record that left, as it was signed
	Person        string `json:"person"` // public key, which signed it
}

// EventType names the event "observation.shared".
func (ObservationShared) EventType() Type { return "observation.shared" }

// Check requires what names it.
func (p ObservationShared) Check() error {
	return require("observation_id", p.ObservationID, "with", p.With, "digest", p.Digest, "person", p.Person)
}

// MemoryShown records which observations a session was shown, so that none is
// shown to it twice.
type MemoryShown struct {
	Session string      `json:"session"`
	Shown   []MemoryHit `json:"shown"`
	Trigger string      `json:"trigger,omitempty"` // prompt
	Tokens  int         `json:"tokens,omitempty"`  // of the block
}

// MemoryHit names an observation that was shown.
type MemoryHit struct {
	Scope         string  `json:"scope"`
	ObservationID string  `json:"observation_id"`
	Score         float64 `json:"score,omitempty"`
}

// EventType names the event "memory.shown".
func (MemoryShown) EventType() Type { return "memory.shown" }

// Check requires the session.
func (p MemoryShown) Check() error { return require("session", p.Session) }

// DriftRaised says that the distribution of verdicts left what is usual. It is
// recorded once; the next one follows a DriftCleared.
type DriftRaised struct {
	Alarm         string  `json:"alarm"` // fallback, hold, discard
	Ratio         float64 `json:"ratio"`
	Limit         float64 `json:"limit"`
	Verdicts      int     `json:"verdicts"` // in the window
	WindowMinutes int     `json:"window_minutes"`
}

// EventType names the event "drift.raised".
func (DriftRaised) EventType() Type { return "drift.raised" }

// Check requires the alarm.
func (p DriftRaised) Check() error { return require("alarm", p.Alarm) }

// DriftCleared says that an alarm's ratio is well below its limit again.
type DriftCleared struct {
	Alarm         string  `json:"alarm"`
	Ratio         float64 `json:"ratio"`
	Verdicts      int     `json:"verdicts"`
	WindowMinutes int     `json:"window_minutes"`
}

// EventType names the event "drift.cleared".
func (DriftCleared) EventType() Type { return "drift.cleared" }

// Check requires the alarm.
func (p DriftCleared) Check() error { return require("alarm", p.Alarm) }

// TranscriptObserved says how far a transcript was read for observations that
// nobody annotated, so that no part of it is asked about twice.
type TranscriptObserved struct {
	Path         string `json:"path"`
	Session      string `json:"session,omitempty"`
	Offset       int64  `json:"offset"` // bytes that were read, whole lines
	Observations int    `json:"observations"`
	By           string `json:"by"` // "embedded", or the model's name
	// Failed says why nothing came of what was read last: the classifier's
	// answers could not be understood.
	Failed string `json:"failed,omitempty"`
}

// EventType names the event "transcript.observed".
func (TranscriptObserved) EventType() Type { return "transcript.observed" }

// Check requires path and classifier.
func (p TranscriptObserved) Check() error { return require("path", p.Path, "by", p.By) }
