package archivefile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/writbus/writ/bus/archivefile"
)

func records() []archivefile.Record {
	return []archivefile.Record{
		{Seq: 3, Time: 1_700_000_000_000_000_000, Subject: "writ.session.s.session.started", Header: []byte("NATS/1.0\r\nce-id: a\r\n\r\n"), Body: []byte(`{ "a" :1}`)},
		{Seq: 5, Time: 0, Subject: "x", Body: bytes.Repeat([]byte("body "), 1<<10)},
		{Seq: 6, Time: 7, Subject: "y", Header: []byte("h")},
	}
}

func TestSegmentHoldsWhatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "s.zst")
	for _, want := range [][]archivefile.Record{records(), nil} {
		size, err := archivefile.Write(path, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := archivefile.Read(path)
		if err != nil || !slices.EqualFunc(got, want, archivefile.Record.Equal) {
			t.Fatalf("%d records of %d: %v", len(got), len(want), err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, size %d: %v", info, size, err)
		}
	}
}

// TestAnyChangedByteIsRefused, and any end that is missing; or it changes nothing.
func TestAnyChangedByteIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.zst")
	if _, err := archivefile.Write(path, records()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look := func(what string, at int, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := archivefile.Read(path)
		if err == nil && !slices.EqualFunc(got, records(), archivefile.Record.Equal) {
			t.Fatalf("%s at %d of %d: %d records, and no error", what, at, len(whole), len(got))
		}
		if err != nil && !errors.Is(err, archivefile.ErrDamaged) {
			t.Fatalf("%s at %d: %v", what, at, err)
		}
	}
	for at := range whole {
		for _, bit := range []int{at % 8, 7 - at%8} {
			changed := slices.Clone(whole)
			changed[at] ^= 1 << bit
			look("a flipped bit", at, changed)
		}
		look("an end", at, whole[:at])
	}
	if _, err := archivefile.Read(path + "none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "s.zst")
	if _, err := archivefile.Write(path, records()[:1]); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "s.zst")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := archivefile.Read(path); err != nil && !errors.Is(err, archivefile.ErrDamaged) {
			t.Fatal(err)
		}
	})
}
