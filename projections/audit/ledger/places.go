package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/schemas"
)

// place is a second place for checkpoints: one who changes the log and
// the evidence beside it has to change this too.
type place interface {
	// publish brings the newest checkpoint of a stream there. It is repeated
	// until it succeeds, so it may come twice.
	publish(ctx context.Context, s sealed) error
	// String names the place, without a password.
	String() string
}

// openPlaces reads the settings. What cannot be reached now is no error:
// it is tried again and said in status.
func (a *Auditor) openPlaces() ([]place, error) {
	var places []place
	for _, text := range a.Publish {
		u, err := url.Parse(text)
		switch {
		case filepath.IsAbs(text) && strings.HasSuffix(text, "/"):
			places = append(places, &folderPlace{dir: filepath.Clean(text), not: a.ledger, key: a.key, warn: a.Warn, tree: a.tree})
		case filepath.IsAbs(text):
			places = append(places, &filePlace{path: text, had: map[schemas.Stream]bool{}})
		case err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "":
			places = append(places, &postPlace{url: u, authorization: a.Authorization})
		case err == nil && (u.Scheme == "nats" || u.Scheme == "tls") && u.Host != "" && len(u.Path) > 1:
			places = append(places, &natsPlace{url: u, within: a.PublishWithin})
		default:
			return nil, fmt.Errorf("%w has %q: it takes the absolute path of a file, that of a folder ending in a slash, an http or https URL, or nats://host:4222/subject", ErrPlace, text)
		}
	}
	return places, nil
}

// publishAll brings what the places do not have yet. What fails is tried again
// at the next interval.
func (a *Auditor) publishAll(ctx context.Context) {
	a.publishMu.Lock()
	defer a.publishMu.Unlock()
	for _, p := range a.places {
		err := a.publishTo(ctx, p)
		a.noteMu.Lock()
		delete(a.unplaced, p.String())
		if err != nil {
			a.unplaced[p.String()] = err.Error()
		}
		a.noteMu.Unlock()
	}
}

func (a *Auditor) publishTo(ctx context.Context, p place) error {
	for _, s := range schemas.Streams() {
		newest, err := a.newest(s)
		has := delivery{p.String(), s}
		if err != nil || len(newest.signed) == 0 || a.delivered[has] == newest.checkpoint {
			continue // a problem of the ledger is said by itself
		}
		one, cancel := context.WithTimeout(ctx, a.PublishWithin)
		err = p.publish(one, newest)
		cancel()
		if err != nil {
			return err
		}
		a.delivered[has] = newest.checkpoint
	}
	return nil
}

// delivery is what a place was given of a stream.
type delivery struct {
	place  string
	stream schemas.Stream
}

// filePlace is a file that the checkpoints of all streams are appended to. It grows for
// years, and is read once: only the first of a stream may be there from an earlier run.
type filePlace struct {
	path string
	had  map[schemas.Stream]bool
}

func (p *filePlace) String() string { return p.path }

func (p *filePlace) publish(_ context.Context, s sealed) error {
	in, err := os.OpenRoot(filepath.Dir(p.path))
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only a handle
	if !p.had[s.checkpoint.Stream] {
		text, err := readIn(in, filepath.Base(p.path))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if p.had[s.checkpoint.Stream] = true; bytes.Contains(text, s.signed) {
			return nil
		}
	}
	return appendDurably(in, filepath.Base(p.path), append(bytes.Clone(s.signed), '\n'))
}

// folderPlace is a folder like the daemon's own, in a repository for instance.
type folderPlace struct {
	dir    string
	not    *folder // the daemon's own, which a link in its place may lead to
	key    signingKey
	warn   func(string)
	tree   func(schemas.Stream, func(*audit.Tree) error) error
	ledger *folder
}

func (p *folderPlace) String() string { return p.dir + "/" }

func (p *folderPlace) publish(_ context.Context, s sealed) (err error) {
	if p.ledger == nil {
		if p.ledger, err = p.open(); err != nil {
			return err
		}
	}
	defer func() {
		if err != nil { // another folder may stand in its place
			_ = p.ledger.root.Close()
			p.ledger = nil
		}
	}()
	behind, err := p.ledger.behind(s.checkpoint)
	if err != nil || !behind {
		return err
	}
	return p.tree(s.checkpoint.Stream, func(tree *audit.Tree) error {
		// The view may have been built anew from another log since.
		if err := extends(tree, s.checkpoint); err != nil {
			return err
		}
		return p.ledger.keep(tree, s.checkpoint, s.signed)
	})
}

// open opens the folder as it stands there now, which is never the daemon's own.
func (p *folderPlace) open() (*folder, error) {
	l, err := openFolder(p.dir, p.key, 0o755, p.warn)
	if err != nil {
		return nil, err
	}
	there, err := l.root.Stat(".")
	own, ownErr := p.not.root.Stat(".")
	if err = errors.Join(err, ownErr); err == nil && os.SameFile(there, own) {
		err = fmt.Errorf("%s leads to the daemon's own evidence, and is no second place", p.dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.root.Close())
	}
	return l, nil
}

// postPlace takes checkpoints by HTTP POST, one each, as text.
type postPlace struct {
	url           *url.URL
	authorization string
}

func (p *postPlace) String() string { return p.url.Redacted() }

func (p *postPlace) publish(ctx context.Context, s sealed) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.String(), bytes.NewReader(s.signed))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	if p.authorization != "" {
		request.Header.Set("Authorization", p.authorization)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the URL, which may hold a password
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // so that the connection is used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}

// natsPlace is a subject of another NATS, where a stream stores it.
type natsPlace struct {
	url    *url.URL
	within time.Duration
}

func (p *natsPlace) String() string { return p.url.Redacted() }

func (p *natsPlace) publish(ctx context.Context, s sealed) error {
	password, _ := p.url.User.Password()
	conn, err := bus.Connect(ctx, bus.Options{
		URL: p.url.Scheme + "://" + p.url.Host, User: p.url.User.Username(), Password: password, Name: "writd audit", Timeout: p.within,
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Deliver(ctx, strings.Trim(p.url.Path, "/"), s.signed)
}
