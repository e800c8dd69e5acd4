//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// confirming makes the test binary `writ run` at its terminal, with a daemon
// that asks one question.
const confirming = "confirming"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == confirming {
		os.Exit(runConfirming(os.Args[2]))
	}
	os.Exit(m.Run())
}

// runConfirming writes what the daemon was told into a file.
func runConfirming(told string) int {
	s := &services{}
	asks := schemas.AgentFrame{Seq: 1, Kind: schemas.FrameConfirm, Run: "r", ID: "q1", Text: "dev wants to run:\n  /exec make\x1b[2K\nbecause"}
	end := schemas.AgentFollowReply{Done: true, Finished: &schemas.AgentFinished{Outcome: "answered"}}
	s.replies = map[string]any{
		schemas.SvcAgentRun: schemas.AgentRunReply{}, schemas.SvcAgentStop: struct{}{}, schemas.SvcAgentAnswer: struct{}{},
		schemas.SvcAgentFollow: func(body string) any {
			if strings.Contains(body, `"after"`) {
				return end
			}
			return schemas.AgentFollowReply{Frames: []schemas.AgentFrame{asks}}
		},
	}
	data := filepath.Dir(told)
	if err := config.WriteEndpoint(data, config.Endpoint{URL: "nats://x", PID: os.Getpid()}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	env := client.Env{Vars: []string{"WRIT_HOME=" + data}, Dir: data, Now: time.Now, Unattended: func([]string) string { return "" }, Connect: func(context.Context, config.Endpoint, string, string) (client.Service, error) { return s, nil }}
	code := Run(context.Background(), []string{"run", "--agent", "dev.json", "go"}, os.Stdin, os.Stdout, os.Stderr, env)
	var out strings.Builder
	for _, subject := range []string{schemas.SvcAgentRun, schemas.SvcAgentAnswer, schemas.SvcAgentStop} {
		for _, body := range s.asked[subject] {
			fmt.Fprintf(&out, "%s %s\n", subject, body)
		}
	}
	if err := os.WriteFile(told, []byte(out.String()), 0o600); err != nil {
		return 9
	}
	return code
}

// TestConfirmAtATerminal has a person answer the question of a run.
func TestConfirmAtATerminal(t *testing.T) {
	t.Parallel()
	confirms := (&client.Client{}).AgentAround() == "" // in whatever shell the tests run
	for _, c := range []struct{ name, keys, answer string }{
		{"yes", "y\n", "yes"},
		{"the word", "YES\n", "yes"},
		{"no", "n\n", "no"},
		{"nothing", "\n", "no"},
		{"something else", "yeah, go\n", "no"},
		{"end of input", "\x04", "no"},
		{"interruption", "\x03", "stopped"},
		{"interruption behind a yes", "y\x03", "stopped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			told := filepath.Join(t.TempDir(), "told")
			cmd := exec.Command(os.Args[0], confirming, told)
			terminal, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = terminal.Close() }()
			seen := bufio.NewReader(terminal)
			var all []byte
			for !bytes.HasSuffix(all, []byte("[y/N] ")) {
				b, err := seen.ReadByte()
				if err != nil {
					t.Fatalf("%v after %q", err, all)
				}
				all = append(all, b)
			}
			if shown := string(all); strings.Contains(shown, "\x1b[2K") || !strings.Contains(shown, "/exec make\uFFFD[2K\r\n") {
				t.Errorf("what an agent wrote moves the cursor: %q", shown)
			}
			if _, err := io.WriteString(terminal, c.keys); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, seen) // ends with an error where the terminal is gone
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(told)
			if err != nil {
				t.Fatal(err)
			}
			got, confirmable := "", false
			for line := range bytes.Lines(raw) {
				subject, body, _ := bytes.Cut(line, []byte(" "))
				var one struct{ Yes, Confirms bool }
				if err := json.Unmarshal(body, &one); err != nil {
					t.Fatal(err)
				}
				confirmable = confirmable || one.Confirms
				switch string(subject) {
				case schemas.SvcAgentStop:
					got += "stopped"
				case schemas.SvcAgentAnswer:
					got += map[bool]string{true: "yes", false: "no"}[one.Yes]
				}
			}
			if got != c.answer || confirmable != confirms {
				t.Errorf("the daemon was told %q, want %q; confirms %t:\n%s", got, c.answer, confirmable, raw)
			}
		})
	}
}

// TestNobodyConfirms without a terminal of the user's own.
func TestNobodyConfirms(t *testing.T) {
	t.Parallel()
	s := &services{replies: map[string]any{
		schemas.SvcAgentRun:    schemas.AgentRunReply{},
		schemas.SvcAgentFollow: schemas.AgentFollowReply{Done: true, Finished: &schemas.AgentFinished{Outcome: "answered"}},
	}}
	if r := s.run(t, "y\n", "run", "--agent", "dev.json", "go"); r.code != 0 || strings.Contains(s.asked[schemas.SvcAgentRun][0], "confirms") {
		t.Errorf("%+v %v", r, s.asked)
	}
}
