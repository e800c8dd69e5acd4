package curation

import (
	"cmp"
	"slices"

	"github.com/writbus/writ/schemas"
)

// Check names a check of the structural gate; persisted in findings, never
// rename one.
type Check string

// The checks. CheckIdentity is not one of the five: it refuses a taken id.
const (
	CheckSchema      Check = "schema"
	CheckMechanical  Check = "mechanical_path"
	CheckSpecificity Check = "specificity"
	CheckRedundancy  Check = "redundancy"
	CheckConflict    Check = "conflict"
	CheckIdentity    Check = "identity"
)

// Checks lists the checks in the order in which reasons are given.
func Checks() []Check {
	return []Check{CheckIdentity, CheckSchema, CheckMechanical, CheckSpecificity, CheckRedundancy, CheckConflict}
}

// Reason is why a check failed.
type Reason struct {
	Check Check    `json:"check"`
	Field string   `json:"field,omitempty"` // of the front matter, "" for the whole node
	IDs   []string `json:"ids,omitempty"`   // the other nodes it is about
	Text  string   `json:"text"`            // for a person: what is wrong and what to do
}

// Finding is what the gate makes of a proposal.
type Finding struct {
	// Node is the proposal as it is to be kept, admitted or not: authority and
	// confidence are the lowest, whatever it claimed, and what was blank is
	// missing.
	Node     schemas.Rule `json:"node"`
	Admitted bool         `json:"admitted"`
	// Reasons are all there are, ordered by check, field and text.
	Reasons []Reason `json:"reasons,omitempty"`
	// Incomplete lists the fields that must be filled before promotion. They
	// keep no proposal out.
	Incomplete []string `json:"incomplete,omitempty"`
	// Neighbours are the existing nodes at or above the neighbour threshold,
	// nearest first.
	Neighbours []Similar `json:"neighbours,omitempty"`
	// Supersedes lists what the proposal will take out of retrieval if a person
	// promotes it. Until then it takes out nothing.
	Supersedes []string `json:"supersedes,omitempty"`
}

// Similar is an existing node and its cosine to the proposal.
type Similar struct {
	ID     string  `json:"id"`
	Cosine float64 `json:"cosine"`
}

// Texts are the reasons as an event keeps them: "check: text".
func (f Finding) Texts() []string {
	var texts []string
	for _, r := range f.Reasons {
		texts = append(texts, string(r.Check)+": "+r.Text)
	}
	return texts
}

// ordered sorts reasons and drops what is said twice.
func ordered(reasons []Reason) []Reason {
	order := Checks()
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(
			cmp.Compare(slices.Index(order, a.Check), slices.Index(order, b.Check)),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Text, b.Text), slices.Compare(a.IDs, b.IDs),
		)
	})
	return slices.CompactFunc(reasons, func(a, b Reason) bool {
		return a.Check == b.Check && a.Field == b.Field && a.Text == b.Text
	})
}
