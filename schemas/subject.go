package schemas

import (
	"fmt"
	"strings"
)

// MaxIDBytes bounds an aggregate's id. NATS carries a subject in a control
// line of 4,096 bytes; an id of this size, each byte escaped to three, leaves
// room for the rest.
const MaxIDBytes = 512

// Kind names what an aggregate is. Kinds are the second token of every
// subject. Persisted; never change.
type Kind string

// The kinds of aggregates, each with its own stream.
const (
	KindSession    Kind = "session"    // id: the host's session id
	KindRule       Kind = "rule"       // id: the rule's id
	KindMemory     Kind = "memory"     // id: the scope, such as a project or "global"
	KindArtifact   Kind = "artifact"   // id: the project; settings of all are in "settings"
	KindAgent      Kind = "agent"      // id: the run of an agent
	KindQuarantine Kind = "quarantine" // id: the stream the message came from
)

// Stream names a JetStream stream. Persisted; never change.
type Stream string

// The streams of the log.
const (
	StreamSessions   Stream = "WRIT_SESSIONS"
	StreamRules      Stream = "WRIT_RULES"
	StreamMemory     Stream = "WRIT_MEMORY"
	StreamArtifacts  Stream = "WRIT_ARTIFACTS"
	StreamAgents     Stream = "WRIT_AGENTS"
	StreamQuarantine Stream = "WRIT_QUARANTINE"
)

// Streams lists every stream of the log, in a fixed order.
func Streams() []Stream {
	return []Stream{StreamSessions, StreamRules, StreamMemory, StreamArtifacts, StreamAgents, StreamQuarantine}
}

// Stream returns the stream that holds aggregates of this kind, or "" for an
// unknown kind.
func (k Kind) Stream() Stream {
	switch k {
	case KindSession:
		return StreamSessions
	case KindRule:
		return StreamRules
	case KindMemory:
		return StreamMemory
	case KindArtifact:
		return StreamArtifacts
	case KindAgent:
		return StreamAgents
	case KindQuarantine:
		return StreamQuarantine
	}
	return ""
}

// Subjects returns the subject filter a stream captures, such as
// "writ.session.>", or "" for an unknown stream.
func (s Stream) Subjects() string {
	for _, k := range []Kind{KindSession, KindRule, KindMemory, KindArtifact, KindAgent, KindQuarantine} {
		if k.Stream() == s {
			return subjectRoot + "." + string(k) + ".>"
		}
	}
	return ""
}

const subjectRoot = "writ"

// Aggregate is the unit of consistency: all its events share one subject
// prefix, and an append may expect the last of them.
type Aggregate struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
}

// Session returns the aggregate of a host's session.
func Session(id string) Aggregate { return Aggregate{KindSession, id} }

// RuleAggregate returns the aggregate of one rule.
func RuleAggregate(id string) Aggregate { return Aggregate{KindRule, id} }

// Memory returns the aggregate of one memory scope.
func Memory(scope string) Aggregate { return Aggregate{KindMemory, scope} }

// String is for people; it is not a subject.
func (a Aggregate) String() string { return string(a.Kind) + ":" + a.ID }

// Check returns ErrInvalid for an unknown kind or an empty id and ErrIDTooLong
// for an id over MaxIDBytes.
func (a Aggregate) Check() error {
	switch {
	case a.Kind.Stream() == "":
		return fmt.Errorf("%w: unknown aggregate kind %q", ErrInvalid, a.Kind)
	case a.ID == "":
		return fmt.Errorf("%w: %s without an id", ErrInvalid, a.Kind)
	case len(a.ID) > MaxIDBytes:
		return fmt.Errorf("%w: %s id of %d bytes, at most %d", ErrIDTooLong, a.Kind, len(a.ID), MaxIDBytes)
	}
	return nil
}

// Prefix is the part of the subject that all events of the aggregate share,
// "writ.session.<token>".
func (a Aggregate) Prefix() string {
	return subjectRoot + "." + string(a.Kind) + "." + EncodeToken(a.ID)
}

// Filter matches every event of the aggregate, "writ.session.<token>.>".
func (a Aggregate) Filter() string { return a.Prefix() + ".>" }

// Subject is where an event of type t of this aggregate is published.
func (a Aggregate) Subject(t Type) string { return a.Prefix() + "." + string(t) }

// ParseSubject splits a subject of the log into its aggregate and type. The
// type need not be known to this build. It returns ErrMalformed for a subject
// that Aggregate.Subject cannot have made.
func ParseSubject(subject string) (Aggregate, Type, error) {
	root, rest, _ := strings.Cut(subject, ".")
	kind, rest, _ := strings.Cut(rest, ".")
	token, t, typed := strings.Cut(rest, ".")
	if !typed || strings.Count(t, ".") != 1 || root != subjectRoot || Kind(kind).Stream() == "" {
		return Aggregate{}, "", fmt.Errorf("%w: subject %q", ErrMalformed, subject)
	}
	id, err := DecodeToken(token)
	if err != nil {
		return Aggregate{}, "", fmt.Errorf("%w: subject %q: %w", ErrMalformed, subject, err)
	}
	return Aggregate{Kind(kind), id}, Type(t), nil
}

const tokenEscape = '='

// EncodeToken turns any id into one safe subject token. Letters, digits, "-"
// and "_" stand for themselves; every other byte is "=" and two upper-case
// hexadecimal digits, so that ids of common hosts stay readable. The empty id
// is "=".
func EncodeToken(id string) string {
	if id == "" {
		return string(tokenEscape)
	}
	if plainToken(id) {
		return id
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(id))
	for i := range len(id) {
		c := id[i]
		if plainTokenByte(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte(tokenEscape)
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&0xF])
	}
	return b.String()
}

func plainTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func plainToken(s string) bool {
	for i := range len(s) {
		if !plainTokenByte(s[i]) {
			return false
		}
	}
	return true
}

// DecodeToken reverses EncodeToken exactly. It returns ErrBadToken for
// anything EncodeToken does not produce, so that an id has one token only.
func DecodeToken(token string) (string, error) {
	if token == string(tokenEscape) {
		return "", nil
	}
	if token == "" {
		return "", fmt.Errorf("%w: empty", ErrBadToken)
	}
	if plainToken(token) {
		return token, nil
	}
	var b strings.Builder
	b.Grow(len(token))
	for i := 0; i < len(token); i++ {
		c := token[i]
		if plainTokenByte(c) {
			b.WriteByte(c)
			continue
		}
		if c != tokenEscape || i+2 >= len(token) {
			return "", fmt.Errorf("%w: %q", ErrBadToken, token)
		}
		hi, lo := unhex(token[i+1]), unhex(token[i+2])
		if hi < 0 || lo < 0 || plainTokenByte(byte(hi<<4|lo)) {
			return "", fmt.Errorf("%w: %q", ErrBadToken, token)
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
