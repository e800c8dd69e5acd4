package rulerelease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestProposalReachesReviewersAsItWasSigned: altered, unsigned and foreign files bring
// nothing before their gate.
func TestProposalReachesReviewersAsItWasSigned(t *testing.T) {
	acme, ann := newMaintainer(t), newMaintainer(t)
	var gate []schemas.RuleProposeRequest
	desk := Proposals{
		Desk: Desk{Dir: t.TempDir()},
		Export: func(_ context.Context, r schemas.RuleExportRequest) (page schemas.RuleExportPage, err error) {
			if r.ID == "A-1" {
				page.Files = []schemas.RuleFile{{Path: "a-1.md", Content: "wrap errors"}}
			}
			return page, nil
		},
		Propose: func(_ context.Context, r schemas.RuleProposeRequest) (schemas.RuleProposeReply, error) {
			gate = append(gate, r)
			return schemas.RuleProposeReply{ID: "A-1", Admitted: true}, nil
		},
	}
	if _, err := desk.Write(t.Context(), Proposal{To: "acme", Reason: "seen twice", Rule: Rule{ID: "A-2"}}, ann.key, "x"); err == nil {
		t.Error("a rule that is not there")
	}
	if _, err := desk.Write(t.Context(), Proposal{To: "acme", Rule: Rule{ID: "A-1"}}, ann.key, "x"); !errors.Is(err, ErrForm) {
		t.Errorf("without a reason: %v", err)
	}
	path, err := desk.Write(t.Context(), Proposal{To: "acme", Reason: "seen twice", Rule: Rule{ID: "A-1"}}, ann.key, "a.proposal")
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, reply, err := desk.Review(t.Context(), "a.proposal")
	if err != nil || !reply.Admitted || p.Key != ann.public || len(gate) != 1 || gate[0].Content != "wrap errors" || gate[0].By != p.By() {
		t.Fatalf("%+v %+v %v, %+v", p, reply, err, gate)
	}
	for name, raw := range map[string][]byte{
		"altered":             rewritten(t, good, "wrap errors", "drop errors"),
		"under another's key": rewritten(t, good, ann.public, acme.public),
		"a release":           acme.release(1, nil, "A-1"),
		"nothing":             []byte("{}"),
	} {
		if err := os.WriteFile(filepath.Join(desk.Dir, "bad"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := desk.Review(t.Context(), "bad"); !errors.Is(err, ErrForm) && !errors.Is(err, ErrSignature) || len(gate) != 1 {
			t.Errorf("%s: %v, %d before the gate", name, err, len(gate))
		}
	}
	if _, _, err := Open(good, nil); !errors.Is(err, ErrForm) || !strings.Contains(err.Error(), "no release") {
		t.Errorf("a proposal taken for a release: %v", err)
	}
}
