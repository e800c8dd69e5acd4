package blockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/atomicfile"
	"github.com/writbus/writ/schemas/digest"
)

// How a damaged place was dealt with.
type How string

// The ways.
const (
	Mended   How = "mended"   // one byte was wrong, and is right again
	Restored How = "restored" // the records were taken from a backup
	Lost     How = "lost"     // the records are gone; what follows stays where it is
	Removed  How = "removed"  // what stood there was no record
)

// Outcome is what was done about a part of a damage.
type Outcome struct {
	Damage
	How  How
	Kept string // the damaged file as it was, "" where there was none
}

// Options say how a stream is repaired.
type Options struct {
	Dir    string // the stream's folder
	Stream string
	Known  Range
	Keep   string // the folder that damaged files are copied to
	// From is the stream's folder in a backup of the same log, "" for none. A
	// backup in which a record beside a damaged one was received at another time
	// is not taken from.
	From string
	// Leave says of a damage that it stays as it is; nil for none.
	Leave func(Damage) bool
}

// Repair puts right what is damaged in a stream that no server has open, and
// returns what it did. Each file is replaced as a whole, so that it can be cut
// off and repeated. It returns what the disk could not do.
func Repair(o Options) (all []Outcome, err error) {
	found, err := Examine(o.Dir, o.Stream, o.Known)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(d Damage) bool { return o.Leave != nil && o.Leave(d) })
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n].Block == found[0].Block {
			n++
		}
		some, err := o.repairBlock(found[:n])
		if err != nil {
			return all, fmt.Errorf("blocks: repair %s: %w", o.Stream, err)
		}
		all, found = append(all, some...), found[n:]
	}
	return all, nil
}

