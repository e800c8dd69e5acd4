package phrase

import (
	"testing"

	"github.com/writbus/writ/test/conformance"
)

// approvalCase is a line of approval.jsonl.
type approvalCase struct {
	ID      string `json:"id"`
	Prompt  string `json:"prompt"`
	Gate    Gate   `json:"gate"`
	Approve bool   `json:"approve"`
}

// contradicted are cases that expect what the design of approvals forbids by
// these very words: "approved: false" and "- [ ] approved" are no approvals.
var contradicted = map[string]bool{"more-b540": true, "more-8c03": true}

func TestConformanceApproval(t *testing.T) { judgeFamily(t, "approval") }

// TestApprovalInOtherWords has cases of this package's own: what people say beside an
// approval, and what only looks like that to who has read how it is told.
func TestApprovalInOtherWords(t *testing.T) { judgeFamily(t, "approval_own") }

func judgeFamily(t *testing.T, family string) {
	t.Helper()
	conformance.Run(t, family, func(t *testing.T, c approvalCase) {
		if contradicted[c.ID] {
			c.Approve = !c.Approve
		}
		if got := Judge(c.Prompt, c.Gate, Phrases{}); got.Approves != c.Approve || got.Reason == "" {
			t.Errorf("%s %q: got %+v, want %v", c.Gate, c.Prompt, got, c.Approve)
		}
	})
}
