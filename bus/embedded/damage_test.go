package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

// store is a folder whose server a test starts and stops.
type store struct {
	t       *testing.T
	options embedded.Options
	creds   embedded.Credentials
}

func newStore(t *testing.T) *store {
	t.Helper()
	dir := t.TempDir()
	creds, err := embedded.LoadOrCreateCredentials(filepath.Join(dir, "credentials"))
	must(t, err)
	streams, err := bus.Retention{}.Configurations()
	must(t, err)
	return &store{t, embedded.Options{Dir: filepath.Join(dir, "store"), Users: creds.Users(), Durability: embedded.Interval, Streams: streams}, creds}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *store) start() (*embedded.Server, *bus.Conn) {
	s.t.Helper()
	server, err := embedded.Start(s.t.Context(), s.options)
	must(s.t, err)
	s.t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	c, err := bus.Connect(s.t.Context(), s.as(embedded.RoleDaemon, server))
	must(s.t, err)
	s.t.Cleanup(c.Close)
	return server, c
}

func (s *store) as(role embedded.Role, server *embedded.Server) bus.Options {
	return bus.Options{URL: server.URL(), User: s.creds[role].User, Password: s.creds[role].Password, Timeout: 3 * time.Minute}
}

const filled = 200 // records in each of two streams

func (s *store) fill() (streams string) {
	s.t.Helper()
	server, c := s.start()
	must(s.t, c.EnsureStreams(s.t.Context(), bus.Retention{}))
	for i := range filled {
		_, err := bus.Record(s.t.Context(), c.Writer(bus.WriterOptions{}), bustest.Event("s", fmt.Sprint(i), "a prompt"))
		must(s.t, err)
		other := bustest.Event("", fmt.Sprint(i), "")
		other.Aggregate, other.Data = schemas.Memory("m"), schemas.ObservationRecorded{ObservationID: fmt.Sprint(i)}
		_, err = bus.Record(s.t.Context(), c.Writer(bus.WriterOptions{}), other)
		must(s.t, err)
	}
	must(s.t, server.Shutdown(s.t.Context()))
	return filepath.Join(server.StoreDir(), "$G", "streams")
}

func count(t *testing.T, c *bus.Conn, s schemas.Stream) (int, error) {
	n := 0
	err := c.Follow(t.Context(), s, 0, bus.FollowOptions{UntilEnd: true}, func(batch []schemas.Record) error {
		n += len(batch)
		return nil
	})
	return n, err
}

// TestDamage harms one stream's files while the server is down. Whatever the
// server makes of them, the harm is named, at the start or by the first to
// read, and no other stream loses a record.
func TestDamage(t *testing.T) {
	flip := func(path string) func(string) error {
		return func(dir string) error {
			body, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return err
			}
			body[len(body)/2] ^= 0xff
			return os.WriteFile(filepath.Join(dir, path), body, 0o600)
		}
	}
	truncate := func(path string) func(string) error {
		return func(dir string) error {
			info, err := os.Stat(filepath.Join(dir, path))
			if err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, path), info.Size()/2)
		}
	}
	empty := func(path string) func(string) error {
		return func(dir string) error { return os.Truncate(filepath.Join(dir, path), 0) }
	}
	remove := func(path string) func(string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, path)) }
	}
	const block, index = "msgs/1.blk", "msgs/index.db"
	for _, c := range []struct {
		name     string
		harm     []func(dir string) error
		unknown  bool  // the server is not told how its streams are configured
		start    error // of Start
		finding  error // of the first finding
		read     error // of reading the stream
		readable int   // records that are read
	}{
		{name: "nothing", readable: filled},
		{name: "index missing", harm: []func(string) error{remove(index)}, readable: filled},
		{name: "index flipped", harm: []func(string) error{flip(index)}, readable: filled},
		{name: "block flipped, index missing", harm: []func(string) error{flip(block), remove(index)}, finding: embedded.ErrMended, readable: filled},
		{name: "block truncated", harm: []func(string) error{truncate(block)}, finding: embedded.ErrLogDamaged, read: bus.ErrGap, readable: filled / 2},
		{name: "block truncated, index missing", harm: []func(string) error{truncate(block), remove(index)}, finding: embedded.ErrLogDamaged, read: bus.ErrGap, readable: filled / 2},
		{name: "block missing", harm: []func(string) error{remove(block)}, finding: embedded.ErrLogDamaged, read: bus.ErrGap},
		{name: "block and index missing", harm: []func(string) error{remove(block), remove(index)}, finding: embedded.ErrLogDamaged, read: bus.ErrGap},
		{name: "stream missing", harm: []func(string) error{remove("")}, finding: embedded.ErrLogDamaged, read: bus.ErrGap},
		{name: "description flipped", harm: []func(string) error{flip("meta.inf")}, readable: filled},
		{name: "description empty", harm: []func(string) error{empty("meta.inf"), empty("meta.sum")}, readable: filled},
		{name: "description missing", harm: []func(string) error{remove("meta.inf"), remove("meta.sum")}, readable: filled},
		{name: "description's checksum flipped", harm: []func(string) error{flip("meta.sum")}, readable: filled},
		{name: "description flipped, stream unknown", unknown: true, harm: []func(string) error{flip("meta.inf")}, start: embedded.ErrStoreCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStore(t)
			dir := s.fill()
			if c.unknown {
				s.options.Streams = nil
			}
			for _, harm := range c.harm {
				must(t, harm(filepath.Join(dir, string(schemas.StreamSessions))))
			}
			if c.start != nil {
				if _, err := embedded.Start(t.Context(), s.options); !errors.Is(err, c.start) {
					t.Fatalf("start: got %v, want %v", err, c.start)
				}
				return
			}
			server, conn := s.start()
			checkFindings(t, server.Findings(), c.finding)
			n, err := count(t, conn, schemas.StreamSessions)
			// The exact record that a middle byte belongs to is the server's
			// layout; that reading stops near it is the promise.
			if !errors.Is(err, c.read) || n < c.readable-1 || n > c.readable+1 {
				t.Errorf("read %d records and got %v, want about %d and %v", n, err, c.readable, c.read)
			}
			if err := conn.EnsureStreams(t.Context(), bus.Retention{}); err != nil {
				t.Errorf("the streams cannot be used: %v", err)
			}
			if n, err := count(t, conn, schemas.StreamMemory); n != filled || err != nil {
				t.Errorf("the other stream has %d records left: %v", n, err)
			}
		})
	}
}

func checkFindings(t *testing.T, findings []embedded.Finding, want error) {
	t.Helper()
	if want == nil {
		if len(findings) > 0 {
			t.Errorf("findings of a sound store: %v", findings)
		}
		return
	}
	if len(findings) == 0 {
		t.Fatalf("nothing was found, want %v", want)
	}
	if f := findings[0]; !errors.Is(f.Err, want) || f.Stream != string(schemas.StreamSessions) || (f.Lost == 0) != errors.Is(want, embedded.ErrMended) {
		t.Errorf("found %+v, want %v", f, want)
	}
}
