package schemas

import (
	"bytes"
	"iter"
	"strings"
)

// expectationPrefix begins the headers by which an append states what it
// expects. JetStream keeps them; they are no part of the message.
const expectationPrefix = "Nats-Expected-"

// Attribute returns the first value of a header, "" where it is absent,
// whether the header is parsed or not.
func (m Message) Attribute(name string) string {
	if m.Block == nil {
		return m.Header.Get(name)
	}
	var scratch [64]byte
	at := append(append(append(scratch[:0], '\n'), name...), ':')
	start := bytes.Index(m.Block, at)
	if start < 0 {
		return ""
	}
	line := m.Block[start+len(at):]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return string(bytes.TrimLeft(bytes.TrimSuffix(line, []byte{'\r'}), " \t"))
}

// Headers yields the message's headers, whether the header is parsed or not:
// those of a block in their order, parsed ones by no order but that of the
// values of one name. What an append expected is left out, as Unfolded does.
func (m Message) Headers() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		if m.Block != nil {
			for name, value, rest := nextHeader(string(m.Block)); name != ""; name, value, rest = nextHeader(rest) {
				if !strings.HasPrefix(name, expectationPrefix) && !yield(name, value) {
					return
				}
			}
			return
		}
		for name, values := range m.Header {
			if strings.HasPrefix(name, expectationPrefix) {
				continue
			}
			for _, value := range values {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}

// Unfolded returns the message with its header parsed.
func (m Message) Unfolded() Message {
	if m.Block == nil {
		return m
	}
	header := make(Header, 16)
	values := make([]string, 0, 16) // of the names that stand once, in one list
	for name, value, rest := nextHeader(string(m.Block)); name != ""; name, value, rest = nextHeader(rest) {
		switch {
		case strings.HasPrefix(name, expectationPrefix):
		case header[name] != nil:
			header[name] = append(header[name], value)
		default:
			values = append(values, value)
			header[name] = values[len(values)-1 : len(values) : len(values)]
		}
	}
	m.Header, m.Block = header, nil
	return m
}

// nextHeader cuts the next header out of a block as NATS carries it: its first
// line names the protocol, lines are "name: value", and one without a colon
// ends them. name is "" at the end.
func nextHeader(block string) (name, value, rest string) {
	for {
		end := strings.IndexByte(block, '\n')
		if end < 0 {
			return "", "", ""
		}
		block = block[end+1:]
		colon := strings.IndexByte(block, ':')
		end = strings.IndexByte(block, '\n')
		if colon < 0 || end < colon {
			return "", "", ""
		}
		if colon == 0 {
			continue
		}
		value = strings.TrimLeft(strings.TrimSuffix(block[colon+1:end], "\r"), " \t")
		return block[:colon], value, block[end:]
	}
}

// attributes are the headers that Decode reads.
type attributes struct {
	id, typ, source, time, subject, spec, version, causation, correlation, actor, content string
}

func attributesOf(m Message) attributes {
	var a attributes
	if m.Block == nil {
		for _, name := range [...]string{
			HeaderID, HeaderType, HeaderSource, HeaderTime, HeaderSubject, HeaderSpecVersion,
			HeaderWritVersion, HeaderCausationID, HeaderCorrelationID, HeaderActor, HeaderContentType,
		} {
			if into := a.field(name); into != nil {
				*into = m.Header.Get(name)
			}
		}
		return a
	}
	// One copy of the block stands for all values.
	for name, value, rest := nextHeader(string(m.Block)); name != ""; name, value, rest = nextHeader(rest) {
		if into := a.field(name); into != nil && *into == "" {
			*into = value
		}
	}
	return a
}

func (a *attributes) field(name string) *string {
	switch name {
	case HeaderID:
		return &a.id
	case HeaderType:
		return &a.typ
	case HeaderSource:
		return &a.source
	case HeaderTime:
		return &a.time
	case HeaderSubject:
		return &a.subject
	case HeaderSpecVersion:
		return &a.spec
	case HeaderWritVersion:
		return &a.version
	case HeaderCausationID:
		return &a.causation
	case HeaderCorrelationID:
		return &a.correlation
	case HeaderActor:
		return &a.actor
	case HeaderContentType:
		return &a.content
	}
	return nil
}
