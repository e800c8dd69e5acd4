package browse

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs/web"
	"github.com/writbus/writ/observer/agent/verbs/web/webtest"
)

// public is the one loopback address that stands for the public web in tests.
const public = webtest.Public

func guard() egress.Guard {
	return egress.Guard{Allow: []netip.Prefix{netip.MustParsePrefix(public + "/32")}}
}

// site serves at the address that stands for the public web.
func site(t *testing.T, handler http.HandlerFunc) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp4", public+":0")
	if err != nil {
		t.Skipf("no second loopback address on this system: %v", err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// witness listens on loopback, where nothing may connect to.
func witness(t *testing.T) (addr string, reached *atomic.Int32) {
	t.Helper()
	reached = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		io.WriteString(w, "SECRET")
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), reached
}

func newTestProxy(t *testing.T) *proxy {
	t.Helper()
	p, err := newProxy(guard(), web.Dial(guard(), nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

// connect asks the proxy for a tunnel and returns it with the status.
func connect(t *testing.T, p *proxy, target string) (net.Conn, int) {
	t.Helper()
	conn, err := net.Dial("tcp", p.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return conn, response.StatusCode
}

func TestProxyPassesThePublic(t *testing.T) {
	t.Parallel()
	addr := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Seen", r.Header.Get("Proxy-Connection")+r.Header.Get("X"))
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, r.URL.RequestURI()+" "+r.Host)
	})
	p := newTestProxy(t)
	at, _ := url.Parse(p.url())
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	request, _ := http.NewRequest(http.MethodGet, "http://"+addr+"/a?b=c", nil)
	request.Header.Set("Proxy-Connection", "keep-alive")
	request.Header.Set("X", "x")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusTeapot || string(body) != "/a?b=c "+addr || response.Header.Get("Seen") != "x" {
		t.Errorf("%d %q %v", response.StatusCode, body, response.Header)
	}
	conn, status := connect(t, p, addr)
	if status != http.StatusOK {
		t.Fatalf("a tunnel: %d", status)
	}
	fmt.Fprintf(conn, "GET /deep HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if all, _ := io.ReadAll(conn); !strings.HasSuffix(string(all), "/deep h") {
		t.Errorf("through the tunnel: %q", all)
	}
}

func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	p := newTestProxy(t)
	raw, err := os.ReadFile("../../../../../observer/agent/egress/testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var hostile []string
	if err := json.Unmarshal(raw, &hostile); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, one := range hostile {
		u, err := url.Parse(one)
		if err != nil || u.Host == "" || u.Scheme != "http" || strings.ContainsAny(u.Host, " \x00") {
			continue
		}
		tried++
		host := u.Host
		if u.Port() == "" {
			host += ":443"
		}
		if u.User == nil { // a tunnel has no user
			if _, status := connect(t, p, host); status != http.StatusForbidden && status != http.StatusBadRequest {
				t.Errorf("a tunnel to %q: %d", host, status)
			}
		}
		request := httptest.NewRequest(http.MethodGet, "http://example.com/", nil)
		request.URL = u
		w := httptest.NewRecorder()
		p.ServeHTTP(w, request)
		if w.Code != http.StatusForbidden || p.why(u.Hostname()) == nil {
			t.Errorf("%q: %d %s", one, w.Code, w.Body)
		}
	}
	if tried < 60 {
		t.Errorf("only %d URLs", tried)
	}
	addr, reached := witness(t)
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://"+addr+"/", nil))
	if w.Code != http.StatusForbidden || reached.Load() != 0 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/local", nil))
	if w.Code != http.StatusBadRequest {
		t.Errorf("as a server: %d", w.Code)
	}
}

func TestProxyBoundsTraffic(t *testing.T) {
	t.Parallel()
	addr := site(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1<<20)) })
	p := newTestProxy(t)
	p.left.Store(100_000)
	at, _ := url.Parse(p.url())
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
	response, err := client.Get("http://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if n, err := io.Copy(io.Discard, response.Body); err == nil || n > 200_000 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
