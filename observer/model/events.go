package model

import (
	"bufio"
	"bytes"
	"io"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// eventStream is the content type under which the SDK finds our decoder: its
// own takes the comments by which servers keep a connection alive for events.
const eventStream = "text/event-stream; decoder=writ"

func init() {
	ssestream.RegisterDecoder(eventStream, func(body io.ReadCloser) ssestream.Decoder { return newDecoder(body) })
}

// decoder reads server-sent events (WHATWG HTML, 9.2.6): those with data.
type decoder struct {
	body  io.ReadCloser
	lines *bufio.Reader
	event ssestream.Event
	err   error
}

func newDecoder(body io.ReadCloser) *decoder {
	return &decoder{body: body, lines: bufio.NewReader(body)}
}

// Next reads the next event. One that the stream ends within is dropped.
func (d *decoder) Next() bool {
	d.event = ssestream.Event{}
	for d.err == nil {
		line, err := d.lines.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				d.err = err
			}
			return false
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if len(d.event.Data) > 0 {
				return true
			}
			d.event = ssestream.Event{}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			d.event.Type = string(value)
		case "data":
			d.event.Data = append(append(d.event.Data, value...), '\n')
		}
	}
	return false
}

// Event returns the event that Next read.
func (d *decoder) Event() ssestream.Event { return d.event }

// Err returns why Next stopped, nil at the end of the stream.
func (d *decoder) Err() error { return d.err }

// Close closes the stream.
func (d *decoder) Close() error { return d.body.Close() }
