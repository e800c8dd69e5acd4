package projections

import (
	"strconv"
	"strings"
	"testing"
)

// TestDraftsLetGoOfNoMoreThanIsTooMuch: what is over the bound goes, and of the rest,
// which sessions that go on need again, nothing.
func TestDraftsLetGoOfNoMoreThanIsTooMuch(t *testing.T) {
	const size, batch = 64 << 10, 4
	d := newDrafts[string]()
	for n := range 3 * draftsKeep / (2 * size) {
		if n%batch == 0 {
			d.goOn()
		}
		one, err := d.from([]byte(strconv.Itoa(n)), func() (string, error) { return strings.Repeat("x", size-2), nil })
		if err != nil || len(*one) != size-2 {
			t.Fatal(err)
		}
		if n%batch == batch-1 {
			if err := d.flushWith(func(string, *string, []byte) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d.goOn(); d.size > draftsKeep || d.size <= draftsKeep-size {
		t.Errorf("%d bytes are kept, of %d", d.size, draftsKeep)
	}
}
