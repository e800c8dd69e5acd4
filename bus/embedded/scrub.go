package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas/atomicfile"
)

const (
	scrubName  = "scrub.json" // persisted; never change
	scrubRate  = 32 << 20     // bytes a second
	scrubPause = time.Hour    // after which a pass begins anew at a start
	scrubEvery = 24 * time.Hour
)

// Scrub says how far the reading of all records in the background is, which finds
// damage that nobody has met yet.
type Scrub struct {
	Stream  string    `json:"stream,omitempty"` // being read; "" between two passes
	Block   int       `json:"block,omitempty"`  // read last
	Seq     uint64    `json:"seq,omitempty"`    // of the last sound record in it
	Ended   time.Time `json:"ended,omitzero"`   // the last pass
	Damaged uint64    `json:"damaged"`          // records that this pass, or the last, could not read
}

// scrubber reads the records of a store in the background.
type scrubber struct {
	dir      string // of the store
	logger   *slog.Logger
	stopping <-chan struct{}
	find     func(Finding) // told what is damaged or mended
	look     chan struct{} // filled when a pass is to begin
	alone    func(write func() error) error

	mu sync.Mutex
	at Scrub
}

func newScrubber(dir string, logger *slog.Logger, stopping <-chan struct{}, find func(Finding), alone func(func() error) error) *scrubber {
	return &scrubber{dir: dir, logger: logger, stopping: stopping, find: find, look: make(chan struct{}, 1), alone: alone}
}

// Scrubbed is where the reading in the background stands.
func (s *Server) Scrubbed() Scrub {
	s.scrubber.mu.Lock()
	defer s.scrubber.mu.Unlock()
	return s.scrubber.at
}

// Look has the records read in the background from the beginning: somebody met
// one that is missing.
func (s *Server) Look() {
	select {
	case s.scrubber.look <- struct{}{}:
	default:
	}
}

// run reads all records again and again, and goes on where an earlier run was.
func (s *scrubber) run() {
	at := s.read()
	wait := time.Duration(0)
	if at.Stream == "" && !at.Ended.IsZero() {
		wait = min(max(0, time.Until(at.Ended.Add(scrubPause))), scrubPause) // a clock may have gone back
	}
	for {
		timer := time.NewTimer(wait)
		select {
		case <-s.stopping:
			timer.Stop()
			return
		case <-timer.C:
		case <-s.look:
			timer.Stop()
		}
		if !s.pass(at) {
			return
		}
		at, wait = s.at, scrubEvery
	}
}

// pass reads every stream, and says whether it came to the end.
func (s *scrubber) pass(at Scrub) bool {
	names := storedStreams(s.dir)
	slices.Sort(names)
	if at.Stream == "" || !slices.Contains(names, at.Stream) {
		at = Scrub{Ended: at.Ended}
	}
	holes, err := Holes(s.dir)
	if err != nil {
		s.logger.Warn("read what repairs gave up", "error", err)
	}
	for _, name := range names {
		if name < at.Stream {
			continue
		}
		if name != at.Stream {
			at.Stream, at.Block, at.Seq = name, 0, 0
		}
		if !s.stream(&at, holes) {
			return false
		}
	}
	s.note(Scrub{Ended: time.Now().UTC(), Damaged: at.Damaged})
	return true
}

// stream reads the blocks of a stream at a limited rate.
func (s *scrubber) stream(at *Scrub, holes []Hole) bool {
	dir := filepath.Join(streamsDir(s.dir), at.Stream)
	walk := blockfile.NewWalk(dir, at.Stream, blockfile.Range{First: s.begins(at.Stream)})
	walk.Resume(at.Block, at.Seq)
	told := 0
	for {
		select {
		case <-s.stopping:
			return false
		default:
		}
		size, more, err := walk.Step()
		if errors.Is(err, fs.ErrNotExist) {
			return true // the server removed it meanwhile
		}
		if err != nil {
			at.Damaged++ // of the rest of the stream nothing is known
			s.find(Finding{Stream: at.Stream, Err: fmt.Errorf("%w: %s cannot be read to its end: %w. Check the disk; `writ backup` to another one keeps what can be read", ErrLogDamaged, at.Stream, err)})
			return true
		}
		all := walk.Found()
		if !more {
			all = walk.Finish()
		}
		for _, d := range all[told:] {
			if d.Last < s.begins(at.Stream) {
				continue // left for the archive, its file before or after this look
			}
			at.Damaged += s.tell(dir, d, holes)
		}
		told = len(all)
		at.Block, at.Seq = walk.At()
		if !more {
			return true
		}
		s.note(*at)
		if !s.idle(time.Duration(size) * time.Second / scrubRate) {
			return false
		}
	}
}

// begins is the first record that a stream is to have.
func (s *scrubber) begins(stream string) uint64 {
	noted, _ := readMarks(s.dir) // that they cannot be read was told at the start
	return noted.Streams[stream].First
}

// idle waits, and says whether the server still runs then.
func (s *scrubber) idle(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.stopping:
		return false
	case <-timer.C:
		return true
	}
}

// tell mends a damage or makes it a finding, and returns how many records
// cannot be read.
func (s *scrubber) tell(dir string, d blockfile.Damage, holes []Hole) uint64 {
	if d.Records() == 0 || within(holes, d) {
		return 0
	}
	kept := filepath.Join(s.dir, keptDir)
	done, err := blockfile.MendInPlace(dir, kept, d, s.alone)
	if err != nil {
		s.logger.Warn("put a damaged record right", "record", d.String(), "error", err)
	}
	f := Finding{Stream: d.Stream, Lost: d.Records(), First: d.First, Last: d.Last, Err: damaged(d)}
	if done {
		f = found(blockfile.Outcome{Damage: d, How: blockfile.Mended, Kept: kept})
	}
	s.find(f)
	return f.Lost
}

func (s *scrubber) read() (at Scrub) {
	if raw, err := os.ReadFile(filepath.Join(s.dir, scrubName)); err == nil && json.Unmarshal(raw, &at) != nil {
		at = Scrub{} // damaged: the pass begins anew
	}
	s.note(at)
	return at
}

func (s *scrubber) note(at Scrub) {
	s.mu.Lock()
	s.at = at
	s.mu.Unlock()
	body, err := json.Marshal(at)
	if err == nil {
		err = atomicfile.WriteWith(filepath.Join(s.dir, scrubName), append(body, '\n'), atomicfile.Options{Mode: 0o600, Volatile: true})
	}
	if err != nil {
		s.logger.Warn("note how far the log was read in the background", "error", err)
	}
}
