package files

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/retrieval/artifact/search"
	"github.com/writbus/writ/retrieval/mapped"
	"github.com/writbus/writ/schemas/atomicfile"
)

// ErrSaved is why a saved index is not used.
var ErrSaved = errors.New("artifacts: not a saved index of this project")

const (
	// savedMagic begins the file of a saved index.
	savedMagic = "writ artifacts 3\n"
	// savedWindow is how far back the compression of a saved index looks, bytes.
	savedWindow = 1 << 20
	// analysisVersion says what is made of a file's bytes. A test fails where
	// that changes and this number does not.
	analysisVersion = 11
)

// savedProject is what is saved before its files, which come one by one, and the
// index itself.
type savedProject struct {
	Analysis int
	Go       string // whose parser outlined Go files
	Root     string
	Files    int
}

// savedFile is a file as it was read.
type savedFile struct {
	Path    string
	Size    int64
	ModTime time.Time
	Changed int64
	ReadAt  time.Time
	Hash    string
	Left    Reason
	Problem string
	Wanted  bool
	Info    *Info // nil for one that is not in the index
}

// Save writes the index to its file, if it changed since it was read from there
// or written last, so that the next process need not read every file again. The
// file is put in place of the one before at once, or not at all: not where the
// context ends before it is written.
func (p *Project) Save(ctx context.Context) error {
	if p.options.Saved == "" {
		return nil
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	state, files, now := p.state()
	if now == nil || p.saved.Load() == now {
		return nil
	}
	if err := write(ctx, p.options.Saved, state, files, now.Index); err != nil {
		return fmt.Errorf("save the index of %s: %w", p.options.Root, err)
	}
	p.saved.Store(now)
	return nil
}

// state lists what is saved, by path, unless that is what was saved last.
func (p *Project) state() (state savedProject, files []savedFile, now *Snapshot) {
	p.updating.Lock()
	defer p.updating.Unlock()
	if now = p.latest(); now == nil || p.saved.Load() == now {
		return state, nil, now
	}
	return p.stateNow()
}

// stateNow is state for who keeps updates away.
func (p *Project) stateNow() (savedProject, []savedFile, *Snapshot) {
	files := make([]savedFile, 0, len(p.files.all))
	for path, f := range p.files.all {
		files = append(files, savedFile{path, f.size, f.modTime, f.changed, f.readAt, f.hash, f.left, f.problem, f.wanted, f.info})
	}
	slices.SortFunc(files, func(a, b savedFile) int { return strings.Compare(a.Path, b.Path) })
	return savedProject{Analysis: analysisVersion, Go: runtime.Version(), Root: p.options.Root, Files: len(files)}, files, p.latest()
}

// untilDone fails once the context has ended.
type untilDone struct {
	context.Context
	io.Writer
}

func (w untilDone) Write(b []byte) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}

func write(ctx context.Context, to string, state savedProject, files []savedFile, ix *search.Index) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFunc(to, atomicfile.Options{Mode: 0o600, Volatile: true}, func(f *atomicfile.File) error {
		sum := sha256.New()
		packed := io.MultiWriter(f, sum)
		if _, err := io.WriteString(packed, savedMagic); err != nil {
			return err
		}
		pack, err := zstd.NewWriter(packed, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(savedWindow))
		if err != nil {
			return err
		}
		plain := &tally{Writer: pack}
		w := bufio.NewWriterSize(untilDone{ctx, plain}, 1<<16)
		entries := gob.NewEncoder(w)
		if err := entries.Encode(state); err != nil {
			return err
		}
		for _, file := range files {
			if err := entries.Encode(file); err != nil {
				return err
			}
		}
		if err := ix.Save(w); err != nil {
			return err
		}
		if err := cmp.Or(w.Flush(), pack.Close(), binary.Write(packed, binary.BigEndian, plain.n)); err != nil {
			return err
		}
		_, err = f.Write(sum.Sum(nil))
		return err
	})
}

// tally counts what is written.
type tally struct {
	io.Writer
	n int64
}

func (w *tally) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.n += int64(n)
	return n, err
}

