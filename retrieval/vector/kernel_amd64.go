package vector

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes. Codes are −127 to
// 127: −128 would overflow.
func dotCodes(out []int32, query, rows []int8) {
	if !hasAVX2 || len(query) == 0 || len(out) == 0 {
		dotCodesPortable(out, query, rows)
		return
	}
	_ = rows[:len(out)*len(query)]
	dotCodesAVX2(&out[0], &query[0], &rows[0], len(query), len(out))
}

//go:noescape
func dotCodesAVX2(out *int32, query, rows *int8, stride, n int)

// scorePicked writes, for the rows whose numbers are picked, the dot product of
// codes times the row's scale. One call for many, so that the processor waits for
// their memory at the same time.
func scorePicked(out []float32, query, rows []int8, scales []float32, picked []int32) {
	if !hasAVX2 || len(query) == 0 || len(picked) == 0 {
		scorePickedPortable(out, query, rows, scales, picked)
		return
	}
	n := min(len(scales), len(rows)/len(query))
	for _, row := range picked {
		_ = scales[:n][row]
	}
	_ = out[:len(picked)]
	scorePickedAVX2(&out[0], &query[0], &rows[0], &scales[0], len(query), &picked[0], len(picked))
}

//go:noescape
func scorePickedAVX2(out *float32, query, rows *int8, scales *float32, stride int, picked *int32, n int)

// dotRows writes the dot product of the query with each row of its length, added
// in eight fixed lanes, so that every processor gives the same bits.
func dotRows(out, query []float32, rows []*float32) {
	if !hasAVX2 || len(query) == 0 || len(query)%16 != 0 || len(rows) == 0 {
		dotRowsPortable(out, query, rows)
		return
	}
	_ = out[:len(rows)]
	dotRowsAVX2(&out[0], &query[0], &rows[0], len(query), len(rows))
}

//go:noescape
func dotRowsAVX2(out, query *float32, rows **float32, dim, n int)
