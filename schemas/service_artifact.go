package schemas

import "time"

// Subjects of the services of a project's own files. Persisted; never change.
const (
	SvcArtifact        = "writ.svc.artifact"         // ArtifactSearchRequest → ArtifactSearchReply
	SvcArtifactContext = "writ.svc.artifact.context" // ArtifactContextRequest → ArtifactContextReply
	SvcArtifactBuild   = "writ.svc.artifact.build"   // ArtifactBuildRequest → ArtifactStatus
	SvcArtifactStatus  = "writ.svc.artifact.status"  // ArtifactStatusRequest → ArtifactStatus
	SvcArtifactDeps    = "writ.svc.artifact.deps"    // ArtifactDepsRequest → ArtifactDeps
	SvcArtifactExplain = "writ.svc.artifact.explain" // ArtifactExplainRequest → ArtifactExplanation
)

// ArtifactSearchRequest searches the files of a project.
type ArtifactSearchRequest struct {
	Project string `json:"project"` // its folder, absolute
	Query   string `json:"query"`
	Method  string `json:"method,omitempty"` // bm25, semantic or two-stage, the default
	// Stage1TopK is how many candidates the first stage gives (0 is 100),
	// Stage2TopK how many hits come back; 0 is the strategy's, else 10.
	Stage1TopK int `json:"stage1_topk,omitempty"`
	Stage2TopK int `json:"stage2_topk,omitempty"`
	// Agent names a strategy; "" has none.
	Agent  string   `json:"agent,omitempty"`
	Types  []string `json:"types,omitempty"`  // any of them; none is the strategy's, else all
	Tags   []string `json:"tags,omitempty"`   // any of them
	Phases []string `json:"phases,omitempty"` // any of them; an artifact without a phase passes
	Path   string   `json:"path,omitempty"`   // a glob, see ArtifactBuildRequest
	// MinScore is the least score of a hit, 0 to 1. Nil is what the strategy says,
	// which is a share of the best hit's sum; without a strategy it is 0.
	MinScore *float64 `json:"min_score,omitempty"`
	Explain  bool     `json:"explain,omitempty"`
}

// ArtifactSearchReply is what was found, best first.
type ArtifactSearchReply struct {
	Query    string `json:"query"`
	Method   string `json:"method"`
	Embedder string `json:"embedder,omitempty"` // "" where none took part
	// Problem says why files were found by their words alone that should have
	// been compared by meaning, too.
	Problem   string `json:"problem,omitempty"`
	AgentType string `json:"agent_type,omitempty"`
	Phase     string `json:"phase,omitempty"` // those asked for, joined with ","
	// AllTypes says that files of the types which the agent's strategy names do not
	// answer, and that those of others were searched, too.
	AllTypes   bool               `json:"all_types,omitempty"`
	Artifacts  []ArtifactFound    `json:"artifacts"`
	References []string           `json:"references"` // "@path" of each file, once
	Confidence ArtifactConfidence `json:"confidence"`
	LatencyMs  float64            `json:"latency_ms"`
	Stages     []ArtifactStage    `json:"stages"`
	Index      ArtifactIndexAge   `json:"index"`
}

// ArtifactFound is one chunk that was found.
type ArtifactFound struct {
	Path     string           `json:"path"`
	Lines    [2]int           `json:"lines"` // first and last, counted from 1
	Type     string           `json:"type"`
	Score    float64          `json:"score"` // 0 to 1
	Content  string           `json:"content"`
	Metadata ArtifactMetadata `json:"metadata"`
	// Why is the explanation of the score, part by part.
	Why map[string]float64 `json:"why,omitempty"`
	// Brief says that a context names the piece and has no room for its text.
	Brief bool `json:"brief,omitempty"`
}

// ArtifactMetadata says what is known of a file.
type ArtifactMetadata struct {
	Title        string    `json:"title"`
	Summary      string    `json:"summary,omitempty"`
	Heading      string    `json:"heading,omitempty"` // of the chunk
	Symbols      []string  `json:"symbols,omitempty"` // that the chunk declares
	Tags         []string  `json:"tags,omitempty"`
	Phase        string    `json:"phase,omitempty"`
	Language     string    `json:"language,omitempty"`
	References   []string  `json:"references,omitempty"` // paths the file mentions
	LastModified time.Time `json:"last_modified"`
	Tokens       int       `json:"tokens"` // of the chunk, about
	Generated    bool      `json:"generated,omitempty"`
	Copies       []string  `json:"copies,omitempty"` // other files that were found, with the same bytes
}

