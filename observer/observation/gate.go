package observation

import (
	"strings"
	"unicode/utf8"

	"github.com/writbus/writ/schemas"
)

// GateVersion is the version of the gate's rules, stored with each verdict as
// write_gate_version. Persisted; a change of what a verdict means is a new one.
const GateVersion = "v1"

// The verdicts. Persisted; never change.
const (
	Allow   = "allow"   // reflected on and recalled
	Hold    = "hold"    // neither, until somebody asks or reviews
	Discard = "discard" // kept for audit
)

// The reasons of fallbacks. Persisted; never change.
const (
	// MissingAnnotation: no bracket with a known key and "=" follows the markers.
	MissingAnnotation = "missing_annotation"
	// MalformedAnnotation: one does, but it does not parse or holds no verdict.
	MalformedAnnotation = "malformed_annotation"
	// UnknownVerdict: the annotation parses, its verdict is none of the three.
	UnknownVerdict = "unknown_verdict"
	// EmptyObservation: white space, markers alone, or nothing after a good
	// annotation.
	EmptyObservation = "empty_observation"
	// ClassifierError: the classifier that should have written the annotation
	// failed.
	ClassifierError = "classifier_error"
)

// What stands in for what an annotation does not say.
const (
	fallbackConfidence = 0.35
	defaultConfidence  = 0.65
	defaultReason      = "classified"
	maxReason          = 120 // code points
)

// Gated is an observation with its verdict.
type Gated struct {
	// Text is the observation, without markers and annotation where it has an
	// annotation and without surrounding white space. Valid UTF-8.
	Text string
	// Verdict is Allow, Hold or Discard.
	Verdict string
	// Reason is the annotation's, at most 120 code points, or "classified"; of
	// a fallback it is one of the named reasons.
	Reason string
	// Confidence is in 0..1.
	Confidence float64
	// Fallback says that the verdict is the gate's, for want of a readable one.
	Fallback bool
	// Category is the annotation's, as written; "" without one.
	Category string
}

// Gate reads an observation and its annotation. It never fails: what it cannot
// read is allowed, as a fallback with a named reason.
func Gate(input []byte) Gated {
	text := strings.TrimSpace(validUTF8(string(input)))
	body := cutMarkers(text)
	if body == "" {
		return fallback(text, EmptyObservation)
	}
	switch a, rest, state := readAnnotation(body); state {
	case absent:
		return fallback(text, MissingAnnotation)
	case malformed:
		return fallback(text, MalformedAnnotation)
	default:
		return a.gated(strings.TrimSpace(rest))
	}
}

// Record gates an observation and returns the event that stores it. The event
// owns its bytes.
func Record(id, source, session string, input []byte) schemas.ObservationRecorded {
	return Gate(input).Record(id, source, session, input)
}

// Record returns the event that stores a gated observation beside the input it
// was read from. The event owns its bytes.
func (g Gated) Record(id, source, session string, input []byte) schemas.ObservationRecorded {
	return schemas.ObservationRecorded{
		ObservationID: id,
		// Never nil: an empty observation is stored as empty, not as absent.
		Original:    append([]byte{}, input...),
		Text:        g.Text,
		Verdict:     g.Verdict,
		Confidence:  g.Confidence,
		Reason:      g.Reason,
		GateVersion: GateVersion,
		Fallback:    g.Fallback,
		Category:    g.Category,
		Origin:      source,
		Session:     session,
	}
}

func fallback(text, reason string) Gated {
	return Gated{Text: text, Verdict: Allow, Reason: reason, Confidence: fallbackConfidence, Fallback: true}
}

// strictness orders the stored verdicts by how much they keep back: one that is
// none of the three is recalled by no flag.
func strictness(verdict string) int {
	switch verdict {
	case Allow, "":
		return 0
	case Hold:
		return 1
	case Discard:
		return 2
	default:
		return 3
	}
}

// validUTF8 replaces each byte that is no UTF-8 by U+FFFD, one for one as
// encoding/json does.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
