package parquet

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/writbus/writ/bus/help"
	"github.com/writbus/writ/observer/eventlog/table"
	"github.com/writbus/writ/schemas"
)

// toExport are three decisions, and an event whose fields have other types than
// the columns of their names.
func toExport() (rows []table.Row) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.FixedZone("", 3600))
	for i, data := range []string{
		`{"tool":"Edit","verdict":"deny","rule":"ENF-GATE-PLAN","bytes":900}`,
		`{"tool":"Edit","verdict":"deny","rule":"ENF-GATE-PLAN","bytes":7}`,
		`{"tool":"Write","verdict":"allow","reason":"größer < kleiner"}`,
		`{"tool":["a"],"tokens":"many","bytes":1.5,"confidence":0.25,"mode":null}`,
	} {
		rows = append(rows, table.RowOf(schemas.ReplayEvent{
			Position: schemas.Position{Stream: schemas.StreamSessions, Seq: uint64(i + 1)}, ID: "e", Type: "tool.decided", Version: 1,
			Time: at, Aggregate: schemas.Session("s 1"), Actor: "agent", Data: json.RawMessage(data),
		}))
	}
	return rows
}

func exportedFile(t *testing.T, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events."+format)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, row := range toExport() {
		if err := encoder.Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	if format == "jsonl" {
		_, err = lines.WriteTo(file)
	} else {
		err = Convert(file, &lines)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func wantRows(t *testing.T, got []table.Row, data func(table.Row) string) {
	t.Helper()
	if len(got) != 4 {
		t.Fatalf("%d rows", len(got))
	}
	first, last := got[0], got[3]
	if *first.Tool != "Edit" || *first.Bytes != 900 || first.Tokens != nil || first.Seq != 1 || first.ActorKind != "agent" || first.Aggregate != "s 1" ||
		!first.Time.Equal(toExport()[0].Time) || first.CausationID != nil {
		t.Errorf("%+v", first)
	}
	if last.Tool != nil || last.Tokens != nil || last.Bytes != nil || last.Mode != nil || *last.Confidence != .25 {
		t.Errorf("fields of other types: %+v", last)
	}
	if text := data(got[2]); text != `{"tool":"Write","verdict":"allow","reason":"größer < kleiner"}` {
		t.Errorf("data %s", text)
	}
}

func TestExportsAreReadBack(t *testing.T) {
	rows, err := parquet.ReadFile[table.Row](exportedFile(t, "parquet"))
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, rows, func(r table.Row) string { return r.Text })

	raw, err := os.ReadFile(exportedFile(t, "jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []table.Row
	for line := range strings.Lines(string(raw)) {
		var r table.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, r)
	}
	wantRows(t, lines, func(r table.Row) string { return string(r.Data) })
}

// TestQueriesOfTheHelp runs what the topic shows, with the programs that it is for.
func TestQueriesOfTheHelp(t *testing.T) {
	topic, err := help.Files.ReadFile("log.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, rest, _ := strings.Cut(string(topic), "```"+language+"\n")
		code, _, found := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("the topic has no %s", language)
		}
		return code
	}
	python := os.Getenv("WRIT_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	for _, c := range []struct{ module, code, want string }{
		{"duckdb", "import duckdb\nprint(duckdb.sql('''" + block("sql") + "''').fetchall())", "[('Edit', 'ENF-GATE-PLAN', 2)]"},
		{"pandas", block("python"), "2026-01-02  allow      1\n            deny       2"},
	} {
		t.Run(c.module, func(t *testing.T) {
			if out, err := exec.Command(python, "-c", "import "+c.module).CombinedOutput(); err != nil {
				t.Skipf("%s has no %s (WRIT_TEST_PYTHON names one that does): %s", python, c.module, out)
			}
			cmd := exec.Command(python, "-c", c.code)
			cmd.Dir = filepath.Dir(exportedFile(t, "parquet"))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
