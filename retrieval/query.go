package retrieval

import (
	"strings"

	"github.com/writbus/writ/schemas"
)

// Query asks for the rules that matter for a text. Only Text is needed.
type Query struct {
	Text         string   `json:"query"`                   // any bytes; of very long ones the two ends count
	Session      string   `json:"session,omitempty"`       // passed through; the index keeps no sessions
	Domains      []string `json:"domains,omitempty"`       // only these and rules without domain; empty is all
	NodeTypes    []string `json:"node_types,omitempty"`    // only these; empty is all
	Beside       bool     `json:"beside,omitempty"`        // also nodes that go with no prompt: worked examples, phases, roles and their like
	Exclude      []string `json:"exclude,omitempty"`       // ids never to return
	Languages    []string `json:"languages,omitempty"`     // languages and frameworks of the project and the files at hand
	Subjects     []string `json:"subjects,omitempty"`      // technologies of the project and the files at hand
	Project      bool     `json:"project,omitempty"`       // that is all the project has: rules about others are given only if the text names them
	Shown        []string `json:"shown,omitempty"`         // ids the reader has in full: named where they win, given again only if the text names them
	Named        []string `json:"named,omitempty"`         // ids the reader has a line of: given in full or not at all
	Prefer       []string `json:"prefer,omitempty"`        // ids to put first at a near tie
	Previous     []string `json:"previous,omitempty"`      // the order of the last answer, kept at near ties
	BudgetTokens int      `json:"budget_tokens,omitempty"` // 0 is DefaultBudget; below 0 nothing is rendered
	Profile      string   `json:"profile,omitempty"`       // a profile's name; "" is the default
	// Judged is what a model said of the candidates, by id: TierInject or TierTitles;
	// what it lacks is not given. Nil is not asked.
	Judged map[string]string `json:"judged,omitempty"`
	// Also are ids that are given in full though the text is about something else:
	// what a model chose for the prompt before, when it had been answered.
	Also    []string `json:"also,omitempty"`
	Explain bool     `json:"explain,omitempty"` // adds the matched terms to each hit's reasons
	Raw     bool     `json:"raw,omitempty"`     // returns the whole ranking, irrelevant hits included
	Limit   int      `json:"limit,omitempty"`   // most rules to return; 0 is the mode's
}

// Answer is what a query found.
type Answer struct {
	Rules       []Hit      `json:"rules"`
	Mode        string     `json:"mode"`        // ModeSummary, ModeStandard or ModeFull, by budget
	Tier        string     `json:"tier"`        // of the answer: the best of its hits'
	Probability float64    `json:"probability"` // that the best hit is relevant
	Literal     bool       `json:"literal"`     // the text names an id or a title, or quotes a phrase
	Embedder    string     `json:"embedder"`    // name and version, or "none"
	Profile     string     `json:"profile"`
	Problem     string     `json:"problem,omitempty"` // why the configured embedder did not answer
	Index       Info       `json:"index"`
	Tokens      int        `json:"tokens"` // of Block
	Budget      int        `json:"budget"`
	Encoding    string     `json:"encoding"` // in which tokens are counted
	Block       string     `json:"block"`    // the rendered text, "" when there is nothing to inject
	Conflicts   []Conflict `json:"conflicts,omitempty"`
	Stages      []Stage    `json:"stages"`
	Latency     Latency    `json:"latency_us"`
}

// Info names an index snapshot.
type Info struct {
	Version string `json:"version"`  // a hash of the documents and the embedder
	BuiltAt string `json:"built_at"` // as the builder passed it
	Rules   int    `json:"rules"`    // documents that can be retrieved
}

// Hit is a rule that was found.
type Hit struct {
	ID          string  `json:"id"`
	Type        string  `json:"type"`
	Score       float64 `json:"score"` // 0 to 1
	Tier        string  `json:"tier"`
	Probability float64 `json:"probability"`
	// Rendered tells how much of the rule is in the block: RenderedWhole,
	// RenderedShort, RenderedTitle, RenderedAlready, or "" if none is.
	Rendered  string   `json:"rendered"`
	Conflicts []string `json:"conflicts,omitempty"` // rules left out because this one contradicts them
	schemas.Rule
	Why Why `json:"why"`
}

// How much of a rule was rendered.
const (
	RenderedWhole = "whole"
	RenderedShort = "short"
	RenderedTitle = "title"
	// RenderedAlready is that of a rule that is given in full, and that the reader
	// has: its id is named.
	RenderedAlready = "already"
)

// Conflict is a pair of rules that contradict each other, only one of which is
// in the answer.
type Conflict struct {
	Kept    string `json:"kept"`
	LeftOut string `json:"left_out"`
}

// Why holds a hit's signals before weighing.
type Why struct {
	BM25       float64 `json:"bm25"`
	Vector     float64 `json:"vector"` // cosine
	Severity   float64 `json:"severity"`
	Confidence float64 `json:"confidence"`
	Graph      float64 `json:"graph"`    // 1 one hop from a seed, 0.5 two hops
	Coverage   float64 `json:"coverage"` // share of the query's weight that the rule's words hold
	Pinned     bool    `json:"pinned,omitempty"`
	Ranks      Ranks   `json:"ranks"`
	Terms      []Term  `json:"terms,omitempty"` // with Query.Explain
	// Evidence is what the decision to give the rule looked at, in the order of
	// [EvidenceNames]; with Query.Explain, of rules that were judged.
	Evidence []float64 `json:"evidence,omitempty"`
}

// Ranks are a hit's places, from 1; 0 is not in that list.
type Ranks struct {
	BM25   int `json:"bm25"`
	Vector int `json:"vector"`
	Pass1  int `json:"pass1"` // before the graph
}

// Term is a matched word, as analysed, and what it adds to the BM25 score.
type Term struct {
	Term  string  `json:"term"`
	Score float64 `json:"score"`
}

// Stage is a step of the pipeline: how many candidates it left, how long it took.
type Stage struct {
	Name       string `json:"name"`
	Candidates int    `json:"candidates"`
	Nanos      int64  `json:"nanos"`
}

// Latency is the stages' durations in microseconds.
type Latency struct {
	Analyse float64 `json:"analyse"`
	BM25    float64 `json:"bm25"`
	Vector  float64 `json:"vector"`
	Graph   float64 `json:"graph"`
	Rank    float64 `json:"rank"`
	Render  float64 `json:"render"`
	Total   float64 `json:"total"`
}

// EmbedderNone is the embedder of an answer that used words alone.
const EmbedderNone = "none"

// maxQueryBytes is how much of a query is read. Of a longer one, half from each
// end: what is asked stands before or after what is pasted.
const maxQueryBytes = 16 << 10

// queryText is the part of a query's text that is read, as valid UTF-8.
func queryText(text string) string {
	if len(text) > maxQueryBytes {
		text = text[:maxQueryBytes/2] + " " + text[len(text)-maxQueryBytes/2:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(text, " "))
}
