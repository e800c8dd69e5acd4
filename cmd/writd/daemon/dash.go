package daemon

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/topics"
	"github.com/writbus/writ/enforcement/confine"
	"github.com/writbus/writ/observer/dashboard"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// pages is the dashboard, from the first time somebody asks for it.
type pages struct {
	mu      sync.Mutex
	server  *dashboard.Server
	stopped bool
}

func (p *pages) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.server != nil {
		p.server.Stop()
	}
}

// origin is the dashboard's, "" while it is not served.
func (p *pages) origin() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil || p.stopped {
		return ""
	}
	return p.server.Origin()
}

// dash gives out a link into the dashboard.
func (d *Daemon) dash(_ context.Context, r schemas.DashRequest) (schemas.DashReply, error) {
	return d.link("", r.Reads)
}

// link opens the dashboard, once, at a page of it.
func (d *Daemon) link(page string, reads bool) (schemas.DashReply, error) {
	d.pages.mu.Lock()
	defer d.pages.mu.Unlock()
	if d.pages.stopped {
		return schemas.DashReply{}, schemas.Faultf(schemas.CodeNotReady, "the daemon is stopping")
	}
	if d.pages.server == nil {
		server, err := dashboard.Start(dashboard.Options{
			Address: d.settings.Dashboard, Ask: d.askOwn, Follow: d.events.Follow, End: d.events.End, Announce: doors(d.settings), Help: helpPages, Now: d.now, Logger: d.logger,
		})
		if err != nil {
			return schemas.DashReply{}, schemas.Faultf(schemas.CodeUnavailable, "%v. The setting dashboard in %s chooses another", err, d.layout.Settings())
		}
		d.pages.server = server
	}
	expires := d.now().Add(dashboard.LinkLife)
	return schemas.DashReply{URL: d.pages.server.Link(reads) + page, Expires: expires}, nil
}

// doors names the ports at which a person or a host acts on this daemon, so that no held
// command is connected to one.
func doors(s config.Settings) (announce func(dashboard string) error) {
	_, hooks, _ := net.SplitHostPort(s.HTTPHooks) // "" where none are served
	return func(dashboard string) error {
		return atomicfile.Write(confine.Doors(s.DataDir), []byte(hooks+"\n"+dashboard+"\n"), 0o600)
	}
}

// helpPages are the topics that writ help shows, for the dashboard.
func helpPages() []dashboard.Topic {
	var pages []dashboard.Topic
	for _, t := range topics.All() {
		pages = append(pages, dashboard.Topic{Name: t.Name, Group: t.Group, Title: t.Title, Summary: t.Summary, Text: t.Text})
	}
	return pages
}

// askOwn puts a page's request to the daemon's own services, over the bus like
// everybody else's.
func (d *Daemon) askOwn(ctx context.Context, subject string, body []byte) ([]byte, error) {
	reply, err := d.conn.Request(ctx, bus.Request{Subject: subject, Body: body})
	var said *bus.ServiceError
	if errors.As(err, &said) {
		return nil, schemas.Faultf(said.Code, "%s", said.Text)
	}
	return reply.Body, err
}
