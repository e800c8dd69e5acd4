package vector

// lanes is how many codes the kernel takes at once: rows are padded to it with
// zeros, which add nothing.
const lanes = 32

func padded(dim int) int { return (dim + lanes - 1) / lanes * lanes }

// dotCodesPortable is [dotCodes] on any processor. Sums of products of codes
// are whole numbers, so both give the same.
func dotCodesPortable(out []int32, query, rows []int8) {
	for i := range out {
		row := rows[i*len(query) : (i+1)*len(query)]
		var s0, s1, s2, s3 int32
		q := query
		for len(q) >= 4 && len(row) >= 4 {
			s0 += int32(q[0]) * int32(row[0])
			s1 += int32(q[1]) * int32(row[1])
			s2 += int32(q[2]) * int32(row[2])
			s3 += int32(q[3]) * int32(row[3])
			q, row = q[4:], row[4:]
		}
		out[i] = s0 + s1 + s2 + s3
	}
}
