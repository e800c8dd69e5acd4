package blockfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Range is from where to where a stream was known to reach. The zero value is
// not known.
type Range struct{ First, Last uint64 }

// Damage is a place in a stream's files where records should stand and no sound
// one does.
type Damage struct {
	Stream   string
	Block    int // number of the file
	From, To int // the bytes of it; equal where nothing stands
	// First and Last are the sequences that are missing; where Last is below
	// First, what stands there is no record's.
	First, Last uint64
	Erased      bool // a mark stands there that says so: of an earlier repair, or start
	AtEnd       bool // nothing sound follows

	before uint64 // sequence of the last sound record before it, 0 for none
	time   int64  // of that
}

// Records is how many records are missing.
func (d Damage) Records() uint64 {
	if d.Last < d.First {
		return 0
	}
	return d.Last - d.First + 1
}

func (d Damage) String() string {
	switch d.Records() {
	case 0:
		return fmt.Sprintf("%d bytes of %s that are no record", d.To-d.From, d.Stream)
	case 1:
		return fmt.Sprintf("record %d of %s", d.First, d.Stream)
	}
	return fmt.Sprintf("records %d to %d of %s", d.First, d.Last, d.Stream)
}

// Examine reads all records of a stream, whose folder is dir, and returns what is
// damaged. It may run beside a server that appends: a record that is being
// written at the end is none yet. It returns what the disk could not do.
func Examine(dir, stream string, known Range) ([]Damage, error) {
	w := NewWalk(dir, stream, known)
	for {
		_, more, err := w.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			return w.Finish(), nil
		}
	}
}

// Walk is an examination, one file at a time.
type Walk struct {
	dir, stream string
	known       Range
	files       []File

	last   uint64 // of the last sound record or mark
	before uint64 // of the last sound record
	time   int64  // of that
	open   []Damage
	all    []Damage
	mark   uint64 // highest sequence that is marked as erased
	passed uint64 // up to where an earlier walk was

	at    int // number of the last file
	end   int // bytes of it that were read; -1 where an earlier walk read it
	whole int // up to where they are sound records or marks
}

// File is a block on the disk.
type File struct {
	Index int
	Path  string
}

// Next is the block after one, which need not be there yet.
func (f File) Next() File {
	return File{f.Index + 1, filepath.Join(filepath.Dir(f.Path), fmt.Sprintf("%d.blk", f.Index+1))}
}

// Files are the blocks of a stream, whose folder is dir, in order.
func Files(dir string) ([]File, error) { return files(dir, 0) }

// NewWalk begins an examination.
func NewWalk(dir, stream string, known Range) *Walk {
	return &Walk{dir: dir, stream: stream, known: known}
}

// Step reads the next file and returns its size, and whether there was one: one
// that was begun since the last step is read too, and what was added meanwhile to
// the one before it.
func (w *Walk) Step() (size int, more bool, err error) {
	if len(w.files) == 0 {
		if w.files, err = w.list(); err != nil || len(w.files) == 0 {
			return 0, false, err
		}
	}
	one := w.files[0]
	w.files = w.files[1:]
	body, err := os.ReadFile(one.Path)
	if err != nil {
		return 0, false, fmt.Errorf("blocks: read %s: %w", w.stream, err)
	}
	b, err := newBlock(w.stream, one.Index, one.Path, body)
	if err != nil {
		return 0, false, err
	}
	w.read(b)
	w.at = one.Index
	return len(body), true, nil
}

// list returns the files to be read next: the last one once more where another
// was begun behind it, and more stands in it than was read.
func (w *Walk) list() ([]File, error) {
	all, err := files(w.dir, w.at-1)
	if err != nil || len(all) == 0 || all[0].Index != w.at {
		return all, err
	}
	if len(all) > 1 && w.end >= 0 {
		info, err := os.Stat(all[0].Path)
		if err != nil {
			return nil, fmt.Errorf("blocks: read %s: %w", w.stream, err)
		}
		if info.Size() > int64(w.end) {
			return all, nil
		}
	}
	return all[1:], nil
}

// files are the blocks of a stream after a number, in order.
func files(dir string, after int) (all []File, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, "msgs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), ".blk")
		if index, err := strconv.Atoi(name); is && err == nil && index > after {
			all = append(all, File{index, filepath.Join(dir, "msgs", e.Name())})
		}
	}
	slices.SortFunc(all, func(a, b File) int { return a.Index - b.Index })
	return all, err
}

