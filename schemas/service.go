package schemas

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// ServicePrefix begins the subject of every service.
const ServicePrefix = "writ.svc."

// ServiceAt is the subject of a service of one daemon, where several share a NATS:
// what needs files, sessions or a person is asked at the daemon that has them. With
// no daemon it is the subject itself, as it is of what is no service.
func ServiceAt(daemon, subject string) string {
	name, service := strings.CutPrefix(subject, ServicePrefix)
	if daemon == "" || !service {
		return subject
	}
	return ServicePrefix + daemon + "." + name
}

// Subjects of the daemon's services. Requests and replies are JSON, but for
// the hook service, whose body is the host's payload as it came. Persisted in
// configurations and other people's scripts; never change.
const (
	SvcHook       = "writ.svc.gate.hook"          // HookHeaders + host payload → HookReply
	SvcRetrieve   = "writ.svc.retrieve"           // RetrieveRequest → the retrieval answer
	SvcAlwaysOn   = "writ.svc.retrieve.always_on" // {} → AlwaysOnReply
	SvcSessions   = "writ.svc.session.list"       // SessionQuery → SessionList
	SvcWaits      = "writ.svc.session.waits"      // nothing → Waits
	SvcSession    = "writ.svc.session.show"       // SessionQuery → SessionView
	SvcMode       = "writ.svc.session.mode"       // ModeRequest → ActReply
	SvcModeByUser = "writ.svc.mode"               // ModeRequest → ActReply; admin: the user's own act, as leaving work mode needs
	SvcPhase      = "writ.svc.phase"              // PhaseRequest → ActReply; admin
	SvcApprove    = "writ.svc.approve"            // ApproveRequest → ActReply; admin
	SvcRules      = "writ.svc.rule.list"          // RuleQuery → RuleList
	SvcRule       = "writ.svc.rule.show"          // RuleQuery → RuleView
	SvcRuleSearch = "writ.svc.rule.search"        // RuleSearchRequest → RuleSearchReply
	SvcRuleImport = "writ.svc.rule.import"        // RuleImportRequest → RuleImportReply; admin
	SvcEmit       = "writ.svc.emit"               // EmitRequest → EmitReply
	SvcReplay     = "writ.svc.replay"             // ReplayRequest → ReplayPage; admin or dashboard
	SvcStatus     = "writ.svc.status"             // {} → Status
	SvcStop       = "writ.svc.stop"               // {} → {}; admin
)

// Headers of a hook request: what the payload does not say.
const (
	HookHeaderAgent   = "writ-agent"   // the host, "claude"
	HookHeaderEvent   = "writ-event"   // the host's event name as configured, "PreToolUse"
	HookHeaderDir     = "writ-dir"     // the hook's working folder, absolute
	HookHeaderProject = "writ-project" // root of the project that has Writ, absolute
	HookHeaderHome    = "writ-home"    // the user's home folder, absolute
	HookHeaderPath    = "writ-path"    // the folders in which the host's shell looks for programs, as its PATH lists them
	HookHeaderUntil   = "writ-until"   // when the hook's process stops waiting for the answer, nanoseconds since 1970
	HookHeaderBegan   = "writ-began"   // when the hook's process began, nanoseconds since 1970; the same when it asks again
	HookHeaderOrigin  = "writ-origin"  // who submits the host's prompts as its environment says, "sdk" for a program; "" where it does not
	HookHeaderRuns    = "writ-runs"    // "tests": whoever asks can run a TestRun and report
	HookHeaderTests   = "writ-tests"   // a TestResult as JSON in base64, when the call is made again
)

// Codes that a service error may carry. Persisted; never change.
const (
	CodeBadRequest = "bad_request" // the request cannot be understood
	CodeNotFound   = "not_found"   // what it names does not exist
	CodeRefused    = "refused"     // understood, and not allowed
	CodeConflict   = "conflict"    // somebody else was first; read again
	CodeInternal   = "internal"    // the daemon's own fault
	CodeNotReady   = "not_ready"   // a view is still being built
	CodeOverloaded = "overloaded"  // more is asked than can be answered in time; nothing was done
)

// HookReply is what the hook's process does: print, and exit.
type HookReply struct {
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Exit   int    `json:"exit,omitempty"`
	// Tests are to be run first; the call is then made again with the result.
	Tests *TestRun `json:"tests,omitempty"`
}

