package schemas

import (
	"encoding/json"
	"fmt"
)

func registerRule(add func(Type, definition)) {
	add(define[RuleImported](KindRule, unchanged, unchanged, unchanged))
	add(define[RuleEdited](KindRule, unchanged, unchanged))
	add(define[RuleRetired](KindRule, unchanged))
	add(define[RuleProposed](KindRule, unchanged, unchanged))
	add(define[RulePromoted](KindRule, unchanged))
	add(define[RuleRejected](KindRule, unchanged))
	add(define[RuleDownweighted](KindRule, unchanged))
	add(define[OutcomeRecorded](KindRule, unchanged))
	add(define[ReleaseFollowed](KindArtifact))
	add(define[ReleaseTaken](KindArtifact, unchanged))
	add(define[ReleaseLeft](KindArtifact))
}

// Edge points from a rule to another node.
type Edge struct {
	Type   string `json:"type" yaml:"type"` // DEPENDS_ON, RELATED_TO, …
	Target string `json:"target" yaml:"target"`
}

// unchanged is the upcast of a version that only gained optional fields.
func unchanged(raw json.RawMessage) (json.RawMessage, error) { return raw, nil }

// Rule is one node of the knowledge graph, most often a rule: what all nodes
// share, and for every other type the field of its name. Field names are those
// of its front matter. For a node that is no rule, Trigger says when it is
// wanted and Statement what it is about.
type Rule struct {
	Type        NodeType `json:"type,omitempty" yaml:"type,omitempty"` // "" is Rule
	ID          string   `json:"id" yaml:"id"`
	Title       string   `json:"title,omitempty" yaml:"title,omitempty"`
	Domain      string   `json:"domain,omitempty" yaml:"domain,omitempty"`     // go, python, security, …; "" is every domain
	Severity    string   `json:"severity" yaml:"severity"`                     // critical, high, medium, low
	Scope       string   `json:"scope,omitempty" yaml:"scope,omitempty"`       // line, function, file, module, project
	Trigger     string   `json:"trigger" yaml:"trigger"`                       // WHEN
	Statement   string   `json:"statement" yaml:"statement"`                   // RULE
	Symptoms    []string `json:"symptoms,omitempty" yaml:"symptoms,omitempty"` // how someone who does not know the rule describes the trouble
	Violation   string   `json:"violation,omitempty" yaml:"violation,omitempty"`
	PassExample string   `json:"pass_example,omitempty" yaml:"pass_example,omitempty"`
	Enforcement string   `json:"enforcement,omitempty" yaml:"enforcement,omitempty"`
	Rationale   string   `json:"rationale,omitempty" yaml:"rationale,omitempty"`
	Tags        []string `json:"tags,omitempty" yaml:"tags,omitempty"`
	Mandatory   bool     `json:"mandatory,omitempty" yaml:"mandatory,omitempty"`
	AlwaysOn    bool     `json:"always_on,omitempty" yaml:"always_on,omitempty"` // shown with every prompt without being mandatory
	// MechanicalEnforcementPath names what enforces a mandatory rule: a gate,
	// a linter's rule, a script.
	MechanicalEnforcementPath string   `json:"mechanical_enforcement_path,omitempty" yaml:"mechanical_enforcement_path,omitempty"`
	Check                     *Check   `json:"check,omitempty" yaml:"check,omitempty"`
	Confidence                string   `json:"confidence,omitempty" yaml:"confidence,omitempty"` // battle-tested, production-validated, peer-reviewed, speculative
	Authority                 string   `json:"authority,omitempty" yaml:"authority,omitempty"`   // human, ai-provisional, ai-promoted
	LastValidated             string   `json:"last_validated,omitempty" yaml:"last_validated,omitempty"`
	StalenessWindow           int      `json:"staleness_window,omitempty" yaml:"staleness_window,omitempty"` // days after LastValidated, 0 is 365
	Evidence                  []string `json:"evidence,omitempty" yaml:"evidence,omitempty"`                 // incidents, commits, papers
	RationalizationCounters   []string `json:"rationalization_counters,omitempty" yaml:"rationalization_counters,omitempty"`
	RedFlagThoughts           []string `json:"red_flag_thoughts,omitempty" yaml:"red_flag_thoughts,omitempty"`
	Edges                     []Edge   `json:"edges,omitempty" yaml:"edges,omitempty"`
	Body                      string   `json:"body,omitempty" yaml:"-"` // Markdown after the front matter

	Abstraction       *Abstraction       `json:"abstraction,omitempty" yaml:"abstraction,omitempty"`
	Skill             *Skill             `json:"skill,omitempty" yaml:"skill,omitempty"`
	Playbook          *Playbook          `json:"playbook,omitempty" yaml:"playbook,omitempty"`
	Technique         *Technique         `json:"technique,omitempty" yaml:"technique,omitempty"`
	AntiPattern       *AntiPattern       `json:"anti_pattern,omitempty" yaml:"anti_pattern,omitempty"`
	ForbiddenResponse *ForbiddenResponse `json:"forbidden_response,omitempty" yaml:"forbidden_response,omitempty"`
	Phase             *Phase             `json:"phase,omitempty" yaml:"phase,omitempty"`
	Rationalization   *Rationalization   `json:"rationalization,omitempty" yaml:"rationalization,omitempty"`
	PressureScenario  *PressureScenario  `json:"pressure_scenario,omitempty" yaml:"pressure_scenario,omitempty"`
	WorkedExample     *WorkedExample     `json:"worked_example,omitempty" yaml:"worked_example,omitempty"`
	SubagentRole      *SubagentRole      `json:"subagent_role,omitempty" yaml:"subagent_role,omitempty"`
	Category          *Category          `json:"category,omitempty" yaml:"category,omitempty"`
}

