package projections

import (
	"encoding/binary"
	"testing"
)

// TestKeySetForgetsNothing: a key that was added is known for ever, through
// every growth, and of others hardly any is taken for known.
func TestKeySetForgetsNothing(t *testing.T) {
	const n = 200_000
	s := newKeySet()
	key := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }
	for i := range n {
		if !s.add(key(i)) {
			t.Fatalf("gave up at %d keys", i)
		}
	}
	mistaken := 0
	for i := range n {
		if !s.mayHave(key(i)) {
			t.Fatalf("key %d was forgotten", i)
		}
		if s.mayHave(key(n + i)) {
			mistaken++
		}
	}
	if mistaken > n/100 {
		t.Errorf("%d of %d unknown keys were taken for known", mistaken, n)
	}
}

// TestPlainTallyEntry: the short way to write an entry gives the same bytes.
func TestPlainTallyEntry(t *testing.T) {
	for _, verdict := range []string{"", verdictAllow, verdictHold, verdictDiscard} {
		for _, minute := range []int64{0, -1, 29_000_000} {
			c := counted{Verdict: verdict, Minute: minute}
			kept := newBatch(nil, nil)
			if err := setDocument(kept, []byte("k"), c); err != nil {
				t.Fatal(err)
			}
			if want := string(kept.cells["k"].value); string(c.appendPlain(nil)) != want {
				t.Errorf("wrote %s, want %s", c.appendPlain(nil), want)
			}
		}
	}
}
