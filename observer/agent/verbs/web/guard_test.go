package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs/web/webtest"
)

// witness counts who connects where nothing may connect to.
func witness(t *testing.T, listener net.Listener) *atomic.Int32 {
	t.Helper()
	var reached atomic.Int32
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			c.Close()
		}
	}()
	return &reached
}

func TestHostileURLsAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(http.StatusFound)
	})
	var asked int
	for _, raw := range hostile(t) {
		r := s.get(t, raw)
		if !strings.HasPrefix(r.Text, "ERR: ") || r.Details["refused"] != "address" && !strings.ContainsAny(raw, " \t") {
			t.Errorf("%q gave %q", raw, r.Text)
		}
		at, err := url.Parse(raw)
		if err != nil || !at.IsAbs() {
			continue // as a redirect it means something else
		}
		asked++
		r = s.get(t, s.url("example.com", "/?to="+url.QueryEscape(raw)))
		if !strings.HasPrefix(r.Text, "ERR: ") || r.Details["refused"] != "address" {
			t.Errorf("a redirect to %q gave %q", raw, r.Text)
		}
	}
	if asked < 60 {
		t.Errorf("only %d redirects", asked)
	}
	if others := s.names.others("example.com"); len(others) > 0 {
		t.Errorf("%v were looked up", others)
	}
}

// TestRebindingIsRefused has names that lead to private addresses at once, among
// others, or only after they were looked at.
func TestRebindingIsRefused(t *testing.T) {
	t.Parallel()
	table := map[string][][]string{
		"private.example.com": {{"127.0.0.1"}},
		"six.example.com":     {{"::1"}},
		"mapped.example.com":  {{"::ffff:127.0.0.1"}},
		"sixto4.example.com":  {{"2002:7f00:1::"}},
		"nat64.example.com":   {{"64:ff9b::7f00:1"}},
		"meta.example.com":    {{"169.254.169.254"}},
		"rebind.example.com":  {{public}, {"127.0.0.1"}},
	}
	var s *site
	var near net.Listener
	for near == nil { // somebody else may have the same port here
		s = newSite(t, table, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			if r.URL.Path == "/again" {
				http.Redirect(w, r, "/done", http.StatusFound)
				return
			}
			w.Write([]byte("reached"))
		})
		near, _ = net.Listen("tcp4", "127.0.0.1:"+s.port)
	}
	reached := witness(t, near)
	for name := range table {
		if name == "rebind.example.com" {
			continue
		}
		if r := s.get(t, s.url(name, "/")); r.Details["refused"] != "address" {
			t.Errorf("%s: %q", name, r.Text)
		}
	}
	if r := s.get(t, s.url("rebind.example.com", "/again")); r.Details["refused"] != "address" {
		t.Errorf("a name that changes its answer: %q", r.Text)
	}
	if n := s.names.count("rebind.example.com"); n != 2 {
		t.Errorf("it was looked up %d times", n)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections to loopback", n)
	}
}

func TestProxiesAreNotUsed(t *testing.T) {
	s := newSite(t, nil, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("direct")) })
	proxy, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	reached := witness(t, proxy)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://"+proxy.Addr().String()+"/")
	}
	if s.fetch.transport.Proxy != nil {
		t.Error("the transport has a proxy")
	}
	if r := s.get(t, s.url("example.com", "/")); !strings.Contains(r.Text, "direct") {
		t.Errorf("%q", r.Text)
	}
	if reached.Load() != 0 {
		t.Error("the proxy was reached")
	}
}

func TestRedirectsKeepToTheGrant(t *testing.T) {
	t.Parallel()
	table := map[string][][]string{"a.example.com": {{public}}, "b.example.com": {{public}}, "evil.test.com": {{public}}}
	var s *site
	s = newSite(t, table, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, s.url(to, "/end"), http.StatusFound)
			return
		}
		w.Write([]byte("arrived"))
	})
	if r := s.get(t, s.url("a.example.com", "/?to=b.example.com"), "/fetch host=*.example.com"); !strings.Contains(r.Text, "arrived") {
		t.Errorf("inside the grant: %q", r.Text)
	}
	if r := s.get(t, s.url("a.example.com", "/?to=evil.test.com"), "/fetch host=*.example.com"); !strings.Contains(r.Text, "not granted") {
		t.Errorf("outside of it: %q", r.Text)
	}
	if n := s.names.count("evil.test.com"); n != 0 {
		t.Errorf("it was looked up %d times", n)
	}
}

func TestTenRedirects(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if n := strings.TrimPrefix(r.URL.Path, "/"); n != "" {
			http.Redirect(w, r, "/"+n[1:], http.StatusFound)
			return
		}
		w.Write([]byte("arrived"))
	})
	if r := s.get(t, s.url("example.com", "/"+strings.Repeat("x", 10))); !strings.Contains(r.Text, "arrived") {
		t.Errorf("ten: %q", r.Text)
	}
	if r := s.get(t, s.url("example.com", "/"+strings.Repeat("x", 11))); !strings.Contains(r.Text, "more than 10 redirects") {
		t.Errorf("eleven: %q", r.Text)
	}
}

func TestRefusedAndUnreachableAreToldApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string][][]string{"private.example.com": {{"10.0.0.1"}}}, func(http.ResponseWriter, *http.Request) {})
	for raw, want := range map[string]string{
		"http://" + webtest.Nobody(t) + "/":                     "ERR: unreachable: ",
		"http://no.such.example.com/":                           "ERR: unreachable: no host of the name no.such.example.com",
		"http://private.example.com/":                           "ERR: refused: \"http://private.example.com/\": 10.0.0.1 is a private network",
		"http://127.0.0.1/":                                     "ERR: refused: \"http://127.0.0.1/\": 127.0.0.1 is loopback",
		"https://" + strings.TrimPrefix(s.URL, "http://") + "/": "ERR: unreachable: ",
	} {
		if r := s.get(t, raw); !strings.HasPrefix(r.Text, want) {
			t.Errorf("%s: %q", raw, r.Text)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := Refused("http://example.com/", ctx.Err()); !strings.Contains(r.Text, "in time") {
		t.Errorf("%q", r.Text)
	}
	if _, err := Dial(egress.Guard{}, nil)(t.Context(), "tcp", "127.0.0.1:1"); !errors.Is(err, egress.ErrRefused) {
		t.Errorf("%v", err)
	}
}
