package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Header holds the attributes of a message, as NATS carries them: exact names,
// a list of values each.
type Header map[string][]string

// Get returns the first value of an attribute, "" where it is absent.
func (h Header) Get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (h Header) set(name, value string) {
	if value != "" {
		h[name] = []string{value}
	}
}

// Attribute names: CloudEvents 1.0 in NATS binary mode, Writ's extensions, and
// the header by which JetStream drops duplicates. Persisted; never change.
const (
	HeaderID            = "ce-id"
	HeaderType          = "ce-type"
	HeaderSource        = "ce-source"
	HeaderTime          = "ce-time"
	HeaderSubject       = "ce-subject"
	HeaderSpecVersion   = "ce-specversion"
	HeaderWritVersion   = "ce-writversion"
	HeaderCausationID   = "ce-causationid"
	HeaderCorrelationID = "ce-correlationid"
	HeaderActor         = "ce-actor"
	HeaderContentType   = "content-type"
	HeaderMsgID         = "Nats-Msg-Id"
)

const (
	specVersion = "1.0"
	// contentOne is the body of a message with one event: its data.
	contentOne = "application/json"
	// contentParts is the body of a message with several: a JSON array of
	// parts, the first of which is the event the headers describe.
	contentParts = "application/vnd.writ.parts+json"
)

// part is one event of a message of several. Its attributes are those of the
// message, its id the message's followed by "/" and its place.
type part struct {
	Type    Type            `json:"type"`
	Version int             `json:"version"`
	Data    json.RawMessage `json:"data"`
}

// Message is what the bus stores: a subject, headers and a body.
type Message struct {
	Subject string
	Header  Header
	// Block is the header as NATS carries it, where a reader of many messages
	// left it unparsed; Header is nil then. Attribute and Unfolded read both.
	Block []byte
	Body  []byte
}

// Encode writes events of one decision as one message: the first is the main
// event, the others follow it in the same message and take its id, time,
// aggregate and actor. It returns what Event.Check returns.
func Encode(main Event, also ...Payload) (Message, error) {
	if err := main.Check(); err != nil {
		return Message{}, err
	}
	body, contentType, err := encodeBody(main, also)
	if err != nil {
		return Message{}, err
	}
	h := Header{}
	h.set(HeaderID, main.ID)
	h.set(HeaderType, string(main.Type()))
	h.set(HeaderSource, escapeAttribute(main.Source))
	h.set(HeaderTime, main.Time.UTC().Format(time.RFC3339Nano))
	h.set(HeaderSubject, escapeAttribute(main.Aggregate.ID))
	h.set(HeaderSpecVersion, specVersion)
	h.set(HeaderWritVersion, strconv.Itoa(main.Type().Version()))
	h.set(HeaderCausationID, escapeAttribute(main.CausationID))
	h.set(HeaderCorrelationID, escapeAttribute(main.CorrelationID))
	h.set(HeaderActor, escapeAttribute(main.Actor.text))
	h.set(HeaderContentType, contentType)
	h.set(HeaderMsgID, main.ID)
	return Message{Subject: main.Aggregate.Subject(main.Type()), Header: h, Body: body}, nil
}

func encodeBody(main Event, also []Payload) (body []byte, contentType string, err error) {
	if len(also) == 0 {
		body, err = json.Marshal(main.Data)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %s: %w", ErrInvalid, main.Type(), err)
		}
		return body, contentOne, nil
	}
	parts := make([]part, 0, len(also)+1)
	for _, p := range append([]Payload{main.Data}, also...) {
		as := main
		as.Data = p
		if err := as.Check(); err != nil {
			return nil, "", err
		}
		raw, err := json.Marshal(p)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %s: %w", ErrInvalid, p.EventType(), err)
		}
		parts = append(parts, part{Type: p.EventType(), Version: p.EventType().Version(), Data: raw})
	}
	body, err = json.Marshal(parts)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s: %w", ErrInvalid, main.Type(), err)
	}
	return body, contentParts, nil
}

// escapeAttribute writes a value so that it stands in one header line and reads
// back exactly: percent-encoding of blanks, quotes, percent signs and all that
// is not printable ASCII (CloudEvents HTTP binding 1.0, section 3.1.3.2).
func escapeAttribute(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; plainAttributeByte(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&0xF])
		}
	}
	return b.String()
}

