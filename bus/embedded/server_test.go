package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/bustest"
	"github.com/writbus/writ/bus/embedded"
	"github.com/writbus/writ/schemas"
)

func TestStartRefusals(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = taken.Close() }()
	_, text, err := net.SplitHostPort(taken.Addr().String())
	must(t, err)
	port, err := strconv.Atoi(text)
	must(t, err)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	locked := newStore(t)
	locked.start()

	for _, c := range []struct {
		name string
		o    embedded.Options
		want error
	}{
		{"no folder", embedded.Options{}, embedded.ErrDir},
		{"folder is a file", embedded.Options{Dir: file}, embedded.ErrDir},
		{"folder in use", locked.options, embedded.ErrLocked},
		{"port in use", embedded.Options{Dir: t.TempDir(), Port: port}, embedded.ErrPortInUse},
		{"beyond loopback", embedded.Options{Dir: t.TempDir(), Host: "0.0.0.0"}, embedded.ErrInsecure},
		{"a public name", embedded.Options{Dir: t.TempDir(), Host: "example.com"}, embedded.ErrInsecure},
		{"unknown durability", embedded.Options{Dir: t.TempDir(), Durability: "async"}, embedded.ErrStart},
		{"unknown role", embedded.Options{Dir: t.TempDir(), Users: []embedded.User{{Name: "x", Password: "y", Role: "root"}}}, embedded.ErrStart},
		{"user without password", embedded.Options{Dir: t.TempDir(), Users: []embedded.User{{Name: "x", Role: embedded.RoleHook}}}, embedded.ErrStart},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := embedded.Start(t.Context(), c.o)
			if err == nil {
				_ = s.Shutdown(context.Background())
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may write to any folder")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o500))
	if _, err := embedded.Start(t.Context(), embedded.Options{Dir: dir}); !errors.Is(err, embedded.ErrDir) {
		t.Fatalf("got %v, want %v", err, embedded.ErrDir)
	}
}

// TestRefusedStartReleasesFolder: what kept one start from succeeding does not
// keep the next.
func TestRefusedStartReleasesFolder(t *testing.T) {
	s := newStore(t)
	o := s.options
	o.Users = []embedded.User{{Name: "x", Role: embedded.RoleHook}}
	if _, err := embedded.Start(t.Context(), o); err == nil {
		t.Fatal("started with a user without a password")
	}
	s.start()
}

func TestListensOnLoopback(t *testing.T) {
	s := newStore(t)
	server, _ := s.start()
	host, _, err := net.SplitHostPort(server.URL()[len("nats://"):])
	must(t, err)
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		t.Fatalf("listens on %s", host)
	}
}

func TestRestartKeepsEverything(t *testing.T) {
	s := newStore(t)
	s.fill()
	for range 3 {
		server, c := s.start()
		if found := server.Findings(); len(found) > 0 {
			t.Fatalf("findings after a clean stop: %v", found)
		}
		if n, err := count(t, c, schemas.StreamSessions); n != filled || err != nil {
			t.Fatalf("%d records, %v", n, err)
		}
		must(t, server.Shutdown(t.Context()))
		must(t, server.Shutdown(t.Context()))
	}
}

// TestWhoComesEarlyFindsTheLog connects while the server starts: whoever is let
// in finds every stream with all it held.
func TestWhoComesEarlyFindsTheLog(t *testing.T) {
	s := newStore(t)
	s.fill()
	// Where the system has more than one address of loopback, not the one that
	// connections come from: with the port not taken yet, an attempt to connect may
	// be given that very port, and connect to itself.
	s.options.Host = "127.0.0.1"
	if runtime.GOOS == "linux" {
		s.options.Host = net.IPv4(127, byte(1+rand.IntN(250)), byte(rand.IntN(250)), byte(1+rand.IntN(250))).String()
	}
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(s.options.Host, "0"))
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	s.options.Port, err = strconv.Atoi(port)
	must(t, err)
	for range 3 {
		early := make(chan error, 1)
		go func() {
			early <- func() error {
				for {
					who := s.creds[embedded.RoleDaemon]
					c, err := bus.Connect(t.Context(), bus.Options{URL: "nats://" + address, User: who.User, Password: who.Password, Timeout: time.Minute})
					if t.Context().Err() != nil {
						return t.Context().Err()
					}
					if err != nil {
						continue
					}
					defer c.Close()
					if n, err := count(t, c, schemas.StreamSessions); n != filled || err != nil {
						return fmt.Errorf("%d records, %w", n, err)
					}
					return nil
				}
			}()
		}()
		server, err := embedded.Start(t.Context(), s.options)
		must(t, err)
		if err := <-early; err != nil {
			t.Error(err)
		}
		must(t, server.Shutdown(t.Context()))
	}
}

