//go:build browser

package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/programs"
)

// writer appends decisions to the log as the daemon does.
type writer struct {
	t    *testing.T
	conn *bus.Conn
	n    int
}

func (w *world) writer() *writer {
	w.t.Helper()
	data := w.data()
	at, err := programs.Announced(data)
	if err != nil {
		w.t.Fatal(err)
	}
	own, err := bus.LoadCredential(filepath.Join(data, "credentials"), "daemon")
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := bus.Connect(w.t.Context(), bus.Options{URL: at.URL, User: own.User, Password: own.Password, Name: "load", Timeout: patience})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(conn.Close)
	return &writer{t: w.t, conn: conn}
}

// write appends decisions of one of some sessions each, so many in a second, or
// as fast as they are taken where rate is 0. It returns the newest sequence.
func (w *writer) write(n, sessions, rate int) uint64 {
	w.t.Helper()
	var newest atomic.Uint64
	var all sync.WaitGroup
	numbers := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range numbers {
				at, err := bus.Record(w.t.Context(), w.conn.Writer(bus.WriterOptions{}), w.decision(i, sessions))
				if err != nil {
					w.t.Error(err)
				}
				for old := newest.Load(); old < at.Seq && !newest.CompareAndSwap(old, at.Seq); old = newest.Load() {
				}
			}
		})
	}
	began := time.Now()
	for i := range n {
		if due := began.Add(time.Duration(i) * time.Second / time.Duration(max(rate, 1))); rate > 0 {
			time.Sleep(time.Until(due)) // the rate is what is tested
		}
		w.n++
		numbers <- w.n
	}
	close(numbers)
	all.Wait()
	return newest.Load()
}

func (w *writer) decision(i, sessions int) schemas.Event {
	d := schemas.ToolDecided{Tool: "Write", Verdict: "allow", Targets: []schemas.Target{{Path: fmt.Sprintf("/p/file%d.go", i), Rel: fmt.Sprintf("file%d.go", i), Class: "code"}}}
	if i%7 == 0 {
		d.Verdict, d.Rule, d.Reason = "deny", "ENF-GATE-PLAN", "There is no approved plan."
	}
	return schemas.Event{
		ID: fmt.Sprintf("load-%d", i), Time: time.Now(), Source: "/writ/load", Actor: schemas.ParseActor("agent"),
		Aggregate: schemas.Session(fmt.Sprintf("load-%d", i%sessions)), Data: d,
	}
}

// setting is a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// watchPaint notes when a page has its content, besides what browsers note.
const watchPaint = `
new MutationObserver(() => { if (!window.filled && document.querySelector('main table')) window.filled = performance.now(); }).observe(document, { subtree: true, childList: true });
new PerformanceObserver((list) => { window.largest = list.getEntries().at(-1).startTime; }).observe({ type: 'largest-contentful-paint', buffered: true });`

// TestFirstPaint opens the dashboard with nothing cached, on a log of some
// thousand events, and states when the browser painted. The times depend on the
// machine and are not asserted.
func TestFirstPaint(t *testing.T) {
	w := newWorld(t)
	w.writer().write(setting(t, "WRIT_TEST_EVENTS", 3000), 40, 0)
	for range setting(t, "WRIT_TEST_PAINTS", 3) {
		bare := paints(t, w.bare(), "h1")
		paint := paints(t, w.link(), "main table")
		t.Logf("first contentful paint %.0f ms (the page was asked for at %.0f and there at %.0f), table of sessions %.0f ms, largest paint %.0f ms; from the command on, first paint %.0f ms; of a page with two lines of text and nothing else, %.0f ms",
			paint["first"], paint["asked"], paint["answered"], paint["filled"], paint["largest"], paint["origin"]-paint["clicked"]+paint["first"], bare["first"])
		if paint["first"] <= 0 || paint["filled"] <= 0 {
			t.Errorf("nothing was painted: %v", paint)
		}
	}
}

// bare is the page that strangers see.
func (w *world) bare() string { return strings.SplitAfter(w.link(), "/?")[0] }

// paints opens an address in a browser of its own, where nothing is cached, and
// says when it was painted, in milliseconds.
func paints(t *testing.T, address, visible string) map[string]float64 {
	t.Helper()
	p := newTab(t)
	p.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watchPaint})
		return chromedp.Void{}, err
	})
	clicked := result[float64](p, "performance.timeOrigin + performance.now()")
	p.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(visible)), chromedp.Poll[chromedp.Void]("performance.getEntriesByName('first-contentful-paint').length > 0", chromedp.WithPollingTimeout(patience)))
	paint := result[map[string]float64](p, `({
		origin: performance.timeOrigin, asked: performance.getEntriesByType('navigation')[0].requestStart, answered: performance.getEntriesByType('navigation')[0].responseEnd,
		first: performance.getEntriesByName('first-contentful-paint')[0].startTime, largest: window.largest || 0, filled: window.filled || 0,
	})`)
	paint["clicked"] = clicked
	return paint
}

