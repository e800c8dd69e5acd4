package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/writbus/writ/enforcement/dialect"
	"github.com/writbus/writ/observer/agent/egress"
	"github.com/writbus/writ/observer/agent/verbs"
	"github.com/writbus/writ/schemas/excerpt"
)

// Options of the verbs of this package. The zero value is what a daemon uses.
type Options struct {
	// Guard says which addresses may be reached.
	Guard egress.Guard
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// Agent is sent as User-Agent; "" is "writ".
	Agent string
}

// Fetch is the handler of /fetch. Close gives its connections up.
type Fetch struct {
	guard     egress.Guard
	agent     string
	transport *http.Transport
}

// NewFetch makes the handler of /fetch.
func NewFetch(o Options) *Fetch {
	o.Agent = cmp.Or(o.Agent, "writ")
	return &Fetch{guard: o.Guard, agent: o.Agent, transport: transport(Dial(o.Guard, o.Resolver))}
}

// Close gives idle connections up.
func (f *Fetch) Close() { f.transport.CloseIdleConnections() }

// Handle fetches a URL.
func (f *Fetch) Handle(ctx context.Context, c verbs.Call) (verbs.Result, error) {
	raw := strings.TrimSpace(c.Args)
	if strings.ContainsAny(raw, " \t") {
		return verbs.Err("/fetch takes one URL", "write /fetch URL, blanks in it as %20"), nil
	}
	target, err := f.guard.URL(raw)
	if err != nil {
		return Refused(raw, err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	page, result := f.get(ctx, c, target)
	if page == nil {
		return result, nil
	}
	return page.result(), nil
}

// page is what came back.
type page struct {
	url     *url.URL // after redirects
	asked   *url.URL
	status  int
	header  http.Header
	body    []byte
	clipped bool // there is more than maxBytes
}

// get makes the request. Without a page the result says why.
func (f *Fetch) get(ctx context.Context, c verbs.Call, target *url.URL) (*page, verbs.Result) {
	response, err := f.follow(ctx, target, func(to *url.URL) error { return Granted(c, to) })
	if err != nil {
		return nil, Refused(target.String(), err)
	}
	defer func() { _ = response.Body.Close() }() // read as far as it is wanted
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBytes+1))
	if err != nil {
		return nil, Refused(target.String(), err)
	}
	p := &page{url: response.Request.URL, asked: target, status: response.StatusCode, header: response.Header, body: body}
	if p.clipped = len(body) > maxBytes; p.clipped {
		p.body = body[:maxBytes]
	}
	return p, verbs.Result{}
}

// Granted refuses a URL that the agent's grant does not cover. The error wraps
// ErrRedirects.
func Granted(c verbs.Call, to *url.URL) error {
	d := c.Grant.Check(dialect.Request{Verb: c.Verb, Args: to.String(), Workspace: c.Workspace})
	if d.Verdict == dialect.Allow {
		return nil
	}
	return fmt.Errorf("%w: it leads to %s, which is not granted", ErrRedirects, to.Host)
}

// Refused says why a URL gave nothing, and tells what the guard refuses from
// what cannot be reached.
func Refused(raw string, err error) verbs.Result {
	why := err.Error()
	var dns *net.DNSError
	switch {
	case errors.Is(err, egress.ErrRefused):
		if _, rest, ok := strings.Cut(why, egress.ErrRefused.Error()+": "); ok {
			why = rest
		}
		return verbs.Err("refused: "+shown(raw)+": "+why, "use a public http or https address; asking again will not help").With("refused", "address")
	case errors.Is(err, ErrRedirects):
		_, why, _ = strings.Cut(why, ErrRedirects.Error()+": ")
		return verbs.Err(shown(raw)+": redirect not followed: "+why, "fetch the target itself if you may, or another page")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return verbs.Err("no answer from "+shown(raw)+" in time", "try again later or another source")
	case errors.As(err, &dns) && dns.IsNotFound:
		return verbs.Err("unreachable: no host of the name "+dns.Name, "check the address or search for the right one")
	default:
		return verbs.Err("unreachable: "+shown(raw)+": "+why, "check the address, try again later or another source")
	}
}

// shown is a URL as an error quotes it.
func shown(raw string) string {
	const most = 200
	return strconv.Quote(excerpt.Bytes(raw, most))
}

// result makes a result of a page.
func (p *page) result() verbs.Result {
	kind := p.kind()
	if p.status < 200 || p.status > 299 {
		return p.failed(kind).with(p, kind)
	}
	if kind.image() {
		return p.image(kind).with(p, kind)
	}
	text, err := p.text(kind)
	if err != nil {
		return outcome{verbs.Err(shown(p.url.String())+" is "+kind.media+", which is neither text nor an image that can be shown",
			"look for the same as a page, as text or as an image")}.with(p, kind)
	}
	var head strings.Builder
	fmt.Fprintf(&head, "%s (%s, %d bytes)\n", p.url, kind.media, len(p.body))
	if p.clipped {
		fmt.Fprintf(&head, "WARN: only the first %d bytes were read.\n", maxBytes)
	}
	head.WriteByte('\n')
	head.WriteString(text)
	return outcome{verbs.Content(verbs.TrustWeb, head.String())}.with(p, kind)
}

// failed is the result of a page that the server did not give.
func (p *page) failed(kind contentKind) outcome {
	r := verbs.Err(fmt.Sprintf("%d %s from %s", p.status, http.StatusText(p.status), shown(p.url.String())), adapt(p.status))
	text, err := p.text(kind)
	if text = strings.TrimSpace(text); err == nil && text != "" {
		const most = 2 << 10 // of what a server says about its error
		r.Text += "\n\n" + dialect.Cut(text, most)
		r.Trust = verbs.TrustWeb
	}
	return outcome{r}
}

func adapt(status int) string {
	switch {
	case status == http.StatusTooManyRequests || status >= 500:
		return "try again later or another source"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "the page is not public; use another source"
	default:
		return "check the address or search for the right one"
	}
}

func (p *page) image(kind contentKind) outcome {
	if p.clipped {
		return outcome{verbs.Err(fmt.Sprintf("the image %s is larger than %d bytes", shown(p.url.String()), maxBytes), "look for a smaller one")}
	}
	return outcome{verbs.Result{
		Outcome: verbs.Done, Trust: verbs.TrustWeb, Text: p.url.String() + "\n",
		Images: []verbs.Image{{MIME: kind.media, Data: p.body, Name: p.url.String()}},
		Keep:   []verbs.Artifact{{Name: p.url.String(), MIME: kind.media, Data: p.body, Size: len(p.body)}},
	}}
}

type outcome struct{ verbs.Result }

// with adds what every fetch tells the log.
func (o outcome) with(p *page, kind contentKind) verbs.Result {
	r := o.With("url", p.url.String()).With("status", strconv.Itoa(p.status)).With("type", kind.media).With("bytes", strconv.Itoa(len(p.body)))
	return r
}
