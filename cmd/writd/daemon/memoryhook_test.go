package daemon

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestMemoriesComeWithAPromptOnce: what was observed and allowed comes with a
// prompt it is about, once a session, and what was held never.
func TestMemoriesComeWithAPromptOnce(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\n"))
	for id, text := range map[string]string{
		"o1": "[gate=allow confidence=0.9] The payments service listens on port 7443 behind the staging proxy.",
		"o2": "[gate=hold confidence=0.9] The payments service on staging answers to the password zanzibar.",
	} {
		request := schemas.ObserveRequest{Observations: []schemas.Observation{{ID: id, Input: []byte(text), Scope: w.project}}}
		if _, err := call[schemas.ObserveReply](w, w.hook, schemas.SvcObserve, request); err != nil {
			t.Fatal(err)
		}
	}
	const prompt = "which port does the payments service listen on behind the staging proxy?"
	w.recall(schemas.RecallRequest{Text: prompt}) // waits for what was observed, as a prompt does not
	first := w.prompt(prompt)
	if !strings.Contains(first.Stdout, "port 7443") || strings.Contains(first.Stdout, "zanzibar") {
		t.Errorf("first: %s", first.Stdout)
	}
	if second := w.prompt(prompt); strings.Contains(second.Stdout, "port 7443") {
		t.Errorf("shown twice: %s", second.Stdout)
	}
}

func TestMemoriesCanBeTurnedOff(t *testing.T) {
	w := start(t, t.TempDir(), newProject(t, "mode: conversation\nmemory: off\n"))
	request := schemas.ObserveRequest{Observations: []schemas.Observation{{ID: "o1", Input: []byte("The payments service listens on port 7443."), Scope: w.project}}}
	if _, err := call[schemas.ObserveReply](w, w.hook, schemas.SvcObserve, request); err != nil {
		t.Fatal(err)
	}
	if reply := w.prompt("which port does the payments service listen on?"); strings.Contains(reply.Stdout, "7443") {
		t.Errorf("memory is off: %s", reply.Stdout)
	}
}

// TestNotesInATranscriptAreObserved at the end of a turn, and are there when the
// services have stopped at the latest.
func TestNotesInATranscriptAreObserved(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: conversation\n")
	w := start(t, data, project)
	line, err := json.Marshal(map[string]any{
		"type": "assistant", "uuid": "u1", "sessionId": "s1",
		"message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": "Done.\n- [gate=allow confidence=0.9] The staging cluster runs Postgres 16 with logical replication."}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(t.TempDir(), "t.jsonl")
	put(t, transcript, string(line)+"\n")
	w.prompt("hello")
	w.send("Stop", map[string]any{"stop_hook_active": false, "transcript_path": transcript})
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, project)
	reply, err := call[schemas.RecallReply](w, w.hook, schemas.SvcRecall, schemas.RecallRequest{Text: "Postgres on the staging cluster"})
	if err != nil || len(reply.Hits) != 1 || !strings.Contains(reply.Hits[0].Text, "Postgres 16") {
		t.Errorf("%+v, %v", reply, err)
	}
}
