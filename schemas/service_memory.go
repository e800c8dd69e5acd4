package schemas

import (
	"encoding/json"
	"time"
)

// Subjects of the services of memory. Persisted; never change.
const (
	SvcObserve      = "writ.svc.observe"       // ObserveRequest → ObserveReply
	SvcRecall       = "writ.svc.recall"        // RecallRequest → RecallReply
	SvcMemoryHealth = "writ.svc.memory.health" // MemoryHealthRequest → MemoryHealth
	SvcMemoryReview = "writ.svc.memory.review" // MemoryReviewRequest → MemoryReviewPage; admin
	SvcMemoryRegate = "writ.svc.memory.regate" // MemoryRegateRequest → MemoryActReply; admin
	SvcMemoryForget = "writ.svc.memory.forget" // MemoryForgetRequest → MemoryActReply; admin
	SvcMemoryExport = "writ.svc.memory.export" // MemoryExportRequest → MemoryExportPage; admin
	SvcMemoryImport = "writ.svc.memory.import" // MemoryImportRequest → MemoryImportReply; admin
	SvcMemoryScope  = "writ.svc.memory.scope"  // ScopeRequest → ScopeReply; admin
)

// MemoryGlobal is the scope of what belongs to no project.
const MemoryGlobal = "global"

// MemoryShared begins the scope of what others shared, before the name of what they
// shared it with. The source of such an observation is who did. Persisted; never change.
const MemoryShared = "shared:"

// ScopeSigned begins the type of what persons sign of shared memory. Persisted; never
// change.
const ScopeSigned = "application/vnd.writ.memory."

// Observation is something that may be worth keeping, as it was observed.
type Observation struct {
	// ID makes a repeated observation one; "" is a new one.
	ID    string `json:"id,omitempty"`
	Input []byte `json:"input"` // any bytes, with or without an annotation
	// Scope is the project it belongs to, "" for MemoryGlobal.
	Scope    string `json:"scope,omitempty"`
	Source   string `json:"source,omitempty"`
	Session  string `json:"session,omitempty"`
	Category string `json:"category,omitempty"` // where the annotation names none
}

// ObserveRequest stores observations.
type ObserveRequest struct {
	Observations []Observation `json:"observations,omitempty"`
	// Transcripts are read for observations, which follow the others in the
	// reply.
	Transcripts []Transcript `json:"transcripts,omitempty"`
	// Classify lets the classifier decide about those without an annotation,
	// also where the settings leave that to the gate's fallback.
	Classify bool `json:"classify,omitempty"`
}

// Transcript is whole lines of a Claude Code transcript. What the assistant
// said in lines that begin with an annotation is observed; from the rest, the
// classifier extracts what is worth keeping, unless the settings say otherwise.
// Ids come from the transcript, so that reading it again changes nothing.
type Transcript struct {
	Lines   []byte `json:"lines"`
	Scope   string `json:"scope,omitempty"`
	Session string `json:"session,omitempty"` // where a line names none
}

// ObserveReply answers in the order of the request. All of them are durable.
type ObserveReply struct {
	Observed []Observed `json:"observed"`
	// Classifier names who decided about what had no annotation, "" if nobody
	// was asked: embedded, or the model. Failed says why it could not.
	Classifier string `json:"classifier,omitempty"`
	Failed     string `json:"failed,omitempty"`
}

// Observed is what became of one observation.
type Observed struct {
	ObservationID string   `json:"observation_id"`
	Scope         string   `json:"scope"`
	Verdict       string   `json:"write_verdict"`
	Confidence    float64  `json:"write_confidence"`
	Reason        string   `json:"write_reason,omitempty"`
	GateVersion   string   `json:"write_gate_version,omitempty"`
	Fallback      bool     `json:"write_gate_fallback"`
	Category      string   `json:"category,omitempty"`
	Redacted      []string `json:"redacted,omitempty"` // kinds of the secrets taken out
	Repeated      bool     `json:"repeated,omitempty"` // its id was known: nothing was stored
	Position      Position `json:"position"`
}

// RecallRequest searches what was observed.
type RecallRequest struct {
	Text           string   `json:"text"`
	IncludeHold    bool     `json:"include_hold,omitempty"`
	IncludeDiscard bool     `json:"include_discard,omitempty"`
	Category       string   `json:"category,omitempty"`
	Scopes         []string `json:"scopes,omitempty"`    // none is all
	Limit          int      `json:"limit,omitempty"`     // 0 is 10, at most 200
	MinScore       *float64 `json:"min_score,omitempty"` // nil is the default
	Explain        bool     `json:"explain,omitempty"`
}

// RecallReply is best first.
type RecallReply struct {
	Hits     []Recalled `json:"hits"`
	Embedder string     `json:"embedder,omitempty"` // "" is words alone
	Searched int        `json:"searched"`           // observations with a verdict that is searched, of all scopes and categories
	MinScore float64    `json:"min_score"`
	// Dropped says, of an explained recall, what matched and is not among the
	// hits: how many by reason. Texts and ids of held and discarded
	// observations are not told.
	Dropped []RecallDropped `json:"dropped,omitempty"`
}

