package markdown

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func render(t *testing.T, text string, width int, colour bool) string {
	t.Helper()
	var out strings.Builder
	if err := Render(&out, text, Options{Width: width, Colour: colour}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRender(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"headings stand apart":            {"# One\n\nText.\n\n## Two\nMore.\n", "One\n\nText.\n\nTwo\n\nMore.\n"},
		"prose is wrapped at its words":   {"one two three four five six seven", "one two three four\nfive six seven\n"},
		"lines of a paragraph are joined": {"one\ntwo\n\nthree", "one two\n\nthree\n"},
		"a long word stays whole":         {"a https://example.org/a/long/path b", "a\nhttps://example.org/a/long/path\nb\n"},
		"marks are taken out":             {"**a** *b* `c d` [e](f.md) [g](https://h)", "a b `c d` e g\n(https://h)\n"},
		"what is no mark stays":           {"a * b, 2 ** 3, [x] y, `open", "a * b, 2 ** 3, [x]\ny, `open\n"},
		"an escape is its character":      {`a \| b \* c`, "a | b * c\n"},
		"items hang":                      {"- one two three four five\n- six\n", "  • one two three\n    four five\n  • six\n"},
		"numbers are kept":                {"1. one\n2. two\n", "  1. one\n  2. two\n"},
		"an item's lines go on":           {"- one\n  two\n\nthree", "  • one two\n\nthree\n"},
		"code is not wrapped":             {"```sh\nwrit query \"a very long line of code\"\n\nx\n```\n", "    writ query \"a very long line of code\"\n\n    x\n"},
		"a fence that stays open ends":    {"```\nx", "    x\n"},
		"tables are aligned":              {"| a | b |\n|---|---|\n| `long` | x |\n", "a       b\n──────  ─\n`long`  x\n"},
		"a head may be missing":           {"| | |\n|---|---|\n| a | b |\n", "a  b\n"},
		"cells are wrapped":               {"| name | what it is |\n|---|---|\n| abc | one two three four |\n", "name  what it is\n────  ──────────────\nabc   one two three\n      four\n"},
		"a bar in a cell is escaped":      {"| a | `x \\| y` |\n|---|---|\n", "a  `x | y`\n─  ───────\n"},
		"a row may be short":              {"| a | b |\n|---|---|\n| c |\n", "a  b\n─  ─\nc\n"},
		"quotes are set in":               {"> one\n> two\n", "  one two\n"},
		"nothing is a line":               {"", "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := render(t, c.text, 20, false); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestColours(t *testing.T) {
	got := render(t, "# A\n\n`b` **c**\n", 20, true)
	for _, want := range []string{"\x1b[1;4mA\x1b[0m", "\x1b[36mb\x1b[0m", "\x1b[1mc\x1b[0m"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	// Colours take no room.
	table := "| `a` | b |\n|---|---|\n| `long` | x |\n"
	if got := strip(render(t, table, 40, true)); got != "a     b\n────  ─\nlong  x\n" {
		t.Errorf("with colours the columns are\n%s", got)
	}
}

// strip takes the colours out.
func strip(text string) string {
	var out strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if !found {
			break
		}
		_, text, _ = strings.Cut(after, "m")
	}
	return out.String()
}

func FuzzRender(f *testing.F) {
	f.Add("# a\n\ntext `code` **b** [c](d)\n\n- e\n  f\n\n| g | h |\n|---|---|\n| i | j |\n\n```\nk\n```\n", 30)
	f.Add("|\n||\n| - |\n", 1)
	f.Add("- \n* *\n1. \n> \n#\n# \n```", 0)
	f.Add("**`[*](", 80)
	f.Add("\\\\|`a\\|b`", 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if strings.ContainsAny(text, "\x1b\x00") || !utf8.ValidString(text) || len(text) > 600 {
			return
		}
		width = min(max(width, 20), 200)
		plain := render(t, text, width, false)
		if strings.Contains(plain, "\x1b") {
			t.Errorf("a page without colours has one: %q", plain)
		}
		unspaced := func(s string) string {
			return strings.Join(strings.Fields(strings.NewReplacer("`", "", "─", "").Replace(s)), "")
		}
		if coloured := strip(render(t, text, width, true)); unspaced(coloured) != unspaced(plain) && !strings.Contains(text, "|") {
			t.Errorf("colours change the text:\n%q\n%q", plain, coloured)
		}
	})
}
