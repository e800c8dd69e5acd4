//go:build unix

package federation

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/writbus/writ/observer/agent/verbs"
)

func TestServersEnd(t *testing.T) {
	t.Parallel()
	m := newTestMCP(t)
	r := ask(t.Context(), t, m, "mcp", "call near child", t.TempDir())
	m.Close()
	pids := strings.Fields(r.Text)
	if len(pids) != 2 {
		t.Fatalf("%q", r.Text)
	}
	for _, word := range pids {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		gone := false
		for range 30_000 { // the new parent of a child collects it when it comes to it
			raw, err := os.ReadFile("/proc/" + word + "/stat")
			if gone = err != nil && process.Signal(syscall.Signal(0)) != nil || strings.Contains(string(raw), ") Z "); gone {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if !gone {
			t.Errorf("process %d is still there", pid)
		}
	}
	if r := ask(t.Context(), t, m, "mcp", "call near greet {}", t.TempDir()); r.Outcome != verbs.Failed {
		t.Errorf("after its end: %q", r.Text)
	}
}

// TestAServerThatStartsIsGivenUp: whoever ends does not wait for it.
func TestAServerThatStartsIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPool("test")
	asked := make(chan error, 1)
	go func() {
		_, _, err := p.get(t.Context(), key{server: "silent", dir: t.TempDir()}, Server{Command: []string{"sleep", "300"}})
		asked <- err
	}()
	for begun := false; !begun; runtime.Gosched() {
		p.mu.Lock()
		begun = len(p.open) > 0
		p.mu.Unlock()
	}
	p.close()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
