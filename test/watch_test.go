package test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
)

// shown collects what a program writes to its terminal.
type shown struct {
	mu   sync.Mutex
	all  bytes.Buffer
	grew chan struct{}
}

func (s *shown) read(from io.Reader) {
	defer close(s.grew)
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		s.mu.Lock()
		s.all.Write(buffer[:n])
		s.mu.Unlock()
		select {
		case s.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return // the program has ended
		}
	}
}

func (s *shown) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ansi.Strip(s.all.String())
}

// waitFor waits until the terminal shows a text.
func (s *shown) waitFor(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for !strings.Contains(s.text(), text) {
		select {
		case _, open := <-s.grew:
			if !open && !strings.Contains(s.text(), text) {
				t.Fatalf("it ended without showing %q:\n%s", text, s.text())
			}
		case <-deadline:
			t.Fatalf("the terminal never showed %q:\n%s", text, s.text())
		}
	}
}

// TestWatchInATerminal watches on pseudo-terminals as a person does, once with
// each filter, while agents work, and ends with Ctrl-C.
func TestWatchInATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	project, data := filepath.Join(dir, "project"), filepath.Join(dir, "data")
	if err := errors.Join(os.MkdirAll(project, 0o755), settle(data)); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "WRIT_HOME="+data, "HOME="+dir, "WRIT_DURABILITY=interval", "WRIT_HOOK_BUDGET=9s", "TERM=xterm-256color")
	writ := func(args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "writ"), args...)
		cmd.Dir, cmd.Env = project, env
		return cmd
	}
	for _, args := range [][]string{{"up", "--detach"}, {"init"}} {
		if out, err := writ(args...).CombinedOutput(); err != nil {
			t.Fatalf("writ %v: %v\n%s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = writ("down").Run() })
	hook := func(event string, payload map[string]any) {
		payload["cwd"], payload["hook_event_name"] = project, event
		raw, err := json.Marshal(payload)
		if err != nil {
			t.Fatal(err)
		}
		cmd := writ("hook", "claude", event)
		cmd.Stdin = bytes.NewReader(raw)
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); err != nil && !errors.As(err, &exit) { // a refusal is an exit code
			t.Fatalf("hook %s: %v\n%s", event, err, out)
		}
	}
	type watch struct {
		args             []string
		shows, leavesOut []string
	}
	watches := []watch{
		{nil, []string{"first words", "second words", "ENF-GATE-MODE"}, nil},
		{[]string{"--session", "two"}, []string{"second words"}, []string{"first words", "ENF-GATE-MODE"}},
		{[]string{"--type", "prompt.submitted"}, []string{"first words", "second words"}, []string{"ENF-GATE-MODE", "session.started"}},
		{[]string{"--rule", "ENF-GATE-MODE"}, []string{"ENF-GATE-MODE"}, []string{"first words", "second words"}},
		{[]string{"--stream", "rules"}, nil, []string{"first words", "ENF-GATE-MODE"}},
	}
	screens := make([]*shown, len(watches))
	terminals := make([]*os.File, len(watches))
	commands := make([]*exec.Cmd, len(watches))
	for i, w := range watches {
		commands[i] = writ(append([]string{"watch"}, w.args...)...)
		terminal, err := pty.Start(commands[i])
		if errors.Is(err, pty.ErrUnsupported) {
			t.Skipf("this system gives no pseudo-terminal: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = terminal.Close() }()
		screens[i], terminals[i] = &shown{grew: make(chan struct{}, 1)}, terminal
		go screens[i].read(terminal)
		screens[i].waitFor(t, "Ctrl-C ends")
	}
	hook("SessionStart", map[string]any{"session_id": "one", "source": "startup"})
	hook("UserPromptSubmit", map[string]any{"session_id": "one", "prompt": "the first words", "source": "user"})
	hook("PreToolUse", map[string]any{"session_id": "one", "tool_name": "Write", "tool_use_id": "t", "tool_input": map[string]any{"file_path": filepath.Join(project, "a.go"), "content": "package a"}})
	hook("UserPromptSubmit", map[string]any{"session_id": "two", "prompt": "the second words", "source": "user"})
	for i, w := range watches {
		for _, text := range w.shows {
			screens[i].waitFor(t, text)
		}
	}
	for i, w := range watches {
		// The last that happened is there for the others: this one has had its time.
		if _, err := terminals[i].WriteString("\x03"); err != nil {
			t.Fatal(err)
		}
		if err := commands[i].Wait(); err != nil {
			t.Errorf("watch %v: after Ctrl-C: %v", w.args, err)
		}
		for _, text := range w.leavesOut {
			if strings.Contains(screens[i].text(), text) {
				t.Errorf("watch %v shows %q:\n%s", w.args, text, screens[i].text())
			}
		}
	}
}
