//go:build linux && !amd64 && !arm64

package confine

// keeper is not to be had on this architecture: sockets with a path are reached, and modes changed.
type keeper struct{}

const keeps = false

func keep(Options, limits, int64) (*keeper, error) { return &keeper{}, nil }

func (*keeper) told() string { return "" }
