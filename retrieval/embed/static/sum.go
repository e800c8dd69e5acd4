package static

// addRows adds the values, which are signed bytes, of the rows that are picked,
// each times its weight. There are as many values a row as sums.
func addRows(sum []int64, values []byte, picked []int32, weights []int64) {
	for i, row := range picked {
		weight := weights[i]
		for j, q := range values[int(row)*len(sum) : (int(row)+1)*len(sum)] {
			sum[j] += weight * int64(int8(q))
		}
	}
}
