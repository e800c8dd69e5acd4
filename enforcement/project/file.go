package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/writbus/writ/schemas"
)

const (
	// MaxRead bounds what is read of one project file to judge it. Plans and test
	// files are far smaller; a larger file is hashed, not held.
	MaxRead = 4 << 20
	// maxHashed bounds what is hashed within a hook's time.
	maxHashed = 64 << 20
)

// openRegular opens a regular file. It never waits: opening a pipe that somebody
// put in a file's place would, for ever.
func openRegular(path string) (*os.File, int64, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, 0, err
	} else if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("project: %s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("project: %s is not a regular file", path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// ReadFile reads a regular file of at most [MaxRead] bytes.
func ReadFile(path string) ([]byte, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, MaxRead+1))
	if err == nil && len(content) > MaxRead {
		return nil, fmt.Errorf("project: %s is over %d bytes", path, MaxRead)
	}
	return content, err
}

// FileState is a file of the project as it stands; found is false where there
// is none, or none that can be read.
func (p Project) FileState(rel string) (state schemas.FileState, found bool) {
	path := rel
	if !filepath.IsAbs(rel) {
		path = filepath.Join(p.Root, filepath.FromSlash(rel))
	}
	f, size, err := openRegular(path)
	if err != nil {
		return schemas.FileState{Path: rel}, false
	}
	defer func() { _ = f.Close() }()
	if size > maxHashed {
		// No hash of a content is of this form, so it is never the approved one.
		return schemas.FileState{Path: rel, SHA256: fmt.Sprintf("over %d bytes", maxHashed), Bytes: size}, true
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return schemas.FileState{Path: rel}, false
	}
	return schemas.FileState{Path: rel, SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, true
}
