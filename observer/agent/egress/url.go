package egress

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxURL is the longest URL looked at, in bytes.
const maxURL = 8 << 10

// local are the names, and the ends of names, that never lead to a public host:
// RFC 6761, 6762, 8375, the reserved ".internal", and what hosts files hold.
var local = []string{
	"localhost", "local", "internal", "home.arpa", "localdomain", "localhost6", "ip6-localhost", "ip6-loopback",
}

// URL reads what an agent wants to reach and refuses what is wrong about it
// before a name is resolved: another scheme than http and https, a user name, an
// address that is not public or is written so that programs read it
// differently, and names of the local network. The result's host is without
// trailing dot and in lower case. The error wraps ErrRefused.
func (g Guard) URL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, fmt.Errorf("%w: a URL of %d bytes; the limit is %d", ErrRefused, len(raw), maxURL)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: not a URL: %w", ErrRefused, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: scheme %q; use http or https", ErrRefused, u.Scheme)
	}
	if u.User != nil {
		return nil, fmt.Errorf("%w: a user name before the host; leave it out", ErrRefused)
	}
	if u.Opaque != "" || u.Hostname() == "" {
		return nil, fmt.Errorf("%w: no host", ErrRefused)
	}
	host, err := g.host(u.Hostname())
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0) {
		return nil, fmt.Errorf("%w: port %q", ErrRefused, port)
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	u.Host = host
	return u, nil
}

// host checks a host and returns it in plain form.
func (g Guard) host(raw string) (string, error) {
	if strings.Contains(raw, ":") {
		addr, err := netip.ParseAddr(raw)
		if err != nil {
			return "", fmt.Errorf("%w: %q is no address", ErrRefused, raw)
		}
		return addr.String(), g.Addr(addr)
	}
	// Clients fold full-width and circled letters before they resolve a name.
	name := strings.ToLower(norm.NFKC.String(raw))
	name = strings.TrimSuffix(strings.ReplaceAll(name, "。", "."), ".")
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || strings.ContainsAny(label, " \t%/\\@:?#[]<>^|\u00ad\u200b\u200c\u200d\u2060\ufeff") {
			return "", fmt.Errorf("%w: %q is no host name", ErrRefused, raw)
		}
	}
	if number(labels[len(labels)-1]) {
		return g.literal(name)
	}
	if len(labels) == 1 {
		return "", fmt.Errorf("%w: %q is a name of the local network; write the full name", ErrRefused, raw)
	}
	for _, end := range local {
		if name == end || strings.HasSuffix(name, "."+end) {
			return "", fmt.Errorf("%w: %q is a name of the local network", ErrRefused, raw)
		}
	}
	return name, nil
}

// number reports a last label that makes the whole host an IPv4 address (the
// URL standard's "ends in a number").
func number(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// literal checks a host that some program reads as an IPv4 address. Forms other
// than four plain decimal numbers are refused whatever they stand for, because
// programs disagree about them.
func (g Guard) literal(name string) (string, error) {
	addr, err := netip.ParseAddr(name)
	if err == nil {
		return name, g.Addr(addr)
	}
	if addr, ok := aton(name); ok {
		return "", fmt.Errorf("%w: %q is %s in an unusual form; write four decimal numbers", ErrRefused, name, addr)
	}
	return "", fmt.Errorf("%w: %q is no address", ErrRefused, name)
}

// aton reads the forms of inet_aton: one to four numbers, decimal, octal or
// hexadecimal, of which the last fills the bytes that are left.
func aton(name string) (netip.Addr, bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, err := parseNumber(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if err != nil || n >= 1<<bits {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

func parseNumber(s string) (uint64, error) {
	switch hex, isHex := strings.CutPrefix(s, "0x"); {
	case isHex && hex == "":
		return 0, nil
	case isHex:
		return strconv.ParseUint(hex, 16, 64)
	case len(s) > 1 && s[0] == '0':
		return strconv.ParseUint(s[1:], 8, 64)
	default:
		return strconv.ParseUint(s, 10, 64)
	}
}
