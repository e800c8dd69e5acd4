package enforcement

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// stance is what decides about a write, besides its target: the session that
// counts, whether its phases bind the actor, and what drifted.
type stance struct {
	State
	exempt bool
	drift  map[string][]schemas.FileChange // by gate
	ws     Workspace
	edits  map[string]Edit // of the tool, in small mode, by path
	most   int             // lines of code that small mode takes
	under  *Released
	two    bool // two persons approve, and no single one's yes lets another file in
}

// stanceOf finds the session whose mode and phase bind the actor. A sub-agent
// inherits its parent's, else delegating a write would be the way around the
// gate; a worker of an orchestrator is exempt from phases.
func stanceOf(s State, a Actor, w Workspace, set Settings) stance {
	st := stance{State: s, ws: w}
	if a.Parent != nil {
		st.State = *a.Parent
	}
	if st.under = set.Under; a.sub() && st.under == nil {
		rule := cmp.Or(set.Subagents, st.Subagents)
		st.exempt = rule == SubagentsExempt || st.Orchestrator && rule != SubagentsInherit
	}
	st.Mode = set.Counts(st.Mode)
	st.drift, st.most, st.two = st.Drifted(w), set.SmallLines, set.Approval == TwoPersons
	return st
}

// ruling is the answer for one target.
type ruling struct {
	verdict Verdict
	rule    string
	gate    string
	text    wording
	beyond  bool // the plan does not name the file
	firm    bool // a yes to the tool would change nothing
}

var allowed = ruling{verdict: Allow}

// write judges a write of one target. Precedence: protected, mode, drift,
// phase.
func (st stance) write(t schemas.Target) ruling {
	switch t.Class {
	case ClassProtected:
		return ruling{rule: RuleProtected, text: textProtected}
	case ClassScratch:
		return allowed
	case ClassOutside:
		return st.outside()
	}
	if st.under != nil {
		return st.under.judge(t)
	}
	if st.exempt {
		if t.Rel == PlanFile && st.Mode == ModeWork && st.Approved(GatePlan) {
			return st.locked(t)
		}
		return allowed
	}
	switch st.Mode {
	case ModeConversation:
		return allowed
	case ModeDebug:
		return st.debug(t)
	case ModeSmall:
		return st.small(t)
	case ModeReview:
		if t.Class == ClassFindings {
			return allowed
		}
		return ruling{rule: RuleReview, gate: ModeReview, text: textReview}
	case ModeWork:
		return st.work(t)
	}
	if t.Class == ClassPlan {
		return allowed
	}
	return ruling{rule: RuleMode, gate: "mode", text: st.whileClosed(t, textUnset)}
}

func (st stance) outside() ruling {
	switch st.Mode {
	case ModeConversation, ModeDebug:
		return ruling{verdict: Ask, rule: RuleOutside, text: textOutsideAsk}
	}
	return ruling{rule: RuleOutside, text: textOutside}
}

func (st stance) debug(t schemas.Target) ruling {
	if t.Class == ClassTest || st.reproduces(t) {
		return allowed
	}
	return ruling{verdict: Ask, rule: RuleMode, gate: "mode", text: textDebug}
}

// reproduces reports whether a target is among, or below, what the reproduction
// was declared to touch.
func (st stance) reproduces(t schemas.Target) bool {
	return slices.ContainsFunc(st.Repro, func(declared string) bool {
		if declared == "" {
			return false
		}
		if strings.HasPrefix(declared, "/") {
			_, ok := within(declared, t.Path, false)
			return ok
		}
		_, ok := within(path.Clean(declared), t.Rel, false)
		return ok
	})
}

func (st stance) work(t schemas.Target) ruling {
	if len(st.drift) > 0 {
		if st.restores(t) {
			return allowed
		}
		gate := firstDrifted(st.drift)
		return ruling{rule: RuleDrift, gate: gate, text: textDrift(gate, st.drift[gate])}
	}
	switch {
	case !st.Approved(GatePlan):
		if t.Class == ClassPlan {
			return allowed
		}
		return ruling{rule: RulePlan, gate: GatePlan, text: st.whileClosed(t, textPlan)}
	case t.Rel == PlanFile:
		return st.locked(t)
	case st.Phase() == PhaseTesting || !st.Approved(GateTests):
		if t.Class == ClassTest && st.Phase() != PhaseVerification {
			return allowed
		}
		return ruling{rule: RuleTests, gate: GateTests, text: textTests}
	case st.Phase() == PhaseImplementation:
		if t.Class == ClassCode && !st.Work.covers(t) {
			if st.two {
				return ruling{rule: RulePlan, gate: GatePlan, text: textBeyondTwo, firm: true}
			}
			return ruling{verdict: Ask, rule: RulePlan, gate: GatePlan, text: textBeyond([]string{t.Rel}), beyond: true}
		}
		return allowed
	case st.Phase() == PhaseVerification:
		if t.Rel == CapabilitiesFile || t.Class == ClassFindings {
			return allowed
		}
		return ruling{rule: RuleVerify, gate: GateImplementation, text: textVerify}
	}
	return ruling{rule: RulePlan, gate: GatePlan, text: textPlan}
}

