package describe

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// commentMarks says in short what marks of comments are.
var commentMarks = regexp.MustCompile(`^(//+!?|/\*+!?|\*+/?|#+!?|--+|;+|%+|"""|''')\s?|(\*/|"""|''')$`)

func TestMarksOfComments(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"/", "/", "*", "*", "!", "#", "-", ";", "%", `"`, `"""`, "'", "'''", " ", "\t", "a", "é", "*/", "//", "/*"})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(pieces, 0, 8).Draw(t, "pieces"), "")
		if got, want := withoutMarks(line), commentMarks.ReplaceAllString(line, ""); got != want {
			t.Fatalf("%q is %q without its marks, want %q", line, got, want)
		}
	})
}
