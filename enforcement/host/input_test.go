package host

import (
	"strings"
	"testing"
)

func TestAQuestionThatCannotBeAskedStaysShort(t *testing.T) {
	a := Answer{Verdict: AskUser, Reason: strings.Repeat("ü", 700)}.Unasked("Codex")
	if n := len([]rune(a.Reason)); n != maxReason || a.Verdict != Refuse || !strings.Contains(a.Reason, "Codex cannot") {
		t.Errorf("%d characters: %s", n, a.Reason)
	}
}

// TestAPatchTellsWhatIsGone: a file that is deleted leaves nothing, which is known;
// what a move leaves is not.
func TestAPatchTellsWhatIsGone(t *testing.T) {
	c := Call{Tool: "apply_patch"}
	if err := c.readPatch("*** Begin Patch\n*** Delete File: a.go\n*** Update File: b.go\n*** Move to: c.go\n@@\n-x\n+y\n*** End Patch"); err != nil {
		t.Fatal(err)
	}
	for _, w := range c.Writes {
		if !w.Opaque || w.Gone != (w.Path == "a.go") {
			t.Errorf("%+v", w)
		}
	}
	if len(c.Writes) != 3 {
		t.Errorf("%d writes", len(c.Writes))
	}
}

func FuzzPatch(f *testing.F) {
	for _, text := range []string{
		"*** Begin Patch\n*** Add File: a\n+1\n*** End Patch", "*** Update File: b\r\n@@\r\n-x\r\n+y\r\n", "*** Move to: c\n*** Delete File: d", "+\n-\n ",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Call{Tool: "apply_patch"}
		err := c.readPatch(text)
		if (err == nil) != (len(c.Writes) > 0) {
			t.Fatalf("%d writes, %v", len(c.Writes), err)
		}
		for _, w := range c.Writes {
			if w.Path == "" && err == nil && len(c.Writes) == 1 {
				t.Fatalf("a write without a path: %+v", w)
			}
		}
	})
}