func (st stance) locked(t schemas.Target) ruling {
	if st.restores(t) {
		return allowed
	}
	return ruling{rule: RuleLock, gate: GatePlan, text: textLock}
}

// restores reports whether a write would leave a drifted file as it was
// approved, or as this session's own writes left it since.
func (st stance) restores(t schemas.Target) bool {
	if t.Result == "" || t.Rel == "" {
		return false
	}
	for gate, changes := range st.drift {
		for _, c := range changes {
			if c.Path == t.Rel && (c.Was == t.Result || gate == GateTests && st.Work.Left[t.Rel] == t.Result) {
				return true
			}
		}
	}
	return false
}

// unknownEffect judges what nobody can tell: it is as bad as a write of code. Where
// that would be refused, the user is asked. In debug, where it would be asked
// for, and in verification, which exists to run the tests, it may run: the
// comparison afterwards finds what it changed.
func (st stance) unknownEffect() ruling {
	if st.exempt {
		return allowed
	}
	r := st.write(schemas.Target{Class: ClassCode})
	if r.verdict != Deny || r.rule == RuleVerify {
		return allowed
	}
	r.verdict, r.text = Ask, textUnknownEffect
	return r
}

// worse orders rulings: a refusal before a question before a permission, and
// among refusals a protected path first; among questions a file that the plan does
// not name comes last, for less is lost by it.
func worse(a, b ruling) bool {
	rank := func(r ruling) int {
		switch {
		case r.verdict == Deny && r.rule == RuleProtected:
			return 4
		case r.verdict == Deny:
			return 3
		case r.verdict == Ask && !r.beyond:
			return 2
		case r.verdict == Ask:
			return 1
		}
		return 0
	}
	return rank(a) > rank(b)
}

// Drifted tells which approved files are no longer as approved, by gate; empty
// when none. A test that this session's own allowed writes changed during
// implementation has not drifted.
func (s State) Drifted(w Workspace) map[string][]schemas.FileChange {
	if s.Mode != ModeWork {
		return nil
	}
	var drift map[string][]schemas.FileChange
	for _, name := range watchedGates {
		for _, f := range s.Work.Gates[name].Files {
			is := w.Files[f.Path].SHA256
			if is == f.SHA256 || name == GateTests && s.left(f.Path, is, w) {
				continue
			}
			if drift == nil {
				drift = map[string][]schemas.FileChange{}
			}
			drift[name] = append(drift[name], schemas.FileChange{Path: f.Path, Was: f.SHA256, Is: is})
		}
	}
	return drift
}

// left reports whether a content comes from allowed writes of this session or
// of linked ones, those still under way included.
func (s State) left(file, sha string, w Workspace) bool {
	if own, ok := s.Work.Left[file]; ok && own == sha {
		return true
	}
	if slices.Contains(w.Left[file], sha) {
		return true
	}
	for _, p := range s.Pending {
		if !p.Allowed || p.Phase != PhaseImplementation {
			continue
		}
		if p.Open {
			return true
		}
		for _, t := range p.Targets {
			// A folder stands for what is in it, a result that is unknown for any.
			if t.Path == file && (t.Result == "" || t.Result == sha) {
				return true
			}
			if _, below := within(t.Path, file, false); below && t.Path != file {
				return true
			}
		}
	}
	return false
}

// LeftFiles are the contents (SHA-256, "" for a deleted file) in which this
// session's own allowed writes left test files during implementation, or are
// about to leave them, by relative path. Of a sub-agent's session they go into
// the parent's Workspace.Left.
func (s State) LeftFiles() map[string][]string {
	left := map[string][]string{}
	for file, sha := range s.Work.Left {
		left[file] = append(left[file], sha)
	}
	for _, p := range s.Pending {
		if !p.Allowed || p.Phase != PhaseImplementation {
			continue
		}
		for _, t := range p.Targets {
			if t.Result != "" {
				left[t.Path] = append(left[t.Path], t.Result)
			}
		}
	}
	return left
}

func firstDrifted(drift map[string][]schemas.FileChange) string {
	for _, name := range watchedGates {
		if len(drift[name]) > 0 {
			return name
		}
	}
	return ""
}
