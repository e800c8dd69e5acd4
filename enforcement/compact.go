package enforcement

import (
	"fmt"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// keptBefore bounds State.Before.
const keptBefore = 40

// Resume tells a model what it has to know again after its conversation was
// shortened; "" where it was not.
func (s State) Resume() string {
	if !s.Resuming {
		return ""
	}
	var b strings.Builder
	b.WriteString("Part of the conversation is gone; this stands in the log.\n")
	line := func(format string, args ...any) { fmt.Fprintf(&b, "- "+format+"\n", args...) }
	if g, approved := s.Work.Gates[GatePlan]; approved && s.Mode == ModeWork {
		line("plan.md is approved (%s); read it again before going on.", shortHash(g.Fingerprint))
		for _, c := range g.Capabilities {
			line("capability: %s", excerpt.Runes(c, 160))
		}
	}
	if g, approved := s.Work.Gates[GateTests]; approved && s.Mode == ModeWork {
		line("approved tests: %s", fileNames(g.Files))
	}
	if len(s.Violations) > 0 {
		line("%s of rules not fixed yet:\n%s", excerpt.Count(len(s.Violations), "violation"), violationList(s.Violations))
	}
	switch {
	case s.Failing && len(s.PendingTests) == 0:
		line("the tests fail: `%s`", excerpt.Runes(s.Evidence.Command, 120))
	case s.building() && len(s.Unverified) > 0:
		line("changed since anything was verified: %s", fileList(s.Unverified))
	}
	return strings.TrimRight(b.String(), "\n")
}

func fileNames(files []schemas.FileState) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	return fileList(names)
}

// Had are the rules that need not be shown now: those the model still has, and
// those in the instructions that its host gives it. Sorted.
func (s State) Had() []string {
	had := s.Fresh
	for _, id := range s.Instructed {
		had = insert(had, id)
	}
	return had
}

func (s State) compacted(p schemas.ContextCompacted) State {
	if p.Stage == "before" || !s.Compacting {
		s.Before = nil
		for _, id := range s.Fresh[max(0, len(s.Fresh)-keptBefore):] {
			s.Before = insert(s.Before, id)
		}
		s = s.forgetShown()
		s.Instructed = nil // the host gives its instructions again
		s.Compactions++
		s.Resuming = true
	}
	s.Compacting = p.Stage == "before"
	return s
}

// resumed ends what began with a compaction: the model was told.
func (s State) resumed() State {
	s.Resuming, s.Before = false, nil
	return s
}
