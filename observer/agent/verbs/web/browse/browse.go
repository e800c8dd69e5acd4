package browse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/observer/agent/verbs/web"
)

// atOnce is how many browsers work at the same time; further calls wait.
const atOnce = 2

// Options of the verb.
type Options struct {
	// Path is the Chromium to start; "" looks for one on the PATH, "none" uses none.
	Path     string
	Guard    egress.Guard
	Resolver *net.Resolver // nil is the system's
}

// Browse is the handler of /browse.
type Browse struct {
	o     Options
	slots chan struct{}
}

// New makes the handler of /browse.
func New(o Options) *Browse { return &Browse{o: o, slots: make(chan struct{}, atOnce)} }

// programs are the names under which systems have a Chromium.
var programs = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless_shell", "chrome-headless-shell", "microsoft-edge-stable"}

// Find returns the browser that would be started; ok is false where there is
// none.
func (o Options) Find() (path string, ok bool) {
	if o.Path == "none" {
		return "", false
	}
	names := programs
	if o.Path != "" {
		names = []string{o.Path}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// Handle opens a page.
func (b *Browse) Handle(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	raw := strings.TrimSpace(c.Args)
	if strings.ContainsAny(raw, " \t") {
		return verbs.Err("/browse takes one URL", "write /browse URL, blanks in it as %20"), nil
	}
	target, err := b.o.Guard.URL(raw)
	if err != nil {
		return web.Refused(raw, err), nil
	}
	program, ok := b.o.Find()
	if !ok {
		return verbs.Err("no browser is installed here", "use /fetch, or ask the user to install Chromium"), nil
	}
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return verbs.Err("all browsers are at work", "try again later, or use /fetch"), nil
	}
	p, err := newProxy(b.o.Guard, web.Dial(b.o.Guard, b.o.Resolver))
	if err != nil {
		return verbs.Result{}, err
	}
	defer p.close()
	v := &visit{call: c, target: target, guard: b.o.Guard, proxy: p}
	if err := v.run(ctx, program); err != nil {
		return v.failed(err), nil
	}
	return v.result(), nil
}

// failed says why there is no page.
func (v *visit) failed(err error) verbs.Result {
	if why := v.stopped(); why != nil {
		return web.Refused(v.target.String(), why)
	}
	if why := v.proxy.why(v.target.Hostname()); why != nil {
		return web.Refused(v.target.String(), why)
	}
	var load *chromedp.LoadError
	switch {
	case errors.As(err, &load):
		return verbs.Err("unreachable: "+v.target.String()+": "+load.ErrorText, "check the address, try again later or another source")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return verbs.Err("the page "+v.target.String()+" was not there in time", "try /fetch, or another page")
	}
	return verbs.Err("the browser failed: "+err.Error(), "try /fetch")
}

// result makes a result of what the browser shows.
func (v *visit) result() verbs.Result {
	at, err := url.Parse(v.page.at)
	if err != nil {
		at = v.target
	}
	if why := v.stopped(); why != nil && v.page.status == 0 {
		return web.Refused(v.target.String(), why)
	}
	if why := v.proxy.why(at.Hostname()); why != nil {
		return web.Refused(at.String(), why)
	}
	text := web.Readable([]byte(v.page.html), at)
	var r verbs.Result
	if v.page.status >= http.StatusBadRequest {
		const most = 2 << 10 // of what a server says about its error
		r = verbs.Err(fmt.Sprintf("%d %s from %s", v.page.status, http.StatusText(int(v.page.status)), at), "check the address, or search for the right one")
		r.Text, r.Trust = r.Text+"\n\n"+dialect.Cut(text, most), verbs.TrustWeb
	} else {
		r = verbs.Content(verbs.TrustWeb, at.String()+" (as a browser shows it)\n"+v.warning()+"\n"+text)
	}
	if len(v.page.picture) > 0 {
		r.Images = []verbs.Image{{MIME: "image/png", Data: v.page.picture, Name: at.String()}}
	}
	return r.With("url", at.String()).With("status", strconv.FormatInt(v.page.status, 10)).With("bytes", strconv.Itoa(len(v.page.html)))
}

// warning tells what the page could not do.
func (v *visit) warning() string {
	if why := v.stopped(); why != nil {
		return "WARN: the page wanted to lead elsewhere and was kept from it: " + strings.TrimPrefix(why.Error(), "web: ") + "\n"
	}
	return ""
}