// Validate requires id, severity, trigger and statement, and of a node that is
// no rule the fields of its type.
func (r Rule) Validate() error {
	if err := require("id", r.ID, "severity", r.Severity, "trigger", r.Trigger, "statement", r.Statement); err != nil {
		return err
	}
	return r.checkDetail()
}

// RuleImported records a rule as a corpus brought it. The same content is not
// imported twice: Hash tells.
type RuleImported struct {
	Rule   Rule   `json:"rule"`
	Source string `json:"source"` // "embedded", or the file's path
	Hash   string `json:"hash"`   // SHA-256 of the file, hex
	// Content is the file as it was written, so that an export gives back the
	// same bytes. Empty where the rule did not come as a file.
	Content string `json:"content,omitempty"`
	// Release is the one that brought it; nil for a file of this machine.
	Release *Release `json:"release,omitempty"`
}

// EventType names the event "rule.imported".
func (RuleImported) EventType() Type { return "rule.imported" }

// Check requires a whole rule and its hash.
func (p RuleImported) Check() error {
	if err := require("hash", p.Hash); err != nil {
		return err
	}
	return p.Rule.Validate()
}

// RuleEdited records a person's change, as the whole new rule.
type RuleEdited struct {
	Rule    Rule   `json:"rule"`
	Reason  string `json:"reason,omitempty"`
	Content string `json:"content,omitempty"` // the file as it was written
	// Restores is the revision that this edit brings back, 0 for a change of
	// another kind. It brings a retired rule back, too.
	Restores int `json:"restores,omitempty"`
}

// EventType names the event "rule.edited".
func (RuleEdited) EventType() Type { return "rule.edited" }

// Check requires a whole rule.
func (p RuleEdited) Check() error { return p.Rule.Validate() }

// RuleRetired takes a rule out of retrieval; its history stays.
type RuleRetired struct {
	Reason string `json:"reason"`
	// Release is whose rule is taken out; nil for the one of this machine.
	Release *Release `json:"release,omitempty"`
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
	Session  string   `json:"session,omitempty"` // that proposed it
	Admitted bool     `json:"admitted"`
	Reasons  []string `json:"reasons,omitempty"` // of a refusal, all of them
	// Incomplete names what is missing before the proposal can be promoted.
	Incomplete []string `json:"incomplete,omitempty"`
	// Neighbours are the nodes it resembles most, as the gate saw them.
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	Content    string      `json:"content,omitempty"` // the file as it was written
}

// Neighbour is a node close in meaning to another.
type Neighbour struct {
	ID         string  `json:"id"`
	Similarity float64 `json:"similarity"` // cosine of the embedder in use
}

// EventType names the event "rule.proposed".
func (RuleProposed) EventType() Type { return "rule.proposed" }

// RulePromoted records that a person took a proposal over.
type RulePromoted struct {
	Reason string  `json:"reason,omitempty"`
	Signed *Signed `json:"signed,omitempty"` // by the person, at the terminal
}

// EventType names the event "rule.promoted".
func (RulePromoted) EventType() Type { return "rule.promoted" }

// Signature implements PersonAct.
func (p RulePromoted) Signature() *Signed { return p.Signed }

// ActDigest implements PersonAct.
func (RulePromoted) ActDigest() string { return "" }

// RuleRejected records that a person turned a proposal down.
type RuleRejected struct {
	Reason string  `json:"reason,omitempty"`
	Signed *Signed `json:"signed,omitempty"` // by the person, at the terminal
}

// EventType names the event "rule.rejected".
func (RuleRejected) EventType() Type { return "rule.rejected" }

// Signature implements PersonAct.
func (p RuleRejected) Signature() *Signed { return p.Signed }

// ActDigest implements PersonAct.
func (RuleRejected) ActDigest() string { return "" }

// RuleDownweighted records that a person trusts a rule less than it claims.
type RuleDownweighted struct {
	Confidence string  `json:"confidence"` // the one that holds now
	Reason     string  `json:"reason"`
	Signed     *Signed `json:"signed,omitempty"` // by the person, at the terminal
}

// EventType names the event "rule.downweighted".
func (RuleDownweighted) EventType() Type { return "rule.downweighted" }

// Signature implements PersonAct.
func (p RuleDownweighted) Signature() *Signed { return p.Signed }

// ActDigest implements PersonAct.
func (RuleDownweighted) ActDigest() string { return "" }

