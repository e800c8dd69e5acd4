package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/schemas"
)

// site is a server over a scripted daemon.
type site struct {
	t         *testing.T
	server    *Server
	root      string
	cookie    *http.Cookie
	key       string
	announced string // before it listened
	reads     bool   // its link is for readers

	mu    sync.Mutex
	clock time.Time
	asked []string // subject and body
	fails error
	after map[schemas.Stream]uint64
	all   *sync.Cond // signals that one more stream is followed
}

type refusal struct{ code string }

func (r refusal) Error() string { return "the plan has changed" }
func (r refusal) Code() string  { return r.code }

func open(t *testing.T) *site {
	t.Helper()
	x := &site{t: t, clock: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), after: map[schemas.Stream]uint64{}}
	x.all = sync.NewCond(&x.mu)
	server, err := Start(Options{
		Ask: func(_ context.Context, subject string, body []byte) ([]byte, error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.asked = append(x.asked, subject+" "+string(body))
			return []byte(`{"said":"` + subject + `"}`), x.fails
		},
		Follow: func(ctx context.Context, stream schemas.Stream, after uint64, fn func([]schemas.ReplayEvent) error) error {
			x.mu.Lock()
			x.after[stream] = after
			x.all.Broadcast()
			// The events come when all streams are followed: who has read them may look at after.
			for stream == schemas.StreamSessions && len(x.after) < len(schemas.Streams()) {
				x.all.Wait()
			}
			x.mu.Unlock()
			if stream != schemas.StreamSessions {
				<-ctx.Done()
				return ctx.Err()
			}
			event := schemas.ReplayEvent{Position: schemas.Position{Stream: stream, Seq: after + 1}, Type: "prompt.submitted", Data: json.RawMessage(`{"prompt":"two\nlines"}`)}
			large := event
			large.Position.Seq++
			large.Data = json.RawMessage(`"` + strings.Repeat("x", maxLiveData) + `"`)
			if err := fn([]schemas.ReplayEvent{event, large}); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		},
		End:      func(context.Context, schemas.Stream) (uint64, error) { return 40, nil },
		Help:     func() []Topic { return helpTopics },
		Announce: func(port string) error { x.announced = port; return nil },
		Now:      func() time.Time { x.mu.Lock(); defer x.mu.Unlock(); return x.clock },
		Logger:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	x.server, x.root = server, server.Origin()
	return x
}

func (x *site) link() string {
	x.t.Helper()
	return x.server.Link(x.reads)
}

// enter lets the test in.
func (x *site) enter() *site {
	x.t.Helper()
	status, page, response := x.send(http.MethodGet, strings.TrimPrefix(x.link(), x.root), "", nil)
	if status != http.StatusOK || len(cookies(response)) != 1 {
		x.t.Fatalf("the link gives %d, %d cookies", status, len(cookies(response)))
	}
	x.cookie = cookies(response)[0]
	_, rest, _ := strings.Cut(page, `<meta name="key" content="`)
	x.key, _, _ = strings.Cut(rest, `"`)
	return x
}

func (x *site) send(method, path, body string, header http.Header) (int, string, http.Header) {
	x.t.Helper()
	request, err := http.NewRequestWithContext(x.t.Context(), method, x.root+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	if x.cookie != nil {
		request.AddCookie(x.cookie)
		request.Header.Set("Writ-Key", x.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return response.StatusCode, string(raw), response.Header
}

func cookies(h http.Header) []*http.Cookie { return (&http.Response{Header: h}).Cookies() }

// fromPage are the headers that a browser adds to what the page sends.
func (x *site) fromPage() http.Header {
	return http.Header{"Origin": {x.root}, "Content-Type": {"application/json"}}
}

func TestStrangersSeeNothing(t *testing.T) {
	x := open(t)
	for _, path := range []string{"/", "/index.html", "/js/main.js", "/api/sessions", "/api/live", "/?ticket=", "/?ticket=guess", "/nowhere"} {
		status, body, response := x.send(http.MethodGet, path, "", nil)
		if status != http.StatusUnauthorized || body != stranger || len(cookies(response)) != 0 {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	if status, _, _ := x.send(http.MethodPost, "/api/approve", `{}`, x.fromPage()); status != http.StatusUnauthorized {
		t.Errorf("a stranger's act: %d", status)
	}
	if len(x.asked) != 0 {
		t.Errorf("a stranger asked the daemon: %q", x.asked)
	}
}

func TestLinkAdmitsOnceAndExpires(t *testing.T) {
	x := open(t)
	link := strings.TrimPrefix(x.link(), x.root)
	late := strings.TrimPrefix(x.link(), x.root)
	if status, _, response := x.send(http.MethodGet, link, "", nil); status != http.StatusOK || !cookies(response)[0].HttpOnly || cookies(response)[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d %+v", status, cookies(response))
	}
	if status, _, _ := x.send(http.MethodGet, link, "", nil); status != http.StatusUnauthorized {
		t.Errorf("a used link: %d", status)
	}
	x.mu.Lock()
	x.clock = x.clock.Add(LinkLife)
	x.mu.Unlock()
	if status, _, _ := x.send(http.MethodGet, late, "", nil); status != http.StatusUnauthorized {
		t.Errorf("an old link: %d", status)
	}
	x.enter()
	if status, body, _ := x.send(http.MethodGet, "/", "", nil); status != http.StatusOK || !strings.Contains(body, "js/all.js") {
		t.Errorf("the page: %d", status)
	}
	x.mu.Lock()
	x.clock = x.clock.Add(visitLife)
	x.mu.Unlock()
	if status, _, _ := x.send(http.MethodGet, "/", "", nil); status != http.StatusUnauthorized {
		t.Errorf("an old visit: %d", status)
	}
}

func TestLeavingEndsTheVisit(t *testing.T) {
	x := open(t).enter()
	if status, _, _ := x.send(http.MethodPost, "/leave", "", x.fromPage()); status != http.StatusNoContent {
		t.Fatalf("leaving: %d", status)
	}
	if status, _, _ := x.send(http.MethodGet, "/", "", nil); status != http.StatusUnauthorized {
		t.Errorf("after leaving: %d", status)
	}
}

// TestAnotherTabLeavesTheFirstIn: a browser has one cookie for all of its tabs, and each
// tab the key that it was handed.
func TestAnotherTabLeavesTheFirstIn(t *testing.T) {
	x := open(t).enter()
	first := x.key
	if status, _, _ := x.enter().send(http.MethodGet, "/api/sessions", "", nil); status != http.StatusOK {
		t.Errorf("the second tab: %d", status)
	}
	second := x.key
	x.key = first
	if status, _, _ := x.send(http.MethodGet, "/api/sessions", "", nil); status != http.StatusOK {
		t.Errorf("the first tab: %d", status)
	}
	if x.reads = true; x.enter().key == second || x.key == "" {
		t.Error("a reader is handed the key of one who acts")
	}
}

// TestACookieAloneReachesNothing: a browser sends the cookies of localhost to whatever
// listens at any of its ports, so that an agent's server is shown a visit's.
func TestACookieAloneReachesNothing(t *testing.T) {
	x, other := open(t).enter(), open(t).enter()
	shown := ""
	agents := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { shown = r.Header.Get("Cookie") }))
	defer agents.Close()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(x.root)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(at, []*http.Cookie{x.cookie})
	_, port, _ := net.SplitHostPort(agents.Listener.Addr().String())
	response, err := (&http.Client{Jar: jar}).Get("http://localhost:" + port)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if !strings.Contains(shown, x.cookie.Value) {
		t.Fatalf("the agent's server is shown %q: this test shows nothing", shown)
	}
	whole := x.key
	act := `{"session":"s","gate":"plan","fingerprint":"f","act_id":"a"}`
	for _, x.key = range []string{"", other.key, x.cookie.Value} {
		for _, path := range []string{"/api/sessions", "/api/help", "/api/live", "/api/live?key=" + x.key} {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, x.root+path, nil)
			request.RequestURI = ""
			request.AddCookie(x.cookie)
			request.Header.Set("Writ-Key", x.key)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close() // what is followed has no end
			if response.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with the key %q: %d", path, x.key, response.StatusCode)
			}
		}
		for _, path := range []string{"/api/approve", "/api/decline", "/leave"} {
			if status, _, _ := x.send(http.MethodPost, path, act, x.fromPage()); status != http.StatusUnauthorized {
				t.Errorf("%s with the key %q: %d", path, x.key, status)
			}
		}
	}
	if _, page, _ := x.send(http.MethodGet, "/", "", nil); strings.Contains(page, whole) {
		t.Error("the page tells its key to who has the cookie")
	}
	if len(x.asked) != 0 {
		t.Errorf("it was asked %q", x.asked)
	}
	if x.key = whole; whole == "" {
		t.Fatal("the page was handed no key")
	}
	if status, _, _ := x.send(http.MethodPost, "/api/approve", act, x.fromPage()); status != http.StatusOK {
		t.Errorf("with its key: %d", status)
	}
}

func TestOtherSitesReachNothing(t *testing.T) {
	x := open(t).enter()
	if status, _, _ := x.send(http.MethodGet, "/api/sessions", "", http.Header{"Host": {"evil.example:" + x.server.port}}); status != http.StatusForbidden {
		t.Errorf("another name for this machine: %d", status)
	}
	act := `{"session":"s","gate":"plan","fingerprint":"f","act_id":"a"}`
	for name, header := range map[string]http.Header{
		"no origin":     {"Content-Type": {"application/json"}},
		"other origin":  {"Content-Type": {"application/json"}, "Origin": {"http://127.0.0.1:1"}},
		"a form":        {"Content-Type": {"text/plain"}, "Origin": {x.root}},
		"secure origin": {"Content-Type": {"application/json"}, "Origin": {strings.Replace(x.root, "http", "https", 1)}},
	} {
		if status, _, _ := x.send(http.MethodPost, "/api/approve", act, header); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if len(x.asked) != 0 {
		t.Errorf("it was done: %q", x.asked)
	}
}

// TestAddressesLeadToTheName: a passkey's relying party is a name, so that a page
// opened at an address goes on under it, with its ticket.
func TestAddressesLeadToTheName(t *testing.T) {
	x := open(t)
	ticket := strings.TrimPrefix(x.link(), x.root)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{"/", ticket} {
		response, err := client.Get("http://127.0.0.1:" + x.server.port + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if at := response.Header.Get("Location"); response.StatusCode != http.StatusTemporaryRedirect || at != x.root+path {
			t.Errorf("%s: %d, to %q", path, response.StatusCode, at)
		}
	}
	if status, _, _ := x.send(http.MethodGet, ticket, "", nil); status != http.StatusOK {
		t.Errorf("the ticket was spent on the way: %d", status)
	}
}

// TestPortIsTakenOnBothLoopbacks: who had the port of localhost's other address
// would be the same origin.
func TestPortIsTakenOnBothLoopbacks(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6 loopback: %v", err)
	}
	defer func() { _ = probe.Close() }()
	x := open(t)
	if x.announced != x.server.port {
		t.Errorf("%s was announced, and %s is its port", x.announced, x.server.port)
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		if l, err := net.Listen("tcp", net.JoinHostPort(host, x.server.port)); err == nil {
			_ = l.Close()
			t.Errorf("%s has the port of the dashboard free", host)
		}
	}
	_, port, _ := net.SplitHostPort(probe.Addr().String())
	if _, err := Start(Options{Address: "127.0.0.1:" + port, Announce: func(string) error { return nil }, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrAddress) || !strings.Contains(err.Error(), "another program's") {
		t.Errorf("a port that another program has at ::1: %v", err)
	}
}

func TestPagesAskTheServices(t *testing.T) {
	x := open(t).enter()
	for path, want := range map[string]string{
		"/api/status":                        schemas.SvcStatus + ` {}`,
		"/api/session?id=a%2Fb":              schemas.SvcSession + ` {"session":"a/b"}`,
		"/api/session?id=s&at=12":            schemas.SvcSession + ` {"session":"s","at":12}`,
		"/api/graph?id=GO-ERR-001&depth=900": schemas.SvcGraph + ` {"id":"GO-ERR-001","depth":3}`,
		"/api/log?session=s&after=7":         schemas.SvcReplay + ` {"session":"s","after":7}`,
		"/api/offer?session=s":               schemas.SvcOffer + ` {"session":"s","channel":"dashboard"}`,
		"/api/passkeys":                      schemas.SvcPasskeys + ` {}`,
		"/api/settings?project=%2Fp":         schemas.SvcSettings + ` {"project":"/p"}`,
	} {
		x.asked = nil
		status, body, response := x.send(http.MethodGet, path, "", nil)
		if status != http.StatusOK || len(x.asked) != 1 || x.asked[0] != want || !strings.Contains(body, "said") {
			t.Errorf("%s: %d, asked %q, want %q", path, status, x.asked, want)
		}
		if csp := response.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("the policy is %q", csp)
		}
	}
	for path, want := range map[string]int{"/api/stop": http.StatusNotFound, "/api/log?after=x": http.StatusBadRequest, "/api/log?after=-1": http.StatusBadRequest} {
		if status, _, _ := x.send(http.MethodGet, path, "", nil); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	for code, want := range map[string]int{schemas.CodeNotFound: 404, schemas.CodeConflict: 409, schemas.CodeNotReady: 503, schemas.CodeInternal: 500} {
		x.fails = refusal{code}
		if status, body, _ := x.send(http.MethodGet, "/api/status", "", nil); status != want || !strings.Contains(body, "the plan has changed") {
			t.Errorf("%s: %d %s", code, status, body)
		}
	}
	x.fails = errors.New("no answer")
	if status, _, _ := x.send(http.MethodGet, "/api/status", "", nil); status != http.StatusBadGateway {
		t.Errorf("a daemon that does not answer: %d", status)
	}
}

func TestActsNameWhatWasShown(t *testing.T) {
	x := open(t).enter()
	for _, body := range []string{"", "{", `{"session":"s"}`, `{"session":"s","gate":"plan","act_id":"a"}`, `"` + strings.Repeat("x", maxRequest) + `"`} {
		if status, _, _ := x.send(http.MethodPost, "/api/approve", body, x.fromPage()); status != http.StatusBadRequest {
			t.Errorf("%.40q: %d", body, status)
		}
	}
	act := `{"session":"s","gate":"plan","fingerprint":"f","reason":"no","act_id":"a","channel":"terminal"}`
	x.send(http.MethodPost, "/api/approve", act, x.fromPage())
	x.send(http.MethodPost, "/api/decline", act, x.fromPage())
	want := []string{
		schemas.SvcApprove + ` {"session":"s","gate":"plan","fingerprint":"f","channel":"dashboard","act_id":"a"}`,
		schemas.SvcDecline + ` {"session":"s","gate":"plan","fingerprint":"f","reason":"no","channel":"dashboard","act_id":"a"}`,
	}
	if len(x.asked) != 2 || x.asked[0] != want[0] || x.asked[1] != want[1] {
		t.Errorf("asked %q, want %q", x.asked, want)
	}
	if status, _, _ := x.send(http.MethodPost, "/api/stop", act, x.fromPage()); status != http.StatusNotFound {
		t.Errorf("an unknown act: %d", status)
	}
}

// TestJudgementsNameWhatWasShown sends what a person says of proposed rules and of
// observations.
func TestJudgementsNameWhatWasShown(t *testing.T) {
	x := open(t).enter()
	for what, bodies := range map[string][]string{
		"rule": {
			`{"act":"promote","id":"ZOO-GNU-001"}`, `{"act":"promote","seen":1}`, `{"id":"ZOO-GNU-001","seen":1}`,
			`{"act":"add","id":"ZOO-GNU-001","seen":1,"content":"x"}`, `{"act":"edit","id":"ZOO-GNU-001","seen":1,"content":"x"}`, `{"act":"retire","id":"ZOO-GNU-001","seen":1}`,
		},
		"regate": {`{}`, `{"id":"o","write_verdict":"allow"}`, `{"id":"o","scope":"s"}`},
		"forget": {`{"id":"o"}`, `{"scope":"s"}`},
		"triage": {`{"proposal_id":"p"}`, `{"decision":"accepted"}`},
	} {
		for _, body := range bodies {
			if status, _, _ := x.send(http.MethodPost, "/api/"+what, body, x.fromPage()); status != http.StatusBadRequest {
				t.Errorf("%s %s: %d", what, body, status)
			}
		}
	}
	if len(x.asked) != 0 {
		t.Fatalf("asked %q", x.asked)
	}
	for _, c := range []struct{ what, body, asks string }{
		{"rule", `{"act":"promote","id":"ZOO-GNU-001","seen":2,"reason":"so","act_id":"a"}`, schemas.SvcRuleChange + ` {"act":"promote","id":"ZOO-GNU-001","reason":"so","seen":2}`},
		{"regate", `{"id":"o","scope":"s","write_verdict":"allow","reason":"so"}`, schemas.SvcMemoryRegate + ` {"id":"o","scope":"s","write_verdict":"allow","reason":"so"}`},
		{"forget", `{"id":"o","scope":"s","reason":"so"}`, schemas.SvcMemoryForget + ` {"id":"o","scope":"s","reason":"so"}`},
		{"triage", `{"proposal_id":"p","decision":"rejected","reason":"so"}`, schemas.SvcMemoryTriage + ` {"proposal_id":"p","decision":"rejected","reason":"so"}`},
	} {
		x.asked = nil
		if status, body, _ := x.send(http.MethodPost, "/api/"+c.what, c.body, x.fromPage()); status != http.StatusOK || len(x.asked) != 1 || x.asked[0] != c.asks {
			t.Errorf("%s: %d %s, asked %q", c.what, status, body, x.asked)
		}
	}
}

func TestLiveGoesOnWhereThePageWas(t *testing.T) {
	x := open(t).enter()
	read := func(since string) (lines []string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, x.root+"/api/live?key="+x.key, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.AddCookie(x.cookie)
		request.Header.Set("Last-Event-ID", since)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		scanner := bufio.NewScanner(response.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines = append(lines, scanner.Text())
			if strings.Contains(scanner.Text(), "too_large") {
				return lines
			}
		}
		t.Fatalf("the stream ended: %v, %q", scanner.Err(), lines)
		return nil
	}
	lines := read("WRIT_SESSIONS:12,WRIT_MEMORY:99,nonsense,WRIT_RULES:x")
	x.mu.Lock()
	if x.after[schemas.StreamSessions] != 12 || x.after[schemas.StreamMemory] != 40 || x.after[schemas.StreamRules] != 40 {
		t.Errorf("followed after %v", x.after)
	}
	x.mu.Unlock()
	text := strings.Join(lines, "\n")
	for _, part := range []string{"event: hello", `"seq":13`, `{"prompt":"two\nlines"}`, `{"too_large":`} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not send %s:\n%s", part, text)
		}
	}
	last := ""
	for _, line := range lines {
		if id, found := strings.CutPrefix(line, "id: "); found {
			last = id
		}
	}
	// The last message is sent once more: it may have carried several events.
	if got := parsePositions(last)[schemas.StreamSessions]; got != 13 {
		t.Errorf("a page that saw 14 goes on after %d", got)
	}
}

// TestAPageThatWasAwayForLongBeginsAtTheEnd and is told how much it was spared.
func TestAPageThatWasAwayForLongBeginsAtTheEnd(t *testing.T) {
	s := &Server{options: Options{End: func(context.Context, schemas.Stream) (uint64, error) { return 2 * liveReach, nil }}}
	for name, c := range map[string]struct {
		seen    string
		after   uint64
		skipped uint64
	}{
		"at the end":     {"WRIT_SESSIONS:10000", 2 * liveReach, 0},
		"a little away":  {"WRIT_SESSIONS:5000", liveReach, 0},
		"for long":       {"WRIT_SESSIONS:4999", 2 * liveReach, liveReach + 1},
		"ahead":          {"WRIT_SESSIONS:18446744073709551615", 2 * liveReach, 0},
		"never was here": {"", 2 * liveReach, 0},
	} {
		seen := from(httptest.NewRequest(http.MethodGet, "/api/live?from="+c.seen, nil))
		skipped, err := s.begin(t.Context(), seen)
		if err != nil || skipped != c.skipped || seen[schemas.StreamSessions] != c.after {
			t.Errorf("%s: begins after %d, spared %d, %v", name, seen[schemas.StreamSessions], skipped, err)
		}
	}
}

// TestAPageThatDoesNotReadIsLetGo: its place is another's then.
func TestAPageThatDoesNotReadIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{watchers: make(chan struct{}, maxWatchers), options: Options{
			End: func(context.Context, schemas.Stream) (uint64, error) { return 0, nil },
			Follow: func(ctx context.Context, _ schemas.Stream, _ uint64, _ func([]schemas.ReplayEvent) error) error {
				<-ctx.Done()
				return ctx.Err()
			},
			Logger: slog.New(slog.DiscardHandler),
		}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/live", nil)
		go s.live(&unread{ResponseRecorder: httptest.NewRecorder(), ctx: ctx}, r)
		time.Sleep(time.Hour)
		if n := len(s.watchers); n != 0 {
			t.Errorf("%d places are taken", n)
		}
	})
}

