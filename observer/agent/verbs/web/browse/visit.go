package browse

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/web"
)

const (
	settle  = 3 * time.Second // for scripts, after a page has loaded
	maxHTML = 4 << 20         // characters of markup that are taken over
	width   = 1280
	height  = 1024
)

// shown is a page as the browser shows it.
type shown struct {
	at, html string
	status   int64
	picture  []byte
}

// visit is one page in one browser.
type visit struct {
	call   verbs.Call
	target *url.URL
	guard  egress.Guard
	proxy  *proxy
	page   shown

	mu    sync.Mutex
	frame cdp.FrameID // the page's own
	stop  error       // why the page did not go where it wanted
	idle  chan struct{}
}

// flags keep the browser from doing anything but showing the page, and from any
// way to the network that is not the proxy.
func flags(program, proxyURL string) []chromedp.ExecAllocatorOption {
	options := slices.Clone(chromedp.DefaultExecAllocatorOptions[:])
	options = append(options, chromedp.ExecPath(program), chromedp.ProxyServer(proxyURL), chromedp.WindowSize(width, height), chromedp.NoInheritEnv)
	for name, value := range map[string]any{
		"proxy-bypass-list":                   "<-loopback>", // without it, loopback is reached directly
		"host-resolver-rules":                 "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"force-webrtc-ip-handling-policy":     "disable_non_proxied_udp",
		"webrtc-ip-handling-policy":           "disable_non_proxied_udp",
		"disable-quic":                        true,
		"disable-features":                    "Translate,MediaRouter,DialMediaRouteProvider,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying",
		"disable-component-update":            true,
		"disable-domain-reliability":          true,
		"disable-crash-reporter":              true,
		"disable-file-system":                 true,
		"disable-notifications":               true,
		"disable-gpu":                         true,
		"block-new-web-contents":              true,
		"deny-permission-prompts":             true,
		"no-pings":                            true,
		"mute-audio":                          true,
		"hide-scrollbars":                     true,
		"no-service-autorun":                  true,
		"disable-remote-fonts":                false,
		"disable-search-engine-choice-screen": true,
	} {
		options = append(options, chromedp.Flag(name, value))
	}
	return options
}

// longestTemp is the longest name of a folder for temporary files that a
// browser's profile fits in: a socket's name has at most 104 bytes on macOS, and
// 60 of them are the profile's and Chromium's own.
const longestTemp = 44

// tempFolder is the one of this process, or /tmp where a browser could not make
// its socket in that; "" is the process's.
func tempFolder() string {
	if len(os.TempDir()) > longestTemp {
		if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
			return "/tmp"
		}
	}
	return ""
}

// run starts a browser, opens the page and ends the browser.
func (v *visit) run(ctx context.Context, program string) error {
	home, err := os.MkdirTemp(tempFolder(), "writ-browse-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }() // what is left is in the system's temp folder
	var started *exec.Cmd
	options := append(flags(program, v.proxy.url()), chromedp.UserDataDir(home+"/profile"),
		chromedp.Env("HOME="+home, "TMPDIR="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_RUNTIME_DIR="+home, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) { started = cmd; verbs.Group(cmd) }))
	defer func() { verbs.EndGroup(started) }()
	allocated, release := chromedp.NewExecAllocator(ctx, options...)
	defer release()
	tab, leave := chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {}), chromedp.WithLogf(func(string, ...any) {}))
	defer leave()
	v.idle = make(chan struct{})
	if err := chromedp.Listen(tab, func(event any) { v.event(tab, event) }); err != nil {
		return err
	}
	if err := v.prepare(tab); err != nil {
		return err
	}
	response, err := chromedp.RunResponse(tab, chromedp.Navigate(v.target.String()))
	if response != nil {
		v.page.status = response.Status
	}
	if err != nil {
		return err
	}
	v.settle(tab)
	return v.look(tab)
}

// prepare sets the browser up before it opens anything.
func (v *visit) prepare(tab context.Context) error {
	c := chromedp.FromContext(tab)
	tree, err := cdp.Call(tab, c.Target, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	v.mu.Lock()
	v.frame = tree.FrameTree.Frame.ID
	v.mu.Unlock()
	_, lifecycle := cdp.Call(tab, c.Target, page.SetLifecycleEventsEnabled, page.SetLifecycleEventsEnabledParams{Enabled: true})
	documents := []*fetch.RequestPattern{{ResourceType: network.ResourceTypeDocument}}
	_, pausing := cdp.Call(tab, c.Target, fetch.Enable, fetch.EnableParams{Patterns: documents})
	_, downloads := cdp.Call(tab, c.Browser, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny})
	return errors.Join(lifecycle, pausing, downloads)
}

// settle waits for scripts to have loaded what they load at once.
func (v *visit) settle(tab context.Context) {
	v.mu.Lock()
	idle := v.idle
	v.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(settle):
	case <-tab.Done():
	}
}

// look takes over what the page shows.
func (v *visit) look(tab context.Context) (err error) {
	if v.page.at, err = chromedp.Run(tab, chromedp.Location()); err != nil {
		return err
	}
	markup := fmt.Sprintf("document.documentElement ? document.documentElement.outerHTML.slice(0, %d) : ''", maxHTML)
	if v.page.html, err = chromedp.Run(tab, chromedp.Evaluate[string](markup)); err != nil {
		return err
	}
	// A page behind a window that it opened is not painted: its picture would
	// not come.
	if _, err = cdp.Call(tab, chromedp.FromContext(tab).Target, page.BringToFront, cdp.Empty{}); err != nil {
		return err
	}
	v.page.picture, err = chromedp.Run(tab, chromedp.CaptureScreenshot())
	return err
}

// event answers what the browser asks while it works. Answers are commands, which
// may not be sent from here.
func (v *visit) event(tab context.Context, event any) {
	switch e := event.(type) {
	case *fetch.EventRequestPaused:
		go v.paused(tab, e)
	case *target.EventTargetCreated:
		if e.TargetInfo.OpenerID != "" { // a window that the page opened, which nobody sees
			go answer(tab, target.CloseTarget, target.CloseTargetParams{TargetID: e.TargetInfo.TargetID})
		}
	case *page.EventJavascriptDialogOpening:
		go answer(tab, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	case *page.EventLifecycleEvent:
		v.mu.Lock()
		defer v.mu.Unlock()
		if e.Name == "networkIdle" && e.FrameID == v.frame {
			select {
			case <-v.idle:
			default:
				close(v.idle)
			}
		}
		if e.Name == "init" && e.FrameID == v.frame {
			v.idle = make(chan struct{})
		}
	}
}

// paused lets the page, or a frame in it, go on to a document, or not.
func (v *visit) paused(tab context.Context, e *fetch.EventRequestPaused) {
	v.mu.Lock()
	own := e.FrameID == v.frame
	v.mu.Unlock()
	err := v.allowed(e.Request.URL, own)
	if err == nil {
		answer(tab, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: e.RequestID})
		return
	}
	if own {
		v.mu.Lock()
		v.stop = err
		v.mu.Unlock()
	}
	answer(tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonBlockedByClient})
}

// answer sends a command whose failure means that the page is gone.
func answer[P, R any](tab context.Context, command cdp.Command[P, R], params P) {
	if c := chromedp.FromContext(tab); c.Target != nil {
		_, _ = cdp.Call(tab, c.Target, command, params)
	}
}

func (v *visit) allowed(raw string, own bool) error {
	to, err := v.guard.URL(raw)
	switch {
	case err != nil:
		return err
	case !own || to.String() == v.target.String():
		return nil
	}
	return web.Granted(v.call, to)
}

func (v *visit) stopped() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stop
}
