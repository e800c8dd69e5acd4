package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/schemas"
)

const hostile = "=cmd()|<script>alert(1)</script> [x](https://evil.example) www.evil.example `a` \u202e\r\n| b"

func event(t *testing.T, seq uint64, id, actor string, data schemas.Payload) schemas.ReplayEvent {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return schemas.ReplayEvent{
		Position: schemas.Position{Stream: schemas.StreamSessions, Seq: seq}, ID: id, Type: data.EventType(), Actor: actor,
		Time: time.Date(2026, 11, 1, 12, 0, int(seq), 0, time.UTC), Aggregate: schemas.Session("s1"), Data: raw,
	}
}

func collected(t *testing.T) *Collector {
	t.Helper()
	c := NewCollector()
	for i, e := range []struct {
		actor string
		data  schemas.Payload
	}{
		{"host", schemas.SessionStarted{Host: "claude", Project: "/p"}},
		{"user", schemas.PromptSubmitted{Prompt: "go"}},
		{"user", schemas.GateApproved{Gate: "plan", Fingerprint: "f1", Channel: "terminal", Assurance: "terminal", ActID: "a1", Files: []schemas.FileState{{Path: hostile, SHA256: "aa"}, {Path: "gone.go"}}}},
		{"user", schemas.ApprovalRefused{Gate: "tests", Channel: "prompt", Reason: hostile, Problems: []string{"p1"}}},
		{"agent", schemas.ToolDecided{Tool: "Write", Verdict: "deny", Rule: "ENF-GATE-PLAN", Reason: "ENF-GATE-PLAN: no", Targets: []schemas.Target{{Rel: "a.go"}}}},
		{"agent", schemas.ToolDecided{Tool: "Read", Verdict: "allow"}},
		{"user", schemas.GateInvalidated{Gate: "plan", Reason: "wrong"}},
		{"host", schemas.GateDrifted{Gate: "plan", Changes: []schemas.FileChange{{Path: "plan.md", Was: "aa", Is: "bb"}}}},
	} {
		c.Add(event(t, uint64(i+1), "e"+string(rune('1'+i)), e.actor, e.data), false)
	}
	return c
}

func TestActs(t *testing.T) {
	c := collected(t)
	var kinds []string
	for _, a := range c.Acts {
		kinds = append(kinds, a.Kind+"/"+a.What)
		if a.Project != "/p" || a.Host != "claude" || a.Event == "" || a.Seq == 0 {
			t.Errorf("%+v does not say where it comes from", a)
		}
	}
	want := "session/started, approved/plan, approval refused/tests, denied/Write: a.go, approval withdrawn/plan, approved files changed/plan"
	if got := strings.Join(kinds, ", "); got != want {
		t.Errorf("the acts are\n%s, not\n%s", got, want)
	}
	if got := c.Counts.sentence(); got != "1 session, 1 prompt; 1 action allowed, 1 denied, 0 asked about." {
		t.Errorf("it says %q", got)
	}
	before := NewCollector()
	before.Add(event(t, 1, "e", "host", schemas.SessionStarted{Host: "claude", Project: "/p"}), true)
	if len(before.Acts) != 0 || before.Counts.Sessions != 0 || before.sessions["s1"].project != "/p" {
		t.Error("what came before the time that is reported is listed, or forgotten")
	}
}

// TestNoTextOfTheLogIsMoreThanText looks at every form.
func TestNoTextOfTheLogIsMoreThanText(t *testing.T) {
	c := collected(t)
	r := Report{Made: time.Unix(0, 0), Counts: c.Counts, Acts: c.Acts, Evidence: Evidence{Key: "k+1+a", Findings: []string{hostile}}}
	var sheet, text bytes.Buffer
	if err := WriteCSV(&sheet, c.Acts); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&sheet).ReadAll()
	if err != nil || len(rows) != 1+len(c.Acts) {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@|%") || strings.ContainsAny(cell, "\r\n\t") {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
	if err := r.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{"do not rely on this report", "fingerprint", "gone.go", "k+1+a", "e3"} {
		if !strings.Contains(text.String(), good) {
			t.Errorf("the Markdown lacks %q", good)
		}
	}
	for _, bad := range []string{"<script", "[x](", " https://", " www.", "\u202e", "\r"} {
		if strings.Contains(text.String(), bad) {
			t.Errorf("the Markdown holds %q", bad)
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if strings.HasPrefix(line, "| 1970") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a row of another width: %s", line)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		named, file string
		program     bool
		want        string
		known       bool
	}{
		{"", "", false, "md", true},
		{"", "", true, "jsonl", true},
		{"CSV", "x.md", false, "csv", true},
		{"", "x.CSV", true, "csv", true},
		{"", "x.txt", true, "md", true},
		{"xml", "x.csv", false, "", false},
	} {
		if got, known := Format(c.named, c.file, c.program); got != c.want || known != c.known {
			t.Errorf("Format(%q, %q, %v) = %q, %v", c.named, c.file, c.program, got, known)
		}
	}
}
