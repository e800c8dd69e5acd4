package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// folder is a folder of signed checkpoints and of the hashes under them,
// in files that only grow. The daemon's own is one; others are second places.
type folder struct {
	dir  string
	key  signingKey
	tips map[schemas.Stream]*streamTip
}

// streamTip is where a stream's files end.
type streamTip struct {
	last     evidence.Checkpoint // newest; of size 0 before the first
	signed   []byte              // as it stands in the file
	began    sealed              // the first
	lastLeaf uint64              // sequence of the last hash kept, 0 for none
}

// openFolder opens a folder, or makes it. A line that a crash tore is cut
// off; nothing was signed over it. The public key is a copy: where it is damaged,
// and what was signed is this key's, it is written anew, which warn is told.
func openFolder(dir string, key signingKey, mode fs.FileMode, warn func(string)) (*folder, error) {
	l := &folder{dir: dir, key: key, tips: map[schemas.Stream]*streamTip{}}
	if err := os.MkdirAll(dir, mode); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, evidence.KeyFile)
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := atomicfile.Write(path, []byte(key.public+"\n"), 0o644); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case string(bytes.TrimSpace(have)) != key.public:
		other, err := note.NewVerifier(string(bytes.TrimSpace(have)))
		another := err == nil && (other.Name() != key.verifier.Name() || other.KeyHash() != key.verifier.KeyHash())
		if some, own := l.own(); !own || another && !some {
			return nil, fmt.Errorf("%s holds checkpoints of another key, %.40q…. Put that folder back, or audit.key into the folder of the credentials, as from a backup; or move that folder away, and a new key begins anew", dir, bytes.TrimSpace(have))
		}
		if err := atomicfile.Write(path, []byte(key.public+"\n"), 0o644); err != nil {
			return nil, err
		}
		warn(path + " was damaged and is written anew from the key that signs: nothing is lost. Check the disk")
	}
	return l, nil
}

// own says whether something was signed in the folder, and all of it by its key.
func (l *folder) own() (some, all bool) {
	for _, s := range schemas.Streams() {
		t, err := l.tip(s)
		if err != nil {
			return some, false
		}
		some = some || t.signed != nil
	}
	return some, true
}

func (l *folder) checkpoints(s schemas.Stream) string {
	return filepath.Join(l.dir, string(s)+evidence.CheckpointsFile)
}

func (l *folder) leaves(s schemas.Stream) string {
	return filepath.Join(l.dir, string(s)+evidence.LeavesFile)
}

// tip reads where a stream's files end, once.
func (l *folder) tip(s schemas.Stream) (*streamTip, error) {
	if t := l.tips[s]; t != nil {
		return t, nil
	}
	t := &streamTip{last: evidence.Checkpoint{Stream: s, Root: evidence.EmptyRoot}}
	text, err := os.ReadFile(l.checkpoints(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all, rest := evidence.SplitCheckpoints(text)
	if strings.HasSuffix(rest, "\n\n") { // it was written to its end, or to the line before the signature
		if _, err := evidence.ParseCheckpoint(strings.TrimSuffix(rest, "\n")); err != nil {
			return nil, fmt.Errorf("%s: the last checkpoint is damaged: %w", l.checkpoints(s), err)
		}
	}
	if rest != "" {
		if err := os.Truncate(l.checkpoints(s), int64(len(text)-len(rest))); err != nil {
			return nil, err
		}
	}
	if len(all) > 0 {
		t.signed = all[len(all)-1].Signed
		if t.last, err = evidence.Open(t.signed, l.key.verifier); err != nil {
			return nil, fmt.Errorf("%s: the last checkpoint: %w", l.checkpoints(s), err)
		}
		t.began.signed = all[0].Signed
		if t.began.checkpoint, err = evidence.Open(t.began.signed, l.key.verifier); err != nil {
			return nil, fmt.Errorf("%s: the first checkpoint: %w", l.checkpoints(s), err)
		}
	}
	if t.lastLeaf, err = lastLeaf(l.leaves(s)); err != nil {
		return nil, err
	}
	l.tips[s] = t
	return t, nil
}

// lastLeaf is the sequence in the last whole line of a file, 0 for none.
func lastLeaf(path string) (uint64, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	end := make([]byte, min(size, 2<<10)) // longer than two lines
	if _, err := f.ReadAt(end, size-int64(len(end))); err != nil {
		return 0, err
	}
	whole := bytes.LastIndexByte(end, '\n') + 1
	if whole < len(end) {
		if err := f.Truncate(size - int64(len(end)-whole)); err != nil {
			return 0, err
		}
	}
	if whole == 0 {
		return 0, nil
	}
	begins := bytes.LastIndexByte(end[:whole-1], '\n') + 1
	leaf, err := evidence.ParseLeafLine(end[begins : whole-1])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return leaf.Seq, nil
}

// behind says whether a checkpoint is newer than what is kept.
func (l *folder) behind(c evidence.Checkpoint) (bool, error) {
	t, err := l.tip(c.Stream)
	return err == nil && (len(t.signed) == 0 || t.last.Size < c.Size), err
}

// keep appends the hashes up to a checkpoint, then the checkpoint. Both are on
// the disk when it returns. After an error the next call looks where the files end,
// and cuts off what a full disk left of a line.
func (l *folder) keep(tree *audit.Tree, c evidence.Checkpoint, signed []byte) (err error) {
	t, err := l.tip(c.Stream)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			delete(l.tips, c.Stream)
		}
	}()
	if c.Size > 0 {
		if err := l.keepLeaves(tree, t, c); err != nil {
			return err
		}
	}
	if err := appendDurably(l.checkpoints(c.Stream), append(bytes.Clone(signed), '\n')); err != nil {
		return err
	}
	if t.last, t.signed = c, signed; len(t.began.signed) == 0 {
		t.began = sealed{c, signed}
	}
	return nil
}

// keptTogether is how many bytes of hashes are written at a time: those of a long log are
// more than its memory, where a place has none of them yet.
const keptTogether = 1 << 20

// keepLeaves appends the hashes behind those that a stream's file has, up to a checkpoint.
func (l *folder) keepLeaves(tree *audit.Tree, t *streamTip, c evidence.Checkpoint) error {
	var lines []byte
	for leaf, err := range tree.Leaves(t.lastLeaf + 1) {
		if err != nil {
			return err
		}
		if leaf.Seq > c.Last() {
			break
		}
		if lines = evidence.AppendLeafLine(lines, leaf); len(lines) >= keptTogether {
			if err := appendDurably(l.leaves(c.Stream), lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	t.lastLeaf = max(t.lastLeaf, c.Last())
	return appendDurably(l.leaves(c.Stream), lines)
}

// appendDurably appends to a file and waits until it is on the disk. What could not
// be written whole is taken back, as far as that works.
func appendDurably(path string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644) //nolint:gosec // evidence is for everybody whom the folder lets in
	if err != nil {
		return err
	}
	before, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err != nil {
		err = errors.Join(err, f.Truncate(before))
	}
	return errors.Join(err, f.Close())
}
