package schemas

import (
	"encoding/json"
	"time"
)

// Subjects of the services that change and judge rules. Persisted; never
// change.
const (
	SvcRuleChange   = "writ.svc.rule.change"   // RuleChangeRequest → RuleChangeReply; admin
	SvcRulePropose  = "writ.svc.rule.propose"  // RuleProposeRequest → RuleProposeReply
	SvcRuleFeedback = "writ.svc.rule.feedback" // RuleFeedbackRequest, with a session → RuleFeedbackReply
	SvcRuleVerdict  = "writ.svc.rule.verdict"  // RuleFeedbackRequest of a person → RuleFeedbackReply; admin
	SvcRuleLog      = "writ.svc.rule.log"      // RuleQuery → RuleLog
	SvcRuleExport   = "writ.svc.rule.export"   // RuleExportRequest → RuleExportPage
	SvcRuleValidate = "writ.svc.rule.validate" // RuleValidateRequest → RuleValidateReply
	SvcRuleReview   = "writ.svc.rule.review"   // RuleQuery → RuleReviewList
	SvcRuleStats    = "writ.svc.rule.stats"    // RuleQuery → RuleStatsList
	SvcRuleCompress = "writ.svc.rule.compress" // RuleCompressRequest → RuleCompressReply; admin
	SvcRuleSymptoms = "writ.svc.rule.symptoms" // RuleSymptomsRequest → RuleSymptomsReply; admin
	SvcRelease      = "writ.svc.rule.release"  // ReleaseRequest → ReleaseReply; admin
	SvcCheck        = "writ.svc.check"         // CheckRequest → CheckReply
)

// Acts on a rule. Persisted in scripts; never change.
const (
	RuleAdd        = "add"        // a new rule; an id that exists is refused
	RuleEdit       = "edit"       // another content for an existing rule
	RuleRetire     = "retire"     // out of retrieval; the history stays
	RuleRevert     = "revert"     // back to the content of revision To
	RulePromote    = "promote"    // take a proposal over
	RuleReject     = "reject"     // turn a proposal down
	RuleDownweight = "downweight" // trust it one step less
	RuleDescribe   = "describe"   // add symptoms that a person accepted
)

// RuleSymptomsRequest asks for symptoms that rules lack. Nothing is changed:
// what a person accepts of them is brought in by the act RuleDescribe.
type RuleSymptomsRequest struct {
	IDs []string `json:"ids,omitempty"` // none: every rule in force that has no symptom
	// Ask has the configured model write them, from the rule alone; it takes one id.
	Ask bool `json:"ask,omitempty"`
}

// RuleSymptomsReply lists the proposals by id.
type RuleSymptomsReply struct {
	Rules []RuleSymptoms `json:"rules"`
}

// RuleSymptoms are proposed for one rule. A person leaves in those that are right.
type RuleSymptoms struct {
	ID       string   `json:"id" yaml:"id"`
	Title    string   `json:"title,omitempty" yaml:"title,omitempty"`
	Revision int      `json:"revision" yaml:"revision"` // they were written for
	Symptoms []string `json:"symptoms" yaml:"symptoms"`
}

// RuleChangeRequest is a person's act on one rule.
type RuleChangeRequest struct {
	Act     string `json:"act"`
	ID      string `json:"id,omitempty"`      // not for add, whose content has it
	Path    string `json:"path,omitempty"`    // names the content in errors
	Content string `json:"content,omitempty"` // the rule file, of add and edit
	Reason  string `json:"reason,omitempty"`  // required of retire, reject and downweight
	To      int    `json:"to,omitempty"`      // revision, of revert
	// Symptoms are those to add, of describe.
	Symptoms []string `json:"symptoms,omitempty"`
	// Seen is the revision the person looked at: another one now is a conflict.
	// 0 does not ask.
	Seen int `json:"seen,omitempty"`
	// Signed is the person's, of promote, reject and downweight.
	Signed *Signed `json:"signed,omitempty"`
}

