package turn

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

const (
	// maxInstructions bounds a file of instructions that is read, in bytes; hosts
	// warn of ones a tenth as long.
	maxInstructions = 1 << 20
	// maxInstructed bounds the rules that are looked for in instructions, so that
	// a hook keeps to its time with any corpus.
	maxInstructed = 3000
	// resumedRules is how many of the rules from before a compaction are named
	// again, one line each.
	resumedRules = 12
	// readChars is how much of a file that is read, or was written, rules are
	// looked for with.
	readChars = 1500
)

// onRead takes a tool that no gate is about. In review and debug, reading a
// file brings the rules for it.
func (v *Service) onRead(ctx context.Context, t turn) (host.Answer, error) {
	var about prompted
	decision, _, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		observed, err := enforcement.Decide(s, enforcement.Observe{HookObserved: t.observed()})
		if about = v.in.forRead(ctx, t, s); err != nil || len(about.rules) == 0 {
			return observed, err
		}
		return v.in.withShown(t, s, observed, "read", about.rules, about.tokens)
	})
	return host.Answer{Context: join(decision.Context, about.block), Notice: decision.Notice}, err
}

func (in injection) forRead(ctx context.Context, t turn, s enforcement.State) prompted {
	reviewing := s.Mode == enforcement.ModeReview || s.Mode == enforcement.ModeDebug
	if t.Tool != "Read" || len(t.Reads) != 1 || !reviewing || s.Orchestrator || !t.Facts.TellsBeforeTools {
		return prompted{}
	}
	return in.forFileAsItStands(ctx, t, s, t.project.Target(t.Reads[0], t.Dir))
}

// forFileAsItStands retrieves for a file as it stands.
func (in injection) forFileAsItStands(ctx context.Context, t turn, s enforcement.State, target schemas.Target) prompted {
	content, err := project.ReadFile(target.Path)
	if err != nil || len(content) < enoughText {
		return prompted{}
	}
	return in.about(ctx, t, s, target, target.Rel+"\n"+strings.ToValidUTF8(string(content[:min(len(content), readChars)]), " "))
}

// rulesAfter brings the rules for what a tool wrote, where nothing could be said
// before it: of what a command made, and for hosts that hear nothing there.
func (v *Service) rulesAfter(ctx context.Context, t turn, session string, changes []enforcement.TreeChange) (string, error) {
	if t.Shell == nil && t.Facts.TellsBeforeTools {
		return "", nil
	}
	var target schemas.Target
	for _, touched := range t.touched(changes) {
		if touched.Class == enforcement.ClassCode || touched.Class == enforcement.ClassTest {
			target = touched
			break
		}
	}
	if target.Rel == "" {
		return "", nil
	}
	var about prompted
	_, _, err := v.Sessions.Act(ctx, session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		none := enforcement.Decision{Verdict: enforcement.Allow}
		if about = (prompted{}); !s.Orchestrator {
			about = v.in.forFileAsItStands(ctx, t, s, target)
		}
		return v.in.withShown(t, s, none, "file", about.rules, about.tokens)
	})
	return about.block, err
}

// resume tells a model, after a compaction, where its session stands and which
// rules it had; "" otherwise.
func (in injection) resume(s enforcement.State) string {
	text := s.Resume()
	if text == "" || len(s.Before) == 0 {
		return text
	}
	index := in.rules.Current()
	band := index.Mandatory().Rules
	var b strings.Builder
	named := 0
	for _, id := range s.Before {
		doc, found := index.Document(id)
		if !found || slices.Contains(band, id) || named == resumedRules {
			continue
		}
		named++
		fmt.Fprintf(&b, "- %s: %s\n", id, doc.Rule.Statement)
	}
	if named == 0 {
		return text
	}
	return text + "\nRules you were shown before; `writ rule show ID` has them whole:\n" + strings.TrimRight(b.String(), "\n")
}

// onInstructions notes which rules stand in instructions that the host itself
// gives its model: they are not injected beside them.
func (v *Service) onInstructions(ctx context.Context, t turn) (host.Answer, error) {
	found := v.in.inInstructions(t.File)
	decision, _, err := v.Sessions.Act(ctx, t.Session, t.agent(), t.PromptID, func(s enforcement.State) (enforcement.Decision, error) {
		observed, err := enforcement.Decide(s, enforcement.Observe{HookObserved: t.observed()})
		if err != nil {
			return observed, err
		}
		return v.in.withShown(t, s, observed, "instructions", found, 0)
	})
	return host.Answer{Context: decision.Context, Notice: decision.Notice}, err
}

// inInstructions are the rules whose statement a file holds. One that is
// only named by its id is not known from that.
func (in injection) inInstructions(file string) []schemas.ShownRule {
	if !filepath.IsAbs(file) {
		return nil
	}
	raw, err := project.ReadFile(file)
	if err != nil || len(raw) > maxInstructions {
		return nil
	}
	text := plainWords(string(raw))
	var found []schemas.ShownRule
	seen := 0
	for doc := range in.rules.Current().All() {
		if seen++; seen > maxInstructed {
			break
		}
		if statement := plainWords(doc.Rule.Statement); len(statement) >= minStatement && strings.Contains(text, statement) {
			found = append(found, schemas.ShownRule{ID: doc.Rule.ID, Score: 1, Band: enforcement.BandInstructions})
		}
	}
	return found
}

// minStatement is the shortest statement, in bytes, that is taken for a rule's
// when it is found in a text.
const minStatement = 20

// plainWords is a text without case, marks of Markdown and line breaks.
func plainWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return strings.ContainsRune(" \t\r\n*_`.,;:!?-–—>#\"'()[]", r)
	}), " ")
}

// instructed says whether the whole mandatory band stands in the host's own
// instructions.
func instructed(s enforcement.State, band retrieval.Block) bool {
	for _, id := range band.Rules {
		if _, found := slices.BinarySearch(s.Instructed, id); !found {
			return false
		}
	}
	return len(band.Rules) > 0
}

// uses are the languages and other technologies of the project and of the folder
// that the agent works in: a project may have parts in others.
func (t turn) uses() (languages, subjects []string) {
	languages, subjects = t.project.Languages, t.project.Subjects
	dir := project.Resolved(t.Dir)
	if rel, err := filepath.Rel(t.project.Root, dir); err != nil || rel == "." || !filepath.IsLocal(rel) {
		return languages, subjects
	}
	here, also := project.Uses(dir)
	return union(languages, here), union(subjects, also)
}

// union has the names of both, each once.
func union(names, others []string) []string {
	all := slices.Clone(names)
	for _, name := range others {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
