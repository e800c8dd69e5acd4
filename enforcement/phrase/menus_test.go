package phrase

import "testing"

// Menus, options of commands, output of programs and doubt hold words of approval
// without being a yes; the same marks stand in what people type, too.
func TestMenusAndOptions(t *testing.T) {
	for _, p := range []string{
		"approve / decline", "[approve] [decline]", "(a) approve (b) decline", "approve, decline", "approve it\ndecline it", "1) approve 2) decline",
		"approve, edit or ask me later", "approve / request changes", "1. approve\n2. keep planning", "approve | skip", "approve it, reject it",
		"--approve", "--approved", "-approve", "--yes", "-y", "--yes --approve", "approve --all", "--approve plan", "flag --approve", "make deploy --approve=true",
		"approved := true", "approved == true", "APPROVED=1", "approved != false",
		"PASS approve.test.ts\n✓ approved", "ok 3 - order\napproved", "ERROR: gate closed\napproved", "Reviewed-by: me, approved",
		"yes question mark", "yes, however", "yes though", "approved however", "😂 approved", "approved: bool = True", "approved (2)", "review: approved (1 of 2)", "approved (2/3)", "approved, section 3 aside", "approved ok?", "approved… hmm", "approved hm", "approved, idk", "oh sure, approved, like that would ever work", "approved, what could go wrong",
	} {
		if j := Judge(p, Plan, Phrases{}); j.Approves || j.Reason == "" {
			t.Errorf("approved %q: %s", p, j.Reason)
		}
	}
	for _, p := range []string{
		"approved - thanks", "approved -- nice work",
		"Okay then, plan's approved", "my answer is: approved", "um yes go ahead", "yes period", "yes comma go ahead period", "approved ok", "Final answer: approved", "ok approved danke dir", "yesss go", "okk", "gooo", "okayyy go ahead", "yea", "k, go", "kk go ahead", "sure thing, go ahead", "make it so", "+1", "+1 approved", "thumbs up",
		"approvedddd", "approved por favor", "revised version approved", "hmm ok, approved", "um, approved, um, go ahead", "approved—start", "the plan as shown is approved", "I approve it all",
	} {
		if j := Judge(p, Plan, Phrases{}); !j.Approves {
			t.Errorf("refused %q: %s", p, j.Reason)
		}
	}
}
