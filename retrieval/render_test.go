package retrieval

import (
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// What is rendered piece by piece is what the plain description of it says.
func FuzzRenderedText(f *testing.F) {
	for _, text := range []string{
		"", " ", "one line", " two\nlines \t\r\n\r\n", "\r\n\n\v\n x\n\u00a0\n", "a\rb\r\n\rc", "\xff\n\xfe", "a  b", "\tindented\n    more\n", "\n\n",
	} {
		f.Add(text, "GO-ERR-001", "high")
	}
	f.Fuzz(func(t *testing.T, text, id, severity string) {
		if got, want := indented("CORRECT:\n", text), plainlyIndented("CORRECT:\n", text); got != want {
			t.Errorf("indented %q: %q, want %q", text, got, want)
		}
		one, want := strings.Join(strings.Fields(text), " "), ""
		if one != "" {
			want = "WHEN: " + one + "\n"
		}
		if got := labelled("WHEN: ", text); got != want {
			t.Errorf("labelled %q: %q, want %q", text, got, want)
		}
		r := schemas.Rule{ID: id, Title: text, Severity: severity, Domain: text}
		want = "[" + strings.Join(strings.Fields(id), " ") + "] "
		if one != "" {
			want += one + " "
		}
		want += "(" + strings.Join(strings.Fields(severity), " ") + ", human"
		if one != "" {
			want += ", " + one
		}
		if got := segTitle.render(&r); got != want+")\n" {
			t.Errorf("title %q, want %q", got, want+")\n")
		}
	})
}

func plainlyIndented(label, text string) string {
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return ""
	}
	for i, line := range lines {
		if line = strings.TrimRight(line, " \t"); line != "" {
			line = "    " + line
		}
		lines[i] = line + "\n"
	}
	return label + strings.Join(lines, "")
}
