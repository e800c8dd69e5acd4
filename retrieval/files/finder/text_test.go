package finder

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLinesAreThoseOfTheText compares with cutting the whole text at its line
// ends.
func TestLinesAreThoseOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"\n", "a", "\xff", "é", strings.Repeat("line\n", 300), strings.Repeat("x", countedAtOnce-1), "\r\n"})).Draw(t, "pieces"), "")
		from, to := rapid.IntRange(-1, 20).Draw(t, "from"), rapid.IntRange(-1, 320).Draw(t, "to")
		all := strings.SplitAfter(text, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		want := ""
		if from >= 0 && from < to && to <= len(all) {
			want = strings.Join(all[from:to], "")
		}
		if got := string(lines([]byte(text), from, to)); got != want {
			t.Fatalf("lines %d to %d of %q are %q, want %q", from, to, text, got, want)
		}
		if want != "" && validText([]byte(want)) != strings.Join(strings.SplitAfter(validText([]byte(text)), "\n")[from:to], "") {
			t.Fatalf("lines %d to %d of %q are not the same once they are valid", from, to, text)
		}
	})
}
