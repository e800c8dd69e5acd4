package excerpt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestExcerpts(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"Line", Line(" a\n\tb  c "), "a b c"},
		{"First", First("\n\n a b \nc"), "a b"},
		{"Runes, short", Runes("äöü", 3), "äöü"},
		{"Runes, long", Runes("äöüß", 3), "äö…"},
		{"Runes, invalid", Runes("a\xff", 3), "a\uFFFD"},
		{"RunesWith", RunesWith("äöüß", 2, ""), "äö"},
		{"Words", Words("one two three four", 12), "one two…"},
		{"Words, one", Words("onetwothree", 6), "onetw…"},
		{"Words, short", Words("one two", 7), "one two"},
		{"Bytes, short", Bytes("äö", 4), "äö"},
		{"Bytes, within a character", Bytes("ääää", 6), "ä…"},
		{"BytesWith", BytesWith("abcdefgh", 7, "[cut]"), "ab[cut]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestLineIsItsWords(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "bc", " ", "  ", "\n", "\t", "é", "\u00a0", "\x7f", "~"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(rt, "text"), "")
		if got, want := Line(text), strings.Join(strings.Fields(text), " "); got != want {
			rt.Fatalf("Line(%q) = %q, want %q", text, got, want)
		}
	})
}

func TestExcerptsKeepTheirLength(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, most := rapid.String().Draw(rt, "text"), rapid.IntRange(3, 20).Draw(rt, "most")
		runes, words, bytes := Runes(text, most), Words(text, most), Bytes(text, most)
		switch {
		case utf8.RuneCountInString(runes) > most || utf8.RuneCountInString(words) > most || len(bytes) > most:
			rt.Fatalf("%q, %q, %q are longer than %d", runes, words, bytes, most)
		case !utf8.ValidString(runes) || !utf8.ValidString(words) || !utf8.ValidString(bytes):
			rt.Fatalf("%q, %q or %q is no text", runes, words, bytes)
		}
	})
}

func TestPlainIsWithoutRooms(t *testing.T) {
	for text, want := range map[string]string{
		"bus: unavailable: nobody answers": "unavailable: nobody answers", "launch: config: model: url is missing": "model: url is missing",
		"git: exit status 1": "git: exit status 1", "backup": "backup", "backup: ": "", "plan.md: open: no": "plan.md: open: no",
		"config: stat /a b/c: no such file": "/a b/c: no such file", "no key: open /k: denied, and lstat /l: denied": "no key: /k: denied, and /l: denied",
		`open C:\k: denied`: `C:\k: denied`, "a door is open /here": "a door is open /here",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

func TestJoinedLeavesOutWhatIsEmpty(t *testing.T) {
	for want, texts := range map[string][]string{"": nil, "a": {"", "a", ""}, "a, b": {"a", "", "b"}} {
		if got := Joined(", ", texts...); got != want {
			t.Errorf("%q: %q, want %q", texts, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 files", "1 file", "2 files"} {
		if got := Count(n, "file"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
