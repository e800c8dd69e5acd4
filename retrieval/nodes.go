package retrieval

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// shownDetail renders what a node has beside the fields all nodes share, in
// the words an agent acts on.
func shownDetail(r *schemas.Rule) string {
	switch d := r.Detail().(type) {
	case *schemas.Abstraction:
		return labelled("COVERS: ", strings.Join(d.Members, ", "))
	case *schemas.Skill:
		return numbered("STEPS:\n", d.Steps) + labelled("DONE WHEN: ", d.Outcome) + labelled("TOOLS: ", strings.Join(d.Tools, ", "))
	case *schemas.Playbook:
		return labelled("BEFORE: ", strings.Join(d.Preconditions, "; ")) + numbered("PHASES:\n", d.Phases) + numbered("STEPS:\n", d.Steps) + labelled("ROLES: ", strings.Join(d.Roles, ", "))
	case *schemas.Technique:
		return numbered("STEPS:\n", d.Steps) + labelled("NOT FOR: ", strings.Join(d.Limitations, "; "))
	case *schemas.AntiPattern:
		return labelled("SIGNS: ", strings.Join(d.Signs, "; ")) + labelled("HARM: ", d.Harm) + labelled("INSTEAD: ", d.Instead)
	case *schemas.ForbiddenResponse:
		return labelled("NEVER SAY: ", strings.Join(d.Phrases, "; ")) + labelled("SAY INSTEAD: ", d.Instead)
	default:
		return ""
	}
}

func numbered(label string, steps []string) string {
	lines := make([]string, len(steps))
	for i, step := range steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, excerpt.Line(step))
	}
	return indented(label, strings.Join(lines, "\n"))
}

// kindWords are what people call nodes of a type.
var kindWords = map[schemas.NodeType]map[string]bool{
	schemas.NodeWorkedExample:     wordSet("example examples"),
	schemas.NodePhase:             wordSet("phase phases"),
	schemas.NodePlaybook:          wordSet("playbook playbooks procedure process workflow steps"),
	schemas.NodeTechnique:         wordSet("technique techniques"),
	schemas.NodeSkill:             wordSet("skill skills"),
	schemas.NodeAntiPattern:       wordSet("anti-pattern anti-patterns antipattern antipatterns mistake mistakes"),
	schemas.NodeForbiddenResponse: wordSet("forbidden phrase phrases say said"),
	schemas.NodeRationalization:   wordSet("excuse excuses rationalization rationalizations rationalisation rationalisations"),
	schemas.NodePressureScenario:  wordSet("pressure scenario scenarios"),
	schemas.NodeSubagentRole:      wordSet("role roles"),
}

// kindsNamed are the types of nodes, folded, that a search asks for by name; a
// prompt asks for none.
func (s *search) kindsNamed() map[string]bool {
	if !s.q.Beside {
		return nil
	}
	named := map[string]bool{}
	for kind, words := range kindWords {
		for word := range words {
			if s.form.words[word] {
				named[fold(string(kind))] = true
			}
		}
	}
	return named
}

// nodeKind is what the title line says of a node that is no rule.
func nodeKind(r *schemas.Rule) string {
	if t := r.NodeType(); t != schemas.NodeRule {
		return string(t) + ", "
	}
	return ""
}

// cleanDetails makes the strings of a node's pointed-to parts valid UTF-8, in
// copies of those parts.
func cleanDetails(r *schemas.Rule) {
	rule := reflect.ValueOf(r).Elem()
	for i := range rule.NumField() {
		part := rule.Field(i)
		if part.Kind() != reflect.Pointer || part.IsNil() {
			continue
		}
		fresh := reflect.New(part.Type().Elem())
		fresh.Elem().Set(part.Elem())
		for j := range fresh.Elem().NumField() {
			switch f := fresh.Elem().Field(j); value := f.Interface().(type) {
			case string:
				f.SetString(strings.ToValidUTF8(value, "\uFFFD"))
			case []string:
				f.Set(reflect.ValueOf(cleanAll(value)))
			}
		}
		part.Set(fresh)
	}
}
