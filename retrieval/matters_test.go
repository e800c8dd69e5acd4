package retrieval

import (
	"slices"
	"strings"
	"testing"
)

// A text of several matters is given a rule for each of them, although as a whole
// it is nearest to one.
func TestEachMatterOfATextCounts(t *testing.T) {
	ix := encoderIndex(t)
	const text = "There are three things left before we can launch. The total is computed in the browser and the server charges the amount that the client posts. " +
		"The icon buttons in the toolbar have no name, and a screen reader says nothing but button. The nightly backup runs, but nobody has ever restored one of them."
	a := ix.Search(Query{Text: text, BudgetTokens: 150})
	for _, want := range []string{"PAY-AMOUNT-SERVER-001", "A11Y-NAME-CONTROL-001", "OPS-BACKUP-RESTORE-001"} {
		if at := slices.Index(idsOf(a.Rules), want); at < 0 || a.Rules[at].Rendered == "" {
			t.Errorf("%s is not given:\n%s", want, a.Block)
		}
	}
	if a.Tokens > 150 {
		t.Errorf("%d tokens", a.Tokens)
	}
}

func TestMatters(t *testing.T) {
	long := strings.Repeat("one two three four five six seven. ", 5) + "and a little more"
	if got := matters("Fix the login. Then fix the logout, and the page after it."); got != nil {
		t.Errorf("a short text has the parts %q", got)
	}
	if got := matters(strings.Repeat("word ", 40)); got != nil {
		t.Errorf("one clause has the parts %q", got)
	}
	got := matters(long)
	if strings.Join(got, "") != long {
		t.Errorf("parts %q lose something", got)
	}
	for _, part := range got {
		if len(strings.Fields(part)) < matterWords {
			t.Errorf("%q is too short", part)
		}
	}
	if got := matters(strings.Repeat(long, 10)); got != nil {
		t.Errorf("a long text has %d parts", len(got))
	}
}
