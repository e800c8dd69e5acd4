package lifecycle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// injected is the text a hook gives to the agent.
func injected(reply schemas.HookReply) string {
	var out struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(reply.Stdout), &out) != nil {
		return reply.Stdout
	}
	return out.Specific.Context
}

func (t *tour) print(format string, args ...any) { t.app.Printf(format, args...) }

func (t *tour) heading(title, detail string) {
	t.step++
	if detail != "" {
		title += ": "
	}
	t.print("\n%s %s%s\n", t.style.Cyan(fmt.Sprintf("%2d", t.step)), t.style.Bold(title), detail)
}

func (t *tour) line(text string) {
	for _, line := range t.app.Prose(text, 6) {
		t.print("      %s\n", line)
	}
}

func (t *tour) good(text string) {
	for i, line := range t.app.Prose(text, 6) {
		mark := "✓"
		if i > 0 {
			mark = " "
		}
		t.print("    %s %s\n", t.style.Green(mark), line)
	}
}

// expect shows an answer that is as it must be, or says that it is not.
func (t *tour) expect(what string, holds bool, text string, reply schemas.HookReply) {
	if holds {
		if text != "" {
			t.good(text)
		}
		return
	}
	answer := client.OneLine(reply.Stdout + " " + reply.Stderr)
	t.wrong = append(t.wrong, fmt.Sprintf("%s: exit code %d, %s", what, reply.Exit, client.Shorten(client.Dash(strings.TrimSpace(answer)), 300)))
	t.print("    %s %s\n", t.style.Red("✗"), what+" was not as expected")
}

// quote shows the first lines of a text of the daemon's.
func (t *tour) quote(text string, most int) {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, t.app.Prose(line, 8)...)
	}
	for i, line := range lines {
		if i == most {
			t.print("      %s\n", t.style.Dim("│ …"))
			return
		}
		t.print("      %s\n", t.style.Dim("│ "+line))
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(string(bytes.TrimSpace([]byte(text))), "\n")
	return line
}
