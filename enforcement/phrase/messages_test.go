package phrase

import "testing"

// Whole messages as people write them, around every rule.
func TestMessages(t *testing.T) {
	yes := map[string]Gate{
		"Approved — go ahead.": Plan, "Reviewed. Approved.": Plan, "Good plan, approved!": Plan, "This plan is approved, please start with the tests.": Plan,
		"I've read the plan and approve it.": Plan, "Yes, the plan is fine. I approve it.": Plan, "We approve.": Plan, "Approved, proceed with the test skeletons.": Plan,
		"The tests look right to me, approved.": Tests, "Approved! Please implement it.": Tests, "I approve the test skeletons; begin with the parser.": Tests,
		"All skeletons fail for the right reason. Approved.": Tests, "approved, use the existing logger": Plan, "Approved. When you are done, also update the changelog.": Plan,
		"I like it. lgtm": Plan, "lgtm, thank you": Plan, "Alright, approved then.": Plan, "OK I approve": Plan, "Okay, plan approved, go": Plan,
		"I was sceptical about the cache, but you convinced me. The plan is approved.": Plan, "The analysis answers all of my questions, so I approve the plan.": Plan,
		"No objections from my side. Approved.": Plan, "I have no objections, plan approved": Plan, "Not bad at all. Approved.": Plan, "I didn't expect it to be so short. Approved.": Plan,
		"Thank you for the plan! I approve it.": Plan, "approved  \n": Tests, "*approved*": Plan, "Approved…": Plan,
		"The plan is approved. In the implementation, keep functions short.": Plan, "Approved. Afterwards run the benchmarks.": Plan,
	}
	for p, g := range yes {
		if j := Judge(p, g, Phrases{}); !j.Approves {
			t.Errorf("refused %q: %s", p, j.Reason)
		}
	}
	no := map[string]Gate{
		"I approve of the idea, but not of this plan.": Plan, "Approved by nobody.": Plan, "Not approved yet, add the rollback.": Plan, "This can't be approved like this.": Plan,
		"You don't have approval": Plan, "Approved except the second capability": Plan, "Approved when the tests are green": Plan, "it will be approved tomorrow": Plan,
		"I'll approve once I've read section 2": Plan, "Approved under the condition that you drop Redis": Plan, "I approve only the file list.": Plan, "approved minus step 4": Plan,
		"I'd like to approve it, but the migration scares me": Plan, "would you say this is approved?": Plan, "so approved or not?": Plan, "Why was this approved?": Plan,
		"Who approved this": Plan, "grep for approved in the logs": Plan, "The status should change to approved.": Plan, "Write a test for the approved state": Tests,
		"Set approved to true in the fixture": Plan, "the API returns approved": Plan, "approve button is broken": Plan, "Once approved, send a mail to the customer": Plan,
		"After it is approved the order is shipped": Plan, "approved orders only": Plan, "The CFO approved the budget": Plan, "GitHub says approved but the merge is blocked": Plan,
		"The reviewer approved my PR yesterday": Plan, "My leave was approved!": Plan, "The design is approved": Plan, "approve the deployment": Plan, "lgtm on the PR": Plan,
		"lgtm except for the names": Plan, "looks good, but add a test": Plan, "go ahead and show me the plan again": Plan, "yes but first explain step 2": Plan, "ok let me think": Plan,
		"sure, but not today": Plan, "go on, I'm listening": Plan, "yes, why?": Plan, "proceed with caution and remove step 2": Plan, "Approved. No, wait.": Plan,
		"Approved... actually, hold off": Plan, "Approved? I don't think so.": Plan, "I thought I approved this": Plan, "I almost approved it": Plan, "It's not that I don't approve": Plan,
		"forget the approval": Plan, "The tests are approved, the plan is not": Plan, "the plan was never approved": Plan, "i take back my approval": Plan,
		"approves": Plan, "approvals": Plan, "Ask Jo to approve it": Plan, "Please approve": Plan, "please approve the plan": Plan, "Can you approve this for me": Plan,
		"tests look good, plan approved later": Plan, "Type \"approved\" if you agree": Plan, "say approved": Plan, "the word is 'approved'": Plan,
		"Approved, as soon as you've removed the TODO.": Plan, "Approved - with the exception of step 3.": Plan, "Approved. With one change: rename the table.": Plan,
		"approved by the linter": Plan, "Approved! ...not.": Plan, "Approved, April fools": Plan, "yes yes whatever, is it done?": Plan,
	}
	for p, g := range no {
		if j := Judge(p, g, Phrases{}); j.Approves {
			t.Errorf("approved %q: %s", p, j.Reason)
		}
	}
}
