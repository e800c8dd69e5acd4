package blockfile

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/writbus/writ/schemas"
)

// stored is a record as the server writes it.
func stored(seq uint64, subject, header, body string) []byte {
	size := uint32(headSize + len(subject) + len(body) + sumSize)
	if header != "" {
		size += 4 + uint32(len(header))
	}
	flagged := size
	if header != "" {
		flagged |= headerBit
	}
	raw := binary.LittleEndian.AppendUint32(nil, flagged)
	raw = binary.LittleEndian.AppendUint64(raw, seq)
	raw = binary.LittleEndian.AppendUint64(raw, 1) // time
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(subject)))
	raw = append(raw, subject...)
	if header != "" {
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(header))), header...)
	}
	return append(append(raw, body...), "checksum"...)
}

func read(raw []byte) (records []schemas.Record, err error) {
	for r, err := range Records(raw, schemas.StreamRules) {
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

func TestRecords(t *testing.T) {
	whole := slices.Concat(stored(7, "writ.rule.a.rule.proposed", "NATS/1.0\r\na: b\r\n\r\n", "body"), stored(8, "writ.rule.a.rule.proposed", "", ""))
	records, err := read(whole)
	if err != nil || len(records) != 2 {
		t.Fatalf("%+v, %v", records, err)
	}
	one, two := records[0], records[1]
	if one.Stream != schemas.StreamRules || one.Seq != 7 || one.Message.Subject != "writ.rule.a.rule.proposed" || string(one.Message.Block) != "NATS/1.0\r\na: b\r\n\r\n" || string(one.Message.Body) != "body" {
		t.Errorf("%+v", one)
	}
	if two.Seq != 8 || two.Message.Block != nil || len(two.Message.Body) != 0 {
		t.Errorf("%+v", two)
	}
	long := stored(1, "s", "header", "body")
	binary.LittleEndian.PutUint32(long[headSize+1:], 1<<31)
	short := stored(1, "s", "", "body")
	binary.LittleEndian.PutUint32(short, headSize)
	for name, c := range map[string]struct {
		raw  []byte
		want error
		n    int
	}{
		"nothing":              {nil, nil, 0},
		"torn":                 {whole[:len(whole)-1], ErrTorn, 1},
		"torn in the head":     {append(slices.Clone(whole), 1, 2, 3), ErrTorn, 2},
		"a gap":                {slices.Concat(stored(1, "s", "", ""), stored(3, "s", "", "")), ErrUnclear, 1},
		"out of order":         {slices.Concat(stored(2, "s", "", ""), stored(1, "s", "", "")), ErrUnclear, 1},
		"erased":               {stored(1|1<<63, "s", "", ""), ErrUnclear, 0},
		"stands for an erased": {stored(1|1<<62, "s", "", ""), ErrUnclear, 0},
		"no sequence":          {stored(0, "s", "", ""), ErrUnclear, 0},
		"no subject":           {stored(1, "", "", "x"), ErrUnclear, 0},
		"a header too long":    {long, ErrUnclear, 0},
		"too short":            {short, ErrUnclear, 0},
		"compressed":           {append([]byte("cmp\x01\x80\x20"), make([]byte, 64)...), ErrUnclear, 0},
	} {
		records, err := read(c.raw)
		if !errors.Is(err, c.want) || len(records) != c.n {
			t.Errorf("%s: %d records, %v", name, len(records), err)
		}
	}
}

func TestBlocks(t *testing.T) {
	root := t.TempDir()
	if _, err := Blocks(root, schemas.StreamRules); !errors.Is(err, ErrUnclear) {
		t.Errorf("without a stream: %v", err)
	}
	dir := filepath.Join(root, filepath.FromSlash(streamsDir), string(schemas.StreamRules), blocksDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"10.blk", "9.blk", "index.db"} {
		put(name)
	}
	if got, err := Blocks(root, schemas.StreamRules); err != nil || !slices.Equal(got, []string{filepath.Join(dir, "9.blk"), filepath.Join(dir, "10.blk")}) {
		t.Errorf("%q, %v", got, err)
	}
	put("x.blk")
	if _, err := Blocks(root, schemas.StreamRules); !errors.Is(err, ErrUnclear) {
		t.Errorf("a block of another name: %v", err)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add(slices.Concat(stored(1, "s", "h", "b"), stored(2, "s", "", "")))
	f.Add(stored(1|1<<63, "s", "", ""))
	f.Add([]byte("cmp\x01"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		size := 0
		records, err := read(raw)
		for i, r := range records {
			if i > 0 && r.Seq != records[i-1].Seq+1 {
				t.Fatalf("record %d comes after %d", r.Seq, records[i-1].Seq)
			}
			size += headSize + len(r.Message.Subject) + len(r.Message.Block) + len(r.Message.Body) + sumSize
		}
		if size > len(raw) || err == nil && len(records) > 0 && size+4*len(records) < len(raw) {
			t.Fatalf("%d bytes of %d were read: %v", size, len(raw), err)
		}
	})
}
