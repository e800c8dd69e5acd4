//go:build race

package embedded

// raceDetector says that this build looks for data races. nats-server (2.15.2)
// starts a store's timer for syncs without the store's lock, and notes it after
// that; where the timer fires before the creator of the store comes to take the
// lock, the detector reports that, of whatever test is running. The timer's
// interval is the server's own two minutes then.
const raceDetector = true
