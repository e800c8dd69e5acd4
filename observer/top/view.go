package top

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// The terminal's own sixteen colours, so that its theme decides.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	dim    = lipgloss.NewStyle().Faint(true)
	good   = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	warn   = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	cursor = lipgloss.NewStyle().Reverse(true)
)

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.frame())
	v.AltScreen = true
	v.WindowTitle = "writ top"
	return v
}

const (
	leastWidth  = 40
	leastHeight = 10
)

// frame is the screen: at most height lines of at most width cells.
func (m model) frame() string {
	if m.width == 0 { // the terminal has not said its size yet
		return ""
	}
	if m.width < leastWidth || m.height < leastHeight {
		return fit("The terminal is too small for writ top.", max(m.width, 1))
	}
	var lines []string
	if !m.ready {
		lines = []string{"Waiting for the daemon …"}
	} else {
		lines = append(m.head(), m.queue()...)
		footer := m.foot()
		room := m.height - len(lines) - len(footer)
		sessions := m.sessions(max(min(len(m.snapshot.Sessions)+2, room/2), 3))
		lines = append(lines, sessions...)
		lines = append(lines, m.events(room-len(sessions))...)
		for len(lines) < m.height-len(footer) {
			lines = append(lines, "")
		}
		lines = append(lines, footer...)
	}
	if m.help {
		lines = helpLines()
	}
	if len(lines) > m.height {
		lines = lines[:m.height]
	}
	for i, line := range lines {
		lines[i] = fit(line, m.width)
	}
	return strings.Join(lines, "\n")
}

// fit cuts a line to a width, in cells, styles and all.
func fit(line string, width int) string { return ansi.Truncate(line, width, "…") }

// clean makes text of the log safe for a terminal: one line, without controls,
// marks of direction and what takes no room.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return '·'
		}
		return r
	}, text)
}

// column pads or cuts cleaned text to a width.
func column(text string, width int) string {
	text = ansi.Truncate(clean(text), width, "…")
	return text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
}

func (m model) head() []string {
	s := m.snapshot.Status
	first := []string{bold.Render("Writ " + clean(s.Version)), excerpt.Count(s.Counts.Live, "session") + " live", fmt.Sprintf("%d idle", s.Counts.Idle), "up " + short(m.snapshot.At.Sub(s.Started)), megabytes(s.Memory), clean(s.Durability)}
	if m.trouble != "" {
		first = []string{first[0], bad.Render("no answer: " + clean(m.trouble))}
	}
	lines := []string{m.joinLine(first), m.flow(), m.lag()}
	for _, w := range s.Warnings {
		lines = append(lines, warn.Render("! "+clean(w)))
		if len(lines) == 5 {
			break
		}
	}
	return append(lines, "")
}

// maxWaits bounds the entries of the queue that are listed.
const maxWaits = 5

// queue is what waits for the user, each a line that can be chosen.
func (m model) queue() (lines []string) {
	items := m.snapshot.Waits.Items
	if len(items) == 0 {
		return nil
	}
	lines = append(lines, warn.Render(m.howMany(len(items))))
	for i, w := range items[:m.waits()] {
		line := "● " + m.waitingLine(w)
		if i == m.selected {
			line = cursor.Render(ansi.Truncate(line, m.width, "…"))
		} else {
			line = warn.Render("●") + strings.TrimPrefix(line, "●")
		}
		lines = append(lines, line)
	}
	return append(lines, "")
}

func (m model) howMany(waits int) string {
	text := "1 WAITS FOR YOU"
	if waits > 1 {
		text = fmt.Sprintf("%d WAIT FOR YOU", waits)
	}
	if more := waits - m.waits(); more > 0 {
		text += fmt.Sprintf(", the %d that wait longest:", m.waits())
	}
	return text
}

