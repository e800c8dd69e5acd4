package rulebook

import (
	"context"
	"log/slog"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/rule"
	"github.com/writbus/writ/retrieval/rulebook/index"
	"github.com/writbus/writ/schemas"
)

// Options are what a book works with. All are required but where they say so.
type Options struct {
	Conn    *bus.Conn
	Log     *bus.Writer
	Runtime *projections.Runtime
	// Rules and Frequency are views of the runtime.
	Rules     projections.Rules[rule.State]
	Frequency *projections.Frequency
	Index     *index.Index
	// Shown lists the ids of the rules that a session was shown, sorted.
	Shown func(ctx context.Context, session string) ([]string, error)
	// Shipped says that the rules of this build are to be in the corpus.
	Shipped bool
	Now     func() time.Time
	Logger  *slog.Logger
	// Ask asks the configured model, nil where none is.
	Ask func(ctx context.Context, system, question string) (answer string, err error)
	// Failed is called when the shipped rules cannot be brought in; nil for nobody.
	Failed func()
	// Followed is called after an act on the releases that are followed; nil for nobody.
	Followed func()
	// Lean lets less garbage gather until it is undone, and Rest tells that much
	// memory was used once; nil for neither.
	Lean func() (undo func())
	Rest func()
}

// Book is the service of rules. It is safe for concurrent use.
type Book struct {
	store
	arrival
	index    *index.Index
	curator  *curator
	shipped  bool
	judge    *judge // nil without a model
	releases *Releases
	o        Options
}

// New returns the service; nothing works in the background before Begin.
func New(o Options) *Book {
	if o.Lean == nil {
		o.Lean = func() func() { return func() {} }
	}
	if o.Followed == nil {
		o.Followed = func() {}
	}
	if o.Rest == nil {
		o.Rest = func() {}
	}
	b := &Book{
		store:   store{conn: o.Conn, writer: o.Log, runtime: o.Runtime, rules: o.Rules, frequency: o.Frequency, now: o.Now},
		index:   o.Index,
		curator: newCurator(o.Index.Embedder().Many().Embedder),
		shipped: o.Shipped, arrival: arrival{imported: make(chan struct{})}, o: o,
	}
	b.releases = newReleases(b, o)
	if o.Ask != nil {
		b.judge = newJudge(o.Ask)
	}
	return b
}

// Endpoints are the requests that the service answers.
func (b *Book) Endpoints() []bus.Endpoint {
	return []bus.Endpoint{
		bus.Answer("retrieve", schemas.SvcRetrieve, b.retrieve),
		bus.Answer("always_on", schemas.SvcAlwaysOn, b.alwaysOn),
		bus.Answer("rule_list", schemas.SvcRules, b.list),
		bus.Answer("rule_search", schemas.SvcRuleSearch, b.search),
		bus.Answer("rule_show", schemas.SvcRule, b.show),
		bus.Answer("rule_import", schemas.SvcRuleImport, b.Import),
		bus.Answer("rule_change", schemas.SvcRuleChange, b.act),
		bus.Answer("rule_propose", schemas.SvcRulePropose, b.Propose),
		bus.Answer("rule_feedback", schemas.SvcRuleFeedback, b.feedback),
		bus.Answer("rule_verdict", schemas.SvcRuleVerdict, b.verdict),
		bus.Answer("rule_log", schemas.SvcRuleLog, b.log),
		bus.Answer("rule_export", schemas.SvcRuleExport, b.export),
		bus.Answer("rule_review", schemas.SvcRuleReview, b.review),
		bus.Answer("rule_stats", schemas.SvcRuleStats, b.stats),
		bus.Answer("rule_validate", schemas.SvcRuleValidate, b.validate),
		bus.Answer("rule_compress", schemas.SvcRuleCompress, b.compress),
		bus.Answer("rule_symptoms", schemas.SvcRuleSymptoms, b.symptoms),
		bus.Answer("rule_release", schemas.SvcRelease, b.releases.Act),
		bus.Answer("check", schemas.SvcCheck, b.check),
	}
}

// atTerminal is who acts with the admin credential.
var atTerminal = enforcement.Person(enforcement.ChannelTerminal)
