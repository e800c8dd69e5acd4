package artifacts

const (
	// runBytes is how much text is analysed before it becomes a part of the
	// index: so much, for each worker, is in memory in a form that takes several
	// times its size.
	runBytes = 8 << 20
	// runShare is the fewest runs that each worker has, so that all end at about
	// the same time.
	runShare = 3
	// leastRun is not worth a part by itself.
	leastRun = 256 << 10
)

// run is some of the files that are looked at, one after the other.
type run struct{ from, to int }

// runsOf cuts files, which are in the order of their paths, into runs.
func runsOf(entries []Entry, workers int) (runs []run) {
	var all int64
	for _, e := range entries {
		all += e.Size
	}
	most := min(max(all/int64(runShare*max(workers, 1)), leastRun), runBytes)
	from, size := 0, int64(0)
	for i, e := range entries {
		if size += e.Size; size >= most || i == len(entries)-1 {
			runs = append(runs, run{from, i + 1})
			from, size = i+1, 0
		}
	}
	return runs
}
