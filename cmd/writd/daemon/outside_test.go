package daemon

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/reach"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// outsideNATS is a server that is not the daemon's own.
func outsideNATS(t *testing.T) (address string) {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Options{
		Dir: t.TempDir(), Durability: embedded.Interval, Logger: slog.New(slog.DiscardHandler),
		Users: []embedded.User{{Name: "writ", Password: "secret", Role: embedded.RoleDaemon}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return strings.Replace(server.URL(), "nats://", "nats://writ:secret@", 1)
}

// TestRolesSignInByTheirFiles: one that cannot be used is named, and nothing else is
// tried.
func TestRolesSignInByTheirFiles(t *testing.T) {
	address := strings.Replace(outsideNATS(t), "writ:secret@", "", 1)
	data := t.TempDir()
	settings := config.DefaultSettings()
	settings.DataDir, settings.MemoryLimit, settings.NATSURL = data, 0, address
	keep := func(secret string) {
		t.Helper()
		if err := os.MkdirAll(config.Layout{Root: data}.Credentials(), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, role := range []string{"daemon", "hook", "admin"} {
			if err := atomicfile.Write(config.CredentialPath(data, role), []byte(secret), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), "daemon.creds or daemon.nk in "+config.Layout{Root: data}.Credentials()) {
		t.Errorf("without a credential: %v", err)
	}
	keep("SUNOSEED")
	err = Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if err == nil || !strings.Contains(err.Error(), "daemon.json") {
		t.Errorf("a credential that is none: %v", err)
	}
	keep(`{"user":"writ","password":"secret"}`)
	project := newProject(t, "mode: work\n")
	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- Run(ctx, settings, slog.New(slog.DiscardHandler), func(url string) { ready <- url }) }()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	endpoint, err := config.ReadEndpoint(data)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := reach.Connect(ctx, endpoint, data, "admin", bus.Options{Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := call[schemas.Status](&world{t: t, project: project}, conn, schemas.SvcStatus, bus.None{}); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestStreamsOfAnotherAreRefused: of two daemons on one account the second does not
// start; once the first answers no more, one with a fresh folder goes on with its log.
func TestStreamsOfAnotherAreRefused(t *testing.T) {
	address := outsideNATS(t)
	first := startWith(t, t.TempDir(), newProject(t, "mode: work\n"), func(s *config.Settings) { s.NATSURL = address })
	endpoint, err := config.ReadEndpoint(first.data)
	if err != nil || strings.Contains(endpoint.URL, "secret") {
		t.Errorf("announced as %+v, %v", endpoint, err)
	}
	settings := config.DefaultSettings()
	settings.DataDir, settings.MemoryLimit, settings.NATSURL = t.TempDir(), 0, address
	err = Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if !errors.Is(err, relocate.ErrElsewhere) || !strings.Contains(err.Error(), endpoint.Daemon) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a second daemon: %v", err)
	}
	if status, err := call[schemas.Status](first, first.admin, schemas.SvcStatus, bus.None{}); err != nil || status.DataDir != first.data || status.Durability != elsewhere {
		t.Errorf("the first: %+v, %v", status, err)
	}
	plain, err := bus.Connect(t.Context(), bus.Options{URL: endpoint.URL, User: "writ", Password: "secret", Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Request(t.Context(), bus.Request{Subject: schemas.SvcStatus, Body: []byte("{}")}); !errors.Is(err, bus.ErrUnavailable) {
		t.Errorf("who names no daemon is answered: %v", err)
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	next := startWith(t, t.TempDir(), newProject(t, "mode: work\n"), func(s *config.Settings) { s.NATSURL = address })
	status, err := call[schemas.Status](next, next.admin, schemas.SvcStatus, bus.None{})
	if err != nil || !slices.ContainsFunc(status.Warnings, func(w string) bool { return strings.Contains(w, endpoint.Daemon) }) {
		t.Errorf("what goes on: %v, %v", status.Warnings, err)
	}
	settings.DataDir = first.data
	err = Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
	if !errors.Is(err, relocate.ErrElsewhere) {
		t.Errorf("the first, whose streams another one has: %v", err)
	}
}

func TestOutsideNATSProblemsAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ address, want string }{
		"nobody there":   {"nats://127.0.0.1:1", "127.0.0.1:1"},
		"not an address": {"four two two two", "nats://host:4222"},
		"wrong password": {strings.Replace(outsideNATS(t), "secret", "guess", 1), "credential"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := config.DefaultSettings()
			settings.DataDir, settings.MemoryLimit, settings.NATSURL = t.TempDir(), 0, c.address
			err := Run(t.Context(), settings, slog.New(slog.DiscardHandler), func(string) { t.Error("it serves") })
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "guess") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAddressesLoseTheirUser(t *testing.T) {
	plain, user, err := withoutUser("nats://u:p@a:1, nats://b:2")
	if err != nil || plain != "nats://a:1,nats://b:2" || user != (bus.Credential{User: "u", Password: "p"}) {
		t.Errorf("%q %+v %v", plain, user, err)
	}
}

// TestAStrangerAtTheDaemonsPortIsToldNothing takes the port of a daemon that has ended,
// as a job may that was left running, and answers as a server of NATS does.
func TestAStrangerAtTheDaemonsPortIsToldNothing(t *testing.T) {
	w := newWorld(t)
	at, err := config.ReadEndpoint(w.data)
	if err != nil {
		t.Fatal(err)
	}
	if r := w.endpointReached(t, at); r != nil {
		t.Fatalf("the daemon itself: %v", r)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(at.URL, "nats://")
	clear := at
	clear.TLS = bus.TLS{}
	for says, c := range map[string]struct {
		at     config.Endpoint
		learns bool
	}{
		`{"headers":true,"max_payload":9999}`:                         {at, false},
		`{"headers":true,"max_payload":9999,"tls_available":true}`:    {at, false},
		`{"headers":true,"max_payload":9999,"tls_required":true}`:     {at, false},
		`{"headers":true,"max_payload":9999,"server_name":"unasked"}`: {clear, true},
	} {
		heard := strangerAt(t, address, says)
		err := w.endpointReached(t, c.at)
		told := <-heard
		if (err == nil) != c.learns || strings.Contains(told, "pass") != c.learns || !c.learns && !errors.Is(err, bus.ErrUnavailable) {
			t.Errorf("it says %s: connected %v, and it was told %q", says, err, told)
		}
	}
}

func (w *world) endpointReached(t *testing.T, at config.Endpoint) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := reach.Connect(ctx, at, w.data, "admin", bus.Options{Name: "test"})
	if err == nil {
		conn.Close()
	}
	return err
}

// strangerAt serves the first who connects: with a certificate of its own where the
// client begins with one, else as NATS does. What it was told comes at the end.
func strangerAt(t *testing.T, address, says string) (heard chan string) {
	t.Helper()
	own, _, err := embedded.Identity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	heard = make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		_ = listener.Close()
		if err != nil {
			heard <- err.Error()
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = fmt.Fprintf(conn, "INFO %s\r\n", says)
		in := bufio.NewReader(conn)
		if first, err := in.Peek(1); err == nil && first[0] == 0x16 { // a handshake of TLS
			over := tls.Server(buffered{conn, in}, own)
			in = bufio.NewReader(over)
		}
		line, _ := in.ReadString('\n')
		_, _ = fmt.Fprint(conn, "PONG\r\n")
		heard <- line
	}()
	return heard
}

// buffered is a connection of which a part was read ahead.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

func (b buffered) Read(p []byte) (int, error) { return b.in.Read(p) }
