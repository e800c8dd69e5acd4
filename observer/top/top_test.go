package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fake is a daemon with one session and a few events.
type fake struct {
	records []schemas.Record
	more    chan []schemas.Record
}

func (f *fake) Request(_ context.Context, r bus.Request) (bus.Reply, error) {
	answers := map[string]any{
		schemas.SvcStatus: schemas.Status{
			Version: "0.1", Started: noon.Add(-2 * time.Hour), Memory: 132 << 20, Durability: "power-loss", Warnings: []string{"a \x1b[31mwarning"},
			Counts:  schemas.SessionCounts{Live: 1, Idle: 3, Waiting: 2},
			Streams: []schemas.StreamStatus{{Name: schemas.StreamSessions, Last: 3, Messages: 1234}},
			Views:   []schemas.ViewStatus{{Name: "sessions", State: "live"}, {Name: "rules", State: "live", Lag: 12}},
		},
		schemas.SvcSessions: schemas.SessionList{Sessions: []schemas.SessionSummary{
			{Session: "s-one", Host: "claude", Project: "/home/u/shop", Mode: "work", Phase: "planning", LastSeen: noon.Add(-5 * time.Second), Refusals: 2, Events: 9, Standing: schemas.StandsLive, Title: "Add a Stop"},
			{Session: "s-two", Mode: "debug", Ended: true, Standing: schemas.StandsEnded},
		}},
		schemas.SvcWaits: schemas.Waits{Items: []schemas.Waiting{
			{Session: "s-one", Gate: "plan", Project: "/home/u/shop", Wish: "Add a Stop", Plan: "Carts can be stopped", Since: noon.Add(-3 * time.Minute)},
			{Session: "s-three", Gate: "tests", Project: "/home/u/till", Wish: "Add a\x1b[2J Stop", Since: noon.Add(-9 * time.Minute)},
		}},
		schemas.SvcActivity: schemas.Activity{},
	}
	body, err := json.Marshal(answers[r.Subject])
	return bus.Reply{Body: body}, err
}

func (f *fake) Follow(ctx context.Context, _ schemas.Stream, _ uint64, o bus.FollowOptions, fn func([]schemas.Record) error) error {
	if err := fn(f.records); err != nil || o.UntilEnd {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case more := <-f.more:
			if err := fn(more); err != nil {
				return err
			}
		}
	}
}

