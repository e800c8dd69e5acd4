package schemas

func registerRule(add func(Type, definition)) {
	add(define[RuleImported](KindRule))
	add(define[RuleEdited](KindRule))
	add(define[RuleRetired](KindRule))
	add(define[RuleProposed](KindRule))
	add(define[RulePromoted](KindRule))
	add(define[RuleRejected](KindRule))
	add(define[OutcomeRecorded](KindRule))
}

// Edge points from a rule to another node.
type Edge struct {
	Type   string `json:"type" yaml:"type"` // DEPENDS_ON, RELATED_TO, …
	Target string `json:"target" yaml:"target"`
}

// Rule is one node of the corpus that can be retrieved. Field names are those
// of its front matter.
type Rule struct {
	ID            string   `json:"id" yaml:"id"`
	Title         string   `json:"title,omitempty" yaml:"title,omitempty"`
	Domain        string   `json:"domain,omitempty" yaml:"domain,omitempty"`     // go, python, security, …; "" is every domain
	Severity      string   `json:"severity" yaml:"severity"`                     // critical, high, medium, low
	Scope         string   `json:"scope,omitempty" yaml:"scope,omitempty"`       // line, function, file, module, project
	Trigger       string   `json:"trigger" yaml:"trigger"`                       // WHEN
	Statement     string   `json:"statement" yaml:"statement"`                   // RULE
	Symptoms      []string `json:"symptoms,omitempty" yaml:"symptoms,omitempty"` // how someone who does not know the rule describes the trouble
	Violation     string   `json:"violation,omitempty" yaml:"violation,omitempty"`
	PassExample   string   `json:"pass_example,omitempty" yaml:"pass_example,omitempty"`
	Enforcement   string   `json:"enforcement,omitempty" yaml:"enforcement,omitempty"`
	Rationale     string   `json:"rationale,omitempty" yaml:"rationale,omitempty"`
	Tags          []string `json:"tags,omitempty" yaml:"tags,omitempty"`
	Mandatory     bool     `json:"mandatory,omitempty" yaml:"mandatory,omitempty"`
	Confidence    string   `json:"confidence,omitempty" yaml:"confidence,omitempty"` // battle-tested, production-validated, peer-reviewed, speculative
	Authority     string   `json:"authority,omitempty" yaml:"authority,omitempty"`   // human, ai-provisional, ai-promoted
	LastValidated string   `json:"last_validated,omitempty" yaml:"last_validated,omitempty"`
	Edges         []Edge   `json:"edges,omitempty" yaml:"edges,omitempty"`
	Body          string   `json:"body,omitempty" yaml:"-"` // Markdown after the front matter
}

// Check requires id, severity, trigger and statement.
func (r Rule) Check() error {
	return require("id", r.ID, "severity", r.Severity, "trigger", r.Trigger, "statement", r.Statement)
}

// RuleImported records a rule as a corpus brought it. The same content is not
// imported twice: Hash tells.
type RuleImported struct {
	Rule   Rule   `json:"rule"`
	Source string `json:"source"` // "embedded", or the file's path
	Hash   string `json:"hash"`   // SHA-256 of the file, hex
}

// EventType names the event "rule.imported".
func (RuleImported) EventType() Type { return "rule.imported" }

// Check requires a whole rule and its hash.
func (p RuleImported) Check() error {
	if err := require("hash", p.Hash); err != nil {
		return err
	}
	return p.Rule.Check()
}

// RuleEdited records a person's change, as the whole new rule.
type RuleEdited struct {
	Rule   Rule   `json:"rule"`
	Reason string `json:"reason,omitempty"`
}

// EventType names the event "rule.edited".
func (RuleEdited) EventType() Type { return "rule.edited" }

// Check requires a whole rule.
func (p RuleEdited) Check() error { return p.Rule.Check() }

// RuleRetired takes a rule out of retrieval; its history stays.
type RuleRetired struct {
	Reason string `json:"reason"`
}

// EventType names the event "rule.retired".
func (RuleRetired) EventType() Type { return "rule.retired" }

// Check requires a reason.
func (p RuleRetired) Check() error { return require("reason", p.Reason) }

// RuleProposed records a proposal, admitted or not, with what the structural
// gate found.
type RuleProposed struct {
	Rule     Rule     `json:"rule"`
	By       string   `json:"by,omitempty"`
	Admitted bool     `json:"admitted"`
	Reasons  []string `json:"reasons,omitempty"` // of a refusal
}

// EventType names the event "rule.proposed".
func (RuleProposed) EventType() Type { return "rule.proposed" }

// RulePromoted records that a person took a proposal over.
type RulePromoted struct {
	Reason string `json:"reason,omitempty"`
}

// EventType names the event "rule.promoted".
func (RulePromoted) EventType() Type { return "rule.promoted" }

// RuleRejected records that a person turned a proposal down.
type RuleRejected struct {
	Reason string `json:"reason,omitempty"`
}

// EventType names the event "rule.rejected".
func (RuleRejected) EventType() Type { return "rule.rejected" }

// OutcomeRecorded says what came of a rule that was shown.
type OutcomeRecorded struct {
	Session  string `json:"session,omitempty"` // whose outcome it is; the first five of a session count
	Positive bool   `json:"positive"`          // followed, or rationalised away
	Evidence string `json:"evidence"`          // check_passed, check_failed, fixed, left, feedback
	Detail   string `json:"detail,omitempty"`
}

// EventType names the event "outcome.recorded".
func (OutcomeRecorded) EventType() Type { return "outcome.recorded" }

// Check requires evidence.
func (p OutcomeRecorded) Check() error { return require("evidence", p.Evidence) }
