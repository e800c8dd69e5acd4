package rule

import (
	"github.com/writbus/writ/schemas"
)

// Status says what became of a rule. Persisted; never rename one.
type Status string

// The states of a rule. A rule without events has none.
const (
	Active   Status = "active"   // in the corpus
	Retired  Status = "retired"  // taken out; its history stays
	Refused  Status = "refused"  // proposed and not admitted
	Rejected Status = "rejected" // admitted as a proposal, turned down by a person
)

// The ladders of authority and confidence. Persisted; never rename a rung.
const (
	authorityHuman    = "human"
	authorityPromoted = "ai-promoted"

	confidenceSpeculative = "speculative"
	confidencePeer        = "peer-reviewed"
)

// confidences is from the strongest claim to the weakest.
var confidences = []string{"battle-tested", "production-validated", confidencePeer, confidenceSpeculative}

const edgeSupersedes = "SUPERSEDES"

// State is a rule as its events leave it. Rule.Authority and Rule.Confidence are
// those that hold. It is stored as JSON.
type State struct {
	Rule      schemas.Rule `json:"rule"`
	Status    Status       `json:"status"`
	Source    string       `json:"source,omitempty"` // of the last import
	Hash      string       `json:"hash,omitempty"`   // of the last import
	Revisions int          `json:"revisions"`        // events so far
	// Edited says that a person changed the rule after its last import.
	Edited bool `json:"edited,omitempty"`
	// Pruned says that Writ itself took the rule out, not a person: what its source
	// has again is in force again.
	Pruned bool `json:"pruned,omitempty"`
	// Content is the file that Rule was last read from, "" where there was none.
	Content string `json:"content,omitempty"`
	// Incomplete names what keeps a proposal from being promoted.
	Incomplete []string            `json:"incomplete,omitempty"`
	Neighbours []schemas.Neighbour `json:"neighbours,omitempty"` // of a proposal
	By         string              `json:"by,omitempty"`         // who proposed it
	// Reasons are those of the last retirement, rejection or refusal.
	Reasons []string `json:"reasons,omitempty"`
	// Released are the rules of this id that releases brought. All else is of this
	// machine; Given tells which one holds.
	Released []Released `json:"released,omitempty"`
	// Last is where the rule last changed.
	Last schemas.Position `json:"last"`
}

// Unknown is the state of a rule before its first event.
func Unknown(id string) State { return State{Rule: schemas.Rule{ID: id}} }

// Exists says that the rule has content, in force or not.
func (s State) Exists() bool { return s.Status != "" && s.Rule.ID != "" && s.Rule.Statement != "" }

// InForce says that the rule has content and is in the corpus.
func (s State) InForce() bool { return s.Exists() && s.Status == Active }

// Proposal says that no person has taken the rule up yet.
func (s State) Proposal() bool { return s.Rule.Proposed() }

// Promoted says that a person took up what was proposed.
func (s State) Promoted() bool { return s.Rule.Authority == authorityPromoted }

// Standing is what the views keep of a state: the rule, and whether agents are shown
// it and judged by it.
func (s State) Standing() (r schemas.Rule, shown bool) {
	g := s.Given()
	return g.Rule, g.Status == Active && !g.Proposal()
}

// Origin is the source of the last import, and the number of the last revision.
func (s State) Origin() (source string, revisions int) { return s.Source, s.Revisions }

// touched says that somebody besides Writ's own import changed the rule.
func (s State) touched() bool {
	return s.Status != "" && (s.Source != SourceShipped || s.Edited || s.Status != Active && !s.Pruned)
}