// unread takes nothing of what is written to it.
type unread struct {
	*httptest.ResponseRecorder
	ctx      context.Context
	deadline time.Time
}

func (u *unread) SetWriteDeadline(at time.Time) error { u.deadline = at; return nil }

func (u *unread) Write([]byte) (int, error) {
	var over <-chan time.Time
	if !u.deadline.IsZero() {
		over = time.After(time.Until(u.deadline))
	}
	select {
	case <-over:
		return 0, os.ErrDeadlineExceeded
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	}
}

// TestAPageIsToldHowFarItIsBehind once after something was sent.
func TestAPageIsToldHowFarItIsBehind(t *testing.T) {
	s := &Server{options: Options{End: func(context.Context, schemas.Stream) (uint64, error) { return 50, nil }}}
	w := httptest.NewRecorder()
	page := &livePage{w: w, flush: func() error { return nil }, seen: positions{}, sent: positions{}}
	more := make(chan schemas.ReplayEvent, 2)
	for seq := range uint64(2) {
		more <- schemas.ReplayEvent{Position: schemas.Position{Stream: schemas.StreamSessions, Seq: 8 + seq}}
	}
	err := errors.Join(page.send(schemas.ReplayEvent{Position: schemas.Position{Stream: schemas.StreamSessions, Seq: 7}}, more), s.behind(t.Context(), page), s.behind(t.Context(), page))
	if text := w.Body.String(); err != nil || len(more) != 0 || strings.Count(text, "data: {") != 3 || strings.Count(text, "event: behind\ndata: 41\n\n") != 1 {
		t.Errorf("%v: %q", err, text)
	}
}

