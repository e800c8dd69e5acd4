package artifacts

import (
	"errors"
	"fmt"
	"os"
)

// ErrLeftOut is returned for a file that cannot be in an index as it is now: a
// folder, a pipe, too large.
var ErrLeftOut = errors.New("artifacts: no file that is indexed")

// Content reads a file of a project as it is now, and its SHA-256 in lower-case
// hexadecimal. The root lets no link lead out of it.
func Content(root *os.Root, path string) (raw []byte, hash string, err error) {
	r, err := readFile(root, path, new([]byte))
	if err != nil {
		return nil, "", fmt.Errorf("artifacts: read %s: %w", path, err)
	}
	if r.left != "" {
		return nil, "", fmt.Errorf("%w: %s: %s", ErrLeftOut, path, r.left)
	}
	return r.bytes, r.hash, nil
}
