package whatif

import (
	"cmp"
	"path"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/schemas"
)

// Why a decision cannot be run again. Persisted in people's reports; never
// change.
const (
	cannotPlan  = "the plan that a dialog presented is not in the log"
	cannotMatch = "what the log holds does not give the recorded answer under the settings of today: it depended on contents, on files before the decision, or on other settings"
)

// decision judges a recorded request again: first as it was, to see that the
// log holds what it takes, then under the other policy.
func (r *Run) decision(s *session, e schemas.Event, d schemas.ToolDecided, rest []schemas.Event) {
	c := &r.report.Decisions
	c.Total++
	if d.Tool == "ExitPlanMode" {
		c.Cannot[cannotPlan]++
		return
	}
	project := r.change.Project(s.was.Project)
	if !r.reproduces(s, e, d, rest, project) {
		c.Cannot[cannotMatch]++
		return
	}
	c.Again++
	changed := project
	changed.Policy = *r.change.Policy
	changed.Layout.Findings = changed.Policy.Findings
	would, err := enforcement.Decide(s.would, r.request(s.would, changed, e, d, rest, func(p *session) enforcement.State { return p.would }))
	if err != nil {
		c.Cannot[err.Error()]++
		return
	}
	if would.Verdict.String() == d.Verdict {
		if would.Rule != d.Rule {
			c.OtherRule++
		}
		return
	}
	c.Flipped++
	c.Kinds[d.Verdict+" → "+would.Verdict.String()]++
	if r.change.Listed == 0 || len(r.report.Flips) < r.change.Listed {
		r.report.Flips = append(r.report.Flips, Flip{
			Session: e.Aggregate.ID, Seq: e.Position.Seq, Time: e.Time, Tool: d.Tool, Target: targetOf(d),
			Was: Answer{d.Verdict, d.Rule, d.Reason}, Would: Answer{would.Verdict.String(), would.Rule, would.Reason},
		})
	}
}

// reproduces says whether the recorded answer comes out again, with a second
// refusal in a row becoming a question or not: that setting changes often.
func (r *Run) reproduces(s *session, e schemas.Event, d schemas.ToolDecided, rest []schemas.Event, project Project) bool {
	for range 2 {
		again, err := enforcement.Decide(s.was, r.request(s.was, project, e, d, rest, func(p *session) enforcement.State { return p.was }))
		if err == nil && again.Verdict.String() == d.Verdict && again.Rule == d.Rule {
			return true
		}
		project.Policy.Settings.DenyToAsk = !project.Policy.Settings.DenyToAsk
	}
	return false
}

// request is a recorded decision as it was asked for.
func (r *Run) request(s enforcement.State, project Project, e schemas.Event, d schemas.ToolDecided, rest []schemas.Event, of func(*session) enforcement.State) enforcement.RequestTool {
	request := enforcement.RequestTool{
		Tool: d.Tool, ToolUseID: d.ToolUseID, Actor: enforcement.Actor{Agent: d.Agent},
		Workspace: workspace(s, e, rest), Settings: project.Policy.Settings, Digest: d.Digest, Bytes: d.Bytes,
	}
	watching := s
	if parent := r.sessions[s.Parent]; s.Parent != "" && parent != nil {
		state := of(parent)
		request.Actor.Parent, watching = &state, state
		request.Workspace = workspace(watching, e, nil)
	}
	targets := make([]schemas.Target, 0, len(d.Targets))
	for _, t := range d.Targets {
		targets = append(targets, classified(t, project.Layout))
	}
	if d.Command == "" {
		request.Targets = targets
		return request
	}
	// The analysis of the command is only asked for its calls of writ: what it
	// writes was resolved when it was decided.
	layout := project.Layout
	layout.Project = watching.Project
	request.Shell = enforcement.Inspect(layout, watching.Dir, d.Command, nil, func(string) (string, bool) { return "", false })
	request.Shell.Effect, request.Shell.Targets = d.Effect, targets
	return request
}

// workspace holds the approved files as the log knows them: as approved, but
// for what it says has drifted, with this decision or before.
func workspace(s enforcement.State, e schemas.Event, rest []schemas.Event) enforcement.Workspace {
	for _, also := range rest {
		if drift, is := also.Data.(schemas.GateDrifted); is && also.Aggregate == e.Aggregate {
			also.Data = drift
			s = enforcement.Evolve(s, also)
		}
	}
	files := map[string]schemas.FileState{}
	for _, name := range []string{enforcement.GatePlan, enforcement.GateTests} {
		g, approved := s.Work.Gates[name]
		if !approved {
			continue
		}
		for _, f := range g.Files {
			files[f.Path] = f
		}
		for _, change := range g.Drift {
			if change.Is == "" {
				delete(files, change.Path)
				continue
			}
			files[change.Path] = schemas.FileState{Path: change.Path, SHA256: change.Is}
		}
	}
	return enforcement.Workspace{Files: files}
}

// classified is a target under a project's settings: they say which file holds
// the findings, and nothing else about classes.
func classified(t schemas.Target, l enforcement.Layout) schemas.Target {
	findings := cmp.Or(l.Findings, enforcement.DefaultFindings)
	switch is := t.Rel != "" && t.Rel == path.Clean(findings); {
	case is && t.Class == enforcement.ClassCode:
		t.Class = enforcement.ClassFindings
	case !is && t.Class == enforcement.ClassFindings:
		t.Class = enforcement.ClassCode
	}
	return t
}

func targetOf(d schemas.ToolDecided) string {
	switch {
	case len(d.Targets) == 0:
		return cut(d.Command, promptShown)
	case d.Targets[0].Rel != "":
		return d.Targets[0].Rel
	}
	return d.Targets[0].Path
}
