package egress

import "net/netip"

// block is a range that is refused.
type block struct {
	prefix netip.Prefix
	what   string
}

func blocks(list ...string) []block {
	var out []block
	for i := 0; i+1 < len(list); i += 2 {
		out = append(out, block{netip.MustParsePrefix(list[i]), list[i+1]})
	}
	return out
}

// refused4 are the ranges of the IANA IPv4 special-purpose address registry
// (RFC 6890 and its successors) that are not globally reachable, multicast, and
// addresses of cloud metadata services outside of them.
var refused4 = blocks(
	"0.0.0.0/8", "this network",
	"10.0.0.0/8", "a private network",
	"100.64.0.0/10", "shared address space",
	"127.0.0.0/8", "loopback",
	"168.63.129.16/32", "a metadata service",
	"169.254.0.0/16", "link-local",
	"172.16.0.0/12", "a private network",
	"192.0.0.0/24", "a protocol assignment",
	"192.0.2.0/24", "documentation",
	"192.88.99.0/24", "a 6to4 relay",
	"192.168.0.0/16", "a private network",
	"198.18.0.0/15", "a benchmark network",
	"198.51.100.0/24", "documentation",
	"203.0.113.0/24", "documentation",
	"224.0.0.0/4", "multicast",
	"240.0.0.0/4", "reserved",
)

// refused6 are the ranges inside global6 that are not public, after the IANA
// IPv6 special-purpose address registry.
var refused6 = blocks(
	"2001::/23", "a protocol assignment",
	"2001:db8::/32", "documentation",
	"3fff::/20", "documentation",
)

// named6 gives ranges outside global6 their names.
var named6 = blocks(
	"::/128", "the unspecified address",
	"::1/128", "loopback",
	"::/96", "an IPv4-compatible address",
	"::ffff:0:0:0/96", "an IPv4-translated address",
	"64:ff9b:1::/48", "local-use translation",
	"fc00::/7", "a private network",
	"fe80::/10", "link-local",
	"fec0::/10", "site-local",
	"ff00::/8", "multicast",
)

var (
	global6 = netip.MustParsePrefix("2000::/3")     // RFC 4291: all that is assigned as global unicast
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixTo4  = netip.MustParsePrefix("2002::/16")    // RFC 3056
	isatap  = [2]uint32{0x0000_5efe, 0x0200_5efe}   // RFC 5214, the third word of an address
)

// embedded returns the IPv4 address that packets to addr are carried to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	word := uint32(b[8])<<24 | uint32(b[9])<<16 | uint32(b[10])<<8 | uint32(b[11])
	switch {
	case addr.Is4In6(), nat64.Contains(addr), word == isatap[0], word == isatap[1]:
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixTo4.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	default:
		return netip.Addr{}, false
	}
}

// special says what kind of address addr is, or "" for a public one.
func special(addr netip.Addr) string {
	if addr.Zone() != "" {
		return "an address with a zone"
	}
	if addr.Is4() {
		return find(refused4, addr)
	}
	if inner, ok := embedded(addr); ok {
		if what := find(refused4, inner); what != "" {
			return what + " (" + inner.String() + ")"
		}
		if addr.Is4In6() || nat64.Contains(addr) {
			return ""
		}
	}
	if what := find(refused6, addr); what != "" {
		return what
	}
	if global6.Contains(addr) {
		return ""
	}
	if what := find(named6, addr); what != "" {
		return what
	}
	return "no global address"
}

func find(list []block, addr netip.Addr) string {
	for _, b := range list {
		if b.prefix.Contains(addr) {
			return b.what
		}
	}
	return ""
}