func plainAttributeByte(c byte) bool { return c > ' ' && c <= '~' && c != '"' && c != '%' }

func unescapeAttribute(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
			return "", fmt.Errorf("%w: attribute %q", ErrMalformed, s)
		}
		b.WriteByte(byte(unhex(s[i+1])<<4 | unhex(s[i+2])))
		i += 2
	}
	return b.String(), nil
}

// Decode reads a message back into its events, in order, with their positions'
// parts counted from 0. The caller sets stream and sequence. It returns
// ErrUnknownType, ErrFutureVersion or ErrMalformed, and never panics.
func Decode(m Message) ([]Event, error) { return AppendDecoded(nil, m) }

// AppendDecoded is Decode into a list that is used again. After an error the
// list is as it was.
func AppendDecoded(to []Event, m Message) ([]Event, error) {
	aggregate, t, err := ParseSubject(m.Subject)
	if err != nil {
		return to, err
	}
	a := attributesOf(m)
	if a.typ != string(t) {
		return to, fmt.Errorf("%w: subject says %q, header says %q", ErrMalformed, t, a.typ)
	}
	main, version, err := a.decode()
	if err != nil {
		return to, err
	}
	main.Aggregate = aggregate
	if named, err := unescapeAttribute(a.subject); err != nil || named != aggregate.ID {
		// A copy of somebody else's message under another subject.
		return to, fmt.Errorf("%w: subject says %q, header says %q", ErrMalformed, aggregate.ID, a.subject)
	}
	switch a.content {
	case contentOne, "":
		return appendPart(to, main, 0, part{Type: t, Version: version, Data: m.Body})
	case contentParts:
		return appendParts(to, main, t, m.Body)
	default:
		return to, fmt.Errorf("%w: %s: content type %q", ErrMalformed, t, a.content)
	}
}

func (a attributes) decode() (e Event, version int, err error) {
	if a.spec != specVersion {
		return Event{}, 0, fmt.Errorf("%w: CloudEvents version %q", ErrMalformed, a.spec)
	}
	at, err := time.Parse(time.RFC3339Nano, a.time)
	if err != nil {
		return Event{}, 0, fmt.Errorf("%w: time: %w", ErrMalformed, err)
	}
	version, err = strconv.Atoi(a.version)
	if err != nil {
		return Event{}, 0, fmt.Errorf("%w: version: %w", ErrMalformed, err)
	}
	if a.id == "" {
		return Event{}, 0, fmt.Errorf("%w: no id", ErrMalformed)
	}
	e = Event{ID: a.id, Time: at.UTC()}
	for _, c := range [...]struct {
		from string
		into *string
	}{
		{a.source, &e.Source},
		{a.actor, &e.Actor.text},
		{a.causation, &e.CausationID},
		{a.correlation, &e.CorrelationID},
	} {
		if *c.into, err = unescapeAttribute(c.from); err != nil {
			return Event{}, 0, err
		}
	}
	return e, version, nil
}

func appendParts(to []Event, main Event, t Type, body []byte) ([]Event, error) {
	var parts []part
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&parts); err != nil {
		return to, fmt.Errorf("%w: %s: %w", ErrMalformed, t, err)
	}
	if len(parts) == 0 || parts[0].Type != t {
		return to, fmt.Errorf("%w: %s: the first part is not the event of the headers", ErrMalformed, t)
	}
	events := to
	for i, p := range parts {
		var err error
		if events, err = appendPart(events, main, i, p); err != nil {
			return to, err
		}
	}
	return events, nil
}

func appendPart(to []Event, main Event, i int, p part) ([]Event, error) {
	d, known := definitions()[p.Type]
	if !known {
		return to, fmt.Errorf("%w: %q", ErrUnknownType, p.Type)
	}
	data, err := d.payload(p.Type, p.Version, p.Data)
	if err != nil {
		return to, err
	}
	if d.kind != main.Aggregate.Kind {
		return to, fmt.Errorf("%w: %s in a message of a %s", ErrMalformed, p.Type, main.Aggregate.Kind)
	}
	main.Data, main.StoredVersion = data, p.Version
	main.Position.Part = i
	if i > 0 {
		main.ID += "/" + strconv.Itoa(i)
	}
	return append(to, main), nil
}
