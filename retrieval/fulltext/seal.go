package fulltext

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// sealName is the file that a closed index ends with: the digest of all its
// others. Bleve and its store map files into memory and trust them; a damaged
// one ends the whole process with a fault that cannot be recovered from, often
// in a goroutine of Bleve's own and long after opening. So none is opened whose
// bytes are not those that were closed, and a process that died left no seal.
const sealName = "closed.sha256"

// seal writes the digest of a closed index.
func seal(dir string) error {
	sum, err := digest(dir)
	if err != nil {
		return fmt.Errorf("seal the full-text index: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, sealName), []byte(sum+"\n"), 0o600)
}

// breakSeal checks the digest and removes it, so that it holds for one opening.
func breakSeal(dir string) error {
	name := filepath.Join(dir, sealName)
	want, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it was not closed", ErrDamaged)
	case err != nil:
		return fmt.Errorf("read the seal: %w", err)
	}
	got, err := digest(dir)
	if err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	if got != strings.TrimSpace(string(want)) {
		return fmt.Errorf("%w: its files are not those that were closed", ErrDamaged)
	}
	return os.Remove(name)
}

// digest is over the names, sizes and bytes of all files but the seal.
func digest(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == sealName {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(sum, "%q %d\n", filepath.ToSlash(rel), info.Size())
		_, err = io.Copy(sum, f)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// busy says whether another process, or another Index of this one, has the
// index open: its store is locked then.
func busy(dir string) bool {
	db, err := bbolt.Open(filepath.Join(dir, "store", "root.bolt"), 0o600, &bbolt.Options{ReadOnly: true, Timeout: 500 * time.Millisecond})
	if err != nil {
		return errors.Is(err, berrors.ErrTimeout)
	}
	_ = db.Close()
	return false
}
