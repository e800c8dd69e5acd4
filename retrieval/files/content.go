package files

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/writbus/writ/schemas/digest"
)

// ErrLeftOut is returned for a file that cannot be in an index as it is now: a
// folder, a pipe, too large.
var ErrLeftOut = errors.New("artifacts: no file that is indexed")

const (
	// settled is how long a file must have been left alone before its stamp
	// stands for its content: a write right after it was read may bear the same
	// time, of which some file systems keep only every other second.
	settled = 3 * time.Second
	// mostSeen bounds the files whose stamps are remembered.
	mostSeen = 4096
)

// Contents reads files of a project as they are now. It remembers the stamps of
// those whose content it knows, which tell of every later write, and hashes
// nothing twice. It may be used from any number of goroutines.
type Contents struct {
	now func() time.Time

	mu   sync.Mutex
	seen map[string]seen
}

// seen is a file whose content had a hash.
type seen struct {
	stamp stamp
	hash  string
}

// changedAt is when anything of a file last changed, which no program can set, Unix
// nanoseconds; 0 where no system tells.
func changedAt(info os.FileInfo) int64 {
	if s, is := stampOf(info); is {
		return s.changed().UnixNano()
	}
	return 0
}

// NewContents remembers nothing yet and takes the time from now.
func NewContents(now func() time.Time) *Contents {
	return &Contents{now: now, seen: map[string]seen{}}
}

// Read reads a file into the buffer, or into what takes its place where it is too
// small, and says whether its content has a SHA-256, in lower-case hexadecimal.
// The root lets no link lead out of it.
func (c *Contents) Read(root *os.Root, path, hash string, buffer *[]byte) (raw []byte, same bool, err error) {
	now := c.now()
	r, err := readBytes(root, path, buffer)
	if err != nil {
		return nil, false, fmt.Errorf("artifacts: read %s: %w", path, err)
	}
	if r.left != "" {
		return nil, false, fmt.Errorf("%w: %s: %s", ErrLeftOut, path, r.left)
	}
	stamp, stamped := stampOf(r.info)
	if stamped && c.known(path, seen{stamp, hash}) {
		return r.bytes, true, nil
	}
	if same = digest.Hex(r.bytes) == hash; same && stamped && now.Sub(stamp.changed()) > settled {
		c.remember(path, seen{stamp, hash})
	}
	return r.bytes, same, nil
}

func (c *Contents) known(path string, s seen) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[path] == s
}

// remember keeps copies: what it is given may be part of a large text.
func (c *Contents) remember(path string, s seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) >= mostSeen {
		clear(c.seen)
	}
	c.seen[strings.Clone(path)] = seen{s.stamp, strings.Clone(s.hash)}
}