func TestStartRefusesOtherMachines(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", ":80", "example.com:80", "127.0.0.1"} {
		if s, err := Start(Options{Address: address, Logger: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %v", address, err)
			if s != nil {
				s.Stop()
			}
		}
	}
}

func FuzzPositions(f *testing.F) {
	f.Add("WRIT_SESSIONS:12,WRIT_RULES:3")
	f.Add(":,::,WRIT_SESSIONS:18446744073709551616")
	f.Fuzz(func(t *testing.T, text string) {
		p := parsePositions(text)
		if got := parsePositions(p.String()); got.String() != p.String() {
			t.Errorf("%q: %s, then %s", text, p, got)
		}
	})
}

// TestReadersLookAndActOnNothing: whoever came by a reader's link sees what waits, and
// every act is refused before it reaches a service.
func TestReadersLookAndActOnNothing(t *testing.T) {
	x := open(t)
	x.reads = true
	x.enter()
	if code, body, _ := x.send(http.MethodGet, "/api/waits", "", nil); code != http.StatusOK {
		t.Errorf("it may not look: %d %s", code, body)
	}
	asked := len(x.asked)
	for what := range acts {
		if code, body, _ := x.send(http.MethodPost, "/api/"+what, `{"session":"s1"}`, x.fromPage()); code != http.StatusForbidden || !strings.Contains(body, "look and not act") {
			t.Errorf("%s: %d %s", what, code, body)
		}
	}
	if len(x.asked) != asked {
		t.Errorf("asked of the daemon: %v", x.asked[asked:])
	}
}