// ArtifactConfidence says how sure the answer is, from 0 to 1.
type ArtifactConfidence struct {
	Overall     float64   `json:"overall"`
	PerArtifact []float64 `json:"per_artifact"` // in the order of the hits
}

// ArtifactStage is one step of a search.
type ArtifactStage struct {
	Name       string  `json:"name"`
	Candidates int     `json:"candidates"`
	LatencyMs  float64 `json:"latency_ms"`
}

// ArtifactIndexAge says how old an answer may be.
type ArtifactIndexAge struct {
	AgeSeconds float64 `json:"age"` // since the files were last compared with the index
	// Stale says that files differ from what was searched; Changed counts those
	// that are known to.
	Stale   bool `json:"stale"`
	Changed int  `json:"changed,omitempty"`
}

// ArtifactContextRequest asks for what an agent should read for a task.
type ArtifactContextRequest struct {
	ArtifactSearchRequest // Query is the task
	// MaxContextTokens bounds the rendered text; 0 is 50,000.
	MaxContextTokens int    `json:"max_context_tokens,omitempty"`
	Format           string `json:"format,omitempty"` // markdown, the default, or json
	// Session, if given, leaves out what it was shown, and records the rest as
	// shown.
	Session string `json:"session,omitempty"`
}

// ArtifactContextReply is the text, and what is in it.
type ArtifactContextReply struct {
	ArtifactSearchReply
	Context string `json:"context"`
	Tokens  int    `json:"tokens"` // of Context
	// Dropped counts hits that had no room.
	Dropped int `json:"dropped,omitempty"`
	// Known counts hits that were left out because the session was shown them.
	Known int `json:"known,omitempty"`
	// Unresolved lists mentions of the task that name no file of the index.
	Unresolved []ArtifactMention `json:"unresolved,omitempty"`
}

// ArtifactBuildRequest brings the index of a project up to its files.
type ArtifactBuildRequest struct {
	Project string `json:"project"` // its folder, absolute
	// Globs say which files are looked at, relative to the project: "*" and "?"
	// within a name, "**" any folders, "{a,b}" either; a folder stands for all
	// in it. Empty is what they were before, at first the defaults.
	Globs []string `json:"globs,omitempty"`
	// Defaults forgets earlier globs.
	Defaults bool `json:"defaults,omitempty"`
	// Force reads every file again.
	Force bool `json:"force,omitempty"`
	// Watch says that whoever asks stays to hear of changes. An index is kept up
	// to its files whether somebody does or not.
	Watch bool `json:"watch,omitempty"`
	// Wait bounds how long the answer waits for the build, nanoseconds; 0 does
	// not wait. A build goes on without anybody waiting.
	Wait time.Duration `json:"wait,omitempty"`
}

// ArtifactStatusRequest asks how a project's index stands.
type ArtifactStatusRequest struct {
	Project string `json:"project"` // its folder, absolute
	// After waits until the index moved on from this revision, for Wait at
	// most.
	After uint64        `json:"after,omitempty"`
	Wait  time.Duration `json:"wait,omitempty"`
	// Watch has the files looked at where the system does not tell of changes.
	Watch bool `json:"watch,omitempty"`
	// Check compares the index with the files first.
	Check bool `json:"check,omitempty"`
}

