package address

import (
	"context"
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
var hostile = []string{
	// loopback in all its forms
	"http://127.0.0.1/", "http://127.1/", "http://127.0.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
	"http://017700000001/", "http://0x7f.1/", "http://127.0.0.1./", "http://127.255.255.254/", "http://0/", "http://0.0.0.0/", "http://0x/", "http://00/",
	"http://127.0.0.01/", "http://0177.1/", "http://0X7F.0X0.0X0.0X1/", "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://a.localhost/",
	"http://localhost.localdomain/", "http://ip6-localhost/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::]/", "http://[::1%25lo]/",
	// IPv4 in IPv6
	"http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:10.0.0.1]/", "http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/",
	"http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2002:c0a8:101::1]/",
	"http://[2002:a9fe:a9fe::]/", "http://[2001:0:7f00:1::]/", "http://[2a00::5efe:127.0.0.1]/", "http://[2a00::200:5efe:10.0.0.1]/",
	// private, link-local, shared, metadata
	"http://10.0.0.1/", "http://10.1/", "http://167772161/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1/", "http://192.168.257/",
	"http://0xc0a80001/", "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/",
	"http://169.254.169.254./", "http://metadata.google.internal/computeMetadata/v1/", "http://metadata/", "http://100.64.0.1/", "http://100.100.100.200/",
	"http://100.127.255.255/", "http://168.63.129.16/", "http://192.0.0.192/", "http://[fd00:ec2::254]/", "http://[fc00::1]/", "http://[fe80::1]/",
	"http://[fe80::1%25eth0]/", "http://[fec0::1]/", "http://printer.local/", "http://router.home.arpa/", "http://intranet/",
	// multicast, documentation, benchmark, reserved
	"http://224.0.0.1/", "http://239.255.255.250/", "http://[ff02::1]/", "http://192.0.2.1/", "http://198.51.100.7/", "http://203.0.113.9/",
	"http://[2001:db8::1]/", "http://[3fff::1]/", "http://198.18.0.1/", "http://198.19.255.255/", "http://240.0.0.1/", "http://255.255.255.255/",
	"http://192.88.99.1/", "http://[100::1]/", "http://[5f00::1]/",
	// what hides the host
	"http://example.com@127.0.0.1/", "http://user:pass@example.com/", "http://example.com:80@10.0.0.1/", "http://127.0.0.1#@example.com/",
	"http://127.0.0.1?@example.com/", "http://example.com\\@127.0.0.1/", "http://１２７.０.０.１/", "http://127。0。0。1/", "http://127．0．0．1/",
	"http://①②⑦.⓪.⓪.①/", "http://ⓛocalhost/", "http://loc\u00adalhost/", "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.example.com/",
	"http://127.0.0.1%2f@example.com/", "http://localhost%2eexample.com@/", "http://127.0.0.1..\u002f/", "http://exam ple.com/", "http://.example.com/",
	"http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.2.3/", "http://8.8.8.010/", "http://99999999999/", "http://example.com:0/", "http://example.com:99999/",
	// what is no web address
	"ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1:70/", "javascript:alert(1)", "http:127.0.0.1", "//example.com/", "example.com", "",
	"http://", "http:///etc", "unix:///run/docker.sock", "http://[::1", "http://" + strings.Repeat("a", maxURL) + ".com/", "dict://example.com/", "data:text/plain,x",
}

func TestHostileURLs(t *testing.T) {
	for _, raw := range hostile {
		if u, err := (Guard{}).URL(raw); !errors.Is(err, ErrRefused) {
			t.Errorf("%q gave %v, %v", raw, u, err)
		}
	}
	if len(hostile) < 60 {
		t.Errorf("only %d URLs", len(hostile))
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
	if OutcomeOf(err) != Refused || reached.Load() {
		t.Errorf("error %v, reached %v", err, reached.Load())
	}
}

func TestRefusedAndUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := closed.Addr().String()
	closed.Close()
	dialer := net.Dialer{Control: Guard{}.Control, Timeout: time.Second}
	if _, err := dialer.Dial("tcp", addr); OutcomeOf(err) != Refused {
		t.Errorf("a guarded dial to loopback: %v", err)
	}
	g := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	dialer.Control = g.Control
	if _, err := dialer.Dial("tcp", addr); OutcomeOf(err) != Unreachable {
		t.Errorf("a dial to a closed port: %v", err)
	}
	if OutcomeOf(nil) != Reached {
		t.Error("no error is not reached")
	}
}

func FuzzURL(f *testing.F) {
	for _, raw := range hostile {
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