// RuleChangeReply says what became of the rule.
type RuleChangeReply struct {
	ID       string   `json:"id"`
	Revision int      `json:"revision"`
	Message  string   `json:"message"`
	Problems []string `json:"problems,omitempty"` // why nothing was changed
	Warnings []string `json:"warnings,omitempty"`
}

// RuleProposeRequest proposes one rule, as a file.
type RuleProposeRequest struct {
	Path    string `json:"path,omitempty"`
	Content string `json:"content"`
	By      string `json:"by,omitempty"`
	Session string `json:"session,omitempty"`
}

// RuleProposeReply is the structural gate's verdict.
type RuleProposeReply struct {
	ID         string      `json:"id,omitempty"`
	Admitted   bool        `json:"admitted"`
	Reasons    []string    `json:"reasons,omitempty"`    // of a refusal, all of them
	Incomplete []string    `json:"incomplete,omitempty"` // what it lacks before promotion
	Neighbours []Neighbour `json:"neighbours,omitempty"`
}

// RuleFeedbackRequest says what came of a rule that a session was shown.
type RuleFeedbackRequest struct {
	ID       string `json:"id"`
	Followed bool   `json:"followed"` // false: rationalised away
	Session  string `json:"session,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// RuleFeedbackReply is the rule's record after the outcome.
type RuleFeedbackReply struct {
	ID       string  `json:"id"`
	Counted  bool    `json:"counted"` // false: the session has had its share
	Positive int     `json:"positive"`
	Negative int     `json:"negative"`
	Weight   float64 `json:"weight"`
}

// RuleLogEntry is one revision with what it changed.
type RuleLogEntry struct {
	Revision int       `json:"revision"`
	Type     Type      `json:"type"`
	Position Position  `json:"position"`
	Time     time.Time `json:"time"`
	Actor    string    `json:"actor,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Diff     string    `json:"diff,omitempty"` // against the revision before
}

// RuleLog is a rule's history, oldest first.
type RuleLog struct {
	ID      string         `json:"id"`
	Entries []RuleLogEntry `json:"entries"`
}

// RuleExportRequest asks for rules as files, a page at a time.
type RuleExportRequest struct {
	ID    string `json:"id,omitempty"`    // only this one
	After string `json:"after,omitempty"` // path of the last one had
	Limit int    `json:"limit,omitempty"` // files; 0: 5,000
}

// RuleExportPage is sorted by path.
type RuleExportPage struct {
	Files []RuleFile `json:"files"`
	Next  string     `json:"next,omitempty"` // After of the next page, "" at the end
}

// RuleValidateRequest asks for the corpus's problems, as it is or as it would
// be with the files.
type RuleValidateRequest struct {
	Files []RuleFile `json:"files,omitempty"` // instead of the corpus
}

// RuleFinding is one problem of a corpus.
type RuleFinding struct {
	Severity string `json:"severity"` // error or warning
	Check    string `json:"check"`
	ID       string `json:"id,omitempty"`
	Path     string `json:"path,omitempty"`
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text"`
}

// RuleValidateReply lists errors before warnings.
type RuleValidateReply struct {
	Nodes    int           `json:"nodes"`
	Edges    int           `json:"edges"`
	Findings []RuleFinding `json:"findings"`
}

// RuleReviewItem is one thing a person should look at.
type RuleReviewItem struct {
	Why        string      `json:"why"` // proposal, flagged
	Rule       Rule        `json:"rule"`
	By         string      `json:"by,omitempty"`
	Since      time.Time   `json:"since,omitzero"`
	Revision   int         `json:"revision"`
	Incomplete []string    `json:"incomplete,omitempty"`
	Neighbours []Neighbour `json:"neighbours,omitempty"`
	// Near holds the neighbours whole, to be read beside the rule.
	Near     []Rule `json:"near,omitempty"`
	Positive int    `json:"positive,omitempty"`
	Negative int    `json:"negative,omitempty"`
}

// RuleReviewList is oldest first.
type RuleReviewList struct {
	Items []RuleReviewItem `json:"items"`
}

