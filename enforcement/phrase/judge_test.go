package phrase

import (
	"strings"
	"testing"
	"testing/quick"
)

func TestApprovals(t *testing.T) {
	for _, c := range []struct {
		gate   Gate
		prompt string
	}{
		{Plan, "APPROVED"},
		{Plan, "Approve"},
		{Plan, "I approve."},
		{Plan, "i hereby approve this plan"},
		{Plan, "(approved)"},
		{Plan, "~approved~"},
		{Plan, "> approve it\n\napproved"},
		{Plan, "ok, approved"},
		{Plan, "Ok approved, let's go"},
		{Plan, "approved go ahead and implement it"},
		{Plan, "approved - go"},
		{Plan, "approved; please continue"},
		{Plan, "Great work. I approve the revised plan."},
		{Plan, "The updated plan is approved."},
		{Plan, "I've approved the plan."},
		{Plan, "I’m approving this"},
		{Plan, "The plan has my full approval."},
		{Plan, "You've got my approval"},
		{Plan, "I give my approval to the plan"},
		{Plan, "Approval granted."},
		{Plan, "approved as is"},
		{Plan, "Approved as it stands."},
		{Plan, "approved without changes"},
		{Plan, "approved, no further comments"},
		{Plan, "plan: approved"},
		{Plan, "Verdict: approved"},
		{Plan, "My verdict:\n\napproved"},
		{Plan, "plan.md is approved"},
		{Plan, "LGTM 👍"},
		{Plan, "👍 lgtm"},
		{Plan, "lgtm 🚀"},
		{Plan, "LGTM!!!"},
		{Plan, "lgtm, ship it"},
		{Plan, "it's approved"},
		{Plan, "its all approved, thanks"},
		{Plan, "All approved."},
		{Plan, "everything is approved"},
		{Plan, "Looks good to me, approved."},
		{Plan, "Looks good, plan approved!"},
		{Plan, "I approve this version of the plan."},
		{Plan, "I approve the plan as written"},
		{Plan, "After a careful look, approved."},
		{Plan, "After reading it twice, I approve."},
		{Plan, "Read it all, and I approve."},
		{Plan, "I read it over lunch and I approve it."},
		{Plan, "I had doubts about the lock, but they are gone. Approved."},
		{Plan, "Not a single objection. Approved."},
		{Plan, "There is nothing I would change; approved."},
		{Plan, "Approved, can you start today?"},
		{Plan, "Approved. Ping me when you are done."},
		{Plan, "Approved, ping me once you're done"},
		{Plan, "lgtm, take your time"},
		{Plan, "approved, but no rush"},
		{Plan, "Approved. Use small commits."},
		{Plan, "Approved, write the skeletons next."},
		{Plan, "Approved. Add a changelog entry at the end."},
		{Plan, "approvedd"},
		{Plan, "spproved"},
		{Plan, "i aprove the plan"},
		{Plan, "Plan approevd"},
		{Plan, "Aprove."},
		{Plan, "Approved, Claude."},
		{Plan, "Hi, plan approved."},
		{Plan, "Approved.\n\nRegards\nMarit"},
		{Plan, "- plan: approved\n- next: tests"},
		{Plan, "I don't have any objections, so the plan is approved."},
		{Plan, "No further questions. Approved."},
		{Plan, "yes yes approved"},
		{Plan, "Consider this approved."},
		{Plan, "You can consider the plan approved"},
		{Plan, "Approved! Don't wait for me."},
		{Plan, "I'm happy to approve this plan."},
		{Plan, "/writ-approve plan"},
		{Tests, "/WRIT-APPROVE tests"},
		{Tests, "The tests are approved."},
		{Tests, "All tests approved"},
		{Tests, "I approve the failing tests"},
		{Tests, "Both skeletons are approved."},
		{Tests, "test skeletons: lgtm"},
		{Tests, "The skeletons match the plan. Approved."},
		{Tests, "Tests approved. Go on with the implementation of the plan."},
		{Tests, "I approve all of the tests, start coding"},
		{Tests, "Approved, implement it now."},
		{Tests, "The test files have my approval."},
		{Tests, "lgtm for the tests"},
		{Tests, "approved. run the linter after each file"},
		{Tests, "I approve these tests, thanks for the quick work"},
	} {
		if got := Judge(c.prompt, c.gate, Phrases{}); !got.Approves {
			t.Errorf("%s %q refused: %s", c.gate, c.prompt, got.Reason)
		}
	}
}

