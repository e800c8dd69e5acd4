package daemon

import "time"

// What the daemon does in a bounded time it does in any time here: no test must
// depend on how fast the machine is.
func init() {
	for _, d := range []*time.Duration{
		&blobTime, &fileWaits.Answer, &fileWaits.Compare, &fileWaits.Load, &fileWaits.Open, &fileWaits.Save, &logPatience, &publishBudget, &readyPatience,
		&sealBudget, &stopBudget, &telemetryPatience,
	} {
		*d = 3 * time.Minute
	}
}