// Recalled is an observation that was found.
type Recalled struct {
	ObservationID string     `json:"observation_id"`
	Scope         string     `json:"scope"`
	Text          string     `json:"text"`
	Score         float64    `json:"score"`
	Verdict       string     `json:"write_verdict"`
	Confidence    float64    `json:"write_confidence"`
	Category      string     `json:"category,omitempty"`
	Source        string     `json:"source,omitempty"`
	Session       string     `json:"session,omitempty"`
	Time          time.Time  `json:"time"`
	Why           *RecallWhy `json:"why,omitempty"`
}

// RecallWhy takes a score apart: (words, or the mean of words and meaning) ×
// decay × usage.
type RecallWhy struct {
	Words   float64 `json:"words"`   // share of the query's weight that the text holds, 0 to 1
	Meaning float64 `json:"meaning"` // cosine, 0 to 1
	AgeDays float64 `json:"age_days"`
	Decay   float64 `json:"decay"`
	Usage   float64 `json:"usage"`
}

// RecallDropped counts what was left out for a reason: held_by_write_gate,
// discarded_by_write_gate, too_short, stale, below_min_score. The counts are of
// the best candidates, not of all that was ever observed.
type RecallDropped struct {
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	IDs    []string `json:"ids,omitempty"` // at most ten, of the last three
}

// MemoryHealthRequest asks for the distribution of verdicts.
type MemoryHealthRequest struct {
	Scope   string `json:"scope,omitempty"`   // "" is all
	Minutes int    `json:"minutes,omitempty"` // of the window; 0 is 60
	Week    bool   `json:"week,omitempty"`    // the last seven days and the seven before
}

// MemoryTally counts observations by verdict.
type MemoryTally struct {
	Allow         uint64            `json:"allow"` // fallbacks among them
	Hold          uint64            `json:"hold"`
	Discard       uint64            `json:"discard"`
	Unknown       uint64            `json:"unknown,omitempty"`
	Fallback      uint64            `json:"fallback"`
	Reasons       map[string]uint64 `json:"fallback_reasons,omitempty"`
	HoldRatio     float64           `json:"hold_ratio"`
	DiscardRatio  float64           `json:"discard_ratio"`
	FallbackRatio float64           `json:"fallback_ratio"`
}

// MemoryHealth is what the write gate did in a window.
type MemoryHealth struct {
	From   time.Time    `json:"from"`
	To     time.Time    `json:"to"`
	Window MemoryTally  `json:"window"`
	Before *MemoryTally `json:"before,omitempty"` // the week before
	// Alarms holds those that are raised now.
	Alarms []MemoryAlarm `json:"alarms"`
	// Proposals and their fate, of a week: the noise is rejected / made.
	Proposed  int     `json:"proposed,omitempty"`
	Rejected  int     `json:"rejected,omitempty"`
	Noise     float64 `json:"proposal_noise,omitempty"`
	Total     uint64  `json:"total"`     // observations of all time, forgotten ones among them
	Forgotten uint64  `json:"forgotten"` // of all time
}

// MemoryAlarm is an alarm that is raised.
type MemoryAlarm struct {
	Alarm string    `json:"alarm"`
	Ratio float64   `json:"ratio"` // when it was raised
	Limit float64   `json:"limit"`
	Since time.Time `json:"since"`
}

// MemoryReviewRequest lists observations with a verdict, oldest first.
type MemoryReviewRequest struct {
	ID      string `json:"id,omitempty"`
	Scope   string `json:"scope,omitempty"`
	Verdict string `json:"write_verdict,omitempty"` // "" is hold
	After   uint64 `json:"after,omitempty"`
	Limit   int    `json:"limit,omitempty"` // 0 is 20
}

// MemoryReviewPage is a stretch of the observations to review.
type MemoryReviewPage struct {
	Items []MemoryItem `json:"items"`
	Next  uint64       `json:"next,omitempty"` // After of the next page, 0 at the end
}

// MemoryRegateRequest changes a verdict.
type MemoryRegateRequest struct {
	ID      string `json:"id"`
	Scope   string `json:"scope,omitempty"` // "" is the one that has the id
	Verdict string `json:"write_verdict"`
	Reason  string `json:"reason"`
}

// MemoryForgetRequest erases what an observation says.
type MemoryForgetRequest struct {
	ID     string `json:"id"`
	Scope  string `json:"scope,omitempty"`
	Reason string `json:"reason"`
}

// MemoryActReply says what an act did.
type MemoryActReply struct {
	ObservationID string `json:"observation_id"`
	Scope         string `json:"scope"`
	Verdict       string `json:"write_verdict"`
	Message       string `json:"message"`
}

