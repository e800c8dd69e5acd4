package enforcement

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// setsWork is the call that every refusal before a mode asks for, alone on its
// line.
var setsWork = lazyregexp.New(`^(?:[^\s'"$` + "`" + `\\;&|<>()]*/)?writ mode set work(?: --session [\w-]+)?$`)

// demanded reports whether an allowed request is what the gates themselves asked
// for, so that nobody need ask the user again: the mode, the plan while it is
// planned, the tests that the approved plan names, its code after both approvals,
// and the capabilities while they are checked. It never widens what is allowed: it
// is asked of what is. A path with a hidden part is left to the host, which knows
// of its own settings and those of editors.
func (c RequestTool) demanded(st stance) bool {
	switch {
	case st.exempt || len(st.drift) > 0 || len(c.Private)+len(c.Queues)+len(c.Completes) > 0 || c.Code || c.Unproven != "" || c.Plan != nil || c.Task != nil:
		return false
	case c.Shell != nil:
		return len(c.Targets) == 0 && c.Shell.Plain && c.Shell.Effect == EffectReads && setsWork.MatchString(strings.TrimSpace(c.Shell.Text))
	}
	return st.Mode == ModeWork && len(c.Targets) > 0 && !slices.ContainsFunc(c.Targets, func(t schemas.Target) bool { return !st.demands(t) })
}

// demands reports whether the phase asks for a write of a file.
func (st stance) demands(t schemas.Target) bool {
	if t.Rel == "" || strings.HasPrefix(t.Rel, ".") || strings.Contains(t.Rel, "/.") {
		return false
	}
	named := func() bool {
		return slices.ContainsFunc(st.Work.Gates[GatePlan].Planned, func(name string) bool { return names(name, t) })
	}
	switch {
	case !st.Approved(GatePlan):
		return t.Class == ClassPlan
	case !st.Approved(GateTests):
		return t.Class == ClassTest && named()
	case st.Phase() == PhaseImplementation:
		return (t.Class == ClassCode || t.Class == ClassTest) && named()
	case st.Phase() == PhaseVerification:
		return t.Rel == CapabilitiesFile
	}
	return false
}