// Check requires the confidence and a reason.
func (p RuleDownweighted) Check() error {
	return require("confidence", p.Confidence, "reason", p.Reason)
}

// OutcomeRecorded says what came of a rule that was shown.
type OutcomeRecorded struct {
	Session  string `json:"session,omitempty"` // whose outcome it is; the first five of a session count
	Positive bool   `json:"positive"`          // followed, or rationalised away
	Evidence string `json:"evidence"`          // check_passed, check_failed, fixed, left, read, feedback, imported
	Detail   string `json:"detail,omitempty"`
	// Count is how many outcomes this one stands for, as an imported corpus
	// counted them; 0 is one.
	Count int `json:"count,omitempty"`
}

// EventType names the event "outcome.recorded".
func (OutcomeRecorded) EventType() Type { return "outcome.recorded" }

// Check requires evidence.
func (p OutcomeRecorded) Check() error {
	if p.Count < 0 {
		return fmt.Errorf("%w: count is negative", ErrMalformed)
	}
	return require("evidence", p.Evidence)
}

// Layers of rules, the nearest last (persisted; never change). A nearer layer's rule
// is given in the place of a farther one's of the same id, unless a release says that
// its own is mandatory.
const (
	LayerShipped      = "shipped"
	LayerOrganisation = "organisation"
	LayerTeam         = "team"
	LayerProject      = "project"
	LayerPerson       = "person"
)

// Layers are all of them, the farthest first.
func Layers() []string {
	return []string{LayerShipped, LayerOrganisation, LayerTeam, LayerProject, LayerPerson}
}

// Whose says for people whose rules a layer has, "" for those that are shipped.
func Whose(layer, owner string) string {
	switch layer {
	case LayerShipped:
		return ""
	case LayerPerson:
		return "yours"
	}
	return layer + " " + owner
}

// Release names one signed release of an organisation or a team.
type Release struct {
	Name   string `json:"name"`   // whose it is, as in the release
	Layer  string `json:"layer"`  // LayerOrganisation or LayerTeam
	Number int    `json:"number"` // from 1, rising
}

// Text is the release as decisions name it.
func (r Release) Text() string { return fmt.Sprintf("%s@%d", r.Name, r.Number) }

// Releases is the aggregate of what this log follows, and of what it took of it.
func Releases() Aggregate { return Aggregate{KindArtifact, "releases"} }

// ReleaseTerms are what a release says besides its rules.
type ReleaseTerms struct {
	// Until is its last day, YYYY-MM-DD in UTC, "" for none. After it the release is
	// not taken, and its persons and policies do not count.
	Until string `json:"until,omitempty"`
	// Revoked are earlier releases that nobody is to take.
	Revoked []RevokedRelease `json:"revoked,omitempty"`
	// Persons are the public keys of those whose approvals count where two are needed.
	Persons  []string        `json:"persons,omitempty"`
	Policies []ReleasePolicy `json:"policies,omitempty"`
}

// RevokedRelease is one that its maintainers took back.
type RevokedRelease struct {
	Number int    `json:"number"`
	Reason string `json:"reason"`
}

// ReleasePolicy is what agents may write in one project where nobody approves: on
// machines whose settings name it, as in CI.
type ReleasePolicy struct {
	Name       string   `json:"name"`
	Repository string   `json:"repository"`       // host and path, as of Repository.Remote
	Folder     string   `json:"folder,omitempty"` // the project's, in the repository
	Write      []string `json:"write"`            // patterns of files, from the project's folder
}

// ReleaseFollowed records that a person pinned the key of who releases rules.
type ReleaseFollowed struct {
	Name  string `json:"name"`
	Layer string `json:"layer"`
	Key   string `json:"key"`   // the public one, "NAME+HASH+BASE64"
	Place string `json:"place"` // where releases are found: an absolute path, or a URL
}

// EventType names the event "release.followed".
func (ReleaseFollowed) EventType() Type { return "release.followed" }

// Check requires whose it is, and the key.
func (p ReleaseFollowed) Check() error {
	return require("name", p.Name, "layer", p.Layer, "key", p.Key)
}

// ReleaseTaken records a release whose signature holds, before its rules come in.
type ReleaseTaken struct {
	Release Release `json:"release"`
	Digest  string  `json:"digest"` // SHA-256 of what is signed, hex
	Rules   int     `json:"rules"`
	// Tombstones is how many rules of earlier ones it takes out.
	Tombstones int `json:"tombstones,omitempty"`
	// Terms are what it says besides.
	Terms ReleaseTerms `json:"terms,omitzero"`
}

// EventType names the event "release.taken".
func (ReleaseTaken) EventType() Type { return "release.taken" }

// Check requires the release and its digest.
func (p ReleaseTaken) Check() error {
	return require("name", p.Release.Name, "digest", p.Digest)
}

// ReleaseLeft records that a person follows no more; what came is taken out.
type ReleaseLeft struct {
	Name string `json:"name"`
}

// EventType names the event "release.left".
func (ReleaseLeft) EventType() Type { return "release.left" }

// Check requires whose it was.
func (p ReleaseLeft) Check() error { return require("name", p.Name) }
