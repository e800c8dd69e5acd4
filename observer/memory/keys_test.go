package memory

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/writbus/writ/schemas"
)

func TestKeysOutliveTheDaemonAndErasingThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.keys")
	open := func() *keys {
		t.Helper()
		k, err := openKeys(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = k.close() })
		return k
	}
	k := open()
	var all []schemas.ObservationKey
	for i := range 5 {
		all = append(all, schemas.ObservationKey{Scope: "s", ID: fmt.Sprint(i)})
	}
	keys, err := k.make(append(all, all[0]))
	if err != nil || !bytes.Equal(keys[0], keys[5]) || bytes.Equal(keys[0], keys[1]) {
		t.Fatalf("made %x, %v", keys, err)
	}
	// Other scopes and ids that read alike when joined have other keys.
	if _, err := k.get(schemas.ObservationKey{Scope: "s/0", ID: ""}); !errors.Is(err, errNoKey) {
		t.Errorf("a key nobody made: %v", err)
	}
	if err := k.erase(all[2]); err != nil {
		t.Fatal(err)
	}
	never := schemas.ObservationKey{Scope: "s", ID: "never"}
	if err := k.erase(never); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.Contains(raw, keys[2]) || !bytes.Contains(raw, keys[3]) {
		t.Errorf("the file holds an erased key, or lacks another: %v", err)
	}
	// A crash tore the last entry.
	if err := os.WriteFile(path, append(raw, "half an entry"...), 0o600); err != nil {
		t.Fatal(err)
	}
	k = open()
	for i, o := range all {
		key, err := k.get(o)
		if i == 2 && !errors.Is(err, errForgotten) || i != 2 && (err != nil || !bytes.Equal(key, keys[i])) {
			t.Errorf("%d: %x, %v", i, key, err)
		}
	}
	for _, gone := range []schemas.ObservationKey{all[2], never} {
		if _, err := k.make([]schemas.ObservationKey{gone}); !errors.Is(err, errForgotten) {
			t.Errorf("%s got a key again: %v", gone.ID, err)
		}
	}
	fresh := schemas.ObservationKey{Scope: "s", ID: "new"}
	made, err := k.make([]schemas.ObservationKey{fresh})
	if err != nil {
		t.Fatal(err)
	}
	k = open()
	if key, err := k.get(fresh); err != nil || !bytes.Equal(key, made[0]) {
		t.Errorf("after the torn entry: %x, %v", key, err)
	}
	if key, err := k.get(all[4]); err != nil || !bytes.Equal(key, keys[4]) {
		t.Errorf("before the torn entry: %x, %v", key, err)
	}
}

func TestTranscriptsAreReadOn(t *testing.T) {
	d, _ := inside(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "t.jsonl")
	one := `{"type":"assistant","uuid":"u1","sessionId":"s","message":{"content":"[gate=allow] the first lesson learned"}}` + "\n"
	two := `{"type":"assistant","uuid":"u2","sessionId":"s","message":{"content":"[gate=hold] the second lesson learned"}}` + "\n"
	put(t, path, one+two[:30])
	next, err := d.observeTranscript(t.Context(), path, "s", "", 0)
	if err != nil || next != int64(len(one)) {
		t.Fatalf("read to %d, %v", next, err)
	}
	put(t, path, one+two)
	for _, from := range []int64{next, 0, 1 << 20} {
		if next, err = d.observeTranscript(t.Context(), path, "s", "", from); err != nil || next != int64(len(one+two)) {
			t.Fatalf("from %d read to %d, %v", from, next, err)
		}
	}
	search, err := d.upToDate(t.Context())
	if err != nil || len(search.entries) != 2 || search.entries[1].verdict != "hold" || search.entries[1].session != "s" {
		t.Errorf("observed %d, %v", len(search.entries), err)
	}
}
