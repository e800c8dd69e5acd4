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

const otherTool = `retrieval_pipeline:
  stage1:
    method: bm25
    top_k: 100
    fields: [title, content, tags]
    k1: 1.2
    b: 0.6
  stage2:
    method: semantic
    model: all-MiniLM-L6-v2
    top_k: 7
    threshold: 0.6
chunking:
  max_tokens: 512
  overlap_tokens: 50
caching:
  enabled: true
  candidates: {max_entries: 1000, ttl: 300}
context_injection:
  enabled: true
  auto_retrieve_on_start: false
  max_contxt_tokens: 9
  max_context_tokens: 50000
agent_strategies:
  test-engineer:
    artifact_types: [requirement, code]
    top_k: 15
    relevance_threshold: 0.65
    phase_filter: [construction]
  security_auditor: {tag_filter: [crypto], rerank: true, treshold: 0.5}
`

// What other tools are set by is understood, and what has no effect says why.
func TestSettingsInOtherToolsWords(t *testing.T) {
	p, err := loaded(t, otherTool)
	if err != nil {
		t.Fatal(err)
	}
	set, err := strategy.BuiltIn().With(p.Strategies)
	if err != nil {
		t.Fatal(err)
	}
	if s := set["default"]; s.TopK != 7 || s.MinScore != 0.6 {
		t.Errorf("default: %+v", s)
	}
	if s := set["test_engineer"]; s.TopK != 15 || len(s.Types) != 2 || !slices.Equal(s.Phases, []string{"construction"}) {
		t.Errorf("test_engineer: %+v", s)
	}
	if s := set["security_auditor"]; !slices.Equal(s.Tags, []string{"crypto"}) {
		t.Errorf("security_auditor: %+v", s)
	}
	if p.AutoRetrieveOnStart {
		t.Error("prompts bring files all the same")
	}
	notes := strings.Join(p.RetrievalNotes(), "\n")
	for _, want := range []string{"stage1.b has no effect, 0.75 holds", "stage1.fields has no effect", "stage2.model has no effect: writ model use", "caching.candidates.ttl", "security_auditor.rerank has no effect", "security_auditor.treshold has no effect: a strategy has no such setting; did you mean threshold?", "context_injection.max_contxt_tokens has no effect: Writ has no such setting; did you mean max_context_tokens?"} {
		if !strings.Contains(notes, want) {
			t.Errorf("%q is missing:\n%s", want, notes)
		}
	}
	for _, not := range []string{"k1", "max_tokens", "overlap", "max_context_tokens", "auto_retrieve", "threshold"} {
		if strings.Contains(notes, not+" has no effect") {
			t.Errorf("%s holds as it is set:\n%s", not, notes)
		}
	}
	if again := strings.Join(p.RetrievalNotes(), "\n"); again != notes {
		t.Errorf("notes differ:\n%s", again)
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
		"retrieval_pipeline.threshold":     "retrieval_pipeline: {stage2: {threshold: high}}",
	} {
		if _, err := loaded(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
