package enforcement

import (
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Changes folds a session's events into the files that it changed, each with what
// allowed the last write.
type Changes struct {
	state State
	files map[string]schemas.SessionChange
}

// Take folds the next event.
func (c *Changes) Take(e schemas.Event) {
	switch p := e.Data.(type) {
	case schemas.ToolFinished:
		for _, f := range p.Files {
			if !p.Failed {
				c.wrote(f, e)
			}
		}
	case schemas.WriteUnapproved:
		for _, u := range p.Changes {
			if one, known := c.files[u.Path]; !u.PutBack {
				if !known {
					c.wrote(schemas.FileState{Path: u.Path}, e)
					one = c.files[u.Path]
				}
				one.Unapproved = true
				c.files[u.Path] = one
			}
		}
	}
	c.state = Evolve(c.state, e)
}

func (c *Changes) wrote(f schemas.FileState, e schemas.Event) {
	if c.files == nil {
		c.files = map[string]schemas.SessionChange{}
	}
	one := c.files[f.Path]
	one.Path, one.SHA256, one.Last, one.Mode, one.Phase = f.Path, f.SHA256, e.Time, c.state.Mode, c.state.Phase()
	one.Writes++
	one.Gate = opened(one.Phase)
	gate := c.state.Work.Gates[one.Gate]
	one.Fingerprint, one.Channel = gate.Fingerprint, gate.Channel
	if gate.Fingerprint == "" {
		one.Gate = ""
	}
	c.files[f.Path] = one
}

// opened is the gate whose approval begins a phase of work, "" for none.
func opened(phase string) string {
	switch phase {
	case PhaseTesting:
		return GatePlan
	case PhaseImplementation:
		return GateTests
	case PhaseVerification:
		return GateImplementation
	}
	return ""
}

// Files are the changed files, by path.
func (c *Changes) Files() []schemas.SessionChange {
	files := slices.AppendSeq([]schemas.SessionChange{}, maps.Values(c.files)) // in JSON never null
	slices.SortFunc(files, func(a, b schemas.SessionChange) int { return strings.Compare(a.Path, b.Path) })
	return files
}