// repairBlock deals with the damages of one file, which are in order.
func (o Options) repairBlock(found []Damage) (all []Outcome, err error) {
	path := filepath.Join(o.Dir, "msgs", fmt.Sprintf("%d.blk", found[0].Block))
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b, err := newBlock(o.Stream, found[0].Block, path, body)
	if err != nil {
		return nil, err
	}
	kept, err := o.keep(b)
	if err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	for _, d := range found {
		out = append(out, body[at:d.From]...)
		part, done, err := o.replace(b, d)
		if err != nil {
			return nil, err
		}
		for i := range done {
			done[i].Kept = kept
		}
		out, all, at = append(out, part...), append(all, done...), d.To
	}
	out = append(out, body[at:]...)
	if bytes.Equal(out, body) {
		return all, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	if err := dropIndex(o.Dir); err != nil {
		return nil, err
	}
	return all, atomicfile.WriteWith(path, out, atomicfile.Options{Mode: 0o640, Keep: true})
}

// dropIndex removes the server's index of a stream's records, before they change:
// it is made again from them.
func dropIndex(dir string) error {
	if err := os.Remove(filepath.Join(dir, "msgs", "index.db")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (o Options) keep(b *block) (string, error) {
	if len(b.body) == 0 {
		return "", nil
	}
	return keep(o.Keep, fmt.Sprintf("%s-%d", o.Stream, b.index), b.body)
}

// keep copies a file aside, under a name that its content gives it.
func keep(dir, name string, body []byte) (string, error) {
	path := filepath.Join(dir, name+"-"+digest.Hex(body)[:16]+".blk")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, body, 0o600)
}

// Rewrite lets change say what the headers and the body of each record of a stream
// are from now on; no server has the stream open. Each file is replaced as a whole,
// so that it can be cut off and repeated. What is damaged stays as it is.
func Rewrite(dir, stream string, change func(seq uint64, subject string, header, body []byte) (h, b []byte)) error {
	return eachBlock(dir, stream, func(b *block) (more bool, err error) {
		out := b.rewritten(change)
		if bytes.Equal(out, b.body) {
			return true, nil
		}
		if err := dropIndex(dir); err != nil {
			return false, err
		}
		return true, atomicfile.WriteWith(b.path, out, atomicfile.Options{Mode: 0o640, Keep: true})
	})
}

// eachBlock reads the files of a stream in order, until do says no or fails.
func eachBlock(dir, stream string, do func(*block) (more bool, err error)) error {
	all, err := files(dir, 0)
	if err != nil {
		return err
	}
	for _, one := range all {
		body, err := os.ReadFile(one.Path)
		if err != nil {
			return err
		}
		b, err := newBlock(stream, one.Index, one.Path, body)
		if err != nil {
			return err
		}
		if more, err := do(b); err != nil || !more {
			return err
		}
	}
	return nil
}

func (b *block) rewritten(change func(seq uint64, subject string, header, body []byte) (h, b []byte)) (out []byte) {
	for at := 0; at < len(b.body); {
		r, sound := b.at(at)
		if !sound {
			next := b.next(at, 0)
			out, at = append(out, b.body[at:next]...), next
			continue
		}
		raw := b.body[at : at+r.size]
		at += r.size
		if r.erased || r.deletion {
			out = append(out, raw...)
			continue
		}
		subject, header, body := partsOf(raw)
		h, rest := change(r.seq, string(subject), header, body)
		if bytes.Equal(h, header) && bytes.Equal(rest, body) {
			out = append(out, raw...)
			continue
		}
		out = append(out, b.adopt(assembled(raw[:headSize], subject, h, rest))...)
	}
	return out
}

// Each hands over the records of a stream that can be read, with the time when the
// server received them, in nanoseconds since 1970, until do says no.
func Each(dir, stream string, do func(seq uint64, time int64, subject string, header, body []byte) bool) error {
	return eachSound(dir, stream, func(b *block, r record) bool {
		subject, header, body := partsOf(b.body[r.at : r.at+r.size])
		return do(r.seq, r.time, string(subject), header, body)
	})
}

// CutAfter removes the records of a stream that no server has open which it received
// after a time, and returns the sequence of the last one that stays, 0 for none.
func CutAfter(dir, stream string, time int64) (last uint64, err error) {
	var at *block
	from := 0
	if err := eachSound(dir, stream, func(b *block, r record) bool {
		if r.time > time {
			at, from = b, r.at
			return false
		}
		last = r.seq
		return true
	}); err != nil || at == nil {
		return last, err
	}
	all, err := files(dir, at.index)
	if err == nil {
		err = dropIndex(dir)
	}
	for _, later := range slices.Backward(all) {
		if err == nil {
			err = os.Remove(later.Path)
		}
	}
	switch {
	case err != nil:
		return last, err
	case from == 0:
		return last, os.Remove(at.path)
	}
	return last, atomicfile.WriteWith(at.path, at.body[:from], atomicfile.Options{Mode: 0o640, Keep: true})
}

// eachSound hands over the records of a stream that can be read until do says no.
func eachSound(dir, stream string, do func(*block, record) bool) error {
	return eachBlock(dir, stream, func(b *block) (more bool, err error) {
		for at := 0; at < len(b.body); {
			r, sound := b.at(at)
			if !sound {
				at = b.next(at, 0)
				continue
			}
			at += r.size
			if !r.erased && !r.deletion && !do(b, r) {
				return false, nil
			}
		}
		return true, nil
	})
}

// Keep copies a file of records aside and returns where it is.
func Keep(dir, path string) (kept string, err error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	stream := filepath.Base(filepath.Dir(filepath.Dir(path)))
	return keep(dir, stream+"-"+strings.TrimSuffix(filepath.Base(path), ".blk"), body)
}

// PutBack makes a file that was cut off what it was when Keep copied it. It returns
// the file, which it finds below the folder of all streams by the name of the copy,
// and whether it is whole: it stays as it is where something was written behind the
// cut.
func PutBack(streams, kept string) (path string, whole bool, err error) {
	parts := strings.Split(filepath.Base(kept), "-")
	if len(parts) < 3 {
		return "", false, fmt.Errorf("blocks: %s is no copy of a file of records", kept)
	}
	path = filepath.Join(streams, strings.Join(parts[:len(parts)-2], "-"), "msgs", parts[len(parts)-2]+".blk")
	was, err := os.ReadFile(kept)
	if err != nil {
		return path, false, err
	}
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, false, err
	}
	if bytes.Equal(was, now) {
		return path, true, nil
	}
	if len(now) >= len(was) || !bytes.HasPrefix(was, now) {
		return path, false, nil
	}
	if err := dropIndex(filepath.Dir(filepath.Dir(path))); err != nil {
		return path, false, err
	}
	return path, true, atomicfile.WriteWith(path, was, atomicfile.Options{Mode: 0o640, Keep: true})
}

// replace returns what stands in a damage's place from now on.
func (o Options) replace(b *block, d Damage) (part []byte, all []Outcome, err error) {
	if d.Records() == 0 {
		return nil, []Outcome{{Damage: d, How: Removed}}, nil
	}
	if d.Records() == 1 && !d.Erased {
		if whole, done := b.mend(d.From, d.To, d.First); done {
			return whole, []Outcome{{Damage: d, How: Mended}}, nil
		}
	}
	elsewhere, err := o.elsewhere(d)
	if err != nil {
		return nil, nil, err
	}
	for seq := d.First; seq <= d.Last; {
		run, how := d, Lost
		run.First = seq
		if raw, has := elsewhere[seq]; has {
			for ; has && seq <= d.Last; raw, has = elsewhere[seq] {
				part = append(part, b.adopt(raw)...)
				seq++
			}
			how = Restored
		} else {
			for ; !has && seq <= d.Last; _, has = elsewhere[seq] {
				seq++
			}
			part = append(part, b.erasure(seq-1, d.time)...)
		}
		run.Last = seq - 1
		all = append(all, Outcome{Damage: run, How: how})
	}
	return part, all, nil
}

// elsewhere are the missing records that the backup has, as they stand there. A record
// beside them that both have was received at one time, or it is another log's.
func (o Options) elsewhere(d Damage) (map[uint64][]byte, error) {
	found := map[uint64][]byte{}
	if o.From == "" {
		return found, nil
	}
	beside, time, same := d.before, d.time, true
	if beside == 0 {
		err := eachSound(o.Dir, o.Stream, func(_ *block, r record) bool {
			beside, time = r.seq, r.time
			return r.seq <= d.Last
		})
		if err != nil {
			return nil, err
		}
	}
	err := eachSound(o.From, o.Stream, func(b *block, r record) bool {
		if r.seq >= d.First && r.seq <= d.Last {
			found[r.seq] = b.body[r.at : r.at+r.size]
		}
		same = r.seq != beside || r.time == time
		return same && r.seq < max(d.Last, beside)
	})
	if err != nil || !same {
		return nil, err
	}
	return found, nil
}

// MendInPlace puts one wrong byte of a record right beside a server that has the
// stream open, once the file was copied aside: no byte moves. It writes within
// alone, which calls it, or not where the server is about to end the file. It says
// whether it could.
func MendInPlace(dir, keep string, d Damage, alone func(write func() error) error) (done bool, err error) {
	if d.Records() != 1 || d.Erased {
		return false, nil
	}
	path := filepath.Join(dir, "msgs", fmt.Sprintf("%d.blk", d.Block))
	body, err := os.ReadFile(path)
	if err != nil || len(body) < d.To {
		return false, err
	}
	b, err := newBlock(d.Stream, d.Block, path, body)
	if err != nil {
		return false, err
	}
	whole, can := b.mend(d.From, d.To, d.First)
	if !can {
		return false, nil
	}
	if _, err := (Options{Stream: d.Stream, Keep: keep}).keep(b); err != nil {
		return false, err
	}
	err = alone(func() (err error) {
		done, err = overwrite(path, d.From, body[d.From:d.To], whole)
		return err
	})
	return done, err
}

// overwrite changes the bytes of a file that differ, where it holds what was read
// of it: it may have been cut off meanwhile.
func overwrite(path string, at int, was, is []byte) (done bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	now := make([]byte, len(was))
	if _, err := file.ReadAt(now, int64(at)); err != nil || !bytes.Equal(now, was) {
		return false, nil //nolint:nilerr // it is not the file that was looked at
	}
	for i := range is {
		if is[i] == was[i] {
			continue
		}
		if _, err := file.WriteAt(is[i:i+1], int64(at+i)); err != nil {
			return false, err
		}
	}
	return true, file.Sync()
}
