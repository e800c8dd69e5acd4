package whatif

import (
	"cmp"
	"slices"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

// Policy is how a project's settings decide.
type Policy struct {
	Settings     enforcement.Settings
	Mode         string // that sessions start in
	Findings     string // the file of findings, relative
	BudgetTokens int
}

// Project is what a session's project is today.
type Project struct {
	Policy Policy
	Layout enforcement.Layout
	// Domains are those that a search covers, over an index.
	Domains func(index *retrieval.Index, prompt string) []string
	// Languages are the project's, and its frameworks.
	Languages []string
	// Subjects are the technologies it uses besides.
	Subjects []string
	// Band is what a prompt says of the mandatory rules, and takes from its room.
	Band func(*retrieval.Index, enforcement.State) string
}

// Change is what is tried, and against what.
type Change struct {
	// Policy replaces every project's; nil leaves decisions alone.
	Policy *Policy
	// Now and Then are the indexes of today and of the change; Then nil leaves
	// prompts alone.
	Now, Then *retrieval.Index
	// Outcomes is what both indexes ask how rules have graduated; it is brought
	// forward to the moment of each prompt. nil is none.
	Outcomes *Outcomes
	// Project returns what a project's root holds today.
	Project func(root string) Project
	Filter
	// Clock is in nanoseconds, for the time that searches take.
	Clock func() int64
	// Listed bounds the flips and prompts that are listed; 0 lists all.
	Listed int
}

// Filter says which sessions and moments count; the others are only folded. Its
// zero fields leave nothing out.
type Filter struct {
	Session     string
	Root        string // of a session's project
	From, Until time.Time
}

func (f Filter) wants(session string, s enforcement.State, at time.Time) bool {
	return (f.Session == "" || f.Session == session) && (f.Root == "" || f.Root == s.Project) &&
		(f.From.IsZero() || !at.Before(f.From)) && (f.Until.IsZero() || at.Before(f.Until))
}

// Run takes the sessions' records, in order.
type Run struct {
	change   Change
	sessions map[string]*session
	report   Report
	rules    map[string]*RuleChange
	took     [2][]int64 // searches, now and then
}

// session is one session, folded as it was and as it would have been.
type session struct {
	was   enforcement.State // as recorded
	would enforcement.State // started under the other policy
	shown [2]enforcement.State
}

// New begins a run.
func New(c Change) *Run {
	r := &Run{change: c, sessions: map[string]*session{}, rules: map[string]*RuleChange{}}
	r.report = Report{Held: Held{Gone: []string{}}, Decisions: Decisions{Kinds: map[string]int{}, Cannot: map[string]int{}}, Flips: []Flip{}, Prompted: []PromptChange{}}
	return r
}

// Record takes the next record. What cannot be decoded is counted.
func (r *Run) Record(record schemas.Record) {
	events, err := record.Events()
	if err != nil {
		r.report.Undecodable++
		return
	}
	for i, e := range events {
		if e.Aggregate.Kind != schemas.KindSession {
			continue
		}
		s := r.sessions[e.Aggregate.ID]
		if s == nil {
			s = &session{}
			r.sessions[e.Aggregate.ID] = s
		}
		wanted := r.change.wants(e.Aggregate.ID, s.was, e.Time)
		if d, is := e.Data.(schemas.ToolDecided); is && wanted && r.change.Policy != nil {
			r.decision(s, e, d, events[i+1:])
		}
		r.fold(s, e, wanted)
		if p, is := e.Data.(schemas.PromptSubmitted); is && r.change.Then != nil {
			r.prompt(s, e, p, events[i+1:], wanted)
		}
	}
}

// fold brings a session's states forward.
func (r *Run) fold(s *session, e schemas.Event, wanted bool) {
	s.was = enforcement.Evolve(s.was, e)
	if r.change.Policy != nil {
		s.would = enforcement.Evolve(s.would, r.underPolicy(e))
	}
	if r.change.Then == nil {
		return
	}
	shown, is := e.Data.(schemas.RulesShown)
	if is && wanted && shown.Trigger != "prompt" && shown.Trigger != "session" {
		r.hold(shown)
	}
	for i, index := range []*retrieval.Index{r.change.Now, r.change.Then} {
		if is && shown.Trigger == "prompt" {
			continue // what is shown then is found out by the search
		}
		if is && shown.Trigger == "session" {
			e.Data = withBand(shown, index)
		}
		s.shown[i] = enforcement.Evolve(s.shown[i], e)
	}
}

// hold counts rules that a file brought up: the log does not say what was in
// the file, so they count as shown in both searches, as they were.
func (r *Run) hold(shown schemas.RulesShown) {
	held := &r.report.Held
	held.Times++
	held.Rules += len(shown.Rules)
	held.Tokens += shown.Tokens
	for _, rule := range shown.Rules {
		if _, there := r.change.Then.Document(rule.ID); !there && !slices.Contains(held.Gone, rule.ID) {
			held.Gone = append(held.Gone, rule.ID)
		}
	}
}

// underPolicy is an event as the other policy would have recorded it: what a
// session begins with.
func (r *Run) underPolicy(e schemas.Event) schemas.Event {
	if started, is := e.Data.(schemas.SessionStarted); is {
		started.Mode, started.Subagents = r.change.Policy.Mode, r.change.Policy.Settings.Subagents
		e.Data = started
	}
	return e
}

// withBand puts an index's mandatory rules in the place of those shown.
func withBand(shown schemas.RulesShown, index *retrieval.Index) schemas.RulesShown {
	band := index.Mandatory()
	shown.Rules, shown.Tokens = nil, band.Tokens
	for _, id := range band.Rules {
		shown.Rules = append(shown.Rules, schemas.ShownRule{ID: id, Score: 1, Band: "mandatory"})
	}
	return shown
}

const (
	// injectedChars and charsPerToken bound what a prompt brings along, as the
	// daemon does.
	injectedChars = 9000
	charsPerToken = 3.2
	// promptTokens is what the rules of a prompt take at most where the project sets
	// no budget, as the daemon does.
	promptTokens = 150
	// promptShown is how much of a prompt a report quotes, characters.
	promptShown = 80
)

// prompt searches for a prompt in both indexes, each with what would have been
// shown before.
func (r *Run) prompt(s *session, e schemas.Event, p schemas.PromptSubmitted, rest []schemas.Event, wanted bool) {
	if s.was.Orchestrator || slices.ContainsFunc(rest, func(e schemas.Event) bool { return e.Type() == schemas.GateApproved{}.EventType() }) {
		return // brings no rules
	}
	if r.change.Outcomes != nil {
		r.change.Outcomes.Until(e.Time)
	}
	project := r.change.Project(s.was.Project)
	var found [2][]string
	var tokens [2]int
	for i, index := range []*retrieval.Index{r.change.Now, r.change.Then} {
		policy := project.Policy
		if i == 1 && r.change.Policy != nil {
			policy = *r.change.Policy
		}
		answer := r.search(i, index, retrieval.Query{
			Text: p.Prompt, Session: e.Aggregate.ID, Domains: project.Domains(index, p.Prompt), Languages: project.Languages, Subjects: project.Subjects, Project: true, Shown: s.shown[i].Had(), Named: s.shown[i].Named,
			BudgetTokens: promptBudget(policy.BudgetTokens, project.Band(index, s.shown[i])),
		}, wanted)
		var rules []schemas.ShownRule
		for _, hit := range answer.Rules {
			switch hit.Rendered {
			case retrieval.RenderedWhole, retrieval.RenderedShort:
				rules = append(rules, schemas.ShownRule{ID: hit.ID, Score: hit.Score, Band: "retrieved"})
				found[i] = append(found[i], hit.ID)
			case retrieval.RenderedTitle:
				rules = append(rules, schemas.ShownRule{ID: hit.ID, Score: hit.Score, Band: enforcement.BandLine})
			}
		}
		tokens[i] = answer.Tokens
		if len(rules) > 0 {
			shown := e
			shown.Data = schemas.RulesShown{Rules: rules, Phase: s.shown[i].Phase(), Trigger: "prompt", Tokens: answer.Tokens, Embedder: index.Embedder()}
			s.shown[i] = enforcement.Evolve(s.shown[i], shown)
		}
	}
	if wanted {
		r.compare(e, p, found, tokens, recordedRules(rest))
	}
}

// promptBudget is the daemon's: the project's budget, or what the host has room
// for.
func promptBudget(asked int, band string) int {
	room := int(float64(injectedChars-len(band)) / charsPerToken)
	asked = min(cmp.Or(asked, promptTokens), room)
	if asked <= 0 {
		return -1
	}
	return asked
}

func (r *Run) search(i int, index *retrieval.Index, q retrieval.Query, wanted bool) retrieval.Answer {
	began := r.change.Clock()
	answer := index.Search(q)
	if wanted {
		r.took[i] = append(r.took[i], r.change.Clock()-began)
	}
	return answer
}

func recordedRules(rest []schemas.Event) (ids []string) {
	for _, e := range rest {
		if shown, is := e.Data.(schemas.RulesShown); is && shown.Trigger == "prompt" {
			for _, rule := range shown.Rules {
				ids = append(ids, rule.ID)
			}
		}
	}
	return ids
}

func (r *Run) compare(e schemas.Event, p schemas.PromptSubmitted, found [2][]string, tokens [2]int, recorded []string) {
	c := &r.report.Prompts
	c.Total++
	c.TokensNow += tokens[0]
	c.TokensThen += tokens[1]
	if sameSet(found[0], recorded) {
		c.AsRecorded++
	}
	gained, lost := without(found[1], found[0]), without(found[0], found[1])
	if len(gained)+len(lost) == 0 {
		return
	}
	c.Changed++
	c.Gained += len(gained)
	c.Lost += len(lost)
	for _, id := range gained {
		r.rule(id).Gained++
	}
	for _, id := range lost {
		r.rule(id).Lost++
	}
	if r.change.Listed == 0 || len(r.report.Prompted) < r.change.Listed {
		r.report.Prompted = append(r.report.Prompted, PromptChange{
			Session: e.Aggregate.ID, Seq: e.Position.Seq, Time: e.Time, Prompt: cut(p.Prompt, promptShown),
			Gained: gained, Lost: lost, Recorded: recorded, TokensNow: tokens[0], TokensThen: tokens[1],
		})
	}
}

func (r *Run) rule(id string) *RuleChange {
	if r.rules[id] == nil {
		r.rules[id] = &RuleChange{ID: id}
	}
	return r.rules[id]
}

func without(all, some []string) (rest []string) {
	for _, one := range all {
		if !slices.Contains(some, one) {
			rest = append(rest, one)
		}
	}
	return rest
}

func sameSet(a, b []string) bool { return len(without(a, b)) == 0 && len(without(b, a)) == 0 }
