package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// build writes a file of a header and data.
func build(header string, data ...byte) []byte {
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), []byte(header), data)
}

func parse(raw []byte) (*File, error) {
	return Parse("m.safetensors", bytes.NewReader(raw), int64(len(raw)))
}

func TestFloatsOfEveryType(t *testing.T) {
	for _, c := range []struct {
		kind string
		data []byte
		want []float32
	}{
		{"F64", binary.LittleEndian.AppendUint64(nil, math.Float64bits(-1.5)), []float32{-1.5}},
		{"F32", binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)), []float32{0.1}},
		{"F16", []byte{0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x01, 0x00, 0x00, 0x04, 0xff, 0x03, 0x00, 0x80, 0x55, 0x35}, []float32{
			1, -2, 65504, 1.0 / (1 << 24), 1.0 / (1 << 14), 1023.0 / (1 << 24), float32(math.Copysign(0, -1)), 0.333251953125,
		}},
		{"F16", []byte{0x00, 0x7c, 0x00, 0xfc}, []float32{float32(math.Inf(1)), float32(math.Inf(-1))}},
		{"BF16", []byte{0x80, 0x3f, 0x49, 0xc0}, []float32{1, -3.140625}},
		{"I8", []byte{0x7f, 0x80, 0xff, 0}, []float32{127, -128, -1, 0}},
		{"U8", []byte{0xff, 1}, []float32{255, 1}},
	} {
		header := `{"x":{"dtype":"` + c.kind + `","shape":[` + itoa(len(c.want)) + `],"data_offsets":[0,` + itoa(len(c.data)) + `]}}`
		f, err := parse(build(header, c.data...))
		if err != nil {
			t.Fatal(c.kind, err)
		}
		got, err := f.Floats("x", -1)
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%s: %v, %v", c.kind, got, err)
		}
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(c.want[i]) {
				t.Errorf("%s [%d]: %v, want %v", c.kind, i, got[i], c.want[i])
			}
		}
	}
}

func itoa(n int) string {
	if n >= 10 {
		return itoa(n/10) + itoa(n%10)
	}
	return string(rune('0' + n))
}

func TestTensorsLargerThanAChunk(t *testing.T) {
	const n = 1<<19 + 3
	header := `{"pad":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"I32","shape":[` + itoa(n) + `],"data_offsets":[2,` + itoa(2+4*n) + `]}}`
	data := []byte{1, 2}
	for i := range n {
		data = binary.LittleEndian.AppendUint32(data, uint32(-i))
	}
	path := filepath.Join(t.TempDir(), "big.safetensors")
	if err := os.WriteFile(path, build(header, data...), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := f.Ints("x", n)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != int64(-i) {
			t.Fatalf("[%d] = %d", i, v)
		}
	}
}

func TestDescriptions(t *testing.T) {
	f, err := parse(build(`{"__metadata__":{"format":"pt"},"b":{"dtype":"I64","shape":[1,2],"data_offsets":[2,18]},`+
		`"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"z":{"dtype":"F32","shape":[0,7],"data_offsets":[18,18]}}   `, make([]byte, 18)...))
	if err != nil {
		t.Fatal(err)
	}
	if names := f.Names(); !slices.Equal(names, []string{"a", "b", "z"}) || f.Metadata()["format"] != "pt" || f.Name() != "m.safetensors" {
		t.Errorf("names %v, metadata %v, name %q", names, f.Metadata(), f.Name())
	}
	if b, ok := f.Lookup("b"); !ok || b.Type != "I64" || !slices.Equal(b.Shape, []int{1, 2}) || b.Elements() != 2 {
		t.Errorf("%+v %v", b, ok)
	}
	if v, err := f.Floats("z"); err != nil || len(v) != 0 {
		t.Errorf("empty tensor: %v, %v", v, err)
	}
	if v, err := f.Floats("a"); err != nil || len(v) != 1 {
		t.Errorf("scalar: %v, %v", v, err)
	}
	for want, err := range map[error]error{
		ErrMissing: second(f.Floats("c")), ErrShape: second(f.Ints("b", 2, 1)), ErrType: second(f.Floats("b")),
	} {
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "m.safetensors") {
			t.Errorf("%v, want %v naming the file", err, want)
		}
	}
	if err := second(f.Ints("a")); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if err := second(f.Ints("b", 2)); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestMalformedFilesAreNamed(t *testing.T) {
	const ok = `{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`
	for name, raw := range map[string][]byte{
		"empty":             nil,
		"short":             {1, 2, 3},
		"no header":         {0, 0, 0, 0, 0, 0, 0, 0},
		"huge header":       {0, 0, 0, 0, 0, 0, 0, 0x80},
		"header past end":   {200, 0, 0, 0, 0, 0, 0, 0, '{', '}'},
		"not an object":     build(`[]`),
		"bad JSON":          build(`{"x":`),
		"bad key":           build(`{1:2}`),
		"trailing":          build(ok+"{}", 1, 2, 3, 4),
		"twice":             build(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"bad entry":         build(`{"x":3}`),
		"bad metadata":      build(`{"__metadata__":{"a":1}}`),
		"unknown type":      build(`{"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}`, 1, 2, 3, 4),
		"one offset":        build(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, 1, 2, 3, 4),
		"negative offset":   build(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`),
		"backward":          build(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, 1, 2, 3, 4),
		"past the end":      build(ok, 1, 2, 3),
		"negative shape":    build(`{"x":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, 1, 2, 3, 4),
		"overflowing shape": build(`{"x":{"dtype":"F32","shape":[2147483647,2147483647,4],"data_offsets":[0,4]}}`, 1, 2, 3, 4),
		"shape to nothing":  build(`{"x":{"dtype":"F32","shape":[65536,65536,65536,65536],"data_offsets":[0,0]}}`),
		"shape and length":  build(`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 1, 2, 3, 4),
		"data behind":       build(ok, 1, 2, 3, 4, 5),
		"gap":               build(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 1, 2),
		"overlap":           build(`{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}`, 1, 2, 3),
	} {
		if _, err := parse(raw); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "m.safetensors") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	raw := build(`{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 1, 2, 3, 4)
	// A file that shrinks after it was opened.
	f, err := Parse("m", bytes.NewReader(raw[:len(raw)-1]), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Floats("x"); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), `"x"`) {
		t.Error(err)
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("a folder was opened")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(build(`{"x":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},"y":{"dtype":"I64","shape":[1],"data_offsets":[4,12]}}`, make([]byte, 12)...))
	f.Add(build(`{"__metadata__":{"format":"pt"}}`))
	f.Add(build(`{"x":{"dtype":"BF16","shape":[9223372036854775807,2],"data_offsets":[0,4]}}`, 1, 2, 3, 4))
	f.Add([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 0, '{'})
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := parse(raw)
		if err != nil {
			return
		}
		total := 0
		for _, name := range file.Names() {
			tensor, _ := file.Lookup(name)
			if v, err := file.Floats(name); err == nil && len(v) != tensor.Elements() {
				t.Fatalf("%q: %d values, want %d", name, len(v), tensor.Elements())
			}
			if v, err := file.Ints(name); err == nil && len(v) != tensor.Elements() {
				t.Fatalf("%q: %d values, want %d", name, len(v), tensor.Elements())
			}
			total += int(widths[tensor.Type]) * tensor.Elements()
		}
		if n := int(binary.LittleEndian.Uint64(raw)); total != len(raw)-8-n {
			t.Fatalf("the tensors have %d bytes, the file %d", total, len(raw)-8-n)
		}
	})
}
