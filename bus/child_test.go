package bus_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/embedded"
)

// Tests that need a server to die run one in a child process, which is this
// test binary started with childEnv naming what it does.
const (
	childEnv   = "WRIT_TEST_CHILD"
	childDir   = "WRIT_TEST_CHILD_DIR"
	childSyncs = "WRIT_TEST_CHILD_DURABILITY"
)

func TestMain(m *testing.M) {
	role := os.Getenv(childEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := runChild(role, os.Getenv(childDir), embedded.Durability(os.Getenv(childSyncs))); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runChild(role, dir string, durability embedded.Durability) error {
	creds, err := embedded.LoadOrCreateCredentials(filepath.Join(dir, "credentials"))
	if err != nil {
		return err
	}
	options := embedded.Options{Dir: filepath.Join(dir, "store"), Durability: durability, Users: creds.Users()}
	options.Together = role != "nosync"
	if role != "server" {
		options.SyncInterval = time.Hour // a sync that fails ends the store
	}
	s, err := embedded.Start(context.Background(), options)
	if err != nil {
		return err
	}
	if found := s.Findings(); len(found) > 0 {
		return found[0].Err
	}
	if role == "server" {
		fmt.Println("url", s.URL())
		select {} // until it is killed
	}
	one := creds[embedded.RoleDaemon]
	c, err := bus.Connect(context.Background(), bus.Options{
		User: one.User, Password: one.Password, Synced: s.Sync,
		Dial: func() (net.Conn, error) { return s.Dial() },
	})
	if err != nil {
		return err
	}
	return appendWithoutSync(s, c)
}

type child struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func startChild(t *testing.T, role, dir string, durability embedded.Durability) *child {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+role, childDir+"="+dir, childSyncs+"="+string(durability))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd, bufio.NewReader(out)}
	t.Cleanup(c.kill)
	return c
}

// says reads the child's next line, which must begin with a word.
func (c *child) says(t *testing.T, word string) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), word)
	if !ok {
		t.Fatalf("the child said %q (%v), want %q", line, err, word)
	}
	return strings.TrimSpace(rest)
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}
