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
