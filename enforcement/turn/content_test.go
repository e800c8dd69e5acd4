package turn

import (
	"strconv"
	"testing"
)

// TestContentsBeforeAreBounded: writes that are refused have no second hook to
// take what was kept for it.
func TestContentsBeforeAreBounded(t *testing.T) {
	var c contentsBefore
	held := func() (bytes int) {
		for _, content := range c.byKey {
			bytes += len(content)
		}
		return bytes
	}
	for i := range 3 * keptBytes >> 20 {
		c.keep(strconv.Itoa(i), make([]byte, 1<<20))
		c.keep(strconv.Itoa(i), make([]byte, 1<<20)) // asked twice
		if held() > keptBytes || held() != c.bytes {
			t.Fatalf("after %d: %d bytes held, %d counted", i, held(), c.bytes)
		}
	}
	c.keep("large", make([]byte, 2*keptBytes))
	if content, found := c.take("large"); !found || len(content) != 2*keptBytes || c.bytes != held() {
		t.Errorf("found %v, %d bytes; %d counted, %d held", found, len(content), c.bytes, held())
	}
}
