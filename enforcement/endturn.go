package enforcement

import (
	"fmt"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
)

// EndTurn is an agent that wants to stop.
type EndTurn struct {
	// Again says that it was sent back once already and wants to stop again.
	Again bool
	Agent string
	// Message are its last words.
	Message string
	// Gone are pending violations that are no longer in their files.
	Gone []schemas.Violation
	// Ran is the run of the pending tests that Writ made before this, nil where
	// it made none.
	Ran *schemas.TestsFinished
	// Behind says that the pending tests go on in the background, and Late that
	// this reports such a run: the turn itself has ended.
	Behind, Late bool
	// Seen are the test files that Writ ran one by one before this.
	Seen []schemas.TestFileResult
	// Workspace holds the planned files, where Settings.AdvanceOnGreen, and with Seen
	// what an approval needs.
	Workspace Workspace
	Settings  Settings
}

func (c EndTurn) check() error { return nil }

// decide sends an agent in work mode back to what it left broken, failing or
// unverified, and one in small mode to tests that fail, once in a row: one that cannot mend it must be able to say so.
func (c EndTurn) decide(s State) Decision {
	var rest []schemas.Payload
	if len(c.Gone) > 0 {
		s = s.mended(schemas.ViolationFixed{Violations: c.Gone})
		rest = append(rest, schemas.ViolationFixed{Violations: c.Gone})
	}
	unrun := s.Unrun
	if c.Ran != nil {
		s = s.ran(*c.Ran)
		rest = append(rest, *c.Ran)
	}
	for _, p := range shown(s, c.Seen, c.Workspace) {
		s = Evolve(s, schemas.Event{Data: p})
		rest = append(rest, p)
	}
	if p := c.proof(s); p != nil {
		s = s.ran(*p)
		rest = append(rest, *p)
	}
	d := Decision{Verdict: Allow}
	if c.Late {
		d.Record, d.Notice = rest, c.untested(unrun)
		return d
	}
	if c.Agent == "" {
		d = c.judge(s, unrun)
	}
	ended := schemas.TurnEnded{Violations: len(s.Violations), Agent: c.Agent}
	if d.Verdict == Deny {
		ended.Blocked, ended.Reason = true, excerpt.Runes(d.Reason, MaxReason)
	} else if next := c.advances(s); next != nil && c.Agent == "" {
		rest = append(rest, *next)
		d.Notice = joinLines(d.Notice, "writ: the tests pass and every planned file exists: verification begins.")
	}
	d.Record = append([]schemas.Payload{ended}, rest...)
	return d
}

// proof is what the approved tests show where they were run one by one and nothing
// else could be: all of them, as approved, passed since the code last changed. Where
// the project's own tests are still to come they stay due. nil for nothing.
func (c EndTurn) proof(s State) *schemas.TestsFinished {
	if !s.building() || c.Agent != "" || len(s.Unverified) == 0 || c.Ran != nil && c.Ran.Outcome != schemas.OutcomeNotRun {
		return nil
	}
	p := &schemas.TestsFinished{Trigger: "stop", Kind: KindTest, Outcome: schemas.OutcomePassed, Files: s.Unverified}
	var green []string
	for _, f := range s.Work.Gates[GateTests].Files {
		isGreen := s.Work.Seen[f.Path].Green
		if c.Workspace.Files[f.Path].SHA256 != f.SHA256 || isTestFile(f.Path) && !isGreen {
			return nil
		}
		if isGreen {
			green = append(green, f.Path)
		}
	}
	if len(green) == 0 {
		return nil
	}
	if c.Ran != nil || c.Behind || c.Late {
		p.Kind = KindCheck
	}
	p.Command = fileList(green)
	return p
}

// open is a cause not to stop yet.
type open struct {
	rule   string
	reason string // for the agent
	detail string // more for the agent, as long as it is
	left   string // for the user, where the agent stops all the same
}

func (c EndTurn) judge(s State, unrun string) Decision {
	var causes []open
	for _, find := range []func(State) (open, bool){c.violations, c.failing, c.claims, c.unready} {
		if cause, found := find(s); found && (s.Mode == ModeWork || s.Mode == ModeSmall && cause.rule == RuleEvidence) {
			causes = append(causes, cause)
		}
	}
	d := Decision{Verdict: Allow, Notice: c.untested(unrun)}
	if len(causes) == 0 {
		return d
	}
	if c.Again {
		for _, cause := range causes {
			d.Notice = joinLines(d.Notice, "writ: the agent stopped "+cause.left+".")
		}
		return d
	}
	d.Verdict, d.Rule = Deny, causes[0].rule
	for _, cause := range causes {
		d.Reason = joinLines(d.Reason, "Writ: "+cause.reason)
		d.Context = joinLines(d.Context, cause.detail)
	}
	return d
}

