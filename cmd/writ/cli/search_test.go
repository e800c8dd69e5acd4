package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

var searched = schemas.ArtifactSearchReply{
	Query: "retry", Method: "two-stage", Embedder: "static@1", AgentType: "test_engineer",
	Artifacts: []schemas.ArtifactFound{{
		Path: "payment/retry.go", Lines: [2]int{3, 12}, Type: "code", Score: 0.8123, Content: "\n// Retry asks again.\nfunc Retry() {\n\ta()\n\tb()\n\tc()\x1b[2J\n\td()\n\te()\n}\n",
		Metadata: schemas.ArtifactMetadata{Heading: "Retry", Tags: []string{"billing"}, LastModified: time.Unix(0, 0)},
		Why:      map[string]float64{"bm25": 3.25, "path": 1},
	}},
	References: []string{"@payment/retry.go"}, Confidence: schemas.ArtifactConfidence{Overall: 0.8123, PerArtifact: []float64{0.8123}},
	LatencyMs: 1.25, Stages: []schemas.ArtifactStage{{Name: "bm25", Candidates: 100, LatencyMs: 0.5}},
	Index: schemas.ArtifactIndexAge{AgeSeconds: 65, Stale: true, Changed: 2},
}

func TestSearchShowsWhereAndWhy(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcArtifact: searched}}
	r := s.run(t, "", "search", "--explain", "retry")
	for _, want := range []string{
		"payment/retry.go 3–12", "0.81 code · Retry · billing", "     4 // Retry asks again.", "     5 func Retry() {", "\uFFFD[2J", "…", "bm25 3.25, path 1",
		"1 hit in 1.2 ms (bm25 0.50 ms); two-stage, embedder static@1, confidence 0.81, agent test_engineer",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the output lacks %q:\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "\te()") || strings.Contains(r.out, "\x1b") {
		t.Errorf("too much of the file is shown:\n%q", r.out)
	}
	if r.code != 0 || !strings.Contains(r.err, "the index is stale: 2 files changed") || !strings.Contains(r.err, "1m5s ago") {
		t.Errorf("%d: %s", r.code, r.err)
	}
	if r := s.run(t, "", "search", "--json", "retry"); !json.Valid([]byte(r.out)) || r.err != "" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
}

func TestSearchAsksWhatTheFlagsSay(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcArtifact: schemas.ArtifactSearchReply{}}}
	dir := t.TempDir()
	asks := func(args ...string) (got schemas.ArtifactSearchRequest) {
		t.Helper()
		s.asked = nil
		if r := s.run(t, "", append([]string{"search"}, args...)...); r.code != 0 {
			t.Fatalf("%d: %s", r.code, r.err)
		}
		if err := json.Unmarshal([]byte(s.asked[schemas.SvcArtifact][0]), &got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := asks("--project", dir, "--agent", "test-engineer", "--type", "code,test", "--tag", "a", "--phase", "construction", "--path", "docs/**", "--method", "bm25", "two", "words")
	if got.Query != "two words" || got.Project != filepath.Clean(dir) || got.Agent != "test-engineer" || len(got.Types) != 2 || got.Path != "docs/**" || got.Method != "bm25" {
		t.Errorf("%+v", got)
	}
	if got.Stage2TopK != 0 || got.Stage1TopK != 100 || got.MinScore != nil {
		t.Errorf("a default counts as a flag: %+v", got)
	}
	if got := asks("--stage2-topk", "10", "--min-score", "0", "x"); got.Stage2TopK != 10 || got.MinScore == nil || *got.MinScore != 0 {
		t.Errorf("a given flag does not count: %+v", got)
	}
	for _, args := range [][]string{{"search"}, {"search", "--stage2-topk", "0", "x"}, {"search", "--min-score", "2", "x"}, {"context"}, {"context", "--task", "x", "--max-context-tokens", "0"}} {
		if r := s.run(t, "", args...); r.code != client.ExitUsage {
			t.Errorf("%v: %d %s", args, r.code, r.err)
		}
	}
}

func TestSearchWithoutAnIndexSaysWhatToDo(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcArtifact: &bus.ServiceError{Code: schemas.CodeNotFound, Text: "there is no index of /p: writ index build makes one"}}}
	if r := s.run(t, "", "search", "x"); r.code != client.ExitFailed || !strings.Contains(r.err, "writ index build") {
		t.Errorf("%d: %s", r.code, r.err)
	}
	if r := s.run(t, "", "find", "--in", "files", "x"); !strings.HasPrefix(r.err, "writ: find: there is no index") {
		t.Errorf("find answers by another command's name: %s", r.err)
	}
}

func TestContextPrintsTheTextAlone(t *testing.T) {
	reply := schemas.ArtifactContextReply{
		ArtifactSearchReply: schemas.ArtifactSearchReply{References: []string{"@a.go"}}, Context: "# Project context\n", Tokens: 4, Dropped: 1,
		Unresolved: []schemas.ArtifactMention{{Mention: "@gone.md"}, {Mention: "@a.md", Meant: []string{"x/a.md", "y/a.md"}}},
	}
	s := &services{replies: map[string]any{schemas.SvcArtifactContext: reply}}
	r := s.run(t, "", "context", "--task", "see @gone.md", "--max-context-tokens", "100")
	if r.out != "# Project context\n" {
		t.Errorf("out: %q", r.out)
	}
	for _, want := range []string{"1 file, 4 tokens", "1 piece had no room", "@gone.md names no file", "@a.md may mean x/a.md or y/a.md"} {
		if !strings.Contains(r.err, want) {
			t.Errorf("stderr lacks %q:\n%s", want, r.err)
		}
	}
	var got schemas.ArtifactContextRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcArtifactContext][0]), &got); err != nil || got.Query != "see @gone.md" || got.Agent != "default" || got.MaxContextTokens != 100 {
		t.Errorf("%v: %+v", err, got)
	}
}