// RuleStats is what outcomes made of a rule.
type RuleStats struct {
	ID         string  `json:"id"`
	Confidence string  `json:"confidence"`
	Authority  string  `json:"authority,omitempty"`
	Positive   int     `json:"positive"`
	Negative   int     `json:"negative"`
	Ignored    int     `json:"ignored"` // beyond a session's share
	Weight     float64 `json:"weight"`
	Graduated  bool    `json:"graduated,omitempty"`
	Flagged    bool    `json:"flagged,omitempty"`
}

// RuleStatsList is sorted by number of outcomes, most first, then by id.
type RuleStatsList struct {
	Rules      []RuleStats    `json:"rules"`
	ByStatus   map[string]int `json:"by_status"`
	Proposed   int            `json:"proposed"` // ever, admitted or not
	Admitted   int            `json:"admitted"`
	Promoted   int            `json:"promoted"`
	Rejected   int            `json:"rejected"`
	Unreviewed int            `json:"unreviewed"`
}

// RuleCompressRequest writes abstractions of the corpus.
type RuleCompressRequest struct {
	DryRun bool `json:"dry_run,omitempty"`
}

// RuleCompressReply lists the abstractions that hold now.
type RuleCompressReply struct {
	Abstractions []Rule   `json:"abstractions"`
	Changed      []string `json:"changed,omitempty"` // ids written or retired by this run
}

// CheckFile is a file to check.
type CheckFile struct {
	Path    string   `json:"path"`
	Content string   `json:"content"`
	Lines   [][2]int `json:"lines,omitempty"` // changed, from and to inclusive; none is the whole file
}

// CheckRequest runs the rules' mechanical checks.
type CheckRequest struct {
	Files []CheckFile `json:"files"`
	// Diff is a unified diff that says which lines of the files changed. A file
	// that it does not name is checked as Lines says.
	Diff  string   `json:"diff,omitempty"`
	Rules []string `json:"rules,omitempty"` // none is all that have a check
}

// CheckFinding is a violation.
type CheckFinding struct {
	Rule    string `json:"rule"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Excerpt string `json:"excerpt,omitempty"`
	Message string `json:"message"`
}

// CheckReply is sorted by path, line and rule.
type CheckReply struct {
	Findings []CheckFinding `json:"findings"`
	Checks   int            `json:"checks"` // that ran
}

// Acts on releases.
const (
	ReleaseFollow = "follow" // pin the key and take the release
	ReleaseTake   = "take"   // take the release of somebody who is followed
	ReleaseLeave  = "leave"  // follow no more, and take out what came
	ReleaseList   = "list"   // who is followed
	ReleaseDraft  = "draft"  // what is to be signed: the rules of Files as a release
)

// ReleaseRequest is an act on the releases that are followed.
type ReleaseRequest struct {
	Act      string          `json:"act"`
	Envelope json.RawMessage `json:"envelope,omitempty"` // of follow and take
	Key      string          `json:"key,omitempty"`      // that is pinned, of follow
	Place    string          `json:"place,omitempty"`    // of follow
	Name     string          `json:"name,omitempty"`     // of leave and draft
	// The rest is of draft: Envelope is the release before, whose tombstones go on, and
	// Reason is why rules that it had are out.
	Layer  string     `json:"layer,omitempty"`
	Number int        `json:"number,omitempty"`
	Files  []RuleFile `json:"files,omitempty"`
	Reason string     `json:"reason,omitempty"`
	// Terms are those of the release before where it states none.
	Terms ReleaseTerms `json:"terms,omitzero"`
}

// ReleaseReply says who is followed, and what an act did.
type ReleaseReply struct {
	Followed []FollowedRelease `json:"followed"`
	Imported []string          `json:"imported,omitempty"` // ids of rules that came or changed
	Retired  []string          `json:"retired,omitempty"`
	// Draft is what is to be signed.
	Draft json.RawMessage `json:"draft,omitempty"`
	// Behind are mandatory rules that every prompt cannot carry any more.
	Behind []string `json:"behind,omitempty"`
}

// FollowedRelease is one that is followed.
type FollowedRelease struct {
	Release
	Key    string       `json:"key"`
	Place  string       `json:"place"`
	Digest string       `json:"digest,omitempty"` // of the last one that was taken
	Terms  ReleaseTerms `json:"terms,omitzero"`
}
