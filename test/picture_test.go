package test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"image"
	_ "image/png" // of the screenshots
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// asciicast writes a recording in the format of asciinema, version 2.
func asciicast(t *testing.T, moments []moment) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(encoder.Encode(map[string]any{"version": 2, "width": columns, "height": rows, "title": "Writ: one task under guard", "env": map[string]string{"TERM": "xterm-256color"}}))
	for _, m := range moments {
		must(encoder.Encode([]any{m.at.Seconds(), "o", m.text}))
	}
	return out.Bytes()
}

// Measures of the picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 19
	margin     = 14
	barHeight  = 30
)

// cell is a stretch of a line in one style.
type cell struct {
	column      int
	text, class string
}

// screenLine is a line of the whole output, and when it appears.
type screenLine struct {
	at    time.Duration
	cells []cell
	typed []time.Duration // when each of its characters appears, where it is typed
}

// animation draws a recording as an SVG that plays itself: all lines below each
// other, a cover over what has not been said yet, and a window that moves down.
func animation(moments []moment) []byte {
	lines := screenLines(moments)
	end := moments[len(moments)-1].at + 6*time.Second
	width, height := columns*cellWidth+2*margin, float64(rows*cellHeight+2*margin+barHeight)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" xml:space="preserve">`, width, height, width, height)
	out.WriteString("\n<title>A task under guard: rules found, a write refused, plan and tests approved, the write allowed, the log verified</title>\n<style>\n")
	out.WriteString("text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dde5;white-space:pre}\n" +
		".b{font-weight:700;fill:#fff}.d{fill:#8b97a6}.red{fill:#ff8a80}.green{fill:#6fd39a}.yellow{fill:#f1c372}.cyan{fill:#7cc7e8}.magenta{fill:#d3a6f5}\n")
	animate := func(name string, stops []stop, property string) {
		fmt.Fprintf(&out, ".%s{animation:%s %.2fs step-end infinite}\n@keyframes %s{", name, name, end.Seconds(), name)
		last := ""
		for _, s := range stops {
			if value := fmt.Sprintf(property, s.x, s.y); value != last {
				fmt.Fprintf(&out, "%.3f%%{transform:%s}", 100*s.at.Seconds()/end.Seconds(), value)
				last = value
			}
		}
		out.WriteString("}\n")
	}
	var window, below, rest []stop
	window, below, rest = append(window, stop{}), append(below, stop{}), append(rest, stop{0, 2000, 0})
	for i, line := range lines {
		over := max(0, i+1-rows)
		window = append(window, stop{line.at, 0, float64(-over * cellHeight)})
		below = append(below, stop{line.at, 0, float64((i + 1) * cellHeight)})
		for n, at := range line.typed {
			rest = append(rest, stop{at, float64(n+1) * cellWidth, float64(i * cellHeight)})
		}
		if len(line.typed) > 0 && i+1 < len(lines) {
			rest = append(rest, stop{lines[i+1].at, 2000, 0})
		}
	}
	animate("window", window, "translate(%.1fpx,%.0fpx)")
	animate("below", below, "translate(%.1fpx,%.0fpx)")
	animate("rest", rest, "translate(%.1fpx,%.0fpx)")
	out.WriteString("@media (prefers-reduced-motion:reduce){.window,.below,.rest{animation:none}.below,.rest{display:none}.window{transform:translate(0,")
	fmt.Fprintf(&out, "%dpx)}}\n</style>\n", -max(0, len(lines)-rows)*cellHeight)
	fmt.Fprintf(&out, `<rect width="%.0f" height="%.0f" rx="9" fill="#12161c"/><circle cx="20" cy="18" r="5.5" fill="#ff5f57"/><circle cx="39" cy="18" r="5.5" fill="#febc2e"/><circle cx="58" cy="18" r="5.5" fill="#28c840"/>`, width, height)
	fmt.Fprintf(&out, "\n<svg x=\"0\" y=\"%d\" width=\"%.0f\" height=\"%d\"><g class=\"window\">\n", barHeight+margin-4, width, rows*cellHeight+4)
	for i, line := range lines {
		if len(line.cells) == 0 {
			continue
		}
		fmt.Fprintf(&out, `<text y="%d">`, i*cellHeight+14)
		for _, c := range line.cells {
			class := ""
			if c.class != "" {
				class = ` class="` + c.class + `"`
			}
			fmt.Fprintf(&out, `<tspan x="%.1f"%s>%s</tspan>`, margin+float64(c.column)*cellWidth, class, html.EscapeString(c.text))
		}
		out.WriteString("</text>\n")
	}
	fmt.Fprintf(&out, `<rect class="below" width="%.0f" height="%d" fill="#12161c"/><g class="rest"><rect x="%d" width="%.0f" height="%d" fill="#12161c"/><rect x="%d" y="2" width="8" height="16" fill="#d7dde5"/></g>`,
		width, (len(lines)+rows)*cellHeight, margin, width, cellHeight, margin)
	out.WriteString("\n</g></svg></svg>\n")
	return out.Bytes()
}

