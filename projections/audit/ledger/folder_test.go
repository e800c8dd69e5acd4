package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/projections/audit"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/schemas"
)

func newKey(t *testing.T) signingKey {
	t.Helper()
	key, err := loadOrCreateKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedPublicKeyIsWrittenAnew(t *testing.T) {
	dir, key := t.TempDir(), newKey(t)
	path := filepath.Join(dir, evidence.KeyFile)
	warned := 0
	open := func() error {
		_, err := openFolder(dir, key, 0o700, func(string) { warned++ })
		return err
	}
	if err := open(); err != nil || warned != 0 {
		t.Fatalf("a folder that is made: %v, %d warnings", err, warned)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole)-1; at += 7 { // its last byte ends the line
		warned = 0
		content := bytes.Clone(whole)
		content[at] ^= 1 << (at % 8)
		write(t, path, content)
		if err := open(); err != nil || warned != 1 {
			t.Fatalf("byte %d: %v, %d warnings", at, err, warned)
		}
		if after, err := os.ReadFile(path); !bytes.Equal(after, whole) {
			t.Fatalf("byte %d: the file holds %q: %v", at, after, err)
		}
	}
	other := newKey(t)
	signed, err := evidence.Sign(evidence.Checkpoint{Stream: schemas.StreamSessions, Root: evidence.EmptyRoot}, other.signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"another key": []byte(other.public + "\n"), "a damaged one of another's": []byte("x" + other.public)} {
		write(t, path, content)
		write(t, filepath.Join(dir, string(schemas.StreamSessions)+evidence.CheckpointsFile), append(signed, '\n'))
		if err := open(); err == nil {
			t.Errorf("%s is taken for damage", name)
		}
		if after, err := os.ReadFile(path); !bytes.Equal(after, content) {
			t.Errorf("%s is overwritten: %v", name, err)
		}
	}
	ours, err := evidence.Sign(evidence.Checkpoint{Log: key.verifier.Name(), Stream: schemas.StreamSessions, Root: evidence.EmptyRoot, First: 1}, key.signer)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, []byte(other.public+"\n"))
	write(t, filepath.Join(dir, string(schemas.StreamSessions)+evidence.CheckpointsFile), append(ours, '\n'))
	warned = 0
	if err := open(); err != nil || warned != 1 {
		t.Errorf("another's public key beside what this key signed: %v, %d warnings", err, warned)
	}
}

func TestAFullDiskLeavesTheEvidenceWhole(t *testing.T) {
	dir, key := t.TempDir(), newKey(t)
	l, err := openFolder(dir, key, 0o700, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	c := evidence.Checkpoint{Log: key.verifier.Name(), Stream: schemas.StreamSessions, Root: evidence.EmptyRoot, First: 1}
	signed, err := evidence.Sign(c, key.signer)
	if err != nil {
		t.Fatal(err)
	}
	keep := func() error { return l.keep(nil, c, signed) }
	if err := keep(); err != nil {
		t.Fatal(err)
	}
	path := l.checkpoints(c.Stream)
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range len(signed) + 1 {
		// The next one cannot be written, and a part of it stays.
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := keep(); err == nil {
			t.Fatal("a checkpoint is kept that could not be written")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(t, path, append(bytes.Clone(kept), signed[:part]...))
		if err := keep(); err != nil {
			t.Fatalf("%d bytes of it: %v", part, err)
		}
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if all, rest := evidence.SplitCheckpoints(after); len(all) != 2 || rest != "" {
			t.Errorf("%d bytes of it: the file holds %d checkpoints and %q", part, len(all), rest)
		}
	}
}

// treeView is the view of a tree, which notes now and then how much memory is in use
// while it is read.
type treeView struct {
	kept map[string][]byte
	read *int
	most *uint64
}

func (v treeView) Get(key []byte) ([]byte, bool, error) {
	if v.most == nil {
	} else if *v.read++; *v.read%64 == 0 {
		*v.most = max(*v.most, inUse())
	}
	value, found := v.kept[string(key)]
	return value, found, nil
}

func (v treeView) Set(key, value []byte) error {
	v.kept[string(key)] = bytes.Clone(value)
	return nil
}

func (v treeView) Delete(key []byte) error                       { delete(v.kept, string(key)); return nil }
func (treeView) Scan([]byte) iter.Seq2[projections.Entry, error] { return nil }
func (treeView) Position(schemas.Stream) uint64                  { return 0 }
func (treeView) Version() int                                    { return 1 }
func (treeView) Close() error                                    { return nil }

// inUse is what is reachable in memory, in bytes.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestALongLogIsKeptInParts keeps the hashes of a log in a place that has none of them
// yet: what it takes of memory does not grow with the log.
func TestALongLogIsKeptInParts(t *testing.T) {
	const n = 80_000
	s, key := schemas.StreamSessions, newKey(t)
	view, projector := treeView{kept: map[string][]byte{}}, audit.New(nil)
	for seq := range uint64(n) {
		id := fmt.Sprintf("01a20920-554c-7e03-bf3d-%012d", seq)
		must(t, projector.ApplyRecord(view, schemas.Record{Stream: s, Seq: seq + 1, Message: schemas.Message{Header: schemas.Header{"Nats-Msg-Id": {id}, "ce-id": {id}}}}))
	}
	must(t, projector.Flush(view))
	before := inUse()
	most := before
	view.most, view.read = &most, new(int)
	tree, err := audit.OpenTree(view, s)
	must(t, err)
	root, err := tree.Root(n)
	must(t, err)
	l, err := openFolder(t.TempDir(), key, 0o700, func(string) {})
	must(t, err)
	must(t, l.keep(tree, evidence.Checkpoint{Log: key.verifier.Name(), Stream: s, Size: n, Root: root, First: 1}, []byte("signed")))
	file, err := os.Open(l.leaves(s))
	must(t, err)
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	must(t, err)
	if took := most - before; took > uint64(info.Size())/2 {
		t.Errorf("%d bytes of hashes took %d of memory", info.Size(), took)
	}
	kept := evidence.NewLeafReader(file)
	for leaf, err := range tree.Leaves(1) {
		if is, bad := kept.Next(); bad != nil || err != nil || is != leaf {
			t.Fatalf("the file has %+v for %+v: %v, %v", is, leaf, bad, err)
		}
	}
}

// TestAPlaceOfYearsIsNotReadEachTime publishes to a file that many checkpoints stand in.
func TestAPlaceOfYearsIsNotReadEachTime(t *testing.T) {
	path, key := filepath.Join(t.TempDir(), "published"), newKey(t)
	of := func(size int64) sealed {
		c := evidence.Checkpoint{Log: key.verifier.Name(), Stream: schemas.StreamSessions, Size: size, First: 1}
		signed, err := evidence.Sign(c, key.signer)
		must(t, err)
		return sealed{c, signed}
	}
	a := &Auditor{Options: Options{Publish: []string{path}}}
	publish := func(one sealed) {
		t.Helper()
		must(t, a.places[0].publish(t.Context(), one))
	}
	for range 2 { // each is a run
		var err error
		a.places, err = a.openPlaces()
		must(t, err)
		publish(of(1))
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != string(of(1).signed)+"\n" {
		t.Errorf("an earlier run's is there again: %v\n%s", err, text)
	}
	const grown = 32 << 20
	must(t, os.Truncate(path, grown))
	var before, after runtime.MemStats
	one := of(2)
	runtime.ReadMemStats(&before)
	publish(one)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > grown/2 {
		t.Errorf("one more took %d bytes of memory", took)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != grown+int64(len(one.signed))+1 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