// TestManyEvents writes 1,000 events a second for some seconds while a page is
// opened and looked at. The page has to arrive at the newest, and to say how
// much it does not show.
func TestManyEvents(t *testing.T) {
	w := newWorld(t)
	load := w.writer()
	load.write(20, 1, 0)
	p := newTab(t)
	p.do(chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main h1")))
	const rate = 1000
	seconds := setting(t, "WRIT_TEST_SECONDS", 4)
	for _, c := range []struct{ name, hash, visible, missing string }{
		{"decisions", "#/decisions", "#count", "more fit the filter"},
		{"timeline", "#/session/load-0", ".card p.wrap", "The list holds 200 of"},
		{"sessions", "#/", "main table", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			began, written := time.Now(), make(chan uint64, 1)
			go func() { written <- load.write(rate*seconds, 1, rate) }()
			p.do(goTo(c.hash), chromedp.WaitVisible(chromedp.CSS(c.visible)))
			p.shows("live")
			newest := <-written
			took, ended := time.Since(began), time.Now()
			p.shows(map[string]string{
				"decisions": fmt.Sprintf("the newest is sessions/%d", newest), "timeline": fmt.Sprintf("%d of %d ·", load.n, load.n), "sessions": fmt.Sprint(load.n),
			}[c.name])
			late := time.Since(ended)
			t.Logf("%d events in %s, %.0f/s: the page shows the last one %s after it was acknowledged", rate*seconds, took.Round(time.Millisecond), rate*float64(seconds)/took.Seconds(), late.Round(time.Millisecond))
			if text := result[string](p, "document.body.innerText"); !strings.Contains(text, c.missing) {
				t.Errorf("the page does not say what it leaves out, but\n%.2000s", text)
			}
			p.picture("many-" + c.name)
		})
	}
}

// tellLater keeps what a page would hear of new events until letGo.
const tellLater = `
const Real = EventSource;
let kept = null;
window.keep = () => { kept = []; };
window.letGo = () => { kept.forEach((tell) => tell()); kept = null; };
window.EventSource = class extends Real {
  addEventListener(type, fn) {
    super.addEventListener(type, type !== 'message' ? fn : (m) => (kept ? kept.push(() => fn(m)) : fn(m)));
  }
};`

// TestToldLate opens pages on events that they hear of when they have read them
// from the log already: each counts once.
func TestToldLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	load := w.writer()
	load.write(20, 1, 0)
	p := newTab(t)
	p.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: tellLater})
		return chromedp.Void{}, err
	})
	p.do(chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main h1")))
	p.shows("live")
	for _, c := range []struct{ hash, shows string }{
		{"#/session/load-0", "%d of %[1]d ·"},
		{"#/decisions", " of %d shown"},
	} {
		result[any](p, "keep()")
		load.write(100, 1, 0)
		p.do(goTo(c.hash))
		p.shows(fmt.Sprintf(c.shows, load.n))
		load.write(1, 1, 0)
		result[any](p, "letGo()")
		p.shows(fmt.Sprintf(c.shows, load.n))
	}
}

// TestAccessibility runs axe on every page, light and dark, where WRIT_TEST_AXE
// names its script (axe-core from npm).
func TestAccessibility(t *testing.T) {
	t.Parallel()
	script := os.Getenv("WRIT_TEST_AXE")
	if script == "" {
		t.Skip("WRIT_TEST_AXE names no axe.min.js; test/ci/browser.sh gets one where there is npm")
	}
	axe, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.put("gnu.md", gnu)
	w.run("", "rule", "propose", "gnu.md", "--by", "claude")
	w.run("", "observe", "[gate=hold] The billing tests perhaps need Mondays")
	w.begin()
	p := newTab(t)
	p.do(chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main table")))
	p.do(chromedp.Evaluate[chromedp.Void]("void (() => {" + string(axe) + "})()"))
	check := func(name string) {
		p.do(chromedp.Evaluate[chromedp.Void](`void (window.found = null, axe.run({}).then((r) => {
			window.passed = r.passes.length; window.found = r.violations.map((v) => v.id + ' (' + v.impact + '): ' + v.help + ': ' + v.nodes.map((n) => n.target + ' ' + n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | ').slice(0, 1200));
		}))`))
		p.do(chromedp.Poll[chromedp.Void]("window.found !== null", chromedp.WithPollingTimeout(patience)))
		for _, violation := range result[[]string](p, "window.found") {
			t.Errorf("%s: %s", name, violation)
		}
		if passed := result[int](p, "window.passed"); passed < 15 {
			t.Errorf("%s: only %d of axe's checks say that they pass", name, passed)
		}
	}
	pages := []struct{ hash, says string }{
		{"#/", "live sessions"},
		{"#/session/" + session, "waits for your approval"},
		{"#/decisions", "the newest is"},
		{"#/rules", "Count the gnus"},
		{"#/rule/TEST-SLEEP-SYNC-001", "Neighbours"},
		{"#/retrieval", "What they cost"},
		{"#/memory", "perhaps need Mondays"},
		{"#/system", "session-state"},
	}
	for _, scheme := range []string{"light", "dark"} {
		p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void (document.documentElement.dataset.theme = %q)", scheme)))
		for _, page := range pages {
			p.do(goTo(page.hash))
			p.shows(page.says)
			check(scheme + " " + page.hash)
		}
	}
}

func (w *world) data() string {
	for _, v := range w.env {
		if dir, is := strings.CutPrefix(v, "WRIT_HOME="); is {
			return dir
		}
	}
	w.t.Fatal("no data directory")
	return ""
}
