package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas/filelock"
)

// The test's own binary plays the daemon when this variable says how.
const playVariable = "LAUNCH_TEST_PLAY"

func TestMain(m *testing.M) {
	switch os.Getenv(playVariable) {
	case "":
		os.Exit(m.Run())
	case "end":
		os.Exit(0)
	case "die":
		fmt.Fprintln(os.Stderr, "something before")
		fmt.Fprintln(os.Stderr, "the log is on a read-only disk")
		os.Exit(3)
	case "point":
		fmt.Fprintln(os.Stderr, "something before\nwritd: the settings are wrong:\n> 1 | x: {\n         ^")
		os.Exit(3)
	case "follow":
		// It refuses to start while another daemon holds the data folder, then serves.
		lock, err := filelock.Take(config.Layout{Root: os.Getenv("WRIT_HOME")}.Lock())
		if err != nil {
			err = os.WriteFile(filepath.Join(os.Getenv("WRIT_HOME"), "refused"), nil, 0o600)
			fmt.Fprintln(os.Stderr, "writd: another holds it", err)
			os.Exit(HeldStatus)
		}
		defer lock.Release()
		serve()
	case "mute":
		// It announces itself and answers nobody.
		err := config.WriteEndpoint(os.Getenv("WRIT_HOME"), config.Endpoint{URL: "127.0.0.1:1", PID: os.Getpid()})
		if err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	case "serve":
		serve()
	}
}

// serve is a daemon: it counts its start, listens, announces itself, and stays
// until it is killed.
func serve() {
	data := os.Getenv("WRIT_HOME")
	starts, err := os.OpenFile(filepath.Join(data, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(starts, os.Getpid(), os.Getenv("CLAUDE_PROJECT_DIR"), os.Getenv("KEPT"))
	starts.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	err = config.WriteEndpoint(data, config.Endpoint{URL: listener.Addr().String(), PID: os.Getpid()})
	if err != nil {
		panic(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		conn.Close()
	}
}

func dial(ctx context.Context, at config.Endpoint) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", at.URL)
	if err == nil {
		conn.Close()
	}
	return err
}

// play are options whose daemon is this test binary, and is killed at the end.
func play(t *testing.T, as string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		DataDir: filepath.Join(t.TempDir(), "data"), Probe: dial,
		Vars: []string{"WRITD=" + self, playVariable + "=" + as, "CLAUDE_PROJECT_DIR=/p", "KEPT=yes"},
	}
	t.Cleanup(func() {
		if at, err := config.ReadEndpoint(o.DataDir); err == nil && at.PID > 0 {
			if p, err := os.FindProcess(at.PID); err == nil {
				_ = p.Kill()
			}
		}
	})
	return o
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func starts(t *testing.T, o Options) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.DataDir, "starts"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func TestTwentyAtOnceStartOneDaemon(t *testing.T) {
	o := play(t, "serve")
	ctx := within(t, 5*time.Minute)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			at, err := Start(ctx, o)
			if err != nil {
				t.Error(err)
				return
			}
			if err := dial(ctx, at); err != nil {
				t.Errorf("it does not answer: %v", err)
			}
		})
	}
	all.Wait()
	lines := starts(t, o)
	if len(lines) != 1 {
		t.Fatalf("%d daemons were started: %v", len(lines), lines)
	}
	if fields := strings.Fields(lines[0]); len(fields) != 2 || fields[1] != "yes" {
		t.Errorf("the host's variables reached the daemon, or others did not: %v", fields)
	}
}

