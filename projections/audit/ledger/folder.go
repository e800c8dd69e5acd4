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
	"syscall"

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
	root *os.Root // the same, out of which no link leads
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
	if err := os.MkdirAll(dir, mode); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	l := &folder{dir: dir, root: root, key: key, tips: map[schemas.Stream]*streamTip{}}
	write := func() error {
		return atomicfile.WriteIn(root, evidence.KeyFile, []byte(key.public+"\n"), atomicfile.Options{Mode: 0o644})
	}
	have, err := readIn(root, evidence.KeyFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, write()
	case err != nil:
		return nil, err
	case string(bytes.TrimSpace(have)) != key.public:
		other, err := note.NewVerifier(string(bytes.TrimSpace(have)))
		another := err == nil && (other.Name() != key.verifier.Name() || other.KeyHash() != key.verifier.KeyHash())
		if some, own := l.own(); !own || another && !some {
			return nil, fmt.Errorf("%s holds checkpoints of another key, %.40q…. Put that folder back, or audit.key into the folder of the credentials, as from a backup; or move that folder away, and a new key begins anew", dir, bytes.TrimSpace(have))
		}
		if err := write(); err != nil {
			return nil, err
		}
		warn(filepath.Join(dir, evidence.KeyFile) + " was damaged and is written anew from the key that signs: nothing is lost. Check the disk")
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
	text, err := readIn(l.root, string(s)+evidence.CheckpointsFile)
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
		if err := l.cut(string(s)+evidence.CheckpointsFile, int64(len(text)-len(rest))); err != nil {
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
	if t.lastLeaf, err = lastLeaf(l.root, string(s)+evidence.LeavesFile); err != nil {
		return nil, err
	}
	l.tips[s] = t
	return t, nil
}

// lastLeaf is the sequence in the last whole line of a file, 0 for none.
func lastLeaf(in *os.Root, name string) (uint64, error) {
	f, err := openIn(in, name, os.O_RDWR)
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
		return 0, fmt.Errorf("%s: %w", filepath.Join(in.Name(), name), err)
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
	if err := appendDurably(l.root, string(c.Stream)+evidence.CheckpointsFile, append(bytes.Clone(signed), '\n')); err != nil {
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
			if err := appendDurably(l.root, string(c.Stream)+evidence.LeavesFile, lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	t.lastLeaf = max(t.lastLeaf, c.Last())
	return appendDurably(l.root, string(c.Stream)+evidence.LeavesFile, lines)
}

// appendDurably appends to a file and waits until it is on the disk. What could not
// be written whole is taken back, as far as that works.
func appendDurably(in *os.Root, name string, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	f, err := openIn(in, name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
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

// maxFile is the largest file that is read or appended to, in bytes: one that somebody
// else made longer takes the memory of all.
const maxFile = 1 << 30

// openIn opens a file of a folder that others may write, too: no link leads out of it,
// and no pipe in its place keeps anybody waiting.
func openIn(in *os.Root, name string, flags int) (*os.File, error) {
	f, err := in.OpenFile(name, flags|syscall.O_NONBLOCK, 0o644) // evidence is for everybody whom the folder lets in
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFile) {
		err = fmt.Errorf("%s is no file that Writ wrote: it is %s of %d bytes. Move it away", filepath.Join(in.Name(), name), info.Mode().Type(), info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func readIn(in *os.Root, name string) ([]byte, error) {
	f, err := openIn(in, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func (l *folder) cut(name string, size int64) error {
	f, err := openIn(l.root, name, os.O_WRONLY)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}
