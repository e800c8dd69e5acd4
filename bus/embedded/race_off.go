//go:build !race

package embedded

// raceDetector says that this build looks for data races.
const raceDetector = false
