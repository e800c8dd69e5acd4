//go:build unix

package mapped

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
)

func valuesOf(values ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, v := range values {
			if !yield([]byte(v), nil) {
				return
			}
		}
	}
}

func TestValuesComeBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values")
	if _, err := Open(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a file: %v", err)
	}
	var values []string
	for i := range 300 {
		values = append(values, fmt.Sprintf("%0*d", i+1, i))
	}
	for _, some := range [][]string{values[:2], {}, {""}, values} {
		if err := Write(path, valuesOf(some...)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Len() != len(some) {
			t.Errorf("%d values of %d", f.Len(), len(some))
		}
		for range 2 {
			for _, v := range some {
				if got, found := f.Value(SumOf([]byte(v))); !found || string(got) != v {
					t.Errorf("%q, %t of %q", got, found, v)
				}
			}
			f.Pages().Drop() // they come again
		}
		if _, found := f.Value(SumOf([]byte("another"))); found {
			t.Error("a value that was not written is found")
		}
	}
}

// TestAFileThatIsCutShortEndsNobody: values are there whatever becomes of the file
// that they were opened from, and of a copy of it nothing is left in the folder.
func TestAFileThatIsCutShortEndsNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values")
	if err := Write(path, valuesOf("one", "another")); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Pages().Drop()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a fault fails this test, not the process
	if got, found := f.Value(SumOf([]byte("one"))); !found || string(got) != "one" {
		t.Errorf("%q, %t", got, found)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("there is %v, %v", left, err)
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "values")
	if err := Write(path, valuesOf("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(yield func([]byte, error) bool) { _ = yield([]byte("two"), nil) && yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, found := f.Value(SumOf([]byte("one"))); !found || f.Len() != 1 {
		t.Error("the old file is gone")
	}
	left, err := filepath.Glob(path + "*")
	if err != nil || len(left) != 1 {
		t.Errorf("there is %v, %v", left, err)
	}
}

// written is a file of two values.
func written(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "values")
	if err := Write(path, valuesOf("the first value", "another")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestDamageIsFound(t *testing.T) {
	raw := written(t)
	path := filepath.Join(t.TempDir(), "values")
	check := func(what string, raw []byte) {
		t.Helper()
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range raw {
		other := slices.Clone(raw)
		other[i] ^= 0x10
		check(fmt.Sprintf("byte %d", i), other)
		check(fmt.Sprintf("the first %d bytes", i), raw[:i])
	}
	check("one more", append(slices.Clone(raw), 0))
	check("twice", slices.Concat(raw, raw))
}

func FuzzParse(f *testing.F) {
	raw := written(f)
	f.Add(raw)
	f.Add(raw[:headBytes])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := parse(raw)
		if err != nil {
			return
		}
		for _, value := range parsed.values {
			if !bytes.Contains(raw, value) {
				t.Errorf("%q is not in the file", value)
			}
		}
	})
}

func TestKeepLeavesNoName(t *testing.T) {
	dir := t.TempDir()
	pages, err := Keep(dir, []byte("one behind "), []byte("the other, in a row, without end"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if string(pages.Bytes()) != "one behind the other, in a row, without end" {
			t.Errorf("kept %q", pages.Bytes())
		}
		pages.Drop()
	}
	pages.Free()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
	if _, err := Keep(filepath.Join(dir, "missing"), []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}
