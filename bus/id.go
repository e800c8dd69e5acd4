package bus

import "github.com/google/uuid"

// NewID makes an event's id: a UUID of version 7, so that ids sort by the time
// at which they were made.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