// restored takes up the saved index, as far as the log has its files in the same
// state; nil where there is none that can be used. What changed since is for the
// walk to find. It is tried once, unless the context ends.
func (p *Project) restored(ctx context.Context) *Snapshot {
	if p.options.Saved == "" || p.tried {
		return nil
	}
	f, err := os.Open(p.options.Saved)
	if errors.Is(err, fs.ErrNotExist) {
		p.tried = true
		return nil
	}
	var s *Snapshot
	if err == nil {
		defer func() { _ = f.Close() }()
		defer p.options.lean()()
		s, err = p.take(ctx, f)
	}
	if ctx.Err() != nil {
		return nil
	}
	p.tried = true
	if err != nil && p.options.Warn != nil {
		p.options.Warn(fmt.Sprintf("the saved index of %s cannot be used, so all its files are read again: %v", p.options.Root, err))
	}
	return s
}

// take reads a saved index whose sum is that of its bytes.
func (p *Project) take(ctx context.Context, f *os.File) (*Snapshot, error) {
	r, err := newSavedReader(ctx, f, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var state savedProject
	entries := gob.NewDecoder(r)
	if err := entries.Decode(&state); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	}
	switch {
	case state.Root != p.options.Root:
		return nil, fmt.Errorf("%w: it is of %s", ErrSaved, state.Root)
	case state.Analysis != analysisVersion || state.Go != runtime.Version():
		return nil, fmt.Errorf("%w: another version of Writ wrote it", ErrSaved)
	}
	s, docs, files := &Snapshot{}, map[string]*Info{}, newKnown(0)
	var drop, indexed []string
	for range state.Files {
		var f savedFile
		if err := entries.Decode(&f); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSaved, err)
		}
		if f.Info != nil {
			if f.Info.Path != f.Path {
				return nil, fmt.Errorf("%w: %s is %s in it", ErrSaved, f.Path, f.Info.Path)
			}
			indexed = append(indexed, f.Path)
		}
		if !vouchedFor(f, p.catalog) {
			if f.Info != nil {
				drop = append(drop, f.Path)
			}
			continue
		}
		if f.Info != nil {
			docs[f.Path] = f.Info
		}
		files.put(f.Path, &file{f.Size, f.ModTime, f.Changed, f.ReadAt, f.Hash, f.Left, f.Problem, f.Wanted, f.Info})
	}
	if s.Index, err = search.Load(r, r.left, p.options.Embedder); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSaved, err)
	}
	if len(indexed) != s.Index.Len() || slices.ContainsFunc(indexed, func(path string) bool { return !s.Index.Has(path) }) {
		return nil, fmt.Errorf("%w: it holds %d documents of %d", ErrSaved, s.Index.Len(), len(indexed))
	}
	if len(drop) > 0 {
		s.Index = s.Index.Update(nil, drop)
	}
	s.Index = p.outside(s.Index)
	s.docs = documents{}.with(docs)
	s.relations = &relations{docs: s.docs}
	p.files = files
	return s, nil
}

// outside is an index whose lists lie beside its saved file, not in the heap.
func (p *Project) outside(ix *search.Index) *search.Index {
	if p.options.Saved == "" {
		return ix
	}
	return ix.Kept(func(pieces ...[]byte) (search.Kept, error) {
		folder := filepath.Dir(p.options.Saved)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		return mapped.Keep(folder, pieces...)
	})
}

// SavedRoot is the folder of the project that a saved index is of. It returns
// [ErrSaved] for a file that no reader of now understands.
func SavedRoot(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("artifacts: %w", err)
	}
	defer func() { _ = f.Close() }()
	r, err := newSavedReader(context.Background(), f, false)
	if err != nil {
		return "", err
	}
	defer r.close()
	var state savedProject
	if err := gob.NewDecoder(r).Decode(&state); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSaved, err)
	}
	if state.Analysis != analysisVersion || state.Go != runtime.Version() {
		return "", fmt.Errorf("%w: another version of Writ wrote it", ErrSaved)
	}
	return state.Root, nil
}

// vouchedFor says whether the log has a file in the state that was saved.
func vouchedFor(f savedFile, by catalog.State) bool {
	was, known := by.Files[f.Path]
	if f.Info == nil {
		return !known
	}
	return known && was.File.SHA256 == f.Hash && was.File.Bytes == f.Size && was.Kind == string(f.Info.Type) && was.Modified.Equal(f.ModTime)
}
