package hubtest

import (
	"net"
	"testing"
)

// TestAPortIsGivenOnce has nobody listen at the ports that were given, as at those of a
// node that is stopped, and another process look for a range of its own.
func TestAPortIsGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 100 {
		for _, port := range freePorts(t, 3) {
			if given[port] || port <= firstPort || port >= lastPort {
				t.Fatalf("port %d is given again, or lies outside", port)
			}
			given[port] = true
		}
	}
	l, err := listenAt(ours.held.Addr().(*net.TCPAddr).Port)
	if err == nil {
		_ = l.Close()
		t.Error("another process would take the same range")
	}
}
