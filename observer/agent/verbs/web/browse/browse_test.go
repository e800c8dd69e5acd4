package browse

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/web/webtest"
)

// browserVariable names the Chromium that the tests with a browser start; see
// test/ci/browser.sh.
const browserVariable = "WRIT_TEST_BROWSER"

func withBrowser(t *testing.T) *Browse {
	t.Helper()
	path := os.Getenv(browserVariable)
	if path == "" {
		t.Skip("needs a Chromium: test/ci/browser.sh installs one and sets " + browserVariable)
	}
	return New(Options{Path: path, Guard: guard()})
}

func visitPage(ctx context.Context, t *testing.T, b *Browse, url string, grants ...string) verbs.Result {
	t.Helper()
	if len(grants) == 0 {
		grants = []string{"/browse"}
	}
	c := verbs.NewCall("browse", url, nil)
	c.Grant, c.Limits = dialect.NewGrant(grants), dialect.DefaultLimits()
	r, err := b.Handle(ctx, c)
	if err != nil {
		t.Error(err)
	}
	return r
}

func TestWithoutABrowser(t *testing.T) {
	b := New(Options{Path: "none", Guard: guard()})
	for url, want := range map[string]string{
		"https://example.com/": "ERR: no browser is installed here. Adapt: use /fetch, or ask the user to install Chromium.",
		"http://127.0.0.1/":    "ERR: refused: ", "file:///etc/passwd": "ERR: refused: ", "chrome://settings": "ERR: refused: ", "http://a.com b": "ERR: /browse takes one URL",
	} {
		if r := visitPage(t.Context(), t, b, url); !strings.HasPrefix(r.Text, want) {
			t.Errorf("%s: %q", url, r.Text)
		}
	}
	if path, ok := (Options{Path: "/no/such/browser"}).Find(); ok {
		t.Errorf("found %s", path)
	}
}

