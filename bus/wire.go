package bus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	wireChunk   = 256 << 10 // bytes of the stream that records of one chunk share
	wireLeast   = 8 << 10   // free bytes below which a chunk is not read into any more
	wireNames   = 4096      // subjects that are kept as strings
	wirePatient = 10 * time.Second
)

// errNoWire says that this server is not spoken to without the library, as where it
// wants to be answered.
var errNoWire = errors.New("bus: this server is spoken to by the library alone")

// wire is a connection of its own that receives for one inbox. It exists for
// bulk reading: the library makes a map of every header and passes every
// message on by itself, which costs more than all else on the way.
type wire struct {
	conn  net.Conn
	inbox string

	chunk      []byte // what was handed out of it stays as it is
	start, end int    // of what was received and not yet parsed
	subjects   map[string]string
}

// delivered is a message as it arrived. header and body are parts of a chunk.
type delivered struct {
	subject, reply, header, body []byte
}

func (c *Conn) openWire(ctx context.Context) (*wire, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if c.options.Creds != "" || c.options.Seed != "" || c.options.CredentialText != "" {
		return nil, errNoWire // the server's challenge is the library's to sign
	}
	if c.options.Dial != nil {
		return c.dialWire(ctx, func() (net.Conn, error) { return c.options.Dial() }, true)
	}
	at, err := url.Parse(c.nc.ConnectedUrl())
	if err != nil || at.Scheme != "nats" || at.Port() == "" {
		return nil, errNoWire
	}
	return c.dialWire(ctx, func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", at.Host) }, false)
}

// dialWire signs in. A connection within the process hands over a few KB at a
// time, so where the server listens too, its port is preferred.
func (c *Conn) dialWire(ctx context.Context, dial func() (net.Conn, error), inProcess bool) (*wire, error) {
	conn, err := dial()
	if err != nil {
		return nil, err
	}
	w := &wire{conn: conn, inbox: c.nc.NewInbox(), chunk: make([]byte, wireChunk), subjects: map[string]string{}}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	info, err := w.info()
	if err == nil && inProcess && info.Port > 0 {
		at := net.JoinHostPort(info.Host, strconv.Itoa(info.Port))
		port, err := c.dialWire(ctx, func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", at) }, false)
		if err == nil {
			_ = conn.Close() // the other one is used
			return port, nil
		}
	}
	if err == nil {
		err = w.secure(ctx, c, info)
	}
	if err == nil {
		err = w.greet(c.options)
	}
	if err != nil {
		_ = conn.Close() // err is what matters
		return nil, err
	}
	return w, nil
}

// serverInfo is what the server says of itself first.
type serverInfo struct {
	TLS     bool   `json:"tls_required"`
	HasTLS  bool   `json:"tls_available"`
	Headers bool   `json:"headers"`
	Host    string `json:"host"`
	Port    int    `json:"port"`
}

func (w *wire) info() (info serverInfo, err error) {
	line, err := w.line()
	if err != nil {
		return info, err
	}
	text, is := bytes.CutPrefix(line, []byte("INFO "))
	if !is || json.Unmarshal(text, &info) != nil || !info.Headers {
		return info, errNoWire
	}
	return info, nil
}

// secure begins TLS where the options have it, as the library does; a server that
// wants it unasked is left to the library.
func (w *wire) secure(ctx context.Context, c *Conn, info serverInfo) error {
	if c.options.TLS == nil && !info.TLS {
		return nil
	}
	at, err := url.Parse(c.nc.ConnectedUrl())
	if err != nil || c.options.TLS == nil || !info.TLS && !info.HasTLS || w.start != w.end {
		return errNoWire
	}
	trust := c.options.TLS.Clone()
	trust.ServerName = cmp.Or(trust.ServerName, at.Hostname())
	over := tls.Client(w.conn, trust)
	if err := over.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: %w", errNoWire, err)
	}
	w.conn = over
	return nil
}

// greet signs in and subscribes.
func (w *wire) greet(o Options) error {
	hello, err := json.Marshal(map[string]any{
		"verbose": false, "pedantic": false, "headers": true, "protocol": 1, "echo": false,
		"user": o.User, "pass": o.Password, "name": o.Name, "lang": "go", "version": nats.Version,
	})
	if err != nil {
		return err
	}
	if err := w.send("CONNECT %s\r\nSUB %s 1\r\nPING\r\n", hello, w.inbox); err != nil {
		return err
	}
	for {
		line, err := w.line()
		switch {
		case err != nil:
			return err
		case bytes.Equal(line, []byte("PONG")):
			return nil
		case bytes.HasPrefix(line, []byte("-ERR")):
			return fmt.Errorf("%w: %s", errNoWire, line)
		}
	}
}

func (w *wire) send(format string, args ...any) error {
	if err := w.conn.SetWriteDeadline(time.Now().Add(wirePatient)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.conn, format, args...)
	return err
}

// request publishes a request whose answers come to the inbox.
func (w *wire) request(subject string, body []byte) error {
	return w.send("PUB %s %s %d\r\n%s\r\n", subject, w.inbox, len(body), body)
}

// next waits for a message.
func (w *wire) next() (delivered, error) {
	for {
		line, err := w.line()
		if err != nil {
			return delivered{}, err
		}
		switch verb, rest, _ := bytes.Cut(line, []byte{' '}); string(verb) {
		case "MSG", "HMSG":
			return w.message(rest, len(verb) == len("HMSG"))
		case "PING":
			if err := w.send("PONG\r\n"); err != nil {
				return delivered{}, err
			}
		case "PONG", "INFO", "+OK":
		default:
			return delivered{}, fmt.Errorf("the server says %.200q", line)
		}
	}
}

// message reads what follows the line "subject sid [reply] [header] total".
func (w *wire) message(line []byte, withHeader bool) (m delivered, err error) {
	var buffer [5][]byte
	fields := buffer[:0]
	for rest, more := line, true; more && len(fields) < cap(fields); {
		var field []byte
		field, rest, more = bytes.Cut(rest, []byte{' '})
		fields = append(fields, field)
	}
	sizes := 1
	if withHeader {
		sizes = 2
	}
	if len(fields) < 2+sizes {
		return m, fmt.Errorf("a message line of %d fields", len(fields))
	}
	m.subject = fields[0]
	if len(fields) == 3+sizes {
		m.reply = fields[2]
	}
	total, ok := digits(fields[len(fields)-1])
	header := uint64(0)
	if withHeader && ok {
		header, ok = digits(fields[len(fields)-2])
	}
	if !ok || header > total || total > 1<<31 {
		return m, fmt.Errorf("a message line with sizes %q", line)
	}
	all, err := w.take(int(total) + len("\r\n"))
	if err != nil {
		return m, err
	}
	m.header, m.body = all[:header:header], all[header:total:total]
	return m, nil
}

// line returns the next line without its end. It is valid like a message.
func (w *wire) line() ([]byte, error) {
	for searched := 0; ; {
		if at := bytes.IndexByte(w.chunk[w.start+searched:w.end], '\n'); at >= 0 {
			line := w.chunk[w.start : w.start+searched+at]
			w.start += searched + at + 1
			return bytes.TrimSuffix(line, []byte{'\r'}), nil
		}
		searched = w.end - w.start
		if err := w.fill(searched + wireLeast); err != nil {
			return nil, err
		}
	}
}

// take returns the next n bytes.
func (w *wire) take(n int) ([]byte, error) {
	for w.end-w.start < n {
		if err := w.fill(n); err != nil {
			return nil, err
		}
	}
	w.start += n
	return w.chunk[w.start-n : w.start], nil
}

// fill receives once, into a new chunk if what is left of this one has no room
// for n bytes from start on.
func (w *wire) fill(n int) error {
	if w.start+n > len(w.chunk) {
		next := make([]byte, max(wireChunk, n+wireLeast))
		w.end = copy(next, w.chunk[w.start:w.end])
		w.start, w.chunk = 0, next
	}
	if err := w.conn.SetReadDeadline(time.Now().Add(wirePatient)); err != nil {
		return err
	}
	got, err := w.conn.Read(w.chunk[w.end:])
	w.end += got
	if got > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// subject returns a subject as a string; a log has few, many times.
func (w *wire) subject(raw []byte) string {
	if s, kept := w.subjects[string(raw)]; kept {
		return s
	}
	if len(w.subjects) >= wireNames {
		clear(w.subjects)
	}
	s := string(raw)
	w.subjects[s] = s
	return s
}

// place is where a delivered message stands: in the stream and among those of
// its consumer.
type place struct{ stream, consumer uint64 }

// placeOf reads the reply subject of a delivered message,
// $JS.ACK[.domain.account].stream.consumer.deliveries.seq.seq.time.pending[.more].
func placeOf(reply []byte) (p place, ok bool) {
	rest, ok := bytes.CutPrefix(reply, []byte("$JS.ACK."))
	if !ok {
		return p, false
	}
	before := 3
	if bytes.Count(rest, []byte{'.'}) > 6 {
		before += 2
	}
	for range before {
		if _, rest, ok = bytes.Cut(rest, []byte{'.'}); !ok {
			return p, false
		}
	}
	stream, rest, _ := bytes.Cut(rest, []byte{'.'})
	consumer, _, more := bytes.Cut(rest, []byte{'.'})
	if p.stream, ok = digits(stream); !ok || !more {
		return p, false
	}
	p.consumer, ok = digits(consumer)
	return p, ok
}

// digits reads a decimal number.
func digits(b []byte) (n uint64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' || n > 1<<58 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, len(b) > 0
}
