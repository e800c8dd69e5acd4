package memory

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/schemas"
)

// TestExportAndImportAreTheSame: what was exported, imported elsewhere and
// exported there is the same to the byte – any bytes, verdicts and their
// changes, merges, tombstones, and what cannot be read any more – and importing
// it again changes nothing.
func TestExportAndImportAreTheSame(t *testing.T) {
	t.Parallel()
	d, _ := inside(t, t.TempDir())
	const twice = "the deploy job of the payment service must run alone because it locks the shared state file of staging"
	observed(t, d,
		text("bytes", "\x00\xff\xfe[gate=hold]\r\n"), text("empty", ""), text("large", strings.Repeat("\x80 words ", 130_000)),
		text("first", "[gate=allow category=ops] "+twice), text("second", "[gate=allow] "+twice), text("third", "[gate=allow] "+twice+" "),
		text("held", "[gate=hold confidence=0.7 reason=later] perhaps"), text("odd", "[gate=perhaps] an odd verdict"),
		text("gone", "[gate=allow] Uncle Bertram"), text("lost", "[gate=discard reason=noise] its key is missing"),
		schemas.Observation{ID: "first", Scope: "/other", Input: []byte("of another project " + secret)},
	)
	reflected, err := d.reflection().reflectNow(t.Context(), schemas.MemoryReflectRequest{})
	if err != nil || reflected.Merged != 2 {
		t.Fatalf("%+v, %v", reflected, err)
	}
	for _, verdict := range []string{"allow", "hold", "allow"} {
		if _, err := d.regate(t.Context(), schemas.MemoryRegateRequest{ID: "second", Verdict: verdict, Reason: "looked at"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.forget(t.Context(), schemas.MemoryForgetRequest{ID: "gone", Reason: "asked for"}); err != nil {
		t.Fatal(err)
	}
	keys := d.kept.keys
	delete(keys.at, nameOfKey(schemas.ObservationKey{Scope: "global", ID: "lost"}))

	items, was := exportedLines(t, d)
	if len(items) != 11 || items[4].MergedInto != "first" || items[4].MergedSimilarity < 0.9 || !items[9].Lost || items[9].Text != "" || items[8].Forgotten == nil {
		t.Fatalf("exported %s", was)
	}
	other, _ := inside(t, t.TempDir())
	for _, want := range []schemas.MemoryImportReply{{Imported: 11}, {Known: 11}} {
		if reply, err := other.importAll(t.Context(), schemas.MemoryImportRequest{Items: items}); err != nil || reply != want {
			t.Fatalf("%+v, %v", reply, err)
		}
		if _, is := exportedLines(t, other); is != was {
			t.Fatalf("exported again:\n%.3000s\nwas\n%.3000s", is, was)
		}
	}
	found, err := other.recall(t.Context(), schemas.RecallRequest{Text: twice})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("of what was merged recall shows one: %+v, %v", found, err)
	}

	// An import that was cut off between a record and what became of it goes on.
	third, _ := inside(t, t.TempDir())
	plain := slices.Clone(items)
	for i := range plain {
		plain[i].Regated, plain[i].MergedInto, plain[i].MergedSimilarity = nil, "", 0
	}
	for _, some := range [][]schemas.MemoryItem{plain[:7], items} {
		if _, err := third.importAll(t.Context(), schemas.MemoryImportRequest{Items: some}); err != nil {
			t.Fatal(err)
		}
	}
	if _, is := exportedLines(t, third); is != was {
		t.Errorf("exported after it went on:\n%.3000s\nwas\n%.3000s", is, was)
	}
}

// exportedLines is an export as its file holds it.
func exportedLines(t *testing.T, d *fixture) ([]schemas.MemoryItem, string) {
	t.Helper()
	var lines bytes.Buffer
	page, err := d.export(t.Context(), schemas.MemoryExportRequest{})
	for _, item := range page.Items {
		if err == nil {
			err = json.NewEncoder(&lines).Encode(item)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return page.Items, lines.String()
}
