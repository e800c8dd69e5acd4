package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// ErrRefused is wrapped by every refusal of a Guard.
var ErrRefused = errors.New("egress: refused")

// Guard decides about addresses. The zero value allows public ones only.
type Guard struct {
	// Allow are ranges that are allowed although they are not public, such as a
	// server that the user runs. IPv4 ranges are compared with plain IPv4
	// addresses and with what IPv4-mapped ones stand for.
	Allow []netip.Prefix
}

// Addr refuses an address that is not public.
func (g Guard) Addr(addr netip.Addr) error {
	if !addr.IsValid() {
		return fmt.Errorf("%w: no address", ErrRefused)
	}
	for _, prefix := range g.Allow {
		if prefix.Contains(addr.Unmap()) {
			return nil
		}
	}
	if what := special(addr); what != "" {
		return fmt.Errorf("%w: %s is %s; only public hosts may be reached", ErrRefused, addr, what)
	}
	return nil
}

// Control is for net.Dialer.Control: it looks at every connection after its
// name was resolved and before the first packet is sent.
func (g Guard) Control(network, address string, _ syscall.RawConn) error {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return fmt.Errorf("%w: network %s", ErrRefused, network)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %q is no address", ErrRefused, address)
	}
	return g.Addr(to.Addr())
}
