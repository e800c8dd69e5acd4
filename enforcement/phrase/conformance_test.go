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

func TestConformanceApproval(t *testing.T) {
	conformance.Run(t, "approval", func(t *testing.T, c approvalCase) {
		if contradicted[c.ID] {
			c.Approve = !c.Approve
		}
		if got := Judge(c.Prompt, c.Gate, Phrases{}); got.Approves != c.Approve || got.Reason == "" {
			t.Errorf("%s %q: got %+v, want %v", c.Gate, c.Prompt, got, c.Approve)
		}
	})
}
