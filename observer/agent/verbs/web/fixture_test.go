package web

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/web/webtest"
)

// public is the one loopback address that stands for the public web in tests.
const public = webtest.Public

// names is a name server on loopback. Each name has a list of answers, of which
// it gives one after the other and the last one for ever.
type names struct {
	mu    sync.Mutex
	table map[string][][]string
	asked map[string]int
}

func (n *names) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for buf := make([]byte, 1500); ; {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := n.answer(buf[:size]); reply != nil {
				conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

// count is how often a name was looked up.
func (n *names) count(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}

// others are the names that were looked up besides one.
func (n *names) others(known string) (all []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name := range n.asked {
		if name != known {
			all = append(all, name)
		}
	}
	return all
}

func (n *names) answer(question []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(question) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	n.mu.Lock()
	defer n.mu.Unlock()
	m.Response, m.Authoritative, m.RecursionAvailable = true, true, true
	answers := n.table[name]
	if answers == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	// A and AAAA are asked together and count as one round.
	round := n.asked[name]
	if q.Type == dnsmessage.TypeA {
		n.asked[name]++
	}
	if len(answers) > 0 {
		for _, text := range answers[min(round, len(answers)-1)] {
			addr := netip.MustParseAddr(text)
			header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET}
			switch {
			case q.Type == dnsmessage.TypeA && addr.Is4():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
			case q.Type == dnsmessage.TypeAAAA && addr.Is6():
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
			}
		}
	}
	m.Additionals = nil
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// site is a web of one server, at the address that stands for the public.
type site struct {
	*httptest.Server
	names *names
	fetch *Fetch
	port  string
}

func newSite(t *testing.T, table map[string][][]string, handler http.HandlerFunc) *site {
	t.Helper()
	listener, err := net.Listen("tcp4", public+":0")
	if err != nil {
		t.Skipf("no second loopback address on this system: %v", err)
	}
	s := &site{names: &names{table: map[string][][]string{"example.com": {{public}}}, asked: map[string]int{}}}
	for name, answers := range table {
		s.names.table[name] = answers
	}
	s.Server = httptest.NewUnstartedServer(handler)
	s.Listener.Close()
	s.Listener = listener
	s.Start()
	t.Cleanup(s.Close)
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	guard := egress.Guard{Allow: []netip.Prefix{netip.MustParsePrefix(public + "/32")}}
	s.fetch = NewFetch(Options{Guard: guard, Resolver: s.names.resolver(t)})
	t.Cleanup(s.fetch.Close)
	return s
}

func (s *site) url(host, path string) string { return "http://" + host + ":" + s.port + path }

func (s *site) get(t *testing.T, url string, grants ...string) verbs.Result {
	t.Helper()
	if len(grants) == 0 {
		grants = []string{"/fetch"}
	}
	c := verbs.NewCall("fetch", url, nil)
	c.Grant, c.Limits = dialect.NewGrant(grants), dialect.DefaultLimits()
	r, err := s.fetch.Handle(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hostile are the URLs that the guard's own tests refuse.
func hostile(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("../../../../observer/agent/egress/testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}