// MemoryItem is an observation whole, a line of an export. Those that were
// forgotten have neither original nor text.
type MemoryItem struct {
	ObservationID string    `json:"observation_id"`
	Scope         string    `json:"scope"`
	Time          time.Time `json:"time"`
	Original      []byte    `json:"original"`
	Text          string    `json:"text"`
	Verdict       string    `json:"write_verdict"` // as recorded; Regated changed it
	Confidence    float64   `json:"write_confidence"`
	Reason        string    `json:"write_reason,omitempty"`
	GateVersion   string    `json:"write_gate_version,omitempty"`
	Fallback      bool      `json:"write_gate_fallback"`
	Category      string    `json:"category,omitempty"`
	Source        string    `json:"source,omitempty"`
	Session       string    `json:"session,omitempty"`
	Redacted      []string  `json:"redacted,omitempty"`
	MergedInto    string    `json:"merged_into,omitempty"` // the older one that says nearly the same
	// MergedSimilarity is the share of their words in common.
	MergedSimilarity float64        `json:"merged_similarity,omitempty"`
	Regated          []MemoryRegate `json:"regated,omitempty"`
	Forgotten        *MemoryRegate  `json:"forgotten,omitempty"`
	// Lost says that the text cannot be read though nobody had it forgotten:
	// its key is missing.
	Lost bool `json:"lost,omitempty"`
}

// MemoryRegate is a change of a verdict, or with no verdict the forgetting.
type MemoryRegate struct {
	Verdict string    `json:"write_verdict,omitempty"`
	Reason  string    `json:"reason"`
	Actor   string    `json:"actor,omitempty"`
	Time    time.Time `json:"time"`
}

// Current is the verdict that holds.
func (m MemoryItem) Current() string {
	if n := len(m.Regated); n > 0 {
		return m.Regated[n-1].Verdict
	}
	return m.Verdict
}

// MemoryExportRequest pages through all observations.
type MemoryExportRequest struct {
	Scope string `json:"scope,omitempty"`
	After uint64 `json:"after,omitempty"`
	Limit int    `json:"limit,omitempty"`
}

// MemoryExportPage is in the order of the log.
type MemoryExportPage struct {
	Items []MemoryItem `json:"items"`
	Next  uint64       `json:"next,omitempty"`
}

// MemoryImportRequest brings exported observations in.
type MemoryImportRequest struct {
	Items []MemoryItem `json:"items"`
}

// MemoryImportReply counts.
type MemoryImportReply struct {
	Imported int `json:"imported"`
	Known    int `json:"known"`
	Redacted int `json:"redacted"` // of the imported, those in which secrets were found
}

// Acts on shared memory.
const (
	ScopeList   = "list"
	ScopeCard   = "card" // the key of this machine, certified by its person
	ScopeNew    = "new"  // begins a scope
	ScopeAdd    = "add"  // changes its members, as remove does
	ScopeRemove = "remove"
	ScopeOwner  = "owner" // has another member own it
	ScopeJoin   = "join"  // believes its owner
	ScopeLeave  = "leave"
	ScopeShare  = "share" // an observation
	ScopeOut    = "out"   // writes all that others need to a folder
	ScopeTake   = "take"  // reads what they wrote
)

// ScopeActs are those that change something, but for share.
var ScopeActs = []string{ScopeCard, ScopeNew, ScopeAdd, ScopeRemove, ScopeOwner, ScopeJoin, ScopeLeave, ScopeOut, ScopeTake}

// ScopeRequest asks for an act on shared memory.
type ScopeRequest struct {
	Act  string `json:"act"`
	Name string `json:"name,omitempty"` // of the scope
	// Person is the public key of who asks, and Owner of who is believed, or the name of
	// the member who is to own it.
	Person string `json:"person,omitempty"`
	Owner  string `json:"owner,omitempty"`
	// Cards of who is to be in it, or the public keys of persons whose cards the hub has;
	// who is to be out of it, by name; and whether those who are new read what was before.
	Add     []string `json:"add,omitempty"`
	Remove  []string `json:"remove,omitempty"`
	Earlier bool     `json:"earlier,omitempty"`
	// The observation that is shared, and its own scope where several have the id.
	ID   string `json:"id,omitempty"`
	From string `json:"from,omitempty"`
	Dir  string `json:"dir,omitempty"` // absolute, of out and take
	// Signed is what a reply asked to be signed, in envelopes, in its order.
	Signed []json.RawMessage `json:"signed,omitempty"`
}

// ScopeReply says how this machine stands with shared memory.
type ScopeReply struct {
	Message string        `json:"message,omitempty"`
	Scopes  []MemoryScope `json:"scopes,omitempty"`
	Card    string        `json:"card,omitempty"` // of this machine
	// Sign is what the person has to sign for the act to be done. Ask is what they are
	// shown before.
	Sign []ScopeToSign `json:"sign,omitempty"`
	Ask  string        `json:"ask,omitempty"`
}

// ScopeToSign is what is put into an envelope.
type ScopeToSign struct {
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// MemoryScope is a scope as this machine knows it.
type MemoryScope struct {
	Name    string   `json:"name"`
	Owner   string   `json:"owner"` // public key
	Epoch   int      `json:"epoch"` // 0: no list of members came yet
	Members []string `json:"members,omitempty"`
	Inside  bool     `json:"inside"` // this machine is one of them
	Mine    int      `json:"mine"`   // observations that were shared from here
	Theirs  int      `json:"theirs"` // that came
	// Findings are what was refused, is missing or does not hold, for people.
	Findings []string `json:"findings,omitempty"`
}
