package top

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/writbus/writ/schemas"
)

// Snapshot is what was asked of the daemon at a moment.
type Snapshot struct {
	At       time.Time                `json:"at"`
	Status   schemas.Status           `json:"status"`
	Sessions []schemas.SessionSummary `json:"sessions"`
	Activity schemas.Activity         `json:"activity"`
	Waits    schemas.Waits            `json:"waits"`
}

// Line is one event as it is listed.
type Line struct {
	Time    time.Time    `json:"time"`
	Session string       `json:"session"`
	Seq     uint64       `json:"seq"`
	Type    schemas.Type `json:"type"`
	Verdict string       `json:"verdict,omitempty"`
	Rule    string       `json:"rule,omitempty"`
	What    string       `json:"what"`
}

// kept bounds the lines in memory.
const kept = 500

type (
	snapshotMsg Snapshot
	linesMsg    []Line
	troubleMsg  struct{ err error }
)

// model is what is on the screen.
type model struct {
	width, height int
	snapshot      Snapshot
	ready         bool
	lines         []Line // oldest first
	trouble       string
	selected      int    // of what waits, then of the sessions; -1 for none
	only          string // session that the list of events is of, "" for all
	refusals      bool   // only what was refused or asked about
	paused        bool
	held          []Line // that came while paused
	help          bool
	now           func() time.Time
	rate          rates
	// open hands the terminal to a command of writ, and takes it back when it ended.
	open func(args ...string) tea.Cmd
}

// entries are what can be chosen: what waits, then the sessions.
func (m model) entries() int { return m.waits() + len(m.snapshot.Sessions) }

// waits is how many entries of the queue are listed.
func (m model) waits() int { return min(len(m.snapshot.Waits.Items), maxWaits) }

// chosen is the entry of the queue that is chosen, or else the session; nil and ""
// for neither.
func (m model) chosen() (waits *schemas.Waiting, session string) {
	switch at := m.selected - m.waits(); {
	case m.selected < 0 || m.selected >= m.entries():
		return nil, ""
	case at < 0:
		w := m.snapshot.Waits.Items[m.selected]
		return &w, w.Session
	default:
		return nil, m.snapshot.Sessions[at].Session
	}
}

func (m model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case snapshotMsg:
		m = m.keep(Snapshot(msg))
	case linesMsg:
		m.take(msg)
	case troubleMsg:
		m.trouble = msg.err.Error()
	case tea.KeyPressMsg:
		return m.key(msg.String())
	}
	return m, nil
}

// keep takes a snapshot; what was chosen stays chosen while it is there, and nothing is
// once it has gone: no key acts on what came into its place.
func (m model) keep(s Snapshot) model {
	waits, session := m.chosen()
	m.snapshot, m.ready, m.trouble = s, true, ""
	if session != "" {
		m.selected = slices.IndexFunc(s.Waits.Items[:m.waits()], func(w schemas.Waiting) bool {
			return waits != nil && w.Session == session && w.Gate == waits.Gate
		})
		if at := slices.IndexFunc(s.Sessions, func(one schemas.SessionSummary) bool { return one.Session == session }); m.selected < 0 && at >= 0 {
			m.selected = m.waits() + at
		}
	}
	m.selected = min(m.selected, max(m.entries()-1, 0))
	return m
}

func (m *model) take(lines []Line) {
	for _, l := range lines {
		m.rate.add(l)
	}
	if m.paused {
		m.held = bounded(append(m.held, lines...))
		return
	}
	m.lines = bounded(append(slices.Clip(m.lines), lines...))
}

func bounded(lines []Line) []Line {
	if len(lines) > kept {
		return slices.Clone(lines[len(lines)-kept:])
	}
	return lines
}