func (c EndTurn) violations(s State) (open, bool) {
	n := len(s.Violations)
	if n == 0 {
		return open{}, false
	}
	return open{
		rule:   s.Violations[0].Rule,
		reason: excerpt.Count(n, "violation") + " of rules in the files you changed. Fix them, or tell the user why they stay:\n" + violationList(s.Violations),
		left:   "with " + excerpt.Count(n, "violation") + " of rules left: " + ruleList(s.Violations),
	}, true
}

// failing finds tests that failed, as long as nothing changed since.
func (c EndTurn) failing(s State) (open, bool) {
	if !testsEndTurns(s) || !s.Failing || len(s.PendingTests) > 0 {
		return open{}, false
	}
	o := open{
		rule:   RuleEvidence,
		reason: fmt.Sprintf("the tests fail: `%s`. Mend what they found, or tell the user why they fail.", excerpt.Runes(s.Evidence.Command, 120)),
		left:   fmt.Sprintf("although the tests fail (`%s`)", excerpt.Runes(s.Evidence.Command, 120)),
	}
	if s.Evidence.Output != "" {
		o.detail = "What they print:\n" + s.Evidence.Output
	}
	return o, true
}

// claims finds a success that is claimed and that nothing shows.
func (c EndTurn) claims(s State) (open, bool) {
	if !s.building() || c.Behind || len(s.Unverified) == 0 || s.Failing && len(s.PendingTests) == 0 {
		return open{}, false
	}
	claim := claimsSuccess(c.Message)
	if claim == "" {
		return open{}, false
	}
	return open{
		rule: RuleEvidence,
		reason: fmt.Sprintf("you say \u201c%s\u201d, and nothing was run since %s changed. Run the tests, the build or `writ check --diff`, or say plainly that it is not verified.",
			claim, fileList(s.Unverified)),
		left: "with a claim that nothing shows (\u201c" + claim + "\u201d): nothing was run since " + fileList(s.Unverified) + " changed",
	}, true
}

// untested tells the user of tests that did not come to an end. What cannot be run
// is told once.
func (c EndTurn) untested(unrun string) (said string) {
	if c.Behind {
		return "writ: the tests of this turn go on in the background; what comes of them is said at your next prompt."
	}
	if c.Ran == nil {
		return ""
	}
	command := excerpt.Runes(c.Ran.Command, 120)
	switch {
	case c.Late && c.Ran.Outcome == schemas.OutcomePassed && c.Ran.Known > 0:
		said = fmt.Sprintf("writ: the tests of the last turn (`%s`) show no new failure; %d fail as before the session.", command, c.Ran.Known)
	case c.Late && c.Ran.Outcome == schemas.OutcomePassed:
		said = fmt.Sprintf("writ: the tests of the last turn passed: `%s`.", command)
	case c.Ran.Outcome == schemas.OutcomeTimedOut:
		said = fmt.Sprintf("writ: the tests (`%s`) were ended after %d s, %d of them passed. Give them more time with test_timeout, or a faster test_command, in .writ/config.yaml.", command, c.Ran.Millis/1000, c.Ran.Passed)
	case c.Ran.Outcome == schemas.OutcomeNotRun && unrun != c.Ran.Output:
		said = fmt.Sprintf("writ: the tests (`%s`) could not be run: %s. Set test_command in .writ/config.yaml, or `tests: off`.", command, excerpt.Runes(c.Ran.Output, 200))
	}
	if c.Ran.Unrun != "" && unrun != c.Ran.Unrun {
		said = joinLines(said, "writ: not all tests could be run: "+excerpt.Runes(c.Ran.Unrun, 200)+".")
	}
	return said
}

// advances ends the implementation where the project lets green tests do that.
func (c EndTurn) advances(s State) *schemas.PhaseChanged {
	green := c.Ran != nil && c.Ran.Kind == KindTest && c.Ran.Outcome == schemas.OutcomePassed
	if !c.Settings.AdvanceOnGreen || !green || s.Mode != ModeWork || s.Work.Phase != PhaseImplementation {
		return nil
	}
	if !s.Approved(GatePlan) || !s.Approved(GateTests) || len(s.Drifted(c.Workspace)) > 0 {
		return nil
	}
	if len(s.Work.ungreen(c.Workspace)) > 0 || len(s.Work.absent(c.Workspace)) > 0 {
		return nil
	}
	return &schemas.PhaseChanged{From: PhaseImplementation, To: PhaseVerification, Reason: "the tests pass"}
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
