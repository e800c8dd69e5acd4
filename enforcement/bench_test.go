package enforcement

import "testing"

// What a hook waits for: one decision on a write in the middle of the work.
func BenchmarkDecideWrite(b *testing.B) {
	x := reach(b, PhaseImplementation)
	req := x.requestOf(codeFile, "x = 2")
	b.ReportAllocs()
	for b.Loop() {
		if d, err := Decide(x.state, req); err != nil || d.Verdict != Allow {
			b.Fatal(d, err)
		}
	}
}

func BenchmarkDecideShell(b *testing.B) {
	x := reach(b, PhaseImplementation)
	req := x.requestOf(codeFile, "x = 2")
	req.Targets = nil
	b.ReportAllocs()
	for b.Loop() {
		req.Shell = Inspect(caseLayout, "/p", "cd src && sed -i 's/a/b/' cart.py && git diff --stat | tail -3", nil, nil)
		if d, err := Decide(x.state, req); err != nil || d.Verdict != Allow {
			b.Fatal(d, err)
		}
	}
}

// An approval validates the plan.
func BenchmarkDecideApproval(b *testing.B) {
	x := newSession(b, ModeWork)
	x.write(PlanFile, goodPlan)
	c := SubmitPrompt{Prompt: "The plan is approved.", ActID: "a", Origin: OriginUser, Workspace: x.workspace(), Settings: DefaultSettings()}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := Decide(x.state, c); err != nil || len(d.Record) != 2 {
			b.Fatal(d, err)
		}
	}
}
