package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/schemas/atomicfile"
)

var (
	// ErrMoving is returned by Cut when the streams grew each time it looked.
	ErrMoving = errors.New("embedded: the streams do not hold still")
	// ErrChanged is returned by Part.Copy when a file lacks what the cut had of it.
	ErrChanged = errors.New("embedded: a file of the store changed while it was copied")
)

// cutTries bounds how often Cut looks for a moment without an append.
const cutTries = 200

// recordsIn is the folder of a stream's records, in blocks that only grow until
// the next one begins.
const recordsIn = "msgs"

// indexedIn is the index of a stream's records, which the server writes from time
// to time and brings up to the blocks at its start.
const indexedIn = "index.db"

// Range is from where to where a stream reaches: in an empty stream First is
// Last+1, or both are 0.
type Range struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// Records is how many there are: the log drops none in between.
func (r Range) Records() uint64 {
	if r.Last == 0 || r.Last < r.First {
		return 0
	}
	return r.Last - r.First + 1
}

// Cut is the store at one moment, over all streams: the files that a process
// killed then would have left, and the note of the streams' ends.
type Cut struct {
	Streams map[string]Range
	Parts   []Part
	held    string // a folder of links to the blocks, which may leave the store meanwhile
}

// Close lets go of the blocks: no part is copied any more.
func (c *Cut) Close() error { return os.RemoveAll(c.held) }

// Part is a file of a cut.
type Part struct {
	Name    string // below Options.Dir, with slashes
	path    string
	size    int64
	content []byte // of a file that is replaced as a whole
}

// Cut returns the store at one moment of its own choosing, until it is closed. Blocks of
// records only grow, so their sizes are the moment, and they can be copied at leisure,
// also where records leave meanwhile and the disk has hard links.
// It returns ErrMoving under appends without a pause: hold them back meanwhile, and
// whatever has records leave; and bus.ErrStorage where the server does not serve the streams.
func (s *Server) Cut() (c *Cut, err error) {
	held, err := os.MkdirTemp(s.options.Dir, probePattern)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(held) // what is left is removed at the next start
		}
	}()
	for try := range cutTries {
		before, ok := s.ends()
		links := filepath.Join(held, strconv.Itoa(try))
		parts, err := s.parts(links)
		if err != nil {
			return nil, err
		}
		after, okAfter := s.ends()
		if !ok || !okAfter {
			return nil, fmt.Errorf("%w: the streams cannot be looked at", bus.ErrStorage)
		}
		if maps.Equal(before.Streams, after.Streams) {
			return newCut(after, parts, held)
		}
		_ = os.RemoveAll(links) // Windows leaves those of open files: they go with the cut
	}
	return nil, ErrMoving
}

// beside are the notes of what repairs gave up: without them a known hole would be
// new damage.
func (s *Server) beside() (all []Part, err error) {
	part, err := whole(s, holesName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return []Part{part}, err
}

func newCut(m marks, parts []Part, held string) (*Cut, error) {
	body, err := m.encode()
	if err != nil {
		return nil, err
	}
	c := &Cut{Streams: map[string]Range{}, Parts: append(parts, Part{Name: marksName, content: body}), held: held}
	for name, m := range m.Streams {
		c.Streams[name] = Range(m)
	}
	return c, nil
}

// parts lists the files of all streams as they are. Readers of the streams are
// left out: each view opens its own.
func (s *Server) parts(held string) (all []Part, err error) {
	for _, name := range storedStreams(s.options.Dir) {
		below := path.Join(storeName, account, "streams", name)
		for _, described := range []string{describedIn, summedIn} {
			part, err := whole(s, path.Join(below, described))
			if err != nil {
				return nil, err
			}
			all = append(all, part)
		}
		records, err := records(s, path.Join(below, recordsIn), filepath.Join(held, name))
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	beside, err := s.beside()
	return append(all, beside...), err
}

// records are the blocks of a stream, linked to a folder, and its index where it has one:
// without it the server would end the stream at a record that is damaged.
func records(s *Server, below, held string) (all []Part, err error) {
	entries, err := os.ReadDir(s.file(below))
	if err == nil {
		err = os.MkdirAll(held, 0o700)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() == indexedIn {
			part, err := whole(s, path.Join(below, indexedIn))
			if err != nil {
				return nil, err
			}
			all = append(all, part)
		}
		if !strings.HasSuffix(e.Name(), ".blk") {
			continue
		}
		part := Part{Name: path.Join(below, e.Name()), path: filepath.Join(held, e.Name())}
		if os.Link(s.file(part.Name), part.path) != nil {
			part.path = s.file(part.Name) // there are no links, or the other error comes again
		}
		info, err := os.Stat(part.path)
		if err != nil {
			return nil, err
		}
		part.size = info.Size()
		all = append(all, part)
	}
	return all, nil
}

func whole(s *Server, name string) (Part, error) {
	content, err := os.ReadFile(s.file(name))
	return Part{Name: name, content: content}, err
}

// ErrBeyond is returned by CutAfter for a store of which records were given up that
// are behind the moment: nothing was changed.
var ErrBeyond = errors.New("embedded: records behind that moment were given up")

// CutAfter removes the records of a store that no server has open which it received
// after a moment, and returns, of each stream that had such, the sequence of the last
// one that stays, 0 for none.
func CutAfter(dir string, at time.Time) (map[string]uint64, error) {
	holes, err := Holes(dir)
	if err != nil {
		return nil, err
	}
	noted, err := readMarks(dir)
	if err != nil {
		return nil, err
	}
	ends := map[string]uint64{}
	for _, name := range storedStreams(dir) {
		last, later := uint64(0), false
		if err := blockfile.Each(StreamDir(dir, name), name, func(seq uint64, time int64, _ string, _, _ []byte) bool {
			if later = time > at.UnixNano(); !later {
				last = seq
			}
			return !later
		}); err != nil {
			return nil, err
		}
		if !later {
			continue // what was given up at its end stays
		}
		for _, h := range holes {
			if h.Stream == name && h.Last > last {
				return nil, fmt.Errorf("%w: %d to %d of %s. Name a moment after the repair, or restore without one", ErrBeyond, h.First, h.Last, name)
			}
		}
		ends[name] = last
	}
	for name, last := range ends {
		if _, err := blockfile.CutAfter(StreamDir(dir, name), name, at.UnixNano()); err != nil {
			return nil, err
		}
		if m := noted.Streams[name]; m.Last > last {
			noted.Streams[name] = mark{First: m.First, Last: last}
		}
	}
	body, err := noted.encode()
	if err != nil {
		return nil, err
	}
	return ends, atomicfile.Write(filepath.Join(dir, marksName), body, 0o600)
}

func (s *Server) file(name string) string {
	return filepath.Join(s.options.Dir, filepath.FromSlash(name))
}

// Copy writes the file as it was at the moment of the cut, or returns
// ErrChanged.
func (p Part) Copy(to io.Writer) error {
	if p.path == "" {
		_, err := io.Copy(to, bytes.NewReader(p.content))
		return err
	}
	from, err := os.Open(p.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	defer func() { _ = from.Close() }() // read only
	switch n, err := io.CopyN(to, from, p.size); {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s has %d of %d bytes", ErrChanged, p.Name, n, p.size)
	case err != nil:
		return err
	}
	return nil
}
