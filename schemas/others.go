package schemas

func registerOthers(add func(Type, definition)) {
	add(define[ObservationRecorded](KindMemory, unchanged))
	add(define[ObservationRegated](KindMemory))
	registerMemory(add)
	registerReflection(add)
	registerArtifact(add)
	registerAgent(add)
	add(define[MessageQuarantined](KindQuarantine))
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
