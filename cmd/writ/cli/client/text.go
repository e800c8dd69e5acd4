package client

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/schemas/excerpt"
)

// Printable shows control characters instead of sending them to the terminal:
// what an agent wrote must not move the cursor over what the user is to read.
func Printable(text string) string { return excerpt.Visible(text, "\t") }

// PrintableLines is printable for a text of several lines.
func PrintableLines(text string) string {
	return excerpt.Visible(strings.ReplaceAll(text, "\r", ""), "\t\n")
}

// colours are those that this program puts into a text.
var colours = strings.Fields("0 1 1;4 2 31 32 33 36")

// legible is what is printed of a text in which others may have put what a terminal
// obeys: its lines, and the colours of this program.
func legible(text string) string {
	var out strings.Builder
	for {
		plain, rest, found := strings.Cut(text, "\x1b[")
		out.WriteString(excerpt.Visible(plain, "\t\n"))
		if !found {
			return out.String()
		}
		text = rest
		if code, after, _ := strings.Cut(rest, "m"); slices.Contains(colours, code) {
			out.WriteString("\x1b[" + code + "m")
			text = after
		} else {
			out.WriteString("\uFFFD[")
		}
	}
}

// OneLine keeps multi-line texts of other layers from tearing a message.
func OneLine(text string) string { return excerpt.Line(text) }

// Shorten cuts text to at most n runes, at a space where one is near.
func Shorten(text string, n int) string { return excerpt.Words(text, n) }

// Plural counts things in words.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%s %s", Thousands(uint64(n)), many)
}

// Thousands groups digits for people.
func Thousands(n uint64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// TextWidth is where prose is broken, on a narrower terminal at its width.
const TextWidth = 88

// Prose breaks text for lines of the output that begin with an indent of so many
// columns.
func (a *Client) Prose(text string, indent int) []string {
	width := TextWidth
	if w := a.Env.Width(a.Out); w > 0 {
		width = min(width, w)
	}
	return Wrap(text, width-indent)
}

// Wrap breaks text at spaces into lines of at most width runes; longer words
// stand alone.
func Wrap(text string, width int) []string {
	var lines []string
	line, length := "", 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		if length > 0 && length+1+n > width {
			lines, line, length = append(lines, line), "", 0
		}
		if length > 0 {
			line, length = line+" ", length+1
		}
		line, length = line+word, length+n
	}
	if length > 0 {
		lines = append(lines, line)
	}
	return lines
}

// Clip shortens a line to so many runes.
func Clip(line string, width int) string { return excerpt.Runes(line, width) }

// Dash is text, or a dash where there is none.
func Dash(text string) string { return cmp.Or(text, "-") }

// First is the first argument, "" for none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// JoinNonEmpty joins the parts that are not empty.
func JoinNonEmpty(separator string, parts ...string) string {
	return excerpt.Joined(separator, parts...)
}

// Size is a number of bytes for people, in binary units.
func Size(n uint64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		value, unit = value/1024, u
		if value < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Age is a duration for people, to its largest unit and the next.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under a second"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}