// RetrieveRequest asks for the rules that matter for a text. Its answer is
// retrieval's own, see RETRIEVAL.
type RetrieveRequest struct {
	Query        string   `json:"query"`
	Session      string   `json:"session,omitempty"`
	Domains      []string `json:"domains,omitempty"`
	NodeTypes    []string `json:"node_types,omitempty"`
	Exclude      []string `json:"exclude,omitempty"`
	Prefer       []string `json:"prefer,omitempty"`
	BudgetTokens int      `json:"budget_tokens,omitempty"` // 0: the default, 4,000
	Profile      string   `json:"profile,omitempty"`
	Explain      bool     `json:"explain,omitempty"`
	Limit        int      `json:"limit,omitempty"`
}

// AlwaysOnReply is the mandatory band.
type AlwaysOnReply struct {
	Rules  []string `json:"rules"` // ids
	Block  string   `json:"block"` // rendered text
	Tokens int      `json:"tokens"`
}

// SessionQuery names a session, or filters the list of them. Sequences and
// moments of the past are of the session's stream.
type SessionQuery struct {
	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	Limit   int    `json:"limit,omitempty"` // 0: 50
	// At shows the session as it was after the record with this sequence, and
	// Moment as it was at this time. At most one of them.
	At     uint64    `json:"at,omitempty"`
	Moment time.Time `json:"moment,omitzero"`
}

// SessionSummary is one line of the list.
type SessionSummary struct {
	Session  string    `json:"session"`
	Host     string    `json:"host,omitempty"`
	Project  string    `json:"project,omitempty"`
	Parent   string    `json:"parent,omitempty"`
	Mode     string    `json:"mode,omitempty"`
	Phase    string    `json:"phase,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Ended    bool      `json:"ended,omitempty"`
	Refusals int       `json:"refusals,omitempty"`
	Events   int       `json:"events"`
	// Title is the first prompt that wished for something, else the first, in a
	// line; Wish is the latest that did, where it is another.
	Title string `json:"title,omitempty"`
	Wish  string `json:"wish,omitempty"`
	// Standing is where the session stands: StandsLive, StandsIdle or
	// StandsEnded.
	Standing string `json:"standing,omitempty"`
	Prompts  int    `json:"prompts,omitempty"`
	// Given counts the tokens that the session was given: all of them, and those
	// since its last prompt.
	Given      TokensGiven `json:"given,omitzero"`
	GivenSince int         `json:"given_since_prompt,omitempty"`
}

// TokensGiven are the tokens of what agents were given, by kind.
type TokensGiven struct {
	Rules  int `json:"rules,omitempty"`
	Memory int `json:"memory,omitempty"`
	Files  int `json:"files,omitempty"`
}

// All is their sum.
func (g TokensGiven) All() int { return g.Rules + g.Memory + g.Files }

// Where sessions stand, the same wherever they are counted. Sub-agents' sessions
// stand as others do, and are not counted: their parents' are. What waits is a
// part of what is live.
const (
	StandsLive  = "live"  // not ended, and something happened in it within SessionLiveFor
	StandsIdle  = "idle"  // not ended, and silent for longer: its host may have crashed, or comes back
	StandsEnded = "ended" // its host said so
)

// ProbeSession begins the ids of the sessions by which writ doctor proves that the
// gate is live. They are in the log, and nobody looks for them in a list.
const ProbeSession = "writ-doctor-"

// SessionLiveFor is how long a session counts as live after its last event.
const SessionLiveFor = 12 * time.Hour

// SessionCounts are how many sessions stand where, sub-agents' left out.
type SessionCounts struct {
	Waiting int `json:"waiting"` // of the live ones: a plan or tests wait for the user
	Live    int `json:"live"`
	Idle    int `json:"idle"`
	Ended   int `json:"ended"`
}

// SessionList is newest first. Counts are of all sessions, whatever was asked for.
type SessionList struct {
	Sessions []SessionSummary `json:"sessions"`
	Counts   SessionCounts    `json:"counts"`
}

// Waits is what waits for the user, longest first.
type Waits struct {
	Items  []Waiting     `json:"items"`
	Counts SessionCounts `json:"counts"`
}

// Waiting is a plan or tests that wait for the user's approval.
type Waiting struct {
	Session     string    `json:"session"`
	Gate        string    `json:"gate"`
	Project     string    `json:"project,omitempty"`
	Host        string    `json:"host,omitempty"`
	Wish        string    `json:"wish,omitempty"` // what the user asked for, in a line
	Plan        string    `json:"plan,omitempty"` // the plan's title
	Files       []string  `json:"files"`          // that would be approved
	Tests       int       `json:"tests,omitempty"`
	Red         int       `json:"red,omitempty"` // test files that were seen red
	Changed     bool      `json:"changed,omitempty"`
	Fingerprint string    `json:"fingerprint"`
	Since       time.Time `json:"since,omitzero"` // of the session's last event
	// Second says who approved this and whose approval it waits for, where two are needed.
	Second string `json:"second,omitempty"`
}

// SessionGate is a gate as a person sees it.
type SessionGate struct {
	Gate        string      `json:"gate"`
	State       string      `json:"state"` // none, approved, drifted
	Fingerprint string      `json:"fingerprint,omitempty"`
	Channel     string      `json:"channel,omitempty"`
	ApprovedAt  time.Time   `json:"approved_at,omitzero"`
	Files       []FileState `json:"files,omitempty"`
	// Waits says that it can be approved as it stands; Problems why the gate that comes
	// next cannot.
	Waits    bool     `json:"waits,omitempty"`
	Problems []string `json:"problems,omitempty"`
}

// SessionView is one session, whole.
type SessionView struct {
	SessionSummary
	Dir     string        `json:"dir,omitempty"`
	Model   string        `json:"model,omitempty"`
	Gates   []SessionGate `json:"gates"`
	Shown   []string      `json:"shown,omitempty"`
	Tokens  int           `json:"tokens,omitempty"` // of the rules that were given
	Written []string      `json:"written,omitempty"`
	Next    string        `json:"next,omitempty"` // what the user or agent does next
	Pending int           `json:"pending_violations,omitempty"`
	// Untested are the files changed since tests last ran; Failing says that
	// those tests failed.
	Untested []string        `json:"untested,omitempty"`
	Failing  bool            `json:"failing,omitempty"`
	Audit    *SessionAudited `json:"audit,omitempty"`
	// Seq and AsOf are those of the last record of the session that is in a
	// view of the past.
	Seq   uint64          `json:"seq,omitempty"`
	AsOf  time.Time       `json:"as_of,omitzero"`
	State json.RawMessage `json:"state,omitempty"` // the folded state, for the curious
}

// ModeRequest sets or asks for a session's mode.
type ModeRequest struct {
	Session      string   `json:"session"`
	Mode         string   `json:"mode,omitempty"` // "" only asks
	Orchestrator bool     `json:"orchestrator,omitempty"`
	Repro        []string `json:"repro,omitempty"`
}

// PhaseRequest acts on the phases of work.
type PhaseRequest struct {
	Session string `json:"session"`
	Act     string `json:"act"` // show, invalidate, reopen
	Gate    string `json:"gate,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Rule    string `json:"rule,omitempty"`
}

