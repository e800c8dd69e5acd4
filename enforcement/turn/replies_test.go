package turn

import (
	"strconv"
	"testing"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/schemas"
)

// TestAPromptOfAHostWithoutIDsCountsOnce: a host that loads Writ's hooks twice
// reports one answer of its user's twice, and the second must not approve what
// waits behind the first.
func TestAPromptOfAHostWithoutIDsCountsOnce(t *testing.T) {
	r, counted := newReplies(), 0
	say := func(session, text string, began int64) {
		t.Helper()
		one := turn{Call: host.Call{Kind: host.Prompt, Hook: "BeforeAgent", Session: session, Prompt: text}, payload: []byte(text)}
		header := schemas.Header{schemas.HookHeaderBegan: []string{strconv.FormatInt(began, 10)}}
		if _, err := r.once(one.called(header), func() (answers, error) { counted++; return answers{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	began := int64(1_800_000_000_000_000_000)
	for _, c := range []struct {
		session, text string
		began         int64
		want          int
	}{
		{"s", "approved", began, 1},
		{"s", "approved", began + sideBySide.Nanoseconds(), 1},
		{"s", "approved", began, 1}, // asked again
		{"s", "go on", began, 2},
		{"s", "why is it slow", began, 3},
		{"s", "why is it slow", began, 4}, // it opens nothing
		{"other", "approved", began, 5},
		{"s", "approved", began + 2*sideBySide.Nanoseconds(), 6},
	} {
		if say(c.session, c.text, c.began); counted != c.want {
			t.Errorf("%s %q at %d: %d are counted, want %d", c.session, c.text, c.began-began, counted, c.want)
		}
	}
}

// TestALateAnswerIsKeptForNobody: what is said once more in a turn that has one id is
// decided anew where nobody waited for the first answer, and not beside that.
func TestALateAnswerIsKeptForNobody(t *testing.T) {
	r, decided := newReplies(), 0
	for _, late := range []bool{true, false, false} {
		if _, err := r.once(called{key: "p1"}, func() (answers, error) { decided++; return answers{late: late}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	if decided != 2 {
		t.Errorf("decided %d times, want the late one and the next", decided)
	}
}