func (m model) key(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "ctrl+c", "esc":
		if m.help && key == "esc" {
			m.help = false
			return m, nil
		}
		return m, tea.Quit
	case "down", "j":
		m.selected = min(m.selected+1, max(m.entries()-1, 0))
	case "up", "k":
		m.selected = max(m.selected-1, 0)
	case "enter", "space":
		if waits, session := m.chosen(); waits != nil {
			return m, m.open("approve", waits.Gate, "--session", session)
		} else if m.only == session {
			m.only = ""
		} else {
			m.only = session
		}
	case "a":
		if waits, session := m.chosen(); waits != nil {
			return m, m.open("approve", waits.Gate, "--session", session)
		}
	case "d":
		if waits, session := m.chosen(); waits != nil {
			return m, m.open("approve", waits.Gate, "--session", session, "--decline", "-")
		}
	case "l":
		if _, session := m.chosen(); session != "" {
			return m, m.open("session", "show", session)
		}
	case "e":
		m.only = ""
	case "r":
		m.refusals = !m.refusals
	case "p":
		m.paused = !m.paused
		if !m.paused {
			m.lines, m.held = bounded(append(m.lines, m.held...)), nil
		}
	case "?", "h":
		m.help = !m.help
	}
	return m, nil
}

// wanted are the lines that the filters let through.
func (m model) wanted() (lines []Line) {
	for _, l := range m.lines {
		if (m.only == "" || l.Session == m.only) && (!m.refusals || l.Verdict == "deny" || l.Verdict == "ask") {
			lines = append(lines, l)
		}
	}
	return lines
}

// LineOf lists an event, or says that it is none to list.
func LineOf(e schemas.Event) (l Line, listed bool) {
	l = Line{Time: e.Time, Session: e.Aggregate.ID, Seq: e.Position.Seq, Type: e.Type()}
	switch p := e.Data.(type) {
	case schemas.ToolDecided:
		l.Verdict, l.Rule, l.What = p.Verdict, p.Rule, p.Tool+" "+target(p)
	case schemas.PromptSubmitted:
		l.What = p.Prompt
	case schemas.RulesShown:
		var ids []string
		for _, r := range p.Rules {
			ids = append(ids, r.ID)
		}
		l.What = strings.Join(ids, ", ")
	case schemas.GateApproved:
		l.Verdict, l.What = "allow", "gate "+p.Gate+" approved by "+schemas.ChannelText(p.Channel)
	case schemas.ApprovalRefused:
		l.Verdict, l.What = "deny", "approval of "+p.Gate+" by "+schemas.ChannelText(p.Channel)+": "+p.Reason
	case schemas.GateDrifted:
		l.Verdict, l.What = "deny", "gate "+p.Gate+": approved files changed"
	case schemas.GateInvalidated:
		l.What = "gate " + p.Gate + " taken back: " + p.Reason
	case schemas.GatesClosed:
		l.Verdict, l.What = "deny", "all gates closed: "+p.Reason
	case schemas.ModeChanged:
		l.What = "mode " + p.To
	case schemas.PhaseChanged:
		l.What = "phase " + p.To
	case schemas.SessionStarted:
		l.What = p.Host + " in " + p.Project
	case schemas.SessionEnded:
		l.What = p.Reason
	default:
		return l, false
	}
	return l, true
}

func target(p schemas.ToolDecided) string {
	switch {
	case len(p.Targets) == 0:
		return p.Command
	case p.Targets[0].Rel != "":
		return p.Targets[0].Rel
	}
	return p.Targets[0].Path
}

// rates counts decisions per minute, for the last half hour.
type rates struct {
	minutes [30]minute
}

type minute struct {
	start         int64 // Unix minutes
	decided, deny int
}

func (r *rates) add(l Line) {
	if l.Type != (schemas.ToolDecided{}).EventType() {
		return
	}
	at := l.Time.Unix() / 60
	m := &r.minutes[at%int64(len(r.minutes))]
	if m.start != at {
		if m.start > at {
			return // longer ago than is kept
		}
		*m = minute{start: at}
	}
	m.decided++
	if l.Verdict != "allow" {
		m.deny++
	}
}

// last lists the minutes up to now, oldest first.
func (r *rates) last(now time.Time) []minute {
	out := make([]minute, len(r.minutes))
	end := now.Unix() / 60
	for i := range out {
		at := end - int64(len(out)-1-i)
		if m := r.minutes[at%int64(len(r.minutes))]; m.start == at {
			out[i] = m
		}
	}
	return out
}
