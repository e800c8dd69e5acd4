package projections_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/test/integration"
)

// TestLostDataAreNoticed deletes parts of a store that belong to one view – its
// data, its checkpoints, what says which build is in use – and compares every
// view with a single pass over the log.
func TestLostDataAreNoticed(t *testing.T) {
	integration.Checks(t)
	rapid.Check(t, func(rt *rapid.T) {
		l, s := newMemoryLog(), openStore(t, vfs.NewMem())
		defer s.Close()
		grow(rt, l, 30)
		r := start(t, l, s, projections.Options{}, allViews(0)...)
		r.caughtUp()
		r.stop()
		parts := partsOf(t, s)
		for _, part := range rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(parts))), 1, 4, rapid.ID[string]).Draw(rt, "lost") {
			lose(t, s, parts[part])
		}
		grow(rt, l, 10)
		again := start(t, l, s, projections.Options{}, allViews(0)...)
		defer again.stop()
		again.caughtUp()

		fresh := openStore(t, vfs.NewMem())
		defer fresh.Close()
		single := start(t, l, fresh, projections.Options{}, allViews(0)...)
		defer single.stop()
		single.caughtUp()
		for _, view := range single.Status() {
			if got, want := dump(t, again.reader(view.Name)), dump(t, single.reader(view.Name)); got != want {
				rt.Errorf("%s:\n%s\nwant\n%s", view.Name, got, want)
			}
		}
	})
}

// partsOf lists the keys that can be lost together.
func partsOf(t testing.TB, s projections.Store) map[string][][]byte {
	t.Helper()
	parts := map[string][][]byte{}
	for e, err := range s.Scan(nil) {
		if err != nil {
			t.Fatal(err)
		}
		space, view := e.Key[:1], e.Key[1:bytes.IndexByte(e.Key, '/')]
		name := string(space) + " of " + string(view)
		parts[name] = append(parts[name], bytes.Clone(e.Key))
		if checkpoints := len(e.Key) == len(view)+2+8 && space[0] == 'd'; checkpoints {
			parts["checkpoints of "+string(view)] = [][]byte{bytes.Clone(e.Key)}
		}
	}
	return parts
}

func lose(t testing.TB, s projections.Store, keys [][]byte) {
	t.Helper()
	err := s.Commit(func(b projections.Batch) error {
		for _, key := range keys {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
