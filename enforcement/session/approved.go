package session

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/writbus/writ/schemas/digest"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/writbus/writ/enforcement/project"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

const (
	// keptApproved is how long an approved content is kept after its approval.
	keptApproved = 90 * 24 * time.Hour
	// maxShown bounds a file whose difference is shown, in bytes.
	maxShown = 512 << 10
)

// approvedFiles keeps the contents that users approved, so that a later offer
// can show what changed since. The log holds their digests and alone decides;
// without these files an offer shows everything as new.
type approvedFiles struct{ dir string }

// at is the place of a file last approved in a session.
func (a approvedFiles) at(session, rel string) string {
	return filepath.Join(a.dir, digest.Name(session), digest.Name(rel))
}

// keep copies approved files as they were approved. One that has changed
// since, or cannot be read, is left out.
func (a approvedFiles) keep(session, root string, files []schemas.FileState) error {
	var all []error
	for _, f := range files {
		content, err := project.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path)))
		if err != nil || digest.Hex(content) != f.SHA256 {
			continue
		}
		path := a.at(session, f.Path)
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = atomicfile.Write(path, append([]byte(f.SHA256+"\n"), content...), 0o600)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// prune forgets what was approved in sessions that ended long ago.
func (a approvedFiles) prune(now time.Time) error {
	sessions, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := []error{err}
	for _, s := range sessions {
		info, err := s.Info()
		if err != nil || !s.IsDir() || now.Sub(info.ModTime()) < keptApproved {
			continue
		}
		all = append(all, os.RemoveAll(filepath.Join(a.dir, s.Name())))
	}
	return errors.Join(all...)
}

// kept is the content of a file that was approved last, if it is there and whole:
// its digest stands before it.
func (a approvedFiles) kept(session, rel string) (content []byte, whole bool) {
	raw, err := os.ReadFile(a.at(session, rel))
	sum, content, found := bytes.Cut(raw, []byte{'\n'})
	if err != nil || !found || string(sum) != digest.Hex(content) {
		return nil, false
	}
	return content, true
}

func (a approvedFiles) offered(session, root string, f schemas.FileState) schemas.OfferFile {
	out := schemas.OfferFile{FileState: f}
	before, whole := a.kept(session, f.Path)
	out.New = !whole
	var now []byte
	var err error
	if f.SHA256 != "" {
		if now, err = project.ReadFile(filepath.Join(root, filepath.FromSlash(f.Path))); err != nil {
			out.Unshown = "it cannot be read"
			return out
		}
	}
	switch {
	case f.SHA256 != "" && digest.Hex(now) != f.SHA256:
		out.Unshown = "it changed while this was made"
	case len(now) > maxShown || len(before) > maxShown:
		out.Unshown = "it is too large to be shown"
	case !utf8.Valid(now) || !utf8.Valid(before):
		out.Unshown = "it is not text"
	default:
		old := "approved/" + f.Path
		if out.New {
			old = "/dev/null"
		}
		out.Diff = udiff.Unified(old, f.Path, string(before), string(now))
	}
	return out
}
