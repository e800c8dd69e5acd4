package turn

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

const (
	// injectedChars is how much text one hook injects at most: hosts cut off
	// beyond 10,000 characters, and Writ's own lines need room.
	injectedChars = 9000
	// promptTokens is what the rules of one prompt take at most where the project
	// sets no budget; most prompts do not fill it.
	promptTokens = 150
	// charsPerToken is a low estimate for English and code, so that a budget of
	// tokens stays within a budget of characters.
	charsPerToken = 3.2
	// fileBudget and fileRules bound what a write brings with it.
	fileBudget = 700
	fileRules  = 2
)

// injection brings rules into a conversation.
type injection struct {
	rules Rules
	now   func() time.Time
}

// prompted is what an event brings into the conversation.
type prompted struct {
	band   string
	block  string
	rules  []schemas.ShownRule
	tokens int
}

// forPrompt retrieves for a prompt: what matters and was not shown in this
// phase yet, within the host's room, of which some characters are taken.
func (in injection) forPrompt(ctx context.Context, t turn, s enforcement.State, decision enforcement.Decision, taken int) prompted {
	index := in.rules.Current()
	p := prompted{band: Band(index, s)}
	if p.band != "" {
		p.rules, p.tokens = mandatoryShown(index.Mandatory()), index.Mandatory().Tokens
	}
	if s.Orchestrator || approves(decision) {
		return p
	}
	room := int(float64(injectedChars-taken-len(p.band)-len(decision.Context)) / charsPerToken)
	budget := min(cmp.Or(t.project.Settings.BudgetTokens, promptTokens), room)
	if budget <= 0 {
		budget = -1 // no room: nothing is rendered
	}
	languages, subjects := t.uses()
	answer := in.rules.Search(ctx, retrieval.Query{
		Text: t.Prompt, Session: t.Session, Domains: t.project.Domains(index.Domains(), languages, t.Prompt),
		Languages: languages, Subjects: subjects, Project: true, Shown: s.Had(), Named: s.Named, BudgetTokens: budget,
	})
	p.take(answer)
	return p
}

// approves says that a prompt was an approval, which asks for no rules.
func approves(d enforcement.Decision) bool {
	return slices.ContainsFunc(d.Record, func(p schemas.Payload) bool { return p.EventType() == (schemas.GateApproved{}).EventType() })
}

// forFile retrieves for a file about to be written, the only one of the
// targets.
func (in injection) forFile(ctx context.Context, t turn, s enforcement.State, targets []schemas.Target) prompted {
	if len(t.Writes) != 1 || s.Orchestrator {
		return prompted{}
	}
	target := targets[0]
	text, enough := describeWrite(target, t.Writes[0])
	if !enough {
		return prompted{}
	}
	return in.about(ctx, t, s, target, text)
}

// about retrieves for a file of the project and what stands in it.
func (in injection) about(ctx context.Context, t turn, s enforcement.State, target schemas.Target, text string) prompted {
	var p prompted
	if target.Class != enforcement.ClassCode && target.Class != enforcement.ClassTest {
		return p
	}
	index := in.rules.Current()
	answer := in.rules.Search(ctx, retrieval.Query{
		Text: text, Session: t.Session, Domains: t.project.Domains(index.Domains(), t.project.LanguagesFor(target.Rel), ""),
		Languages: t.project.LanguagesFor(target.Rel), Subjects: t.project.SubjectsFor(target.Rel), Project: true, Shown: s.Had(), Named: s.Named, BudgetTokens: fileBudget, Limit: fileRules,
	})
	if answer.Tier == retrieval.TierInject {
		p.take(answer)
	}
	return p
}

func (p *prompted) take(a retrieval.Answer) {
	p.block, p.tokens = a.Block, p.tokens+a.Tokens
	p.rules = append(p.rules, Shown(a)...)
}

// Shown are the rules that an answer brings into a conversation, in full or as a
// line.
func Shown(a retrieval.Answer) []schemas.ShownRule {
	var shown []schemas.ShownRule
	for _, hit := range a.Rules {
		switch hit.Rendered {
		case retrieval.RenderedWhole, retrieval.RenderedShort:
			shown = append(shown, schemas.ShownRule{ID: hit.ID, Score: hit.Score, Band: "retrieved"})
		case retrieval.RenderedTitle:
			shown = append(shown, schemas.ShownRule{ID: hit.ID, Score: hit.Score, Band: enforcement.BandLine})
		}
	}
	return shown
}

// enoughText is how much a write has to say before rules are looked for: the
// words of a path alone match anything.
const enoughText = 200

// describeWrite is the query a write stands for: where it goes, and the first
// lines of what it says.
func describeWrite(t schemas.Target, w host.Write) (text string, enough bool) {
	if w.Content != nil {
		text = *w.Content
	}
	for _, e := range w.Edits {
		text += e.New + "\n"
	}
	const most = 1500
	enough = len(text) >= enoughText
	if len(text) > most {
		text = text[:most]
	}
	return t.Rel + "\n" + text, enough
}

// Band is the text of the mandatory rules where the model does not have it: it is
// given once a session, and again after a compaction.
func Band(index *retrieval.Index, s enforcement.State) string {
	band := index.Mandatory()
	if instructed(s, band) || !slices.ContainsFunc(band.Rules, func(id string) bool { return !holds(s, id) }) {
		return ""
	}
	return band.Text
}

// holds says whether the model has a rule's text: it was shown, or stands in the
// host's instructions, and was not lost by a compaction since.
func holds(s enforcement.State, id string) bool {
	shown := s.Shown
	if s.Resuming {
		shown = s.Fresh
	}
	return slices.Contains(s.Instructed, id) || slices.Contains(shown, id)
}

func mandatoryShown(band retrieval.Block) []schemas.ShownRule {
	shown := make([]schemas.ShownRule, 0, len(band.Rules))
	for _, id := range band.Rules {
		shown = append(shown, schemas.ShownRule{ID: id, Score: 1, Band: "mandatory"})
	}
	return shown
}

// withShown adds the rules that were injected to what a decision records. Where
// nobody waits for the answer any more, none are.
func (in injection) withShown(t turn, s enforcement.State, decision enforcement.Decision, trigger string, rules []schemas.ShownRule, tokens int) (enforcement.Decision, error) {
	if len(rules) == 0 || t.overdue(in.now()) {
		return decision, nil
	}
	shown, err := enforcement.Decide(s, enforcement.ShowRules{RulesShown: schemas.RulesShown{
		Rules: rules, Phase: s.Phase(), Trigger: trigger, Tokens: tokens, Embedder: in.rules.Current().Embedder(),
	}})
	decision.Record = append(decision.Record, shown.Record...)
	return decision, err
}

// greeting tells a model how this project is worked on.
const greeting = "This project is guarded by Writ. Files may be written according to the session's mode and phase; " +
	"a refusal names its rule and the next step."

// join puts non-empty texts below each other.
func join(texts ...string) string {
	var kept []string
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, "\n\n")
}
