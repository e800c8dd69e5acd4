package vector

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// Any values are views and queries: what is no direction matches nothing, and
// the rest is sorted, filtered and the same when asked again.
func FuzzNearest(f *testing.F) {
	f.Add([]byte{}, uint8(1), uint8(0))
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 128, 63, 0, 0, 128, 191}, uint8(2), uint8(3))
	f.Add(binary.LittleEndian.AppendUint32(make([]byte, 64), math.Float32bits(float32(math.NaN()))), uint8(3), uint8(1))
	f.Add(binary.LittleEndian.AppendUint32(make([]byte, 64), math.Float32bits(math.MaxFloat32)), uint8(1), uint8(2))
	f.Add(binary.LittleEndian.AppendUint32(make([]byte, 64), 1), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, values []byte, dim, odd uint8) {
		width := int(dim)%140 + 1
		var vectors [][]float32
		for len(values) >= 4*width && len(vectors) < 200 {
			v := make([]float32, width)
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(values[4*i:]))
			}
			vectors, values = append(vectors, v), values[4*width:]
		}
		query := make([]float32, width)
		query[int(odd)%width] = 1
		if len(vectors) > 0 {
			query, vectors = vectors[0], vectors[1:]
		}
		views := make([]View, len(vectors))
		for i, v := range vectors {
			views[i] = View{Doc: int32(i / 3), Vector: v}
		}
		ix, err := New(views)
		if err != nil {
			t.Fatal(err)
		}
		keep := func(doc int32) bool { return doc%7 != int32(odd)%7 }
		got := ix.Nearest(query, 5, keep)
		if !slices.Equal(got, ix.Nearest(query, 5, keep)) || !slices.IsSortedFunc(got, order) {
			t.Fatalf("not the same twice, or not in order: %v", got)
		}
		for i, m := range got {
			if !keep(m.Doc) || !(m.Cosine >= -1 && m.Cosine <= 1) || slices.ContainsFunc(got[:i], func(o Match) bool { return o.Doc == m.Doc }) {
				t.Fatalf("match %d of %v", i, got)
			}
		}
	})
}
