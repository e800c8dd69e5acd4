package embedded

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/writbus/writ/bus/blocks"
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

// Scrubbed is where the reading in the background stands.
func (s *Server) Scrubbed() Scrub {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scrubbed
}

// Look has the records read in the background from the beginning: somebody met
// one that is missing.
func (s *Server) Look() {
	select {
	case s.look <- struct{}{}:
	default:
	}
}

// keepScrubbing reads all records again and again, and goes on where an earlier
// run was.
func (s *Server) keepScrubbing() {
	defer s.tending.Done()
	at := s.readScrub()
	wait := time.Duration(0)
	if at.Stream == "" && !at.Ended.IsZero() {
		wait = max(0, time.Until(at.Ended.Add(scrubPause)))
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
		if !s.scrub(at) {
			return
		}
		at, wait = s.Scrubbed(), scrubEvery
	}
}

// scrub makes one pass, and says whether it came to its end.
func (s *Server) scrub(at Scrub) bool {
	names := storedStreams(s.options.Dir)
	slices.Sort(names)
	if at.Stream == "" || !slices.Contains(names, at.Stream) {
		at = Scrub{Ended: at.Ended}
	}
	holes, err := Holes(s.options.Dir)
	if err != nil {
		s.options.Logger.Warn("read what repairs gave up", "error", err)
	}
	for _, name := range names {
		if name < at.Stream {
			continue
		}
		if name != at.Stream {
			at.Stream, at.Block, at.Seq = name, 0, 0
		}
		if !s.scrubStream(&at, holes) {
			return false
		}
	}
	s.noteScrub(Scrub{Ended: time.Now().UTC(), Damaged: at.Damaged})
	return true
}

// scrubStream reads the blocks of a stream at a limited rate.
func (s *Server) scrubStream(at *Scrub, holes []Hole) bool {
	dir := filepath.Join(streamsDir(s.options.Dir), at.Stream)
	walk := blocks.NewWalk(dir, at.Stream, blocks.Range{})
	walk.Resume(at.Block, at.Seq)
	told := 0
	for {
		select {
		case <-s.stopping:
			return false
		default:
		}
		size, more, err := walk.Step()
		if err != nil {
			s.options.Logger.Warn("read the log in the background", "stream", at.Stream, "error", err)
			return true
		}
		all := walk.Found()
		if !more {
			all = walk.Finish()
		}
		for _, d := range all[told:] {
			at.Damaged += s.tell(dir, d, holes)
		}
		told = len(all)
		at.Block, at.Seq = walk.At()
		if !more {
			return true
		}
		s.noteScrub(*at)
		if !s.idle(time.Duration(size) * time.Second / scrubRate) {
			return false
		}
	}
}

// idle waits, and says whether the server still runs then.
func (s *Server) idle(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.stopping:
		return false
	case <-timer.C:
		return true
	}
}

// tell mends a damage or makes it a finding, once, and returns how many records
// cannot be read.
func (s *Server) tell(dir string, d blocks.Damage, holes []Hole) uint64 {
	if d.Records() == 0 || within(holes, d) {
		return 0
	}
	kept := filepath.Join(s.options.Dir, keptDir)
	done, err := blocks.MendInPlace(dir, kept, d)
	if err != nil {
		s.options.Logger.Warn("put a damaged record right", "record", d.String(), "error", err)
	}
	f := Finding{Stream: d.Stream, Lost: d.Records(), Err: damaged(d)}
	if done {
		f = found(blocks.Outcome{Damage: d, How: blocks.Mended, Kept: kept})
	}
	s.mu.Lock()
	known := slices.ContainsFunc(s.findings, func(have Finding) bool { return have.String() == f.String() })
	s.mu.Unlock()
	if !known {
		s.find(f)
	}
	return f.Lost
}

func (s *Server) readScrub() (at Scrub) {
	if raw, err := os.ReadFile(filepath.Join(s.options.Dir, scrubName)); err == nil && json.Unmarshal(raw, &at) != nil {
		at = Scrub{} // damaged: the pass begins anew
	}
	s.noteScrub(at)
	return at
}

func (s *Server) noteScrub(at Scrub) {
	s.mu.Lock()
	s.scrubbed = at
	s.mu.Unlock()
	body, err := json.Marshal(at)
	if err == nil {
		err = atomicfile.WriteWith(filepath.Join(s.options.Dir, scrubName), append(body, '\n'), atomicfile.Options{Mode: 0o600, Volatile: true})
	}
	if err != nil {
		s.options.Logger.Warn("note how far the log was read in the background", "error", err)
	}
}
