package lexical

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// peaksOf writes the highest score, 0 if all are below, of each run of scores. There
// are whole runs.
func peaksOf(peaks, scores []float64, run int) {
	if !hasAVX2 || run%8 != 0 || len(peaks) == 0 || run == 0 {
		peaksPortable(peaks, scores, run)
		return
	}
	_ = scores[:len(peaks)*run]
	peaksAVX2(&peaks[0], &scores[0], run, len(peaks))
}

//go:noescape
func peaksAVX2(peaks, scores *float64, run, runs int)
