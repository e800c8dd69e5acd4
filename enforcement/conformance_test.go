package enforcement

import (
	"testing"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/test/conformance"
)

// decisionCase is one line of decision.jsonl.
type decisionCase struct {
	ID    string  `json:"id"`
	Mode  *string `json:"mode"`
	Phase *string `json:"phase"`
	Gates struct {
		Plan  string `json:"plan"`
		Tests string `json:"tests"`
	} `json:"gates"`
	Reproduction []string `json:"reproduction"`
	Actor        string   `json:"actor"`
	Orchestrator bool     `json:"orchestrator"`
	Tool         string   `json:"tool"`
	Path         string   `json:"path"`
	Command      string   `json:"command"`
	Verdict      string   `json:"verdict"`
	Rule         *string  `json:"rule"`
	Note         string   `json:"note"`
}

// The world that the cases are set in.
var caseLayout = Layout{
	Project: "/p", Home: "/home/dev", DataDir: "/home/dev/.local/share/writ", Temp: []string{"/tmp", "/var/tmp"},
}

func TestConformanceDecision(t *testing.T) {
	conformance.Run(t, "decision", checkDecision)
}

func checkDecision(t *testing.T, c decisionCase) {
	d, req := c.decide(t)
	if d.Verdict.String() != c.Verdict {
		t.Errorf("%s %s%s: %s (%s), want %s; %s", c.Tool, c.Path, c.Command, d.Verdict, d.Reason, c.Verdict, c.Note)
		if req.Shell != nil {
			t.Logf("%+v", *req.Shell)
		}
	}
	if c.Verdict == Deny.String() && c.Rule != nil && d.Rule != *c.Rule {
		t.Errorf("%s %s%s: rule %s, want %s; %s", c.Tool, c.Path, c.Command, d.Rule, *c.Rule, c.Note)
	}
}

func (c decisionCase) decide(t *testing.T) (Decision, RequestTool) {
	s, w := c.state()
	req := RequestTool{Tool: c.Tool, ToolUseID: "use-1", Workspace: w, Settings: DefaultSettings()}
	if c.Tool == "Bash" {
		req.Shell = Inspect(caseLayout, "/p", c.Command, nil, nil)
	} else {
		req.Targets = []schemas.Target{Classify(caseLayout, Resolve(c.Path, "/p", caseLayout.Home, nil))}
	}
	if c.Actor == "subagent" {
		parent := s
		s, req.Actor = State{Host: "claude", Parent: "parent"}, Actor{Agent: "worker-1", Parent: &parent}
	}
	d, err := Decide(s, req)
	if err != nil {
		t.Fatal(err)
	}
	return d, req
}

// state is the session of the case, folded from events as a real one is.
func (c decisionCase) state() (State, Workspace) {
	f := folded{t: schemas.SessionStarted{Host: "claude", Project: "/p"}}
	w := Workspace{Files: map[string]schemas.FileState{}}
	if c.Mode == nil {
		return f.state(), w
	}
	f.add(schemas.ModeChanged{To: *c.Mode, Repro: c.Reproduction, Orchestrator: c.Orchestrator})
	for _, g := range []struct{ gate, file, state string }{
		{GatePlan, PlanFile, c.Gates.Plan}, {GateTests, "tests/test_approved.py", c.Gates.Tests},
	} {
		if g.state == "none" {
			continue
		}
		was := schemas.FileState{Path: g.file, SHA256: Hash([]byte("approved " + g.gate))}
		w.Files[g.file] = was
		if g.state == "drifted" {
			w.Files[g.file] = schemas.FileState{Path: g.file, SHA256: Hash([]byte("changed " + g.gate))}
		}
		f.add(schemas.GateApproved{
			Gate: g.gate, Files: []schemas.FileState{was}, Fingerprint: Fingerprint([]schemas.FileState{was}),
			Channel: ChannelTerminal, Assurance: "terminal", ActID: "act-" + g.gate,
		})
	}
	if c.Phase != nil {
		f.add(schemas.PhaseChanged{To: *c.Phase})
	}
	return f.state(), w
}

// folded is a list of events under construction.
type folded struct {
	t    schemas.Payload
	more []schemas.Payload
}

func (f *folded) add(p ...schemas.Payload) { f.more = append(f.more, p...) }

func (f *folded) state() State {
	s := Evolve(State{}, schemas.Event{Data: f.t})
	for _, p := range f.more {
		s = Evolve(s, schemas.Event{Data: p})
	}
	return s
}