func TestCredentials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "credentials")
	const callers = 8
	all := make([]embedded.Credentials, callers)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			creds, err := embedded.LoadOrCreateCredentials(dir)
			if err != nil {
				t.Error(err)
			}
			all[i] = creds
		})
	}
	group.Wait()
	secrets := map[string]bool{}
	for _, role := range embedded.Roles() {
		one := all[0][role]
		secrets[one.Password] = true
		if one.User == "" || len(one.Password) < 43 {
			t.Errorf("%s: a password of %d characters", role, len(one.Password))
		}
		for i := range callers {
			if all[i][role] != one {
				t.Errorf("%s: two callers got different credentials", role)
			}
		}
		info, err := os.Stat(bus.CredentialFile(dir, string(role)))
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %#o", role, info.Mode().Perm())
		}
	}
	if len(secrets) != len(embedded.Roles()) {
		t.Error("roles share a password")
	}
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %#o", info.Mode().Perm())
	}
}

func TestCredentialRefusals(t *testing.T) {
	dir := t.TempDir()
	_, err := bus.LoadCredential(dir, "hook")
	if !errors.Is(err, bus.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	path := bus.CredentialFile(dir, "hook")
	must(t, os.WriteFile(path, []byte(`{"user":"hook","password":"x"}`), 0o600))
	must(t, os.Chmod(path, 0o644))
	if _, err = bus.LoadCredential(dir, "hook"); !errors.Is(err, bus.ErrCredentialExposed) {
		t.Errorf("readable by others: %v", err)
	}
	must(t, os.Chmod(path, 0o600))
	for _, body := range []string{"", "{", `{"user":"hook"}`} {
		must(t, os.WriteFile(path, []byte(body), 0o600))
		if _, err = bus.LoadCredential(dir, "hook"); err == nil {
			t.Errorf("%q was taken for a credential", body)
		}
		if _, err = embedded.LoadOrCreateCredentials(dir); err == nil {
			t.Errorf("%q was replaced or taken", body)
		}
	}
}

// TestTornMarks: without its note of the streams' ends the server cannot tell
// a lost tail, and says so.
func TestTornMarks(t *testing.T) {
	s := newStore(t)
	s.fill()
	must(t, os.WriteFile(filepath.Join(s.options.Dir, "marks.json"), []byte(`{"str`), 0o600))
	server, _ := s.start()
	if found := server.Findings(); len(found) != 1 || !errors.Is(found[0].Err, embedded.ErrMarksUnreadable) || !strings.HasSuffix(found[0].Err.Error(), ": marks.json holds something else") {
		t.Fatalf("found %v", found)
	}
}

func TestStoreLimit(t *testing.T) {
	s := newStore(t)
	s.options.MaxStore = 1 << 20
	_, c := s.start()
	must(t, c.EnsureStreams(t.Context(), bus.Retention{}))
	checkFull(t, c)
}

// TestProbesOfAKilledServer are removed by the next one.
func TestProbesOfAKilledServer(t *testing.T) {
	s := newStore(t)
	must(t, os.MkdirAll(s.options.Dir, 0o700))
	probe := filepath.Join(s.options.Dir, ".probe-1")
	must(t, os.WriteFile(probe, []byte{1}, 0o600))
	s.start()
	if _, err := os.Lstat(probe); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the probe is still there: %v", err)
	}
}

// checkFull appends until the log is full: the error says so, and all that was
// acknowledged before is there.
func checkFull(t *testing.T, c *bus.Conn) {
	t.Helper()
	prompt := string(make([]byte, 64<<10))
	for i := range 1000 {
		_, err := bus.Record(t.Context(), c.Writer(bus.WriterOptions{}), bustest.Event("s", fmt.Sprint(i), prompt))
		if err == nil {
			continue
		}
		if !errors.Is(err, bus.ErrDiskFull) {
			t.Fatalf("append %d: got %v, want %v", i, err, bus.ErrDiskFull)
		}
		if n, err := count(t, c, schemas.StreamSessions); n != i || err != nil {
			t.Fatalf("%d records of %d are left: %v", n, i, err)
		}
		return
	}
	t.Fatal("never full")
}