// ArtifactStatus says how a project's index stands.
type ArtifactStatus struct {
	Project  string `json:"project"`
	Exists   bool   `json:"exists"`   // false: writ index build makes one
	Revision uint64 `json:"revision"` // grows with every change of the index
	// State is "ready", "building", "loading" (after a start of the daemon) or
	// "failed".
	State    string            `json:"state"`
	Error    string            `json:"error,omitempty"` // of the last build
	Progress *ArtifactProgress `json:"progress,omitempty"`
	// Watching says that the system tells of changes to the files. Where it does
	// not, they are looked at before each search, and Unwatched says why.
	Watching  bool   `json:"watching"`
	Unwatched string `json:"unwatched,omitempty"`

	Globs     []string       `json:"globs"` // in use
	Documents int            `json:"documents"`
	Chunks    int            `json:"chunks"`
	Symbols   int            `json:"symbols"`
	Bytes     int64          `json:"bytes"`       // of the documents
	IndexSize int64          `json:"index_bytes"` // in memory, without the view
	Types     map[string]int `json:"types"`       // documents by type
	Languages map[string]int `json:"languages"`
	// Left counts files that were looked at and left out, by reason, when all of
	// them were last looked at; a folder that is not entered counts once.
	Left map[string]int `json:"left"`
	// Problems are files that could not be indexed as they should, at most 100.
	Problems   []ArtifactProblem `json:"problems,omitempty"`
	Mentions   int               `json:"mentions"`
	Unresolved []ArtifactMention `json:"unresolved,omitempty"` // at most 100
	Ambiguous  []ArtifactMention `json:"ambiguous,omitempty"`  // at most 100

	// Embedder makes the vectors; "" is words alone. Lacking counts documents
	// whose vectors are still to be made beside, and EmbedderProblem says why an
	// embedder does not serve.
	Embedder        string `json:"embedder,omitempty"`
	Lacking         int    `json:"lacking,omitempty"`
	EmbedderProblem string `json:"embedder_problem,omitempty"`

	Index ArtifactIndexAge `json:"index"`
	// Last is the last build that ended.
	Last *ArtifactBuilt `json:"last,omitempty"`
}

// ArtifactProgress says how far a build is.
type ArtifactProgress struct {
	Stage string `json:"stage"` // walking, reading, recording, indexing
	Done  int    `json:"done"`
	Total int    `json:"total,omitempty"` // 0 while unknown
}

// ArtifactBuilt is what a build did.
type ArtifactBuilt struct {
	At        time.Time `json:"at"`
	Added     int       `json:"added"`
	Changed   int       `json:"changed"`
	Touched   int       `json:"touched"` // a new time, the same bytes
	Renamed   int       `json:"renamed"`
	Removed   int       `json:"removed"`
	Unchanged int       `json:"unchanged"`
	Read      int       `json:"read"`    // files whose bytes were read
	Seconds   float64   `json:"seconds"` // in all
}

// ArtifactProblem is a file that could not be indexed as it should.
type ArtifactProblem struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// ArtifactMention is a place where a file mentions another.
type ArtifactMention struct {
	Path     string   `json:"path,omitempty"` // of the file that mentions
	Line     int      `json:"line,omitempty"`
	Mention  string   `json:"mention"`            // as it is written
	Meant    []string `json:"meant,omitempty"`    // the paths it may mean
	Section  string   `json:"section,omitempty"`  // after "#"
	AtLine   int      `json:"at_line,omitempty"`  // after ":"
	Resolved string   `json:"resolved,omitempty"` // the path it means
}

// ArtifactDepsRequest asks what a file mentions and who mentions it.
type ArtifactDepsRequest struct {
	Project string `json:"project"`
	Path    string `json:"path"` // relative to the project
	// Depth is how many steps are followed; 0 is 1, at most 20.
	Depth int `json:"depth,omitempty"`
}

// ArtifactDeps is a file's part of the graph of mentions.
type ArtifactDeps struct {
	Path string `json:"path"`
	// Mentions are those in the file itself, with what they resolve to.
	Mentions []ArtifactMention `json:"mentions"`
	Outgoing []ArtifactEdge    `json:"outgoing"` // what it rests on, nearest first
	Incoming []ArtifactEdge    `json:"incoming"` // what rests on it, nearest first
}

// ArtifactEdge is one step of the graph.
type ArtifactEdge struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Depth int    `json:"depth"` // 1 is next to the file that was asked for
}

// ArtifactExplainRequest asks why a path is in the index, or is not.
type ArtifactExplainRequest struct {
	Project string `json:"project"`
	Path    string `json:"path"`
}

// ArtifactExplanation answers it.
type ArtifactExplanation struct {
	Path    string `json:"path"`
	Indexed bool   `json:"indexed"` // as the file stands and the rules are now
	Reason  string `json:"reason"`  // a key of ArtifactStatus.Left; "" where indexed
	Detail  string `json:"detail"`  // one sentence
}
