package memory

import "time"

// No test must depend on how fast the machine is.
func init() { transcriptBudget = 3 * time.Minute }
