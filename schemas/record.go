package schemas

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Record is a message as it stands in the log.
type Record struct {
	Stream  Stream
	Seq     uint64 // stream sequence, from 1
	Message Message
}

// ID is the id of the record's main event, "" for a message without one.
func (r Record) ID() string { return r.Message.Attribute(HeaderID) }

// Events decodes the record into its events, positions set. It returns what
// Decode returns.
func (r Record) Events() ([]Event, error) { return r.AppendEvents(nil) }

// AppendEvents is Events into a list that is used again. After an error the
// list is as it was.
func (r Record) AppendEvents(to []Event) ([]Event, error) {
	events, err := AppendDecoded(to, r.Message)
	for i := len(to); i < len(events); i++ {
		events[i].Position.Stream = r.Stream
		events[i].Position.Seq = r.Seq
	}
	return events, err
}

// Forgotten stands where a text was erased. Persisted; never change.
const Forgotten = "[forgotten]"

// ownWords are the fields of sessions and runs that hold words of Writ or of a
// host, or names of models: they tell what was decided, not what anybody said, and
// stay when texts are forgotten. So does what Kept names, but for saidThere.
var (
	ownWords = []string{
		"Mode", "Phase", "NextPhase", "From", "To", "Gate", "Channel", "Assurance", "Verdict", "Effect", "Class", "Trigger", "Band", "Embedder",
		"Model", "AgentType", "Subagents", "Diagnosis", "Stage", "Hook", "Change", "Outcome", "Origin", "Stop", "MIME", "Trust", "Status", "Role",
		"LastRun", "Approvals", "Zone", "SessionStarted.Source", "SessionEnded.Reason", "GatesClosed.Reason", "PlanReopened.Reason", "TestsFinished.Kind",
		"DiagnosticReported.Kind", "EntryAdded.Kind", "EntriesLinked.Kind",
	}
	saidThere = []string{"ArtifactKept.Content", "GateApproved.Capabilities", "MessageQuarantined.Body"}
)

// Stays says whether a field of a struct of this package stays legible when what
// somebody said in a session or a run is forgotten.
func Stays(of reflect.Type, field string) bool {
	whole := of.Name() + "." + field
	return Kept(of, field) != "" && !slices.Contains(saidThere, whole) || slices.Contains(ownWords, field) || slices.Contains(ownWords, whole)
}

// Forget returns a message in which every text that somebody said or that came
// from a file is [Forgotten]; what was decided, when, by whom and over which files
// stays. Of a message that cannot be read nothing of the body stays. The message
// given is not changed, and is returned as it is where it holds no such text.
func Forget(m Message) Message {
	events, err := Decode(m)
	if err != nil || len(events) == 1 && m.Attribute(HeaderContentType) == contentParts {
		m.Body = strconv.AppendQuote(nil, Forgotten)
		return m
	}
	changed := false
	payloads := make([]Payload, len(events))
	for i, e := range events {
		var did bool
		payloads[i], did = forget(e.Data)
		changed = changed || did
	}
	if !changed {
		return m
	}
	main := events[0]
	main.Data = payloads[0]
	body, _, err := encodeBody(main, payloads[1:])
	if err != nil {
		body = strconv.AppendQuote(nil, Forgotten)
	}
	m.Body = body
	return m.withVersion(main.Type().Version())
}

func forget(p Payload) (Payload, bool) {
	clean := func(_, text string) string {
		if text == "" {
			return ""
		}
		return Forgotten
	}
	v := reflect.ValueOf(p)
	plan := planTexts(v.Type(), Stays)
	if !plan.in(v, "", clean) {
		return p, false
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	plan.redact(out, "", clean)
	return out.Interface().(Payload), true
}

// withVersion is the message with another version of its main event.
func (m Message) withVersion(version int) Message {
	is, was := strconv.Itoa(version), m.Attribute(HeaderWritVersion)
	if is == was {
		return m
	}
	if m.Block == nil {
		m.Header = maps.Clone(m.Header)
		m.Header.set(HeaderWritVersion, is)
		return m
	}
	line := []byte("\n" + HeaderWritVersion + ":")
	at := bytes.Index(m.Block, line) + len(line)
	from := at + bytes.Index(m.Block[at:], []byte(was))
	m.Block = slices.Concat(m.Block[:from], []byte(is), m.Block[from+len(was):])
	return m
}