func TestADaemonThatIsGoneIsStartedAgain(t *testing.T) {
	o := play(t, "serve")
	ctx := within(t, 5*time.Minute)
	first, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(first.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for dial(ctx, first) == nil {
		if err := rest(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	second, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if second.PID == first.PID || len(starts(t, o)) != 2 {
		t.Errorf("first %+v, second %+v", first, second)
	}
}

// TestADaemonFollowsOneThatEnds: whoever starts one while another still ends waits for
// that and starts it then, whether that one ends at once or a while after it was met. It
// once waited for the one that ended to answer, and kept all others from starting any.
func TestADaemonFollowsOneThatEnds(t *testing.T) {
	for _, looks := range []int{0, 5} {
		o := play(t, "follow")
		gone := config.Endpoint{URL: "127.0.0.1:1"} // asked while it is waited for
		if err := errors.Join(os.MkdirAll(o.DataDir, 0o700), config.WriteEndpoint(o.DataDir, gone)); err != nil {
			t.Fatal(err)
		}
		ending, err := filelock.Take(config.Layout{Root: o.DataDir}.Lock())
		if err != nil {
			t.Fatal(err)
		}
		o.Probe = func(ctx context.Context, at config.Endpoint) error {
			if _, err := os.Stat(filepath.Join(o.DataDir, "refused")); err == nil {
				if looks--; looks == -1 {
					ending.Release()
				}
			}
			return dial(ctx, at)
		}
		if _, err := Start(within(t, time.Minute), o); err != nil {
			t.Fatal(err)
		}
		if lines := starts(t, o); len(lines) != 1 {
			t.Errorf("%d daemons were started: %v", len(lines), lines)
		}
	}
}

// TestWhatIsWaitedForIsSaid: one that still ends is told of as what it is, also to who
// waits for another that starts one.
func TestWhatIsWaitedForIsSaid(t *testing.T) {
	o := play(t, "follow")
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"daemon.lock", "start.lock"} {
		lock, err := filelock.Take(filepath.Join(o.DataDir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Release()
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("long enough")
		time.AfterFunc(100*time.Millisecond, func() { cancel(cause) })
		if _, err := Start(ctx, o); !errors.Is(err, ErrElsewhere) || !errors.Is(err, cause) {
			t.Errorf("%s is held: %v", name, err)
		}
	}
}

func TestADaemonThatDiesSaysWhy(t *testing.T) {
	_, err := Start(within(t, 5*time.Minute), play(t, "die"))
	if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), "the log is on a read-only disk") {
		t.Fatalf("error = %v", err)
	}
	_, err = Start(within(t, 5*time.Minute), play(t, "point"))
	if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), ": the settings are wrong:\n> 1 | x: {\n         ^ (") {
		t.Fatalf("error = %v", err)
	}
	_, err = Start(within(t, 5*time.Minute), play(t, "end"))
	if !errors.Is(err, ErrDied) || !strings.Contains(err.Error(), "it says nothing of why: it ended without an error") {
		t.Errorf("a daemon that ends without a word: %v", err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	o := play(t, "mute")
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("no more time")
	o.Probe = func(context.Context, config.Endpoint) error {
		cancel(reason)
		return errors.New("not yet")
	}
	if _, err := Start(ctx, o); !errors.Is(err, reason) {
		t.Fatalf("error = %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	program := func(parts ...string) string {
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	beside, named, inPath := program("a", binaryName("writd")), program("b", binaryName("mine")), program("c", binaryName("writd"))
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	vars := []string{"WRITD=" + named, "PATH=" + filepath.Join(dir, "none") + string(os.PathListSeparator) + filepath.Join(dir, "c")}
	for name, c := range map[string]struct {
		executable string
		vars       []string
		want       string
	}{
		"beside":         {filepath.Join(dir, "a", "writ"), vars, beside},
		"named":          {filepath.Join(dir, "x", "writ"), vars, named},
		"path":           {"", vars[1:], inPath},
		"nowhere":        {filepath.Join(dir, "x", "writ"), nil, ""},
		"named wrongly":  {"", append(vars[1:], "WRITD="+filepath.Join(dir, "none")), ""},
		"not a program":  {"", []string{"WRITD=" + filepath.Join(dir, "plain")}, ""},
		"path, relative": {"", []string{"PATH=."}, ""},
	} {
		got, err := Find(c.executable, c.vars)
		if got != c.want || (c.want == "") != errors.Is(err, ErrNoBinary) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestCheckout(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "writ", "cmd", "writ")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, found := Checkout(deep); found {
		t.Error("found one where there is none")
	}
	if err := os.WriteFile(filepath.Join(dir, "writ", "go.mod"), []byte("// a comment\nmodule "+Module+"\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if root, found := Checkout(deep); !found || root != filepath.Join(dir, "writ") {
		t.Errorf("Checkout = %q, %v", root, found)
	}
	if err := os.WriteFile(filepath.Join(deep, "go.mod"), []byte("module example.org/other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if root, found := Checkout(deep); !found || root != filepath.Join(dir, "writ") {
		t.Errorf("below another module: %q, %v", root, found)
	}
}

func TestTemporary(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/go-build1234/b001/exe/writ": true, "/usr/local/bin/writ": false, "/home/dev/.cache/writ/bin/writ": false,
	} {
		if Temporary(path) != want {
			t.Errorf("Temporary(%s) = %v", path, !want)
		}
	}
}

func TestAlive(t *testing.T) {
	if !Alive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = []string{playVariable + "=die"}
	_ = child.Run()
	if Alive(child.Process.Pid) {
		t.Error("a process that has ended is alive")
	}
}