func TestBrowserRunsScripts(t *testing.T) {
	t.Parallel()
	b := withBrowser(t)
	addr := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/data":
			io.WriteString(w, "from the server")
		case "/gone":
			w.WriteHeader(http.StatusGone)
			io.WriteString(w, "<p>no more")
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<title>T</title><p>static</p><p id=x></p><a href=/next>next</a>
<script>alert("hello"); fetch("/data").then(r => r.text()).then(s => document.getElementById("x").textContent = "made " + s)</script>`)
		}
	})
	for _, path := range []string{"/", "/moved"} {
		r := visitPage(t.Context(), t, b, "http://"+addr+path)
		for _, want := range []string{"http://" + addr + "/ (as a browser shows it)", "# T", "static", "made from the server", "[next](http://" + addr + "/next)"} {
			if !strings.Contains(r.Text, want) {
				t.Errorf("no %q in %q", want, r.Text)
			}
		}
		if len(r.Images) != 1 || r.Images[0].MIME != "image/png" || r.Trust != verbs.TrustWeb || r.Details["status"] != "200" {
			t.Fatalf("%v, %q, %v", r.Images, r.Trust, r.Details)
		}
		if picture, err := png.Decode(bytes.NewReader(r.Images[0].Data)); err != nil || picture.Bounds().Dx() < 1000 {
			t.Errorf("the picture: %v", err)
		}
	}
	if r := visitPage(t.Context(), t, b, "http://"+addr+"/gone"); !strings.HasPrefix(r.Text, "ERR: 410 Gone") || !strings.Contains(r.Text, "no more") {
		t.Errorf("%q", r.Text)
	}
	if r := visitPage(t.Context(), t, b, "https://"+webtest.Nobody(t)+"/"); !strings.HasPrefix(r.Text, "ERR: unreachable: ") {
		t.Errorf("%q", r.Text)
	}
}

// TestBrowserReachesOnlyThePublic has pages that try every way to loopback and
// to files.
func TestBrowserReachesOnlyThePublic(t *testing.T) {
	t.Parallel()
	b := withBrowser(t)
	secret, reached := witness(t)
	stun, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stun.Close()
	var packets atomic.Int32
	go func() {
		for buf := make([]byte, 1500); ; packets.Add(1) {
			if _, _, err := stun.ReadFrom(buf); err != nil {
				return
			}
		}
	}()
	file := filepath.Join(t.TempDir(), "secret.html")
	if err := os.WriteFile(file, []byte("<p>SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(secret)
	var asked atomic.Int32
	addr := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/to":
			w.Header().Set("Location", r.URL.Query().Get("u"))
			w.WriteHeader(http.StatusFound)
		case "/meta":
			fmt.Fprintf(w, `<p>here</p><meta http-equiv=refresh content="0;url=%s">`, r.URL.Query().Get("u"))
		case "/js":
			fmt.Fprintf(w, `<p>here</p><script>location.href=%q</script>`, r.URL.Query().Get("u"))
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, `fetch("http://%s/worker").catch(() => 0)`, secret)
		default:
			asked.Add(1)
			fmt.Fprintf(w, `<p>here</p><p id=out></p>
<img src="http://%[1]s/img"><iframe src="http://%[1]s/frame"></iframe><iframe src="file://%[2]s"></iframe><link rel=stylesheet href="http://%[1]s/css"><object data="http://%[1]s/object"></object>
<link rel=preconnect href="http://%[1]s/"><link rel=dns-prefetch href="//localhost"><video src="http://%[1]s/video"></video>
<script src="http://localhost:%[4]s/script"></script>
<script>
const note = s => document.getElementById("out").textContent += s;
for (const u of ["http://%[1]s/f", "http://localhost:%[4]s/f", "http://[::1]:%[4]s/f", "http://[::ffff:127.0.0.1]:%[4]s/f", "http://2130706433:%[4]s/f", "file://%[2]s", "https://%[1]s/tls"])
  fetch(u, {mode: "no-cors"}).then(r => r.text()).then(note).catch(() => 0);
try { new WebSocket("ws://%[1]s/ws") } catch (e) {}
try { navigator.sendBeacon("http://%[1]s/beacon", "x") } catch (e) {}
try { new EventSource("http://%[1]s/events") } catch (e) {}
try { new Worker("/worker.js") } catch (e) {}
try { window.open("http://%[1]s/open") } catch (e) {}
try { const x = new XMLHttpRequest(); x.open("GET", "http://%[1]s/sync", false); x.send(); note(x.responseText) } catch (e) {}
try { const p = new RTCPeerConnection({iceServers: [{urls: "stun:%[3]s"}]}); p.createDataChannel("x"); p.createOffer().then(o => p.setLocalDescription(o)) } catch (e) {}
try { if (window.WebTransport) new WebTransport("https://%[1]s/wt") } catch (e) {}
</script>`, secret, file, stun.LocalAddr(), port)
		}
	})
	r := visitPage(t.Context(), t, b, "http://"+addr+"/")
	if r.Details["status"] != "200" || !strings.Contains(r.Text, "\nhere\n") || len(r.Images) != 1 || asked.Load() == 0 {
		t.Errorf("the page itself: %q, %v", r.Text, r.Details)
	}
	if strings.Contains(r.Text, "SECRET") {
		t.Errorf("the page got it: %q", r.Text)
	}
	var visits sync.WaitGroup
	places := make(chan struct{}, 3) // of browsers at once: each mostly waits for its page to settle
	for _, way := range []string{"/to", "/meta", "/js"} {
		for _, to := range []string{"http://" + secret + "/", "http://localhost:" + port + "/", "file://" + file} {
			visits.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				r := visitPage(t.Context(), t, b, "http://"+addr+way+"?u="+strings.ReplaceAll(to, "#", "%23"))
				if strings.Contains(r.Text, "SECRET") || way == "/to" && !strings.HasPrefix(r.Text, "ERR: ") {
					t.Errorf("%s to %s: %q", way, to, r.Text)
				}
			})
		}
	}
	visits.Wait()
	if n := reached.Load(); n != 0 {
		t.Errorf("loopback was reached %d times", n)
	}
	if n := packets.Load(); n != 0 {
		t.Errorf("%d packets of WebRTC", n)
	}
}

func TestBrowserKeepsToTheGrant(t *testing.T) {
	t.Parallel()
	b := withBrowser(t)
	other := site(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<p>OTHER") })
	host, port, _ := net.SplitHostPort(other)
	addr := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go" {
			http.Redirect(w, r, "http://"+other+"/", http.StatusFound)
			return
		}
		fmt.Fprintf(w, `<p>here</p><script>location.href="http://%s/"</script>`, other)
	})
	_, own, _ := net.SplitHostPort(addr)
	only := "/browse host=" + host + ":" + own
	if r := visitPage(t.Context(), t, b, "http://"+addr+"/go", only); strings.Contains(r.Text, "OTHER") || !strings.Contains(r.Text, "not granted") {
		t.Errorf("%q", r.Text)
	}
	if r := visitPage(t.Context(), t, b, "http://"+addr+"/", only); strings.Contains(r.Text, "OTHER") || !strings.Contains(r.Text, "here") || !strings.Contains(r.Text, "WARN: the page wanted to lead elsewhere") {
		t.Errorf("%q", r.Text)
	}
	if r := visitPage(t.Context(), t, b, "http://"+addr+"/go", only, "/browse host="+host+":"+port); !strings.Contains(r.Text, "OTHER") {
		t.Errorf("%q", r.Text)
	}
}

// TestBrowserEnds looks for processes after a page that never ends, and one that
// is well.
func TestBrowserEnds(t *testing.T) {
	b := withBrowser(t)
	own, err := os.MkdirTemp("/tmp", "w") //nolint:usetesting // whose profiles are this test's: Chromium's sockets need a short name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(own) })
	t.Setenv("TMPDIR", own)
	addr := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, `<script>for(;;){}</script>`)
	})
	var visits sync.WaitGroup
	for _, path := range []string{"/hang", "/spin"} {
		visits.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			if r := visitPage(ctx, t, b, "http://"+addr+path); !strings.Contains(r.Text, "was not there in time") {
				t.Errorf("%s: %q", path, r.Text)
			}
		})
	}
	visits.Wait()
	// What was killed takes its time to be gone.
	for deadline := time.Now().Add(time.Minute); browsers(t) > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if left := browsers(t); left > 0 {
		t.Errorf("%d processes of browsers are left", left)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "writ-browse-*"))
	if len(left) > 0 {
		t.Errorf("profiles were left: %v", left)
	}
}

// browsers counts processes with a profile in the folder for temporary files that
// have not ended.
func browsers(t *testing.T) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, line := range lines {
		raw, err := os.ReadFile(line)
		if err == nil && bytes.Contains(raw, []byte(filepath.Join(os.TempDir(), "writ-browse-"))) {
			n++
		}
	}
	return n
}

// A folder whose name is too long for a browser's socket is not used.
func TestProfilesLieWhereASocketFits(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp")
	if got := tempFolder(); got != "" {
		t.Errorf("%q instead of the process's own", got)
	}
	t.Setenv("TMPDIR", "/tmp/"+strings.Repeat("long", 12))
	if got := tempFolder(); got != "/tmp" {
		t.Errorf("%q", got)
	}
}