func decided(t *testing.T, session, verdict, rule, path string) schemas.Record {
	t.Helper()
	m, err := schemas.Encode(schemas.Event{
		ID: fmt.Sprintf("e%x", path), Time: noon.Add(-time.Minute), Source: "/writ/test", Actor: schemas.ParseActor("agent"), Aggregate: schemas.Session(session),
		Data: schemas.ToolDecided{Tool: "Write", Verdict: verdict, Rule: rule, Targets: []schemas.Target{{Path: path, Rel: path}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Record{Stream: schemas.StreamSessions, Seq: 1, Message: m}
}

func newFake(t *testing.T) *fake {
	return &fake{more: make(chan []schemas.Record), records: []schemas.Record{
		decided(t, "s-one", "deny", "ENF-GATE-PLAN", "store/users.go"), decided(t, "s-two", "allow", "", "notes.md"),
	}}
}

func clock() time.Time { return noon }

func modelOf(t *testing.T, f *fake, width, height int) model {
	t.Helper()
	s, err := ask(t.Context(), f, clock)
	if err != nil {
		t.Fatal(err)
	}
	m := model{width: width, height: height, ready: true, now: clock, open: func(...string) tea.Cmd { return nil }}
	m = m.keep(s)
	m.take(linesOf(f.records))
	return m
}

func press(m model, keys ...string) model {
	for _, k := range keys {
		next, _ := m.key(k)
		m = next.(model)
	}
	return m
}

func TestTheFrameSaysWhatMatters(t *testing.T) {
	m := modelOf(t, newFake(t), 120, 30)
	frame := ansi.Strip(m.frame())
	for _, want := range []string{
		"Writ 0.1", "up 2h00m", "132 MB", "1 session live · 3 idle", "2 WAIT FOR YOU", "● plan  shop          3m     Carts can be stopped – Add a Stop", "● tests till          9m     Add a·[2J Stop", "2 decisions in 30 min", "1 not allowed",
		"log 1,234 records", "rules 12 behind", "! a ·[31mwarning", "s-one", "planning", "shop", "5s", "ended",
		"✗", "ENF-GATE-PLAN Write store/users.go", "✓", "Write notes.md", "q quit",
	} {
		if !strings.Contains(frame, want) {
			t.Errorf("the frame lacks %q:\n%s", want, frame)
		}
	}
}

func TestKeysFilter(t *testing.T) {
	m := modelOf(t, newFake(t), 120, 30)
	for name, c := range map[string]struct {
		keys     []string
		has, not string
	}{
		"one session":    {[]string{"down", "down", "down", "enter"}, "notes.md", "store/users.go"},
		"all again":      {[]string{"down", "down", "down", "enter", "e"}, "store/users.go", "nothing"},
		"not allowed":    {[]string{"r"}, "store/users.go", "notes.md"},
		"help":           {[]string{"?"}, "choose what waits", "store/users.go"},
		"help and back":  {[]string{"?", "esc"}, "store/users.go", "choose what waits"},
		"below the last": {[]string{"down", "down", "down", "down", "down", "enter"}, "notes.md", "store/users.go"},
	} {
		frame := ansi.Strip(press(m, c.keys...).frame())
		if !strings.Contains(frame, c.has) || strings.Contains(frame, c.not) {
			t.Errorf("%s:\n%s", name, frame)
		}
	}
	paused := press(m, "p")
	paused.take([]Line{{Session: "s-one", What: "later"}})
	if frame := paused.frame(); strings.Contains(frame, "later") || !strings.Contains(frame, "1 held") {
		t.Error("a paused list moves")
	}
	if frame := press(paused, "p").frame(); !strings.Contains(frame, "later") {
		t.Error("what came meanwhile is lost")
	}
	if _, cmd := m.key("q"); cmd == nil {
		t.Error("q does not quit")
	}
}

// TestKeysHandWhatWaitsToTheClient presses keys on what waits and on sessions: the
// client alone approves, of exactly what is chosen.
func TestKeysHandWhatWaitsToTheClient(t *testing.T) {
	for keys, want := range map[string]string{
		"a":                     "approve plan --session s-one",
		"enter":                 "approve plan --session s-one",
		"down d":                "approve tests --session s-three --decline -",
		"l":                     "session show s-one",
		"down down down l":      "session show s-two",
		"down down down a":      "",
		"down down d":           "",
		"down down enter":       "",
		"down down down down a": "",
	} {
		m, opened := modelOf(t, newFake(t), 80, 30), ""
		m.open = func(args ...string) tea.Cmd { opened = strings.Join(args, " "); return nil }
		if press(m, strings.Fields(keys)...); opened != want {
			t.Errorf("%s opened %q, want %q", keys, opened, want)
		}
	}
}

// TestWhatIsChosenStays: a key never acts on what came into the place of what was
// chosen.
func TestWhatIsChosenStays(t *testing.T) {
	m := press(modelOf(t, newFake(t), 80, 30), "down")
	without := m.snapshot
	without.Waits.Items = without.Waits.Items[1:]
	if waits, _ := m.keep(without).chosen(); waits == nil || waits.Session != "s-three" {
		t.Errorf("chosen is %+v", waits)
	}
	gone := m.snapshot
	gone.Waits.Items = gone.Waits.Items[:1]
	if waits, session := m.keep(gone).chosen(); waits != nil || session != "" {
		t.Errorf("chosen is %+v, %s", waits, session)
	}
}

// TestFramesFit draws in every size, with hostile text.
func TestFramesFit(t *testing.T) {
	f := newFake(t)
	f.records = append(f.records, decided(t, "s-one", "ask", "R", "\x1b]0;title\a\u202e日本語 wide\nsecond line"))
	for width := 1; width < 160; width += 7 {
		for height := 1; height < 50; height += 3 {
			lines := strings.Split(modelOf(t, f, width, height).frame(), "\n")
			if len(lines) > height {
				t.Fatalf("%d×%d: %d lines", width, height, len(lines))
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Fatalf("%d×%d: %q is %d wide", width, height, line, ansi.StringWidth(line))
				}
				if plain := ansi.Strip(line); strings.ContainsAny(plain, "\x1b\a\u202e\r") {
					t.Fatalf("%d×%d: %q moves the cursor", width, height, plain)
				}
			}
		}
	}
}

// screen collects what a terminal is sent.
type screen struct {
	mu   sync.Mutex
	all  bytes.Buffer
	grew chan struct{}
}

func (s *screen) read(file *os.File) {
	part := make([]byte, 4096)
	for {
		n, err := file.Read(part)
		s.mu.Lock()
		s.all.Write(part[:n])
		s.mu.Unlock()
		select {
		case s.grew <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// shows waits until a text was sent.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	for {
		s.mu.Lock()
		sent := ansi.Strip(s.all.String())
		s.mu.Unlock()
		if strings.Contains(sent, text) {
			return
		}
		select {
		case <-s.grew:
		case <-deadline:
			t.Fatalf("the terminal never showed %q, but\n%s", text, sent)
		}
	}
}

// TestInATerminal runs the program on a pseudo-terminal as a person does.
func TestInATerminal(t *testing.T) {
	person, terminal, err := pty.Open()
	if err != nil {
		t.Skipf("this system gives no pseudo-terminal: %v", err)
	}
	defer func() { _ = errors.Join(person.Close(), terminal.Close()) }()
	if err := pty.Setsize(person, &pty.Winsize{Rows: 30, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	seen := &screen{grew: make(chan struct{}, 1)}
	go seen.read(person)
	f, done := newFake(t), make(chan error, 1)
	go func() {
		done <- Run(t.Context(), f, Options{In: terminal, Out: terminal, Environ: []string{"TERM=xterm-256color"}, Now: clock, Writ: "echo"})
	}()
	seen.shows(t, "s-one")
	seen.shows(t, "store/users.go")
	f.more <- []schemas.Record{decided(t, "s-one", "allow", "", "live-update.go")}
	seen.shows(t, "live-update.go")
	if _, err := fmt.Fprint(person, "a"); err != nil {
		t.Fatal(err)
	}
	seen.shows(t, "approve plan --session s-one")
	seen.shows(t, "Enter goes back")
	if _, err := fmt.Fprint(person, "\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(person, "?"); err != nil {
		t.Fatal(err)
	}
	seen.shows(t, "choose what waits")
	if _, err := fmt.Fprint(person, "q"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestOnce(t *testing.T) {
	var text, raw bytes.Buffer
	if err := Once(t.Context(), newFake(t), &text, clock, 80, false); err != nil || strings.Contains(text.String(), "\x1b") || !strings.Contains(text.String(), "ENF-GATE-PLAN") || !strings.Contains(text.String(), "writ approve --session s-three\n") {
		t.Errorf("%v: %q", err, text.String())
	}
	if err := Once(t.Context(), newFake(t), &raw, clock, 80, true); err != nil || !json.Valid(raw.Bytes()) || !strings.Contains(raw.String(), `"events":[`) {
		t.Errorf("%v: %s", err, raw.String())
	}
}

var _ tea.Model = model{}
