package heap

import "testing"

func TestTheHeapHasRoom(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ setting, live, beside, want int64 }{
		{512 * mb, 60 * mb, 20 * mb, 512 * mb},
		{512 * mb, 400 * mb, 60 * mb, 560 * mb},
		{512 * mb, 800 * mb, 0, 1000 * mb},
	} {
		if got := limit(c.setting, c.live, c.beside); got != c.want {
			t.Errorf("%d in use, %d beside: %d, want %d", c.live, c.beside, got, c.want)
		}
	}
}