// waitingLine is an entry of the queue: what of which project, for how long, and
// what it is about.
func (m model) waitingLine(w schemas.Waiting) string {
	about := w.Plan
	if about == "" {
		about = w.Wish
	} else if w.Wish != "" && w.Wish != about {
		about += " – " + w.Wish
	}
	if w.Second != "" {
		about = w.Second + ": " + about
	}
	project, age := 13, 7
	if m.width < narrow {
		project, age = 9, 5
	}
	return column(w.Gate, 6) + column(base(w.Project), project) + " " + column(short(m.snapshot.At.Sub(w.Since)), age) + clean(about)
}

// waiting is the queue where no keys are: with the command that shows and approves
// each.
func (m model) waiting() (lines []string) {
	items := m.snapshot.Waits.Items
	if len(items) == 0 {
		return nil
	}
	lines = append(lines, m.howMany(len(items)))
	for _, w := range items[:m.waits()] {
		lines = append(lines, "● "+m.waitingLine(w), "  writ approve --session "+clean(shortID(w.Session)))
	}
	return lines
}

// base is the last part of a path, "" for none.
func base(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// shortID is the beginning of an id by which commands take a session.
func shortID(id string) string { return id[:min(len(id), 13)] }

// joinLine puts parts beside each other, as many as fit; the first always stands.
func (m model) joinLine(parts []string) string {
	line := parts[0]
	for _, p := range parts[1:] {
		if longer := line + dim.Render(" · ") + p; p != "" && ansi.StringWidth(longer) <= m.width {
			line = longer
		}
	}
	return line
}

// flow is how many decisions there are, and how long searches take.
func (m model) flow() string {
	minutes := m.rate.last(m.snapshot.At)
	decided, denied := 0, 0
	counts := make([]int, len(minutes))
	for i, one := range minutes {
		counts[i] = one.decided
		decided += one.decided
		denied += one.deny
	}
	parts := []string{excerpt.Count(decided, "decision") + " in 30 min"}
	if decided > 0 {
		text := fmt.Sprintf("%d not allowed", denied)
		if denied > 0 {
			text = bad.Render(text)
		}
		parts = append(parts, text)
	}
	return m.joinLine(append(parts, good.Render(spark(counts))))
}

// spark draws counts in eighths of a line, a dot for nothing.
func spark(counts []int) string {
	const steps = "▁▂▃▄▅▆▇█"
	most := 1
	for _, n := range counts {
		most = max(most, n)
	}
	var b strings.Builder
	for _, n := range counts {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune([]rune(steps)[(n*8-1)/most])
	}
	return b.String()
}

// lag is where the log and its views stand.
func (m model) lag() string {
	s := m.snapshot.Status
	var total uint64
	for _, stream := range s.Streams {
		total += stream.Messages
	}
	parts := []string{fmt.Sprintf("log %s records", thousands(total))}
	behind := 0
	for _, v := range s.Views {
		switch {
		case v.Error != "":
			parts = append(parts, bad.Render(clean(v.Name+" "+v.State+": "+v.Error)))
			behind++
		case v.State != "live":
			parts = append(parts, warn.Render(clean(strings.TrimSpace(v.Name+" "+v.State+" "+v.Progress()))))
			behind++
		case v.Lag > 0:
			parts = append(parts, warn.Render(fmt.Sprintf("%s %s behind", clean(v.Name), thousands(v.Lag))))
			behind++
		}
	}
	if behind == 0 {
		parts = append(parts, fmt.Sprintf("%d views up to date", len(s.Views)))
	}
	return m.joinLine(parts)
}

// narrow is the width from which a session's project and wish are shown, and wide the
// one for counts.
const narrow, wide = 60, 110

// sessions is the table, with the selected one in view.
func (m model) sessions(room int) []string {
	all := m.snapshot.Sessions
	title := column("SESSION", 16) + column("STANDS", 15) + column("SEEN", 8)
	if m.width >= wide {
		title += "REFUSED EVENTS  "
	}
	if m.width >= narrow {
		title += column("PROJECT", 13) + "WISH"
	}
	lines := []string{dim.Render(title)}
	if len(all) == 0 {
		return append(lines, "No session yet: one begins when an agent", "starts in a project that uses Writ.", "")
	}
	rows, selected := max(room-2, 1), m.selected-m.waits()
	from := max(min(selected-rows/2, len(all)-rows), 0)
	for i := from; i < min(from+rows, len(all)); i++ {
		lines = append(lines, m.sessionLine(all[i], i == selected))
	}
	return append(lines, "")
}

func (m model) sessionLine(s schemas.SessionSummary, selected bool) string {
	mark := "  "
	if s.Session == m.only {
		mark = "▸ "
	}
	seen := short(m.snapshot.At.Sub(s.LastSeen))
	if s.Standing != "" && s.Standing != schemas.StandsLive {
		seen = s.Standing
	}
	stands := dash(s.Mode)
	if s.Phase != "" {
		stands = s.Phase
	}
	line := mark + column(shortID(s.Session), 13) + " " + column(stands, 14) + " " + column(seen, 7) + " "
	if m.width >= wide {
		line += fmt.Sprintf("%7d %6d  ", s.Refusals, s.Events)
	}
	if m.width >= narrow {
		line += column(dash(base(s.Project)), 12) + " " + clean(s.Title)
	}
	switch {
	case selected:
		return cursor.Render(ansi.Truncate(line, m.width, "…"))
	case s.Ended:
		return dim.Render(line)
	}
	return line
}

// events is the list of what happened, newest last.
func (m model) events(room int) []string {
	if room < 2 {
		return nil
	}
	title := "EVENTS"
	if m.only != "" {
		title += " of " + clean(m.only)
	}
	if m.refusals {
		title += ", not allowed"
	}
	if m.paused {
		title += warn.Render(fmt.Sprintf("  paused, %d held", len(m.held)))
	}
	lines := []string{dim.Render(title)}
	all := m.wanted()
	if len(all) == 0 {
		return append(lines, dim.Render("Nothing yet."))
	}
	for _, l := range all[max(len(all)-room+1, 0):] {
		lines = append(lines, m.eventLine(l))
	}
	return lines
}

func (m model) eventLine(l Line) string {
	mark := dim.Render("·")
	switch l.Verdict {
	case "allow":
		mark = good.Render("✓")
	case "deny":
		mark = bad.Render("✗")
	case "ask":
		mark = warn.Render("?")
	}
	line := dim.Render(l.Time.Local().Format("15:04:05")) + " " + mark + " "
	if m.width >= narrow {
		line += dim.Render(column(l.Session, 8)) + " "
	}
	if l.Verdict == "" {
		line += dim.Render(column(string(l.Type), 17)) + " "
	}
	if l.Rule != "" {
		line += bad.Render(clean(l.Rule)) + " "
	}
	return line + clean(l.What)
}

func (m model) foot() []string {
	keys := []string{"q quit", "↑↓ choose"}
	switch waits, session := m.chosen(); {
	case waits != nil:
		keys = append(keys, "a see it and approve", "d see it and decline", "l its session")
	case session != "":
		keys = append(keys, "enter its events", "l look at it")
	}
	return []string{dim.Render(m.joinLine(append(keys, "? help", "e all events", "r not allowed only", "p pause")))}
}

func helpLines() []string {
	return []string{
		bold.Render("writ top"), "",
		"↑ ↓        choose what waits, or a session", "",
		"Of what waits for you:",
		"a, enter   see it whole, and approve it", "d          see it whole, and say what", "           should change instead", "",
		"Of a session:",
		"enter      only its events; again, or e:", "           those of all", "l          its gates, files, rules", "",
		"r          only what was refused or asked", "p          hold the list of events still", "q, Ctrl-C  quit", "",
		"✓ allowed  ✗ refused  ? you were asked", "",
		dim.Render("? or esc goes back"),
	}
}

func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func short(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func megabytes(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func thousands(n uint64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
