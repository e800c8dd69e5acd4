package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// secret is a key id that looks like one, put together so that this file holds
// none.
var secret = "AKIA" + "Q3EGRZ7MNB4KXVPT"

func (w *world) observe(all ...schemas.Observation) []schemas.Observed {
	w.t.Helper()
	reply, err := call[schemas.ObserveReply](w, w.hook, schemas.SvcObserve, schemas.ObserveRequest{Observations: all})
	if err != nil {
		w.t.Fatal(err)
	}
	return reply.Observed
}

func (w *world) recall(r schemas.RecallRequest) schemas.RecallReply {
	w.t.Helper()
	reply, err := call[schemas.RecallReply](w, w.hook, schemas.SvcRecall, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func (w *world) recalled(r schemas.RecallRequest) []string {
	w.t.Helper()
	ids := []string{}
	for _, h := range w.recall(r).Hits {
		ids = append(ids, h.ObservationID)
	}
	return ids
}

func (w *world) regate(id, verdict string) {
	w.t.Helper()
	if _, err := call[schemas.MemoryActReply](w, w.admin, schemas.SvcMemoryRegate, schemas.MemoryRegateRequest{ID: id, Verdict: verdict, Reason: "looked at"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) export() []schemas.MemoryItem {
	w.t.Helper()
	var all []schemas.MemoryItem
	for after := uint64(0); ; {
		page, err := call[schemas.MemoryExportPage](w, w.admin, schemas.SvcMemoryExport, schemas.MemoryExportRequest{After: after, Limit: 7})
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, page.Items...)
		if after = page.Next; after == 0 {
			return all
		}
	}
}

func text(id, input string) schemas.Observation {
	return schemas.Observation{ID: id, Input: []byte(input)}
}

func TestObservationsAreRecalledByVerdict(t *testing.T) {
	w := newWorld(t)
	got := w.observe(
		text("a", `[gate=allow confidence=0.9 category=jc:go reason="facts"] The payment tests need the race detector`),
		text("h", `[gate=hold category=jc:go] The payment tests may need a race detector on Mondays`),
		text("d", `[gate=discard] payment tests race detector, whatever`),
		text("m", "payment tests without an annotation and no race detector"),
	)
	if got[0].Verdict != "allow" || got[0].Confidence != 0.9 || got[0].Category != "jc:go" || got[0].Fallback || got[3].Reason != "missing_annotation" || !got[3].Fallback {
		t.Errorf("observed %+v", got)
	}
	query := schemas.RecallRequest{Text: "payment tests race detector"}
	for _, c := range []struct {
		hold, discard bool
		category      string
		want          []string
	}{
		{false, false, "", []string{"a", "m"}},
		{true, false, "", []string{"a", "h", "m"}},
		{false, true, "", []string{"a", "d", "m"}},
		{true, true, "", []string{"a", "d", "h", "m"}},
		{false, false, "JC:go", []string{"a"}},
	} {
		q := query
		q.IncludeHold, q.IncludeDiscard, q.Category = c.hold, c.discard, c.category
		ids := w.recalled(q)
		slices.Sort(ids)
		if !slices.Equal(ids, c.want) {
			t.Errorf("%+v: got %v, want %v", q, ids, c.want)
		}
	}
	query.Category = "none"
	_, err := call[schemas.RecallReply](w, w.hook, schemas.SvcRecall, query)
	if err == nil || !strings.Contains(err.Error(), "known are jc:go") {
		t.Errorf("unknown category: %v", err)
	}
	query.Category, query.Explain = "", true
	reasons := map[string]int{}
	for _, d := range w.recall(query).Dropped {
		reasons[d.Reason] = d.Count
		if strings.HasSuffix(d.Reason, "write_gate") && len(d.IDs) > 0 {
			t.Errorf("%s names %v", d.Reason, d.IDs)
		}
	}
	if reasons["held_by_write_gate"] != 1 || reasons["discarded_by_write_gate"] != 1 {
		t.Errorf("dropped %v", reasons)
	}
	none := 99.0
	query.MinScore = &none
	reply := w.recall(query)
	if len(reply.Hits) != 0 || !slices.ContainsFunc(reply.Dropped, func(d schemas.RecallDropped) bool { return d.Reason == "below_min_score" && d.Count == 2 }) {
		t.Errorf("with a score nobody has: %+v", reply)
	}
}

func TestRegatingIsForPeopleAndHolds(t *testing.T) {
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	w.observe(text("a", "[gate=allow] The staging database is reset every night"))
	query := schemas.RecallRequest{Text: "when is the staging database reset"}
	if ids := w.recalled(query); !slices.Equal(ids, []string{"a"}) {
		t.Fatalf("recalled %v", ids)
	}
	if _, err := call[schemas.MemoryActReply](w, w.hook, schemas.SvcMemoryRegate, schemas.MemoryRegateRequest{ID: "a", Verdict: "hold", Reason: "x"}); err == nil {
		t.Error("a hook regated")
	}
	w.regate("a", "hold")
	if ids := w.recalled(query); len(ids) != 0 {
		t.Errorf("recalled %v though it is held", ids)
	}
	// What follows reads the log anew.
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, w.project)
	if ids := w.recalled(query); len(ids) != 0 {
		t.Errorf("recalled %v after a restart", ids)
	}
	items := w.export()
	if len(items) != 1 || items[0].Verdict != "allow" || items[0].Current() != "hold" || items[0].Regated[0].Actor != "person/terminal" || items[0].Regated[0].Reason != "looked at" {
		t.Errorf("exported %+v", items)
	}
	w.regate("a", "allow")
	if ids := w.recalled(query); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("recalled %v though it is allowed again", ids)
	}
}

func TestObservationsComeBackByteForByte(t *testing.T) {
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	inputs := []string{"", " ", "\x00\xff\xfe", "a\r\nb", "[gate=hold] x\n\n y ", "\u2028", strings.Repeat("long ", 100_000), "[TODO] keep"}
	for i, in := range inputs {
		w.observe(text(fmt.Sprintf("o%d", i), in))
	}
	repeated := w.observe(text("o0", "something else"))
	if !repeated[0].Repeated {
		t.Errorf("a known id: %+v", repeated)
	}
	first := w.export()
	if len(first) != len(inputs) {
		t.Fatalf("exported %d of %d", len(first), len(inputs))
	}
	for i, in := range inputs {
		if !bytes.Equal(first[i].Original, []byte(in)) {
			t.Errorf("%d: %.40q came back as %.40q", i, in, first[i].Original)
		}
	}
	w.regate("o4", "allow")
	forget(w, "o5")
	first = w.export()
	other := newWorld(t)
	for range 2 { // the second changes nothing
		if _, err := call[schemas.MemoryImportReply](other, other.admin, schemas.SvcMemoryImport, schemas.MemoryImportRequest{Items: first}); err != nil {
			t.Fatal(err)
		}
		was, _ := json.Marshal(first)
		is, _ := json.Marshal(other.export())
		if !bytes.Equal(was, is) {
			t.Errorf("imported and exported again:\n%.600s\n%.600s", was, is)
		}
	}
}

func forget(w *world, id string) {
	w.t.Helper()
	if _, err := call[schemas.MemoryActReply](w, w.admin, schemas.SvcMemoryForget, schemas.MemoryForgetRequest{ID: id, Reason: "asked for"}); err != nil {
		w.t.Fatal(err)
	}
}

func TestSecretsAreRedactedBeforeAnythingIsStored(t *testing.T) {
	w := newWorld(t)
	got := w.observe(text("s", "[gate=allow category="+secret+"] deploy\x00 with "+secret+" and then "+secret+"\nnext line"))
	if !slices.Equal(got[0].Redacted, []string{"aws-access-key", "aws-access-key", "aws-access-key"}) {
		t.Fatalf("observed %+v", got)
	}
	items := w.export()
	raw, err := json.Marshal(items)
	if err != nil || strings.Contains(string(raw), secret[4:]) || strings.Contains(string(items[0].Original), secret) {
		t.Errorf("exported %s, %v", raw, err)
	}
	if want := "deploy\x00 with [redacted:aws-access-key] and then [redacted:aws-access-key]\nnext line"; !strings.HasSuffix(string(items[0].Original), want) {
		t.Errorf("original %q", items[0].Original)
	}
	if _, err := call[schemas.ObserveReply](w, w.hook, schemas.SvcObserve, schemas.ObserveRequest{Observations: []schemas.Observation{text(secret, "x")}}); err == nil {
		t.Error("an id that is a secret was stored")
	}
}

func TestForgettingErasesFromTheLog(t *testing.T) {
	data := t.TempDir()
	w := start(t, data, newProject(t, "mode: work\n"))
	w.observe(text("f", "[gate=allow reason='he said so'] Uncle Bertram lives in Wuppertal with seven cats"))
	query := schemas.RecallRequest{Text: "Uncle Bertram Wuppertal cats"}
	if len(w.recalled(query)) != 1 {
		t.Fatal("not recalled")
	}
	forget(w, "f")
	check := func() {
		t.Helper()
		if ids := w.recalled(query); len(ids) != 0 {
			t.Errorf("recalled %v", ids)
		}
		items := w.export()
		if len(items) != 1 || len(items[0].Original) != 0 || items[0].Text != "" || items[0].Forgotten == nil || items[0].Forgotten.Reason != "asked for" {
			t.Errorf("exported %+v", items)
		}
		again := w.observe(text("f", "Uncle Bertram again"))
		if !again[0].Repeated {
			t.Errorf("a forgotten id was taken in: %+v", again)
		}
	}
	check()
	page, err := call[schemas.ReplayPage](w, w.admin, schemas.SvcReplay, schemas.ReplayRequest{Stream: schemas.StreamMemory})
	if err != nil || len(page.Events) != 2 {
		t.Fatalf("replay: %d events, %v", len(page.Events), err)
	}
	for _, e := range page.Events {
		if strings.Contains(string(e.Data), "Bertram") || strings.Contains(string(e.Data), "he said so") {
			t.Errorf("the log holds %s", e.Data)
		}
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, w.project)
	check()
}