func TestGoAheads(t *testing.T) {
	for _, prompt := range []string{
		"yes", "Yes!", "y", "ok", "OK.", "okay", "go ahead", "Go ahead, please.", "proceed", "looks good", "Looks good to me!",
		"ship it", "sure, go ahead", "yes please", "ok, thanks", "Great, go ahead.", "👍", "✅ go", "sounds good", "yes, go for it!", "perfect, proceed",
		"yep. do it.", "go ahead with it", "this looks great, go ahead", "you can start", "yes yes", "all good, continue", "Looks good. Ship it! 🚀",
	} {
		if got := Judge(prompt, Plan, Phrases{}); !got.Approves || got.Reason != BareGoAhead {
			t.Errorf("%q: %+v", prompt, got)
		}
	}
	for _, prompt := range []string{
		"thanks", "great", "perfect!", "good morning", "ok?", "yes?", "ok...", "looks good?", "no", "go ahead and delete the file",
		"yes and no", "ok but why", "looks good so far", "go ahead with the other plan", "go ahead with the tests", "yes, later", "proceed to step 2", "👍 👎",
		"sure?", "hmm", "go away", "continue reading", "start over", "next", "do it again", "ok\nwhy is it slow", "- ok\n- yes", "not ok", "`yes`", "\"yes\"",
		"yes if it is fast", "looks good except step 2", "the tests look good", "looks like a good plan for somebody", strings.Repeat("ok ", maxGoAhead+1),
	} {
		if got := Judge(prompt, Plan, Phrases{}); got.Approves {
			t.Errorf("%q: %+v", prompt, got)
		}
	}
	if got := Judge("the plan looks good", Tests, Phrases{}); got.Reason != NamesOtherGate {
		t.Errorf("the plan looks good, tests wait: %+v", got)
	}
	if got := Judge("the tests look good, go ahead", Tests, Phrases{}); !got.Approves {
		t.Errorf("the tests look good: %+v", got)
	}
}