// ApproveRequest approves the waiting gate, at a terminal or the dashboard.
type ApproveRequest struct {
	Session     string `json:"session"`
	Gate        string `json:"gate,omitempty"`        // "": whichever waits
	Fingerprint string `json:"fingerprint,omitempty"` // "": ask what would be approved, approve nothing
	Channel     string `json:"channel"`               // terminal, dashboard, passkey
	ActID       string `json:"act_id"`
	// Passkey is the signature of the channel passkey, whose act is its nonce.
	Passkey *PasskeyAnswer `json:"passkey,omitempty"`
	// Signed is the person's, of the channel terminal; its act is ActID.
	Signed *Signed `json:"signed,omitempty"`
}

// ActReply answers what changes a session.
type ActReply struct {
	OK          bool        `json:"ok"`
	Session     string      `json:"session"`
	Mode        string      `json:"mode,omitempty"`
	Phase       string      `json:"phase,omitempty"`
	Gate        string      `json:"gate,omitempty"`
	Fingerprint string      `json:"fingerprint,omitempty"`
	Files       []FileState `json:"files,omitempty"`    // what is, or would be, approved
	Problems    []string    `json:"problems,omitempty"` // why not
	Message     string      `json:"message"`            // for a person
}

// RuleQuery names a rule, or filters the list of them.
type RuleQuery struct {
	ID      string `json:"id,omitempty"`
	Domain  string `json:"domain,omitempty"`
	Retired bool   `json:"retired,omitempty"` // also those retired
}

