package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/artifact/strategy"
)

func loaded(t *testing.T, text string) (Project, error) {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, ".writ"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ProjectFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return LoadProject(root)
}

const otherTool = `agent_strategies:
  test-engineer:
    artifact_types: [requirement, code]
    top_k: 15
    relevance_threshold: 0.65
    phase_filter: [construction]
  security_auditor: {tag_filter: [crypto], threshold: 0.5}
`

// What other tools call a strategy's settings is understood.
func TestStrategiesInOtherToolsWords(t *testing.T) {
	p, err := loaded(t, otherTool)
	if err != nil {
		t.Fatal(err)
	}
	set, err := strategy.BuiltIn().With(p.Strategies)
	if err != nil {
		t.Fatal(err)
	}
	if s := set["test_engineer"]; s.TopK != 15 || s.MinScore != 0.65 || len(s.Types) != 2 || !slices.Equal(s.Phases, []string{"construction"}) {
		t.Errorf("test_engineer: %+v", s)
	}
	if s := set["security_auditor"]; !slices.Equal(s.Tags, []string{"crypto"}) || s.MinScore != 0.5 {
		t.Errorf("security_auditor: %+v", s)
	}
}

func TestStrategiesInOwnWordsWin(t *testing.T) {
	p, err := loaded(t, otherTool+"strategies:\n  test-engineer: {top_k: 3}\n  default: {top_k: 4}\n")
	if err != nil {
		t.Fatal(err)
	}
	set, err := strategy.BuiltIn().With(p.Strategies)
	if err != nil || set["test_engineer"].TopK != 3 || set["default"].TopK != 4 {
		t.Errorf("%v: %+v", err, set)
	}
}

func TestWhatOtherToolsWordsCannotMean(t *testing.T) {
	for want, text := range map[string]string{
		"agent_strategies.a.top_k is many": "agent_strategies: {a: {top_k: many}}",
		"agent_strategies.a.tags is 3":     "agent_strategies: {a: {tags: 3}}",
		"agent_strategies.a.treshold: a strategy has no such setting, perhaps threshold is meant": "agent_strategies: {a: {treshold: 0.5}}",
	} {
		if _, err := loaded(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