// TestWhatIsBesideAGoAheadIsNoGoAhead: the user is told what kept theirs from counting.
func TestWhatIsBesideAGoAheadIsNoGoAhead(t *testing.T) {
	for prompt, want := range map[string]string{"go ahead, thanks; also fix the typo": "also fix the typo", "ja, mach es, aber ohne Tests": "aber ohne tests", "ok but why": "why"} {
		if got := Judge(prompt, Plan, Phrases{}); got.Reason != Beside || got.Left != want {
			t.Errorf("%q: %+v, want %q", prompt, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		gate         Gate
		prompt, want string
	}{
		{Plan, "this isn't an approval", NoWording},
		{Plan, "I never approved this", NoWording},
		{Plan, "Nobody approved the plan", NoWording},
		{Plan, "I don't approve the plan", NoWording},
		{Plan, "disapproved", NoWording},
		{Plan, "un-approved", NoWording},
		{Plan, "pre-approved", NoWording},
		{Plan, "Approved? Not yet.", ""},
		{Plan, "approved, not", ""},
		{Plan, "approved... not!", ""},
		{Plan, "The plan is not, I repeat, approved", ""},
		{Plan, "approved unless it breaks the build", ""},
		{Plan, "approved, provided the tests pass", ""},
		{Plan, "Approved. But only if the linter passes.", ""},
		{Plan, "Approved, if Jo agrees.", ""},
		{Plan, "Approved. Provided that Jo agrees.", ""},
		{Plan, "Approved subject to a review by Jo", ""},
		{Plan, "approved pending legal review", ""},
		{Plan, "approved with changes", ""},
		{Plan, "approved with one exception", ""},
		{Plan, "Fix the typo and it's approved.", ""},
		{Plan, "Drop step 3, then approved.", ""},
		{Plan, "Add a rollback and I approve.", ""},
		{Plan, "Rename the table. Then it's approved.", ""},
		{Plan, "Approved so far.", ""},
		{Plan, "approved for now", ""},
		{Plan, "mostly approved", ""},
		{Plan, "tentatively approved", ""},
		{Plan, "almost approved", ""},
		{Plan, "Approved, but rename the second capability.", ""},
		{Plan, "Approved. However, step 3 has to go.", ""},
		{Plan, "lgtm, add a rollback step", ""},
		{Plan, "Approved. Please reword capability 3.", ""},
		{Tests, "Approved, add a test for nil", ""},
		{Plan, "Approved. Fix the typo in section 2 before you start.", ""},
		{Plan, "Approved, fix the heading first.", ""},
		{Plan, "approved, start when Jo has seen it", ""},
		{Plan, "Approved. You can start once the ticket is closed.", ""},
		{Plan, "I will approve it tomorrow", ""},
		{Plan, "I could approve this", ""},
		{Plan, "I might approve the plan", ""},
		{Plan, "I'd have approved it", ""},
		{Plan, "I want to approve the plan after lunch", ""},
		{Plan, "Let me read it again and approve it then.", ""},
		{Plan, "read it again and approve", ""},
		{Plan, "Approved, I still need to check the numbers.", ""},
		{Plan, "Approved. I haven't read section 4.", ""},
		{Plan, "all but step 3 approved", ""},
		{Plan, "approved except step 3", ""},
		{Plan, "Everything except the migration is approved", ""},
		{Plan, "approved?", Question},
		{Plan, "approved ?", Question},
		{Plan, "approved, right?", Question},
		{Plan, "Approved. Right?", ""},
		{Plan, "plan approved?!", Question},
		{Plan, "Can I approve the plan now?", NoWording},
		{Plan, "is the plan approved", ""},
		{Plan, "approved or not", ""},
		{Plan, "approved, or should I wait?", ""},
		{Plan, "how do i approve this", ""},
		{Plan, "Suppose it is approved.", ""},
		{Plan, "imagine the plan is approved", ""},
		{Plan, "Let's say the plan is approved.", ""},
		{Plan, "assuming the plan is approved, what next", ""},
		{Plan, "since the plan is approved you may ask", ""},
		{Plan, "because it's approved", ""},
		{Plan, "he wrote: approved", Beside},
		{Plan, "status: approved", Beside},
		{Plan, "The log says\napproved", ""},
		{Plan, "The output should be:\n\napproved", Beside},
		{Plan, "`approved`", NoWording},
		{Plan, "\"approved\"", NoWording},
		{Plan, "'approved'", NoWording},
		{Plan, "> approved", NoWording},
		{Plan, "```\napproved\n```", NoWording},
		{Plan, "pending\napproved\nrejected", ""},
		{Plan, "open\napproved\nshipped", Beside},
		{Plan, "In the mail he says, approved", Beside},
		{Plan, "- open\n- approved\n- shipped to the customer", Beside},
		{Plan, "- pending\n- approved\n- rejected", ""},
		{Plan, "Jo approved the plan", ""},
		{Plan, "Jo approves", ""},
		{Plan, "approved by Jo", ""},
		{Plan, "the plan was approved by legal", ""},
		{Plan, "approver", ""},
		{Plan, "approve the pull request", ""},
		{Plan, "PR approved", ""},
		{Plan, "approved the PR", ""},
		{Plan, "PR 77: approved", ""},
		{Plan, "approved, merge the PR", ""},
		{Plan, "lgtm, merge it", ""},
		{Plan, "the marketing plan is approved", ""},
		{Plan, "the old plan is approved", ""},
		{Plan, "approve my expenses", ""},
		{Plan, "approved invoices are blue", ""},
		{Plan, "The test plan is approved", ""},
		{Plan, "approve dependabot's changes", ""},
		{Plan, "plan and tests approved", ""},
		{Tests, "plan and tests approved", ""},
		{Plan, "I approve the plan and the tests", ""},
		{Plan, "tests: approved", NamesOtherGate},
		{Plan, "tests - lgtm", NamesOtherGate},
		{Tests, "go ahead with the plan, it's approved", NamesOtherGate},
		{Tests, "Plan approved, now write the tests", NamesOtherGate},
		{Tests, "plan.md lgtm", NamesOtherGate},
		{Tests, "you have my approval for the plan", NamesOtherGate},
		{Plan, "approved. wait", ""},
		{Plan, "approved - no, hold on", ""},
		{Plan, "lgtm. hmm, actually, no", ""},
		{Plan, "Approved. Oops, wrong window.", ""},
		{Plan, "approved. I take that back.", ""},
		{Plan, "approved\nno", ""},
		{Plan, "approved, just kidding", ""},
		{Plan, "Approved. Stop.", ""},
		{Plan, "cancel the approval", ""},
		{Plan, "withdraw my approval", ""},
		{Plan, "Approved. Revoke that.", ""},
		{Plan, "Approved, the second step is wrong.", ""},
		{Plan, "Approved. I'm not sure about step 3.", ""},
		{Plan, "lgtm, a migration is missing", ""},
		{Plan, "approved 👎", ""},
		{Plan, "approved ❌", ""},
		{Plan, "lgtm 🤔", ""},
		{Plan, "improved", NoWording},
		{Plan, "proved", NoWording},
		{Plan, "reproved", NoWording},
		{Plan, "approx", NoWording},
		{Plan, "approached", NoWording},
		{Plan, "lgmt", NoWording},
		{Plan, "aprovve", NoWording},
		{Plan, "approvingly", NoWording},
		{Plan, "order.approved", NoWording},
		{Plan, "approved=true", NoWording},
		{Plan, "isApproved", NoWording},
		{Plan, "approve()", NoWording},
		{Plan, "approved_by", NoWording},
		{Plan, "аpproved", NoWording},
		{Plan, "genehmigt, aber erst nach dem Fix", Beside},
		{Plan, "approved, aber erst nach dem Fix", ""},
		{Plan, "approved, mais pas encore", ""},
		{Plan, "approved 但不", ""},
		{Plan, "/writ-approve tests", NamesOtherGate},
		{Plan, "/writ-approve everything", CommandMentioned},
		{Plan, "approved /writ-approve", CommandMentioned},
		{Plan, "please /writ-approve", CommandMentioned},
		{Plan, "", NoWording},
		{Plan, " \t", NoWording},
		{Plan, "?", NoWording},
		{Plan, "🤔", NoWording},
		{"", "approved", NoWording},
		{"mode", "approved", NoWording},
	} {
		got := Judge(c.prompt, c.gate, Phrases{})
		if got.Approves || c.want != "" && got.Reason != c.want {
			t.Errorf("%s %q: %+v, want %q", c.gate, c.prompt, got, c.want)
		}
	}
}

func TestOwnPhrases(t *testing.T) {
	own := Phrases{Approve: []string{"Freigegeben", "批准", "Plan freigegeben"}, GoAhead: []string{"mach weiter", "ja"}}
	for prompt, want := range map[string]bool{
		"Freigegeben!": true, "freigegeben": true, "批准。": true, "Alles gelesen. Freigegeben.": false, "ja, mach weiter": true, "ja": true, "Mach weiter!": true,
		"noch nicht freigegeben": false, "freigegeben?": false, "Freigegeben. Aber erst nach dem Test.": false, "ja, später": false, "approved": true,
		"Ist es freigegeben": false, "Freigegeben. wait, no": false, "ja. mach weiter.": true,
		"Freigegeben. Streich Schritt 2": false, "Ist das dein Ernst? Freigegeben.": false, "Freigegeben. Ja, mach weiter.": true,
	} {
		if got := Judge(prompt, Plan, own); got.Approves != want {
			t.Errorf("%q: %+v, want %v", prompt, got, want)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, target := range []string{"approve", "approved"} {
		for i := range target {
			slips := []string{target[:i] + target[i+1:], target[:i] + target[i:i+1] + target[i:], target[:i] + "x" + target[i+1:], target[:i] + "x" + target[i:]}
			if i > 0 {
				slips = append(slips, target[:i-1]+target[i:i+1]+target[i-1:i]+target[i+1:])
			}
			for _, s := range slips {
				if m := mend(s); m != "approve" && m != "approved" {
					t.Errorf("%q is one slip of %q, mended to %q", s, target, m)
				}
			}
		}
	}
	for _, w := range []string{"improve", "improved", "prove", "proved", "approves", "approver", "disprove", "reproved", "unproved", "apprve d", "aproove", "approach", "approval", ""} {
		if m := mend(w); m != w {
			t.Errorf("%q mended to %q", w, m)
		}
	}
}

// Whatever stands before or behind, a negated approval is none.
func TestNegationNeverApproves(t *testing.T) {
	denials := []string{"not approved", "I do not approve", "the plan isn't approved", "never approved"}
	around := []string{"ok", "go ahead", "the plan looks good", "thanks", "LGTM", "approved", "yes,"}
	check := func(d, a, b uint8) bool {
		s := around[int(a)%len(around)] + ". " + denials[int(d)%len(denials)] + ". " + around[int(b)%len(around)] + "."
		return !Judge(s, Plan, Phrases{}).Approves
	}
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{"approved", "LGTM, go ahead", "approved but only after", "```x```\n> q\n“approved” 'a' it's — approved?", "\xff approvd ✅👎\u200b", "/writ-approve plan", strings.Repeat("approved ", 50)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		for _, gate := range []Gate{Plan, Tests} {
			got := Judge(prompt, gate, Phrases{Approve: []string{"freigegeben"}, GoAhead: []string{"ja"}})
			if got.Reason == "" {
				t.Fatal("no reason")
			}
			if got.Approves && Judge("I do not approve. "+prompt, gate, Phrases{}).Approves {
				t.Fatalf("%q approves although it begins with a refusal", prompt)
			}
		}
	})
}

func TestLongPrompts(t *testing.T) {
	log := strings.Repeat("ok 12 tests of the store\n", 300)
	for prompt, want := range map[string]Judgement{
		"Plan approved.\n```\n" + log + "```":        {Reason: Beside, Left: codeWord},
		"Plan approved.\n" + log + log:               {Reason: TooLong},
		strings.Repeat(log, 20):                      {Reason: NoWording},
		strings.Repeat("lgtm ", maxPrompt):           {Reason: TooLong},
		strings.Repeat("<a><b>", 10000) + "approved": {Reason: TooLong},
	} {
		if got := Judge(prompt, Plan, Phrases{}); got != want {
			t.Errorf("%.30q, %d bytes: %+v, want %+v", prompt, len(prompt), got, want)
		}
	}
}
