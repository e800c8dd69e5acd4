//go:build !amd64

package vector

// dotCodes writes the dot product of the query with each row, which lie one
// after the other at the query's length, a multiple of lanes.
func dotCodes(out []int32, query, rows []int8) { dotCodesPortable(out, query, rows) }