// stop is where something stands from a moment on.
type stop struct {
	at   time.Duration
	x, y float64
}

// screenLines lays the output out as a terminal of this width does.
func screenLines(moments []moment) []screenLine {
	lines := []screenLine{{}}
	column, class := 0, ""
	for _, m := range moments {
		text := m.text
		typed := utf8.RuneCountInString(text) == 1 && text != "\n"
		for text != "" {
			now := &lines[len(lines)-1]
			switch {
			case strings.HasPrefix(text, "\r\n"):
				lines, column, text = append(lines, screenLine{at: m.at}), 0, text[2:]
				continue
			case strings.HasPrefix(text, "\x1b["):
				code, rest, _ := strings.Cut(text[2:], "m")
				class, text = styleOf(code), rest
				continue
			case column == columns:
				lines, column = append(lines, screenLine{at: m.at}), 0
				continue
			}
			_, size := utf8.DecodeRuneInString(text)
			char := text[:size]
			text = text[size:]
			if column == 0 {
				now.at = m.at
			}
			if last := len(now.cells) - 1; last >= 0 && now.cells[last].class == class && now.cells[last].column+utf8.RuneCountInString(now.cells[last].text) == column {
				now.cells[last].text += char
			} else if char != " " {
				now.cells = append(now.cells, cell{column, char, class})
			}
			column++
			if typed {
				for len(now.typed) < column-1 {
					now.typed = append(now.typed, m.at)
				}
				now.typed = append(now.typed, m.at)
			}
		}
	}
	for len(lines) > 1 && len(lines[len(lines)-1].cells) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// styleOf is the class of the last of SGR codes that the programs use.
func styleOf(codes string) string {
	class := ""
	for _, code := range strings.Split(codes, ";") {
		class = map[string]string{"1": "b", "2": "d", "31": "red", "32": "green", "33": "yellow", "35": "magenta", "36": "cyan"}[code]
	}
	return class
}

// maxPicture is what a picture of the README may weigh, in bytes.
const maxPicture = 300_000

// TestPicturesOfTheREADME looks whether every picture is there, is one, and is
// small.
func TestPicturesOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`[\w./-]+\.(?:png|svg)`).FindAllString(string(readme), -1)
	if len(found) < 4 {
		t.Errorf("the README shows %q alone", found)
	}
	for _, name := range found {
		raw, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(raw) > maxPicture {
			t.Errorf("%s has %d bytes, more than %d", name, len(raw), maxPicture)
		}
		if _, format, err := image.DecodeConfig(bytes.NewReader(raw)); strings.HasSuffix(name, ".png") && (err != nil || format != "png") {
			t.Errorf("%s is no picture: %v", name, err)
		}
		if strings.HasSuffix(name, ".svg") && xml.Unmarshal(raw, new(struct{})) != nil {
			t.Errorf("%s is no XML", name)
		}
	}
}
