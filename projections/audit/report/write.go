package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// columns of the CSV. Persisted in people's spreadsheets; only ever add.
var columns = []string{
	"time", "kind", "what", "who", "channel", "assurance", "reason", "fingerprint", "files", "session", "project", "host",
	"event", "stream", "seq", "type",
}

// Format is the format that is named, or else that of a file, or else JSON Lines for a
// program and Markdown for people. known is false for a name that is none.
func Format(named, file string, program bool) (format string, known bool) {
	formats := map[string]string{"csv": "csv", "jsonl": "jsonl", "json": "jsonl", "md": "md", "markdown": "md"}
	if format, known = formats[strings.ToLower(named)]; known || named != "" {
		return format, known
	}
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(file)), ".")
	if format, known = formats[extension]; known {
		return format, true
	}
	if program && extension == "" {
		return "jsonl", true
	}
	return "md", true
}

// Write writes it in a format as Format returns it.
func (r Report) Write(w io.Writer, format string) error {
	switch format {
	case "csv":
		return WriteCSV(w, r.Acts)
	case "jsonl":
		return WriteJSONLines(w, r.Acts)
	}
	return r.WriteMarkdown(w)
}

// WriteCSV writes one line for each act (RFC 4180). A cell that a spreadsheet
// would take for a formula begins with an apostrophe.
func WriteCSV(w io.Writer, acts []Act) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, a := range acts {
		cells := []string{
			a.Time.UTC().Format(time.RFC3339Nano), a.Kind, a.What, a.Who, a.Channel, a.Assurance, a.Reason, a.Fingerprint,
			filesText(a.Files, "; "), a.Session, a.Project, a.Host, a.Event, string(a.Stream), strconv.FormatUint(a.Seq, 10), string(a.Type),
		}
		for i, cell := range cells {
			cells[i] = cellText(cell)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// cellText keeps a spreadsheet from running a cell (OWASP, CSV injection).
func cellText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	if trimmed := strings.TrimLeft(text, " "); trimmed != "" && strings.ContainsRune("=+-@|%", rune(trimmed[0])) {
		return "'" + text
	}
	return text
}

func filesText(files []schemas.FileState, separator string) string {
	var all []string
	for _, f := range files {
		sum := cmp.Or(f.SHA256, "gone")
		all = append(all, f.Path+" "+sum)
	}
	return strings.Join(all, separator)
}

// WriteJSONLines writes one object for each act.
func WriteJSONLines(w io.Writer, acts []Act) error {
	out := json.NewEncoder(w)
	for _, a := range acts {
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// Report is what the readable forms are made of.
type Report struct {
	Made     time.Time
	From, To time.Time // zero for no bound
	Evidence Evidence
	Counts   Counts
	Acts     []Act
}

// Evidence is what a reviewer can hold the report against.
type Evidence struct {
	Key         string // public
	OK          bool   // the log is the one that was signed
	Records     uint64
	Findings    []string
	Checkpoints []Checkpoint
}

// Checkpoint is the newest of a stream.
type Checkpoint struct {
	Stream  schemas.Stream
	Records int64
	Root    string
}

// section is a part of a readable report.
type section struct {
	Title, Lead string
	Acts        []Act
	Files       bool // with fingerprints and files
}

// maxListed bounds the acts that a readable report lists in one section; CSV
// and JSON Lines hold all.
const maxListed = 2000

// sections orders the acts for a reader: what was approved comes first.
func (r Report) sections() []section {
	pick := func(kinds ...string) (some []Act) {
		for _, a := range r.Acts {
			for _, k := range kinds {
				if a.Kind == k {
					some = append(some, a)
				}
			}
		}
		return some
	}
	all := []section{
		{"Approvals", "Each let a gate open, for exactly the files with these contents.", pick(Approved), true},
		{"Approvals that did not count", "Somebody or something tried to approve, and it was refused.", pick(Refused), false},
		{"Approvals withdrawn or overtaken", "Taken back deliberately, or the approved files were changed from outside.", pick(Withdrawn, Drifted), true},
		{"Denied", "What agents asked for and did not get.", pick(Denied), false},
		{"Changes of mode", "", pick(Mode), false},
		{"Changes of rules", "", pick(Rule), false},
		{"Changes of memory", "", pick(Memory), false},
		{"Sessions", "", pick(Session), false},
	}
	return all
}

func (r Report) period() string {
	switch {
	case r.From.IsZero() && r.To.IsZero():
		return "the whole log"
	case r.To.IsZero():
		return "since " + clock(r.From)
	case r.From.IsZero():
		return "until " + clock(r.To)
	}
	return clock(r.From) + " to " + clock(r.To)
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// verdict is the first thing a reader wants to know of the evidence.
func (e Evidence) verdict() string {
	if e.OK {
		return fmt.Sprintf("The log was read again, %d records, and is the one that was signed.", e.Records)
	}
	return "The log is not the one that was signed: do not rely on this report before that is explained."
}

// sentence says the counts.
func (c Counts) sentence() string {
	text := fmt.Sprintf("%s, %s; %s allowed, %d denied, %d asked about.", excerpt.Count(c.Sessions, "session"),
		excerpt.Count(c.Prompts, "prompt"), excerpt.Count(c.Allowed, "action"), c.Denied, c.Asked)
	if c.Undecodable > 0 {
		text += fmt.Sprintf(" %s could not be decoded and are in no list.", excerpt.Count(c.Undecodable, "record"))
	}
	return text
}

// hidden says of a character that it has no place in a report: it controls,
// turns the direction of what follows, or takes no room.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cf, r)
}
