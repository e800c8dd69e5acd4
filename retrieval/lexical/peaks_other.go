//go:build !amd64

package lexical

// peaksOf writes the highest score, 0 if all are below, of each run of scores. There
// are whole runs.
func peaksOf(peaks, scores []float64, run int) { peaksPortable(peaks, scores, run) }
