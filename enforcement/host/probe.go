package host

import "maps"

// Probe is a made-up call of a host that a hook must answer in a known way.
type Probe struct {
	Check   string // what it looks at
	Event   string
	Payload any
	Writes  bool // it must be refused
	Exit    int  // the exit status that goes with a refusal
}

// What the probes write, in a file of the project.
const (
	ProbeFile    = "writ-doctor-probe.go"
	ProbeContent = "package probe\n"
)

// With returns the fields of a payload and more, given as names and values.
func With(fields map[string]any, more ...any) map[string]any {
	all := maps.Clone(fields)
	for i := 0; i+1 < len(more); i += 2 {
		all[more[i].(string)] = more[i+1]
	}
	return all
}
