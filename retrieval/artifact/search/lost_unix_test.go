//go:build unix

package search

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// paper are kept bytes in a file that somebody can cut short.
type paper []byte

func (p paper) Bytes() []byte { return p }
func (p paper) Drop()         { _ = unix.Madvise(p, unix.MADV_DONTNEED) }
func (p paper) Free()         {}

// TestAnIndexWhoseFileIsCutShortEndsNoProcess: whatever reads it says that it is
// lost.
func TestAnIndexWhoseFileIsCutShortEndsNoProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lists")
	outside := New(wordy(t), nil).Kept(func(pieces ...[]byte) (Kept, error) {
		if err := os.WriteFile(path, bytes.Join(pieces, nil), 0o600); err != nil {
			return nil, err
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		return must(unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED))
	})
	q := Query{Text: "word7 only5of900", Method: BM25}
	if a, err := outside.Search(q); err != nil || len(a.Hits) == 0 {
		t.Fatalf("before: %v, %v", a.Hits, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func() error{
		"a search": func() error { _, err := outside.Search(q); return err },
		"a save":   func() error { return outside.Save(io.Discard) },
		"an update": func() error {
			return Guarded(func() error { outside.Update(nil, []string{"f0003.go"}).Compact(); return nil })
		},
	}
	for name, read := range reads {
		if err := read(); !errors.Is(err, ErrLost) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a mistake in what is guarded was taken for a lost page")
		}
	}()
	var none *Index
	_ = Guarded(func() error { none.views = nil; return nil })
}

func must(raw []byte, err error) (Kept, error) { return paper(raw), err }
