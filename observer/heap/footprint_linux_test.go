package heap

import (
	"slices"
	"testing"
)

func TestOnlyPagesAsInTheFileAreGivenBack(t *testing.T) {
	const smaps = `00400000-02000000 r-xp 00000000 fe:00 11                         /bin/writd
Size:               28672 kB
Anonymous:              0 kB
VmFlags: rd ex mr mw me
02000000-05000000 r--p 01c00000 fe:00 11                         /bin/writd
Anonymous:              0 kB
05000000-05010000 r--p 04c00000 fe:00 11                         /bin/writd
Anonymous:             64 kB
05010000-05020000 rw-p 04c10000 fe:00 11                         /bin/writd
Anonymous:              0 kB
06000000-06010000 rw-p 00000000 00:00 0
Anonymous:              0 kB
07000000-07010000 r--p 00000000 fe:00 12                         /lib/libc.so.6
Anonymous:              0 kB
`
	want := []mapping{{0x400000, 0x2000000}, {0x2000000, 0x5000000}}
	if got := unchanged(smaps, "/bin/writd"); !slices.Equal(got, want) {
		t.Errorf("got %#x, want %#x", got, want)
	}
}