func (w *Walk) read(b *block) {
	at := 0
	if b.index == w.at {
		at = w.whole
		w.open = slices.DeleteFunc(w.open, func(d Damage) bool { return d.Block == b.index && d.From >= at })
	}
	w.end, w.whole = len(b.body), at
	for at < len(b.body) {
		r, sound := b.at(at)
		if !sound {
			next := b.next(at, w.last)
			w.stretch(Damage{Stream: w.stream, Block: b.index, From: at, To: next, before: w.before, time: w.time})
			at = next
			continue
		}
		at += r.size
		w.whole = at
		switch {
		case r.deletion:
		case r.seq <= w.passed:
			w.open = nil // of the earlier walk
		case r.erased:
			w.erased(b.index, r)
		case r.seq > w.last:
			w.sound(b.index, r)
		}
	}
}

// stretch notes a part that is no record. Which records it was, the next sound one
// or mark tells.
func (w *Walk) stretch(d Damage) {
	if n := len(w.open); n > 0 && w.open[n-1].Block == d.Block && w.open[n-1].To == d.From {
		w.open[n-1].To = d.To
		return
	}
	w.open = append(w.open, d)
}

func (w *Walk) sound(index int, r record) {
	first := w.begins(r.seq)
	if len(w.open) == 0 && r.seq > first {
		w.open = []Damage{{Stream: w.stream, Block: index, From: r.at, To: r.at, before: w.before, time: w.time}}
	}
	w.close(first, r.seq-1)
	w.last, w.before, w.time = r.seq, r.seq, r.time
}

// erased notes a mark. It stands for all records between the one before it and its
// own sequence; where damaged bytes come first, for its own alone, since nobody
// can tell how the others were divided.
func (w *Walk) erased(index int, r record) {
	w.mark = max(w.mark, r.seq)
	first := w.begins(1)
	if first > r.seq {
		return
	}
	if len(w.open) > 0 {
		w.close(first, r.seq-1)
		first = r.seq
	}
	w.all = append(w.all, Damage{
		Stream: w.stream, Block: index, From: r.at, To: r.at + r.size, First: first, Last: r.seq, Erased: true, before: w.before, time: w.time,
	})
	w.last = r.seq
}

// begins is the sequence that is to come next. What a mark of an erased record
// explains, a stream that now begins behind it once had.
func (w *Walk) begins(found uint64) uint64 {
	switch {
	case w.last > 0:
		return w.last + 1
	case w.known.First > 0 && w.known.First != w.mark+1:
		return w.known.First
	case len(w.open) > 0 || w.known.First > 0:
		return 1
	}
	return found
}

// close gives the sequences that are missing to the open stretches: to the first,
// for nobody can tell how they were divided.
func (w *Walk) close(first, last uint64) {
	for i, d := range w.open {
		if d.First, d.Last = first, last; i > 0 || first > last {
			d.First, d.Last = first, first-1
		}
		w.all = append(w.all, d)
	}
	w.open = nil
}

// At is the file that was read last and the sequence that was reached.
func (w *Walk) At() (block int, last uint64) { return w.at, w.last }

// Resume goes on where an earlier walk was, with the file that it read last: more
// may stand in that now.
func (w *Walk) Resume(block int, last uint64) {
	w.at, w.end, w.last, w.passed = block-1, -1, last, last
}

// Found is what was found so far and is not to change.
func (w *Walk) Found() []Damage { return w.all }

// Finish ends the examination. What is not whole at the very end counts as damage
// only up to what the stream was known to hold: the rest was not acknowledged.
func (w *Walk) Finish() []Damage {
	last := max(w.known.Last, w.mark)
	if last <= w.last {
		return w.all
	}
	first := w.begins(1)
	if len(w.open) == 0 {
		w.open = []Damage{{Stream: w.stream, Block: max(w.at, 1), From: w.end, To: w.end, before: w.before, time: w.time}}
	}
	for i := range w.open {
		w.open[i].AtEnd = true
	}
	w.close(first, last)
	return w.all
}

// LastSum is the checksum at the end of a stream's last file, and whether the
// files before it are all there.
func LastSum(dir string) (sum []byte, whole bool) {
	all, err := files(dir, 0)
	if err != nil || len(all) == 0 || all[len(all)-1].Index != len(all) {
		return nil, false
	}
	last, err := os.Open(all[len(all)-1].Path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = last.Close() }() // read only
	if _, err := last.Seek(-sumSize, io.SeekEnd); err != nil {
		return nil, false
	}
	sum = make([]byte, sumSize)
	_, err = io.ReadFull(last, sum)
	return sum, err == nil
}

// Size is how many bytes of records a stream's folder holds, 0 where it cannot be
// read.
func Size(dir string) (n int64) {
	all, _ := files(dir, 0)
	for _, one := range all {
		if info, err := os.Stat(one.Path); err == nil {
			n += info.Size()
		}
	}
	return n
}
