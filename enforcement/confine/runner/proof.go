package runner

import (
	"strings"
	"sync"
	"time"
)

// proof is what probes found of the hold that this kernel gives. What one of them
// gets through is treated as if the kernel had no hold: commands whose effect
// cannot be told are asked for then.
type proof struct {
	ended chan struct{}
	once  sync.Once
	why   string // why there is no hold, "" where every probe was refused
}

// proofPatience bounds how long a decision waits for the probes, which take some
// hundredths of a second after the daemon's start.
const proofPatience = 2 * time.Second

func (p *proof) end(why string) {
	p.once.Do(func() {
		p.why = why
		close(p.ended)
	})
}

// Absent says why commands cannot be held here, "" where they can. It waits for
// probes that have been begun.
func (r Runner) Absent() string {
	if r.Writ == "" {
		return r.Why
	}
	if r.proof == nil {
		return ""
	}
	late := time.NewTimer(proofPatience)
	defer late.Stop()
	select {
	case <-r.proof.ended:
		return r.proof.why
	case <-late.C:
		return "the probes of the hold have not ended"
	}
}

// let is what a run of probes says that it let through, as a reason.
func let(out string) (why string) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := len(lines) - 1
	switch {
	case lines[last] != probesEnded:
		return "the probes of the hold did not run to their end"
	case last > 0:
		return "the kernel let a probe through: it does not hold " + strings.Join(lines[:last], ", ")
	}
	return ""
}
