package lexical

import "math"

// peaksPortable is [peaksOf] on any processor.
func peaksPortable(peaks, scores []float64, run int) {
	for i := range peaks {
		var most uint64 // scores are not negative, so their bits are in their order, which is quicker to tell
		for _, score := range scores[i*run : (i+1)*run] {
			most = max(most, math.Float64bits(score))
		}
		peaks[i] = math.Float64frombits(most)
	}
}