// RuleSummary is one line of the list.
type RuleSummary struct {
	ID         string `json:"id"`
	Title      string `json:"title,omitempty"`
	Domain     string `json:"domain,omitempty"`
	Severity   string `json:"severity"`
	Mandatory  bool   `json:"mandatory,omitempty"`
	Authority  string `json:"authority,omitempty"`
	Retired    bool   `json:"retired,omitempty"`
	Superseded string `json:"superseded,omitempty"` // by the rule of this id, so that it is given to nobody
	Layer      string `json:"layer"`
	Owner      string `json:"owner,omitempty"` // who says what the layer's rules are
}

// RuleList is sorted by id.
type RuleList struct {
	Rules []RuleSummary `json:"rules"`
}

// RuleView is one rule with what became of it.
type RuleView struct {
	Rule       Rule    `json:"rule"`
	Source     string  `json:"source,omitempty"`
	Retired    bool    `json:"retired,omitempty"`
	Superseded string  `json:"superseded,omitempty"` // by the rule of this id, so that it is given to nobody
	Revisions  int     `json:"revisions"`
	Positive   int     `json:"positive"` // outcomes that count
	Negative   int     `json:"negative"`
	Weight     float64 `json:"weight"` // confidence as ranking uses it
	Graduated  bool    `json:"graduated,omitempty"`
	Flagged    bool    `json:"flagged,omitempty"`
	LastChange uint64  `json:"last_change"` // stream sequence
	Layer      string  `json:"layer"`
	Owner      string  `json:"owner,omitempty"`
	// Instead names the layers whose rules of this id are not given, with their owners.
	Instead []string `json:"instead,omitempty"`
}

// RuleSearchRequest searches the rules' full text. Kinds: query-string, words,
// phrase, fuzzy, prefix.
type RuleSearchRequest struct {
	Text    string            `json:"text"`
	Kind    string            `json:"kind,omitempty"`
	Field   string            `json:"field,omitempty"`
	Filter  map[string]string `json:"filter,omitempty"`
	Facets  []string          `json:"facets,omitempty"`
	Size    int               `json:"size,omitempty"`
	From    int               `json:"from,omitempty"`
	Mark    string            `json:"mark,omitempty"` // html, ansi or ""
	Explain bool              `json:"explain,omitempty"`
}

// RuleSearchReply is what a search found, best first.
type RuleSearchReply struct {
	Total  int                         `json:"total"`
	Hits   []RuleSearchHit             `json:"hits"`
	Facets map[string][]RuleFacetCount `json:"facets,omitempty"`
}

// RuleSearchHit is a rule that matched.
type RuleSearchHit struct {
	ID        string              `json:"id"`
	Score     float64             `json:"score"`
	Title     string              `json:"title,omitempty"`
	Fragments map[string][]string `json:"fragments,omitempty"` // by field, matched words marked
	Why       string              `json:"why,omitempty"`
}

// RuleFacetCount is a value of a field and how many found rules have it.
type RuleFacetCount struct {
	Value string `json:"value"`
	N     int    `json:"n"`
}

// RuleImportRequest brings rule files in.
type RuleImportRequest struct {
	Files []RuleFile `json:"files"`
	// Corpus names where the files come from, "rules" by default. A later
	// import of the same corpus may prune what it no longer has.
	Corpus  string `json:"corpus,omitempty"`
	Prune   bool   `json:"prune,omitempty"`   // retire rules of this corpus that are gone
	Partial bool   `json:"partial,omitempty"` // take the sound nodes, leave out the others
	DryRun  bool   `json:"dry_run,omitempty"` // only say what would happen
	All     bool   `json:"all,omitempty"`     // name every place of what is told, not the first of each reason
}

// RuleFile is one file of a corpus.
type RuleFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Seen is the revision of the file's node that an import decided on: where it has
	// another one by then, nothing is changed. 0 is any.
	Seen int `json:"seen,omitempty"`
}

// RuleImportReply says what an import did.
type RuleImportReply struct {
	Imported  []string `json:"imported,omitempty"`
	Unchanged int      `json:"unchanged"`
	Retired   []string `json:"retired,omitempty"`
	Problems  []string `json:"problems,omitempty"` // a line for each reason, with places; nothing entered
	Skipped   []string `json:"skipped,omitempty"`  // of a partial import: what did not enter and why, likewise
	Warnings  []string `json:"warnings,omitempty"` // what was left out, or taken otherwise than written, likewise
	Outcomes  int      `json:"outcomes,omitempty"` // that the corpus had counted, and that count now
	// Undescribed are the rules of the import that have no symptoms, by which prompts
	// find them.
	Undescribed int      `json:"undescribed,omitempty"`
	Band        RuleBand `json:"band"` // what every session is shown, after this import
}

