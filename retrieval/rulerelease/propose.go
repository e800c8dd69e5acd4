package rulerelease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit/attest"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// Proposal is a rule that a member offers to who releases. What becomes of it their
// reviewers say; it comes back in a release, or not.
type Proposal struct {
	To     string    `json:"to"` // whose releases
	Made   time.Time `json:"made"`
	Key    string    `json:"key"` // public, of who proposes
	Reason string    `json:"reason"`
	Rule   Rule      `json:"rule"`
}

// By names who signed it, as far as their key says.
func (p Proposal) By() string { name, _, _ := strings.Cut(p.Key, "+"); return name }

// Check returns ErrForm for one that says too little.
func (p Proposal) Check() error {
	if p.To == "" || p.Rule.ID == "" || strings.TrimSpace(p.Rule.Content) == "" || strings.TrimSpace(p.Reason) == "" {
		return fmt.Errorf("%w: a proposal names whose releases it is for, a rule, and a reason", ErrForm)
	}
	return nil
}

// SealProposal signs a proposal under the key of who proposes.
func SealProposal(p Proposal, key string) (json.RawMessage, error) {
	signer, public, err := evidence.ReadKey(key)
	if err != nil {
		return nil, err
	}
	p.Key = public
	if err := p.Check(); err != nil {
		return nil, err
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	return attest.Seal(ProposalType, payload, signer)
}

// OpenProposal returns what was proposed, signed under the key that it names. Whose
// key that is, who reviews knows.
func OpenProposal(raw []byte) (p Proposal, err error) {
	payload, _, err := attest.Unseal(ProposalType, raw, nil)
	if !errors.Is(err, attest.ErrSignature) {
		return p, fmt.Errorf("%w: no proposal: %w", ErrForm, err)
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return p, fmt.Errorf("%w: %w", ErrForm, err)
	}
	key, err := note.NewVerifier(p.Key)
	if err == nil {
		_, _, err = attest.Unseal(ProposalType, raw, []note.Verifier{key})
	}
	if err != nil {
		return Proposal{}, fmt.Errorf("%w: the proposal of %s was altered", ErrSignature, p.Rule.ID)
	}
	return p, p.Check()
}

// Proposals is where a person offers rules, and reviews those that are offered.
type Proposals struct {
	Desk
	Export  func(context.Context, schemas.RuleExportRequest) (schemas.RuleExportPage, error)
	Propose func(context.Context, schemas.RuleProposeRequest) (schemas.RuleProposeReply, error)
}

// Write offers a rule of this machine to those whose releases are followed here.
func (d Proposals) Write(ctx context.Context, p Proposal, key, out string) (path string, err error) {
	page, err := d.Export(ctx, schemas.RuleExportRequest{ID: p.Rule.ID})
	if err != nil {
		return "", err
	}
	if len(page.Files) != 1 {
		return "", fmt.Errorf("there is no rule %s here", p.Rule.ID)
	}
	p.Rule.Path, p.Rule.Content = page.Files[0].Path, page.Files[0].Content
	raw, err := SealProposal(p, key)
	if err != nil {
		return "", err
	}
	path = d.absolute(out)
	return path, atomicfile.Write(path, append(raw, '\n'), 0o644)
}

// Review brings a proposal before the structural gate here, under the name of who
// signed it. What that admits is provisional, and a person's to promote.
func (d Proposals) Review(ctx context.Context, file string) (p Proposal, reply schemas.RuleProposeReply, err error) {
	raw, err := readFile(d.absolute(file))
	if err == nil {
		p, err = OpenProposal(raw)
	}
	if err == nil {
		reply, err = d.Propose(ctx, schemas.RuleProposeRequest{Path: p.Rule.Path, Content: p.Rule.Content, By: p.By()})
	}
	return p, reply, err
}
