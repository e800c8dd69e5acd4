package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/schemas"
)

const (
	heartbeat   = 15 * time.Second
	liveBuffer  = 256         // events between the log and one page, and most that are written at once
	liveReach   = 5000        // records of a stream that a page which was away is told one by one
	account     = time.Second // between two words on how far a page is behind
	maxLiveData = 8 << 10     // bytes of an event's data that are sent; the page asks for the rest
)

// positions is how far a page has seen each stream.
type positions map[schemas.Stream]uint64

// parsePositions reads what String writes. What is not a position is left out:
// a page then sees that stream from its present end.
func parsePositions(text string) positions {
	p := positions{}
	for part := range strings.SplitSeq(text, ",") {
		name, number, found := strings.Cut(part, ":")
		n, err := strconv.ParseUint(number, 10, 64)
		if stream := schemas.Stream(name); found && err == nil && slices.Contains(schemas.Streams(), stream) {
			p[stream] = n
		}
	}
	return p
}

func (p positions) String() string {
	var parts []string
	for _, stream := range schemas.Streams() {
		if n, known := p[stream]; known {
			parts = append(parts, string(stream)+":"+strconv.FormatUint(n, 10))
		}
	}
	return strings.Join(parts, ",")
}

// from is how far a page has seen the log: what the browser says when it
// connects again, or the page itself when it was out of sight.
func from(r *http.Request) positions {
	if again := r.Header.Get("Last-Event-ID"); again != "" {
		return parsePositions(again)
	}
	return parsePositions(r.URL.Query().Get("from"))
}

// begin fixes where a page goes on: where it was, or at the end of a stream
// that it knows nothing of or of which it missed too much.
func (s *Server) begin(ctx context.Context, seen positions) (skipped uint64, err error) {
	for _, stream := range schemas.Streams() {
		last, err := s.options.End(ctx, stream)
		if err != nil {
			return 0, err
		}
		n, known := seen[stream]
		missed := known && n <= last && last-n > liveReach
		if missed {
			skipped += last - n
		}
		if missed || !known || n > last {
			seen[stream] = last
		}
	}
	return skipped, nil
}

// live sends a page every event that comes, from where it was.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		problem(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pages watch already; close one", maxWatchers))
		return
	}
	seen := from(r)
	skipped, err := s.begin(r.Context(), seen)
	if err != nil {
		problem(w, http.StatusBadGateway, err.Error())
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := make(chan schemas.ReplayEvent, liveBuffer)
	for _, stream := range schemas.Streams() {
		go s.follow(ctx, cancel, stream, seen[stream], events)
	}
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	page := &livePage{w: patient{w, control}, flush: control.Flush, seen: seen, sent: positions{}}
	if err := page.hello(skipped); err != nil {
		return
	}
	s.watch(ctx, page, events)
}

// watch writes what comes until the page is gone.
func (s *Server) watch(ctx context.Context, page *livePage, events <-chan schemas.ReplayEvent) {
	beat, told := time.NewTicker(heartbeat), time.NewTicker(account)
	defer beat.Stop()
	defer told.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			err = page.comment()
		case <-told.C:
			err = s.behind(ctx, page)
		case e := <-events:
			err = page.send(e, events)
		}
		if err != nil {
			return
		}
	}
}

// behind tells a page how much there is that it was not sent yet, where
// something was sent to it since that was told last.
func (s *Server) behind(ctx context.Context, page *livePage) error {
	if len(page.sent) == 0 {
		return nil
	}
	var n uint64
	for stream, sent := range page.sent {
		last, err := s.options.End(ctx, stream)
		if err != nil {
			return nil //nolint:nilerr // the next time, or the page's connection ends with the log's
		}
		n += last - min(sent, last)
	}
	clear(page.sent)
	return page.write("event: behind\ndata: " + strconv.FormatUint(n, 10) + "\n\n")
}

// follow hands a stream's events to a page. When a stream cannot be followed
// any more the page's connection ends, and the browser begins another.
func (s *Server) follow(ctx context.Context, end context.CancelFunc, stream schemas.Stream, after uint64, to chan<- schemas.ReplayEvent) {
	defer end()
	err := s.options.Follow(ctx, stream, after, func(events []schemas.ReplayEvent) error {
		for _, e := range events {
			select {
			case to <- e:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		s.options.Logger.Warn("dashboard: follow", "stream", stream, "error", err)
	}
}

// patient lets a page that does not read go: it would keep the place of another.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (p patient) Write(text []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(2 * heartbeat)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(text)
}

// livePage writes server-sent events.
type livePage struct {
	w     http.ResponseWriter
	flush func() error
	seen  positions // whole messages that were sent
	sent  positions // last messages sent since the page was told how far it is behind
}

func (p *livePage) write(text string) error {
	if _, err := p.w.Write([]byte(text)); err != nil {
		return err
	}
	return p.flush()
}

// hello tells the page where it begins, how much it was spared, and the browser
// how soon to try again.
func (p *livePage) hello(skipped uint64) error {
	return p.write("retry: 1000\nid: " + p.seen.String() + "\nevent: hello\ndata: {\"skipped\":" + strconv.FormatUint(skipped, 10) + "}\n\n")
}

func (p *livePage) comment() error { return p.write(":\n\n") }

// send writes an event and those that wait behind it.
func (p *livePage) send(e schemas.ReplayEvent, more <-chan schemas.ReplayEvent) error {
	var text strings.Builder
	for n := 0; ; n++ {
		p.put(&text, e)
		if n == liveBuffer {
			return p.write(text.String())
		}
		select {
		case e = <-more:
		default:
			return p.write(text.String())
		}
	}
}

func (p *livePage) put(text *strings.Builder, e schemas.ReplayEvent) {
	// A message may carry several events: it has been seen when the next begins.
	p.seen[e.Position.Stream], p.sent[e.Position.Stream] = e.Position.Seq-1, e.Position.Seq
	if len(e.Data) > maxLiveData {
		e.Data = json.RawMessage(`{"too_large":` + strconv.Itoa(len(e.Data)) + `}`)
	}
	raw, err := json.Marshal(e) // one line: JSON escapes line ends
	if err != nil {
		return // an event that cannot be shown is no reason to end
	}
	text.WriteString("id: " + p.seen.String() + "\ndata: " + string(raw) + "\n\n")
}
