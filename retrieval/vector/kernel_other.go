//go:build !amd64

package vector

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes.
func dotCodes(out []int32, query, rows []int8) { dotCodesPortable(out, query, rows) }

// scorePicked writes, for the rows whose numbers are picked, the dot product of
// codes times the row's scale.
func scorePicked(out []float32, query, rows []int8, scales []float32, picked []int32) {
	scorePickedPortable(out, query, rows, scales, picked)
}

// dotRows writes the dot product of the query with each row of its length, added
// in eight fixed lanes, so that every processor gives the same bits.
func dotRows(out, query []float32, rows []*float32) { dotRowsPortable(out, query, rows) }
