package dashboard

import (
	"context"
	"encoding/json"
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
	liveBuffer  = 64      // events between the log and one page
	maxLiveData = 8 << 10 // bytes of an event's data that are sent; the page asks for the rest
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

// live sends a page every event that comes, from where it was.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		problem(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pages watch already; close one", maxWatchers))
		return
	}
	seen := parsePositions(r.Header.Get("Last-Event-ID"))
	for _, stream := range schemas.Streams() {
		last, err := s.options.End(r.Context(), stream)
		if err != nil {
			problem(w, http.StatusBadGateway, err.Error())
			return
		}
		if n, known := seen[stream]; !known || n > last {
			seen[stream] = last
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	events := make(chan schemas.ReplayEvent, liveBuffer)
	for _, stream := range schemas.Streams() {
		go s.follow(ctx, cancel, stream, seen[stream], events)
	}
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	page := &livePage{w: w, flush: control.Flush, seen: seen}
	if err := page.hello(); err != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if page.comment() != nil {
				return
			}
		case e := <-events:
			if page.send(e) != nil {
				return
			}
		}
	}
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

// livePage writes server-sent events.
type livePage struct {
	w     http.ResponseWriter
	flush func() error
	seen  positions
}

func (p *livePage) write(text string) error {
	if _, err := p.w.Write([]byte(text)); err != nil {
		return err
	}
	return p.flush()
}

// hello tells the page where it begins, and the browser how soon to try again.
func (p *livePage) hello() error {
	return p.write("retry: 1000\nid: " + p.seen.String() + "\nevent: hello\ndata: {}\n\n")
}

func (p *livePage) comment() error { return p.write(":\n\n") }

func (p *livePage) send(e schemas.ReplayEvent) error {
	// A message may carry several events: it has been seen when the next begins.
	p.seen[e.Position.Stream] = e.Position.Seq - 1
	if len(e.Data) > maxLiveData {
		e.Data = json.RawMessage(`{"too_large":` + strconv.Itoa(len(e.Data)) + `}`)
	}
	raw, err := json.Marshal(e) // one line: JSON escapes line ends
	if err != nil {
		return nil //nolint:nilerr // an event that cannot be shown is no reason to end
	}
	return p.write("id: " + p.seen.String() + "\ndata: " + string(raw) + "\n\n")
}
