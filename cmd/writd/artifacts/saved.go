package artifacts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/writbus/writ/retrieval/artifact/search"
)

// errSaved is why a saved index is not used.
var errSaved = errors.New("artifacts: not a saved index of this project")

const (
	// savedMagic begins the file of a saved index.
	savedMagic = "writ artifacts\n"
	// analysisVersion says what is made of a file's bytes. A test fails where
	// that changes and this number does not.
	analysisVersion = 1
)

// savedProject is what is saved beside the index itself.
type savedProject struct {
	Analysis int
	Go       string // whose parser outlined Go files
	Root     string
	Files    []savedFile // by path
}

// savedFile is a file as it was read.
type savedFile struct {
	Path    string
	Size    int64
	ModTime time.Time
	ReadAt  time.Time
	Hash    string
	Left    Reason
	Problem string
	Wanted  bool
	Info    *Info // nil for one that is not in the index
}

// Save writes the index to its file, if it changed since it was read from there
// or written last, so that the next process need not read every file again. The
// file is put in place of the one before at once, or not at all.
func (p *Project) Save() error {
	if p.options.Saved == "" {
		return nil
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	now := p.current.Load()
	if now == nil || p.saved == now {
		return nil
	}
	state, now := p.state()
	if err := write(p.options.Saved, state, now.Index); err != nil {
		return fmt.Errorf("save the index of %s: %w", p.options.Root, err)
	}
	p.saved = now
	return nil
}

// state copies what is saved.
func (p *Project) state() (savedProject, *Snapshot) {
	p.updating.Lock()
	defer p.updating.Unlock()
	s := savedProject{Analysis: analysisVersion, Go: runtime.Version(), Root: p.options.Root}
	for _, path := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[path]
		s.Files = append(s.Files, savedFile{path, f.size, f.modTime, f.readAt, f.hash, f.left, f.problem, f.wanted, f.info})
	}
	return s, p.current.Load()
}

func write(to string, state savedProject, ix *search.Index) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.new")
	if err != nil {
		return err
	}
	defer func() {
		if err = cmp.Or(err, f.Close()); err == nil {
			err = os.Rename(f.Name(), to)
		}
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	sum := sha256.New()
	w := io.MultiWriter(f, sum)
	var files bytes.Buffer
	if err := gob.NewEncoder(&files).Encode(state); err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64([]byte(savedMagic), uint64(files.Len()))
	for _, part := range [][]byte{head, files.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	if err := ix.Save(w); err != nil {
		return err
	}
	_, err = f.Write(sum.Sum(nil))
	return err
}

// restored takes up the saved index, as far as the log has its files in the same
// state; nil where there is none that can be used. What changed since is for the
// walk to find. It is tried once.
func (p *Project) restored() *Snapshot {
	if p.options.Saved == "" || p.tried {
		return nil
	}
	p.tried = true
	raw, err := os.ReadFile(p.options.Saved)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s *Snapshot
	if err == nil {
		s, err = p.take(raw)
	}
	if err != nil && p.options.Warn != nil {
		p.options.Warn(fmt.Sprintf("the saved index of %s cannot be used, so all its files are read again: %v", p.options.Root, err))
	}
	return s
}

func (p *Project) take(raw []byte) (*Snapshot, error) {
	state, saved, err := open(raw)
	if err != nil {
		return nil, err
	}
	switch {
	case state.Root != p.options.Root:
		return nil, fmt.Errorf("%w: it is of %s", errSaved, state.Root)
	case state.Analysis != analysisVersion || state.Go != runtime.Version():
		return nil, fmt.Errorf("%w: another version of Writ wrote it", errSaved)
	}
	ix, err := search.Load(saved, p.options.Embedder)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Index: ix, docs: make(map[string]*Info, ix.Len())}
	files := make(map[string]*file, len(state.Files))
	var drop []string
	indexed := 0
	for _, f := range state.Files {
		if f.Info != nil {
			if indexed++; !ix.Has(f.Path) || f.Info.Path != f.Path {
				return nil, fmt.Errorf("%w: it does not hold %s", errSaved, f.Path)
			}
		}
		if !p.vouchedFor(f) {
			if f.Info != nil {
				drop = append(drop, f.Path)
			}
			continue
		}
		if f.Info != nil {
			s.docs[f.Path] = f.Info
		}
		files[f.Path] = &file{f.Size, f.ModTime, f.ReadAt, f.Hash, f.Left, f.Problem, f.Wanted, f.Info}
	}
	if indexed != ix.Len() {
		return nil, fmt.Errorf("%w: it holds %d documents of %d", errSaved, ix.Len(), indexed)
	}
	if len(drop) > 0 {
		s.Index = ix.Update(nil, drop)
	}
	p.files = files
	return s, nil
}

// vouchedFor says whether the log has a file in the state that was saved.
func (p *Project) vouchedFor(f savedFile) bool {
	was, known := p.recorded[f.Path]
	if f.Info == nil {
		return !known
	}
	return known && was.SHA256 == f.Hash && was.Bytes == f.Size && was.Kind == string(f.Info.Type) && was.Modified.Equal(f.ModTime)
}

// open checks the bytes of a file and takes them apart.
func open(raw []byte) (state savedProject, index []byte, err error) {
	rest, ours := bytes.CutPrefix(raw, []byte(savedMagic))
	if !ours || len(rest) < 8+sha256.Size {
		return state, nil, fmt.Errorf("%w: it does not begin as one", errSaved)
	}
	end := len(raw) - sha256.Size
	if sum := sha256.Sum256(raw[:end]); !bytes.Equal(sum[:], raw[end:]) {
		return state, nil, fmt.Errorf("%w: it was damaged", errSaved)
	}
	rest = rest[:len(rest)-sha256.Size]
	n := binary.LittleEndian.Uint64(rest)
	if rest = rest[8:]; n > uint64(len(rest)) {
		return state, nil, fmt.Errorf("%w: it is cut short", errSaved)
	}
	if err := gob.NewDecoder(bytes.NewReader(rest[:n])).Decode(&state); err != nil {
		return state, nil, fmt.Errorf("%w: %w", errSaved, err)
	}
	return state, rest[n:], nil
}
