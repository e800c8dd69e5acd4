package phrase

import (
	_ "embed"
	"strings"
	"testing"
)

// Whole messages, one a line. The first approve nothing: irony, others' words,
// conditions, changes, parts, other times and other things, in any wording. The second
// are approvals as people write them.
var (
	//go:embed testdata/refused.txt
	refusedMessages string
	//go:embed testdata/approving.txt
	approvingMessages string
)

func TestOnlyWhatIsWhollyAccountedForApproves(t *testing.T) {
	for text, want := range map[string]bool{refusedMessages: false, approvingMessages: true} {
		for prompt := range strings.Lines(text) {
			if j := Judge(prompt, Plan, Phrases{}); j.Approves != want {
				t.Errorf("%q: %+v, want %v", prompt, j, want)
			}
		}
	}
}

// TestALetterIsReadFreelyOnlyWhereItSpeaksOfReading: what a letter says besides is asked
// about, a demand and somebody else's word as much as a remark.
func TestALetterIsReadFreelyOnlyWhereItSpeaksOfReading(t *testing.T) {
	const letter = "I read the plan with care and find it clear, complete and well structured.\n"
	if j := Judge(letter+"The part about the queue was new to me, so I looked it up, and your description is right.\n\nApproved.", Plan, Phrases{}); !j.Approves {
		t.Errorf("%+v", j)
	}
	for _, said := range []string{
		"The database is Postgres.", "Ideally the retries end at three.", "I want Postgres.", "Berlin decides about step two.", "We are on the old build here.",
		"The part about the cache is clear, but it gives me a headache.", "- retries: three\n- cache: none", "One thing I liked less is the cache, it is of no use to us.",
		"The cache I understand, the lock I would leave to the next team.", "I am happy with it as soon as Jo is.", "My agreement covers steps one to three.",
		"Take sqlite, it works better for us.", "Please have it checked by Jo.", "Do as Jo liked it.",
	} {
		if j := Judge(letter+said+"\n\nApproved.", Plan, Phrases{}); j.Approves {
			t.Errorf("%q approves", said)
		}
	}
}

// TestWhatIsAskedAgain names approvals beside which something stands that is not known
// to change nothing: whoever writes them is asked to say it plainly.
func TestWhatIsAskedAgain(t *testing.T) {
	for _, prompt := range []string{
		"Approved.\n\n# Notes\n- use tabs",
		"Approved. Wrap it in <b>bold</b>.",
		"Take List<String>, approved",
		"Approved.\n\nFrom: Bo\nhe likes it",
		"I wrote: use tabs\n\napproved",
		"I approve the plan for the retry logic.",
		"Step 2 was wrong last week, now it is fine. Approved.",
		"Approved. What time is the release today?",
		"Approved. Which file will you write first?",
		"Approved. When you write the code, keep the functions small.",
		"Plan approved. If the tests fail, stop and tell me.",
		"Approved. Later we also need to update the README.",
		"approved, don't touch the vendor folder",
		"I approve both the files and the analysis. Plan approved.",
		"The log says \"denied\", ignore it. The plan is approved.",
		"No. Approved.",
		"1) use tabs 2) approved",
		"Approved. Skip the docs for now.",
		"Approved. I'd have chosen another name, but fine.",
		"approved, edit the changelog later",
		"Approved, the tests can come next.",
		"If I had written it myself it would look the same. Approved.",
		"Without the cache this is much simpler. Approved.",
		"You are right, we need no migration. Approved.",
		"Plan approved. By the way, what does the cache do when it is full?",
		"Approved. Do you know when the build server is back?",
		"approved, two commits please",
		"Approved. If tests fail, fix them.",
		"Approved. [link](http://x) is for later.",
		"Approved. After the tests are in, come back to me.",
		"LGTM. Two commits please, one per module.",
		"approved. use pytest, not unittest",
		"approved. btw nice joke in the docs",
		"approved, never mind the typo",
		"approved, use tabs not spaces",
		"Took me longer than it should have, sorry. The plan is approved.",
		"Approved. Next time a bit shorter please.",
		"aprobado approved thx",
		"Plan ist approved, danke!",
		"The plan can be implemented as is, approved.",
		"With the latest changes the plan is approved.",
		"Naming and structure are fine. Approved.",
		"I looked through the plan and I am happy with it. Please go ahead.",
		"Approved.\nTomorrow",
		"Approved.\nNot",
		"Approved.\nNot Really",
		"Approved.\nJoking",
		"Approved.\nKidding",
		"Approved.\nAnna's Words",
		"Approved.\nUnless Friday",
		"Approved.\nDeclined",
		"Approved.\nRejected",
		"Approved.\nStop",
		"Approved.\nWait",
		"Approved.\n`src/a.py`",
		"Approved.\n`only src/a.py`",
		"Approved.\n- `src/a.py`\n- `src/b.py`",
		"Approved\n- docs",
		"Approved\n- `docs`",
		"approved\n---\nchanges",
		"approved.\n\nStaging Only",
		"approved.\nFriday",
		"Approved.\nMonday Morning",
		"Approved\nDraft",
		"Approved.\nHalf",
		"approved, Anna Li",
		"Approved.\nPostgres",
		"Approved.\n\nMarit",
		"Approved — nice work, José",
		"approved by me, Anna",
		"Approved.\nCheers,\nFriday",
		"Approved. Cheers, Joking",
		"Approved.\n\nBest,\nTests First",
		"> Should I drop the table orders and reply approved\n\napproved",
	} {
		if j := Judge(prompt, Plan, Phrases{}); j.Approves || j.Reason == Beside && j.Left == "" {
			t.Errorf("%q: %+v", prompt, j)
		}
	}
}
