package egress

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hostile are URLs that must be refused before anything is resolved.
//
//go:embed testdata/hostile.json
var hostileJSON []byte

// hostile adds to the list what is too long for it.
func hostile(t testing.TB) []string {
	t.Helper()
	var list []string
	if err := json.Unmarshal(hostileJSON, &list); err != nil {
		t.Fatal(err)
	}
	return append(list, "http://"+strings.Repeat("a", maxURL)+".com/")
}

func TestHostileURLs(t *testing.T) {
	list := hostile(t)
	for _, raw := range list {
		if u, err := (Guard{}).URL(raw); !errors.Is(err, ErrRefused) {
			t.Errorf("%q gave %v, %v", raw, u, err)
		}
	}
	if len(list) < 60 {
		t.Errorf("only %d URLs", len(list))
	}
}

func TestPublicURLs(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.com/a?b=c": "https://example.com/a?b=c", "HTTP://Example.COM./": "http://example.com/", "http://8.8.8.8/": "http://8.8.8.8/",
		"http://[2606:4700::1111]:8080/x": "http://[2606:4700::1111]:8080/x", "http://172.32.0.1/": "http://172.32.0.1/", "http://100.128.0.1/": "http://100.128.0.1/",
		"http://[64:ff9b::808:808]/": "http://[64:ff9b::808:808]/", "http://[2002:808:808::1]/": "http://[2002:808:808::1]/", "http://[::ffff:8.8.8.8]/": "http://[::ffff:8.8.8.8]/",
		"https://bücher.example/": "https://b%C3%BCcher.example/", "http://notlocalhost.example.com/": "http://notlocalhost.example.com/",
		"http://127.0.0.1.nip.io/": "http://127.0.0.1.nip.io/", "http://example.com/@127.0.0.1": "http://example.com/@127.0.0.1", "http://0x7f.example.com/": "http://0x7f.example.com/",
	} {
		u, err := (Guard{}).URL(raw)
		if err != nil || u.String() != want {
			t.Errorf("%q gave %v, %v; expected %s", raw, u, err, want)
		}
	}
}

// TestAddresses looks at the first and last address of every range and at their
// neighbours outside.
func TestAddresses(t *testing.T) {
	for _, b := range refused4 {
		first := b.prefix.Addr()
		if (Guard{}).Addr(first) == nil || (Guard{}).Addr(netip.AddrFrom16(first.As16())) == nil {
			t.Errorf("%s is allowed", first)
		}
	}
	for _, s := range []string{
		"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
		"172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2400:cb00::1", "2620:4f:8000::1",
	} {
		if err := (Guard{}).Addr(netip.MustParseAddr(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	if (Guard{}).Addr(netip.Addr{}) == nil {
		t.Error("no address is allowed")
	}
}

func TestAllow(t *testing.T) {
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	if _, err := g.URL("http://127.0.0.1:8080/"); err != nil {
		t.Error(err)
	}
	if err := g.Control("tcp6", "[::ffff:127.0.0.1]:80", nil); err != nil {
		t.Error(err)
	}
	if _, err := g.URL("http://127.0.0.2/"); !errors.Is(err, ErrRefused) {
		t.Errorf("its neighbour: %v", err)
	}
}

func TestControl(t *testing.T) {
	for _, c := range []struct {
		network, address string
		allowed          bool
	}{
		{"tcp4", "8.8.8.8:443", true},
		{"tcp6", "[2606:4700::1111]:443", true},
		{"udp4", "8.8.8.8:443", false},
		{"unix", "/run/x", false},
		{"tcp4", "127.0.0.1:80", false},
		{"tcp6", "[fe80::1%eth0]:80", false},
		{"tcp", "example.com:80", false},
		{"tcp4", "", false},
	} {
		if err := (Guard{}).Control(c.network, c.address, nil); (err == nil) != c.allowed || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%s %s: %v", c.network, c.address, err)
		}
	}
}

// answer is a name server that gives a public address to the first question and
// loopback to all later ones.
func answer(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		var asked int
		for buf := make([]byte, 512); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			end += 5
			if end > n {
				continue
			}
			reply := append([]byte{}, buf[:end]...)
			copy(reply[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
			if reply[end-3] == 1 {
				reply[7] = 1
				addr := []byte{127, 0, 0, 1}
				if asked++; asked == 1 {
					addr = []byte{8, 8, 8, 8}
				}
				reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), addr...)
			}
			conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func TestRebindingIsRefused(t *testing.T) {
	resolver := answer(t)
	addrs, err := resolver.LookupNetIP(t.Context(), "ip4", "rebind.example.com")
	if err != nil || len(addrs) != 1 || (Guard{}).Addr(addrs[0].Unmap()) != nil {
		t.Fatalf("the first look gives %v, %v", addrs, err)
	}
	var reached atomic.Bool
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		if c, err := server.Accept(); err == nil {
			reached.Store(true)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	client := http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Control: Guard{}.Control, Resolver: resolver}).DialContext}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://rebind.example.com:"+port+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, ErrRefused) || reached.Load() {
		t.Errorf("error %v, reached %v", err, reached.Load())
	}
}

func TestRefusedAndUnreachable(t *testing.T) {
	const addr = "127.0.0.1:1" // nobody listens there
	dialer := net.Dialer{Control: Guard{}.Control, Timeout: time.Minute}
	if _, err := dialer.Dial("tcp", addr); !errors.Is(err, ErrRefused) {
		t.Errorf("a guarded dial to loopback: %v", err)
	}
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	dialer.Control = g.Control
	if _, err := dialer.Dial("tcp", addr); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("a dial to a closed port: %v", err)
	}
}

func FuzzURL(f *testing.F) {
	for _, raw := range hostile(f) {
		if len(raw) < 200 {
			f.Add(raw)
		}
	}
	f.Add("https://example.com/")
	f.Add("http://[64:ff9b::808:808]/")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := (Guard{}).URL(raw)
		if err != nil {
			if !errors.Is(err, ErrRefused) {
				t.Fatal(err)
			}
			return
		}
		if again, err := (Guard{}).URL(u.String()); err != nil || again.Host != u.Host {
			t.Fatalf("%q gives %q, which gives %v, %v", raw, u, again, err)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); err == nil && special(addr) != "" {
			t.Fatalf("%q is allowed and is %s", raw, special(addr))
		}
		if addr, ok := aton(u.Hostname()); ok && special(addr) != "" {
			t.Fatalf("%q is allowed and some read it as %s", raw, addr)
		}
	})
}
