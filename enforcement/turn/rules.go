package turn

import (
	"context"
	"fmt"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

const (
	// injectedChars is how much text one hook injects at most: hosts cut off
	// beyond 10,000 characters, and Writ's own lines need room.
	injectedChars = 9000
	// charsPerToken is a low estimate for English and code, so that a budget of
	// tokens stays within a budget of characters.
	charsPerToken = 3.2
	// fileBudget and fileRules bound what a write brings with it.
	fileBudget = 700
	fileRules  = 2
)

// injection brings rules into a conversation.
type injection struct{ rules Rules }

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
	if s.Orchestrator || approves(decision) {
		return p
	}
	room := int(float64(injectedChars-taken-len(p.band)-len(decision.Context)) / charsPerToken)
	budget := t.project.Settings.BudgetTokens
	if budget == 0 || budget > room {
		budget = room
	}
	if budget <= 0 {
		budget = -1 // no room: nothing is rendered
	}
	answer := in.rules.Search(ctx, retrieval.Query{
		Text: t.Prompt, Session: t.Session, Domains: t.project.Domains(index.Domains(), t.languages()),
		Shown: s.Had(), BudgetTokens: budget,
	})
	p.take(answer)
	return p
}

// approves says that a prompt was an approval, which asks for no rules.
func approves(d enforcement.Decision) bool {
	for _, recorded := range d.Record {
		if recorded.EventType() == (schemas.GateApproved{}).EventType() {
			return true
		}
	}
	return false
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
	languages := t.project.Languages
	if language := project.LanguageOfFile(target.Rel); language != "" {
		languages = []string{language}
	}
	index := in.rules.Current()
	answer := in.rules.Search(ctx, retrieval.Query{
		Text: text, Session: t.Session, Domains: t.project.Domains(index.Domains(), languages),
		Shown: s.Had(), BudgetTokens: fileBudget, Limit: fileRules,
	})
	if answer.Tier == retrieval.TierInject {
		p.take(answer)
	}
	return p
}

func (p *prompted) take(a retrieval.Answer) {
	p.block, p.tokens = a.Block, a.Tokens
	for _, hit := range a.Rules {
		if hit.Rendered == retrieval.RenderedWhole || hit.Rendered == retrieval.RenderedShort {
			p.rules = append(p.rules, schemas.ShownRule{ID: hit.ID, Score: hit.Score, Band: "retrieved"})
		}
	}
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

// Band reminds of the mandatory rules, one line each: they were shown in
// full when the session started.
func Band(index *retrieval.Index, s enforcement.State) string {
	band := index.Mandatory()
	if len(band.Rules) == 0 || instructed(s, band) {
		return ""
	}
	for _, id := range band.Rules {
		if !contains(s.Fresh, id) {
			return band.Text
		}
	}
	var b strings.Builder
	b.WriteString("Rules that always hold in this project:\n")
	for _, id := range band.Rules {
		if doc, found := index.Document(id); found {
			fmt.Fprintf(&b, "- %s: %s\n", id, doc.Rule.Statement)
		}
	}
	return b.String()
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func mandatoryShown(band retrieval.Block) []schemas.ShownRule {
	shown := make([]schemas.ShownRule, 0, len(band.Rules))
	for _, id := range band.Rules {
		shown = append(shown, schemas.ShownRule{ID: id, Score: 1, Band: "mandatory"})
	}
	return shown
}

// withShown adds the rules that were injected to what a decision records.
func (in injection) withShown(s enforcement.State, decision enforcement.Decision, trigger string, rules []schemas.ShownRule, tokens int) (enforcement.Decision, error) {
	if len(rules) == 0 {
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
