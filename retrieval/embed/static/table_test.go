package static

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// small is a table of three words and two buckets.
func small(t testing.TB) *Table {
	t.Helper()
	table, err := Build(4, []string{"cat", "dog", "lock"}, 2, []float32{
		1, 0, 0, 0,
		0.9, 0.1, 0, 0,
		0, 0, 0.02, 0,
		0, 0, 0, -3,
		0, 0, 0, 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestBuildKeepsEveryRowWithinHalfAStep(t *testing.T) {
	const dim, rows = 8, 40
	vectors := make([]float32, dim*rows)
	var words []string
	for row := range rows {
		if row < rows/2 {
			words = append(words, string(rune('a'+row)))
		}
		for d := range dim {
			vectors[row*dim+d] = float32(math.Sin(float64(row*dim+d))) * float32(math.Pow(2, -float64(row)/5))
		}
	}
	table, err := Build(dim, words, rows/2, vectors)
	if err != nil {
		t.Fatal(err)
	}
	var largest float32
	for _, x := range vectors {
		largest = max(largest, abs(x))
	}
	unit := float64(largest) / (127 * math.MaxUint16)
	for i, x := range vectors {
		scale := float64(table.scales[i/dim]) * unit
		if got := float64(int8(table.rows[i])) * scale; math.Abs(got-float64(x)) > scale/2*1.0001 {
			t.Fatalf("value %d: %g became %g, with a step of %g", i, x, got, scale)
		}
	}
	again, err := Decode(table.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Words(), words) || again.Dim() != dim || again.Buckets() != rows/2 ||
		!slices.Equal(again.scales, table.scales) || !bytes.Equal(again.rows, table.rows) || again.Fingerprint() != table.Fingerprint() {
		t.Error("decoding its bytes gives another table")
	}
}

func TestBuildRefuses(t *testing.T) {
	nan := float32(math.NaN())
	for name, build := range map[string]func() (*Table, error){
		"no dimensions":      func() (*Table, error) { return Build(0, nil, 1, nil) },
		"too many":           func() (*Table, error) { return Build(maxDim+1, nil, 1, make([]float32, maxDim+1)) },
		"no buckets":         func() (*Table, error) { return Build(1, []string{"a"}, 0, []float32{1}) },
		"too few values":     func() (*Table, error) { return Build(2, []string{"a"}, 1, []float32{1, 2, 3}) },
		"not a number":       func() (*Table, error) { return Build(1, []string{"a"}, 1, []float32{1, nan}) },
		"words out of order": func() (*Table, error) { return Build(1, []string{"b", "a"}, 1, []float32{1, 1, 1}) },
		"a word twice":       func() (*Table, error) { return Build(1, []string{"a", "a"}, 1, []float32{1, 1, 1}) },
		"an empty word":      func() (*Table, error) { return Build(1, []string{""}, 1, []float32{1, 1}) },
		"a long word":        func() (*Table, error) { return Build(1, []string{string(make([]byte, 300))}, 1, []float32{1, 1}) },
	} {
		if _, err := build(); !errors.Is(err, ErrTable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// signed puts a valid checksum behind content.
func signed(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(slices.Clone(content), sum[:checksumBytes]...)
}

func TestDecodeRefusesDamage(t *testing.T) {
	good := small(t).Encode()
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if _, err := Decode(good[:n]); !errors.Is(err, ErrTable) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
		flipped := slices.Clone(good)
		flipped[n] ^= 0x10
		if _, err := Decode(flipped); !errors.Is(err, ErrTable) {
			t.Fatalf("with byte %d changed: %v", n, err)
		}
	}
	content := good[:len(good)-checksumBytes]
	longer := signed(append(slices.Clone(content), 0))
	if _, err := Decode(longer); !errors.Is(err, ErrTable) {
		t.Errorf("with a byte too many: %v", err)
	}
	many := slices.Clone(content)
	binary.LittleEndian.PutUint32(many[len(magic)+2:], math.MaxUint32)
	if _, err := Decode(signed(many)); !errors.Is(err, ErrTable) {
		t.Errorf("with 2^32 words: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	good := small(f).Encode()
	content := good[:len(good)-checksumBytes]
	f.Add(good[:headerBytes])
	f.Add(content)
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		// Nobody guesses a checksum, so what is behind it is tried with a right one.
		for _, b := range [][]byte{b, signed(b)} {
			table, err := Decode(b)
			if err != nil {
				if !errors.Is(err, ErrTable) || table != nil {
					t.Fatalf("error %v, table %v", err, table)
				}
				continue
			}
			for _, text := range []string{"", "cat", "an unknown word", string(b)} {
				v, _ := New(table).Embed(text)
				if len(v) != table.Dim() {
					t.Fatalf("%d dimensions, not %d", len(v), table.Dim())
				}
				checkLength(t, v)
			}
		}
	})
}