// RuleBand is what the rules that are always shown take.
type RuleBand struct {
	Rules  int `json:"rules"`
	Tokens int `json:"tokens"`
	Most   int `json:"most"` // tokens there are for them
	// Left are the ids that there is no room for, the most important first:
	// prompts find them like others.
	Left []string `json:"left,omitempty"`
}

// EmitRequest publishes one event.
type EmitRequest struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`       // the aggregate's id
	EventID string          `json:"event_id,omitempty"` // for retries: the same id is stored once
	Data    json.RawMessage `json:"data"`
	Actor   string          `json:"actor,omitempty"`
}

// EmitReply says where the event stands.
type EmitReply struct {
	EventID  string   `json:"event_id"`
	Position Position `json:"position"`
}

// ReplayRequest reads a page of the log.
type ReplayRequest struct {
	Stream  Stream    `json:"stream,omitempty"` // "": all, in the order of their times
	Session string    `json:"session,omitempty"`
	Type    string    `json:"type,omitempty"`  // one, or some with commas between
	After   uint64    `json:"after,omitempty"` // stream sequence
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Limit   int       `json:"limit,omitempty"` // 0: 500
}

// ReplayEvent is an event as JSON shows it.
type ReplayEvent struct {
	Position      Position        `json:"position"`
	ID            string          `json:"id"`
	Type          Type            `json:"type"`
	Time          time.Time       `json:"time"`
	Aggregate     Aggregate       `json:"aggregate"`
	Actor         string          `json:"actor,omitempty"`
	CausationID   string          `json:"causation_id,omitempty"`
	CorrelationID string          `json:"correlation_id,omitempty"`
	Version       int             `json:"version"`
	Data          json.RawMessage `json:"data"`
	// Undecodable says why Data is the raw body instead of a known event's.
	Undecodable string `json:"undecodable,omitempty"`
}

// ReplayPage is a stretch of the log.
type ReplayPage struct {
	Events []ReplayEvent `json:"events"`
	Next   uint64        `json:"next"` // After of the next page
	End    bool          `json:"end"`  // nothing more at the moment
}

// Status is the daemon's health.
type Status struct {
	Version    string         `json:"version"`
	PID        int            `json:"pid"`
	Started    time.Time      `json:"started"`
	DataDir    string         `json:"data_dir"`
	Format     int            `json:"format"` // of the data directory
	URL        string         `json:"url"`
	Durability string         `json:"durability"`         // of its own log; of another's, that its administrator set it
	External   bool           `json:"external,omitempty"` // the log is on somebody else's NATS
	Daemon     string         `json:"daemon,omitempty"`   // whose services are asked there, see ServiceAt
	Memory     uint64         `json:"memory_bytes"`       // resident, 0 where unknown
	Streams    []StreamStatus `json:"streams"`
	Views      []ViewStatus   `json:"views"`
	Rules      int            `json:"rules"`           // in force, with the other nodes
	Nodes      int            `json:"nodes,omitempty"` // of these, what is no rule: playbooks, skills, phases and the like
	Sessions   int            `json:"live_sessions"`   // as of SessionCounts
	Counts     SessionCounts  `json:"sessions"`
	Embedder   string         `json:"embedder"`
	FailMode   string         `json:"fail"`              // closed or open
	Metrics    string         `json:"metrics,omitempty"` // URL for Prometheus
	Confine    string         `json:"confinement"`       // what bounds commands that nobody can judge
	Unheld     string         `json:"unheld,omitempty"`  // why the kernel holds no command, "" where it does
	Warnings   []string       `json:"warnings,omitempty"`
	Scrub      *ScrubStatus   `json:"scrub,omitempty"` // nil where the log is somebody else's
	// Classifier decides about observations without an annotation: embedded, the
	// name of the model, or off.
	Classifier string       `json:"classifier"`
	Model      *ModelStatus `json:"model,omitempty"` // nil if none is configured
}

// ScrubStatus says how far the log is read in the background to find damage.
type ScrubStatus struct {
	Stream  Stream    `json:"stream,omitempty"` // being read; "" between two passes
	Block   int       `json:"block,omitempty"`  // its last file that was read
	Ended   time.Time `json:"ended,omitzero"`   // the last whole pass
	Damaged uint64    `json:"damaged"`          // records that cannot be read
}

// ModelStatus says how the language model's endpoint fares.
type ModelStatus struct {
	API      string `json:"api"`
	Name     string `json:"name"`
	Breaker  string `json:"breaker"`        // closed, half-open, open: no calls are made
	Failures int    `json:"failures"`       // in a row
	Last     string `json:"last,omitempty"` // the last failure
}

// StreamStatus is one stream of the log.
type StreamStatus struct {
	Name     Stream `json:"name"`
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	Archived uint64 `json:"archived,omitempty"` // messages that are in the archive, and in Bytes no more
}

// ViewStatus is one projection.
type ViewStatus struct {
	Name        string `json:"name"`
	Version     int    `json:"version"`
	State       string `json:"state"` // live, rebuilding, stopped
	Lag         uint64 `json:"lag"`   // messages behind
	Error       string `json:"error,omitempty"`
	Quarantined int    `json:"quarantined,omitempty"`
	// Done is the share of its records that a view that is rebuilding has read, 0
	// to 1, and LeftMillis about how long the others take, 0 where that is not known.
	Done       float64 `json:"done,omitempty"`
	LeftMillis int64   `json:"left_ms,omitempty"`
}

// Progress is how far the building of a view is, for people; "" for one that is
// not being built.
func (v ViewStatus) Progress() string {
	if v.State != "rebuilding" {
		return ""
	}
	text := strconv.Itoa(int(100*v.Done)) + " %"
	if left := (time.Duration(v.LeftMillis) * time.Millisecond).Round(time.Second); left > 0 {
		text += ", about " + left.String() + " left"
	}
	return text
}

// SvcBackup is the admin's. Persisted; never change.
const SvcBackup = "writ.svc.backup" // BackupRequest → BackupReply

// BackupRequest asks for a backup of the data folder.
type BackupRequest struct {
	Dir   string        `json:"dir"`             // absolute, or s3://BUCKET/PREFIX; the backup becomes a folder in it
	Keep  int           `json:"keep,omitempty"`  // of this data folder's backups there, the newest to keep; 0: all
	Every time.Duration `json:"every,omitempty"` // nanoseconds: and again and again; below 0, without Dir: no more
	Move  bool          `json:"move,omitempty"`  // it is the last: no daemon starts on the data folder any more
}

// BackupReply is the backup that was written.
type BackupReply struct {
	Path    string         `json:"path"`
	Time    time.Time      `json:"time"` // the moment that it is of
	Files   int            `json:"files"`
	Bytes   int64          `json:"bytes"`
	Written int64          `json:"written"` // of those, bytes that no earlier backup there had
	Streams []StreamStatus `json:"streams"`
	Removed []string       `json:"removed,omitempty"` // older ones
	Note    string         `json:"note,omitempty"`    // lines for people
}

// SvcForget is the admin's. Persisted; never change.
const SvcForget = "writ.svc.forget" // ForgetRequest → ForgetReply

// ForgetRequest asks for what was said in sessions to be erased for good.
type ForgetRequest struct {
	Sessions []string `json:"sessions,omitempty"`
	Project  string   `json:"project,omitempty"` // absolute root: all its sessions, memories and runs
	Reason   string   `json:"reason"`            // stays
}

// ForgetReply says what is certain to be erased: the daemon begins anew, and has
// done it when it answers again.
type ForgetReply struct {
	Sessions     []string  `json:"sessions"`     // with those of sub-agents
	Records      int       `json:"records"`      // that lose their texts
	Observations int       `json:"observations"` // whose keys are erased
	Started      time.Time `json:"started"`      // of the daemon that answers
	// Still are the places that were not reached and may hold the texts, each with what
	// to do about it.
	Still []string `json:"still"`
}

// RepairReply says what was damaged in a log, and what was done about it.
type RepairReply struct {
	DataDir string         `json:"data_dir"`
	Parts   []RepairedPart `json:"parts"`
	Lost    uint64         `json:"lost"` // records
}

// RepairedPart are records that could not be read.
type RepairedPart struct {
	Stream Stream `json:"stream"`
	First  uint64 `json:"first"`
	Last   uint64 `json:"last"`
	How    string `json:"how"`            // mended, restored, lost; missing: a file of the archive; removed: no record stood there
	Kept   string `json:"kept,omitempty"` // the damaged file as it was
}

// RestoreReply is the data folder that was restored.
type RestoreReply struct {
	Backup  string         `json:"backup"`
	Time    time.Time      `json:"time"` // the moment that the backup is of
	DataDir string         `json:"data_dir"`
	Files   int            `json:"files"`
	Bytes   int64          `json:"bytes"`
	Streams []StreamStatus `json:"streams"`
}
