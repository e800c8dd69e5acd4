package phrase

import "testing"

func TestWish(t *testing.T) {
	for prompt, want := range map[string]Asked{
		"Great, thanks! Now add a payment module in src/payment.py": Change,
		"please implement rate limiting with tests":                 Change,
		"can you add support for refunds?":                          Change,
		"I want a dashboard for the totals":                         Change,
		"refactor the cart into two classes":                        Change,
		"Looks good. Next, replace the cache with redis":            Change,
		"could you switch the store to postgres":                    Change,
		"let's build the invoice export":                            Change,
		"ok new task: log in with passkeys":                         OtherTask,
		"Next feature: invoices":                                    OtherTask,
		"forget the plan, do a login page":                          OtherTask,
		"here's another task for you, an export":                    OtherTask,

		"":                                       Nothing,
		"approved":                               Nothing,
		"yes":                                    Nothing,
		"thanks, great work":                     Nothing,
		"why did you add a cache?":               Nothing,
		"how do I build the docs?":               Nothing,
		"add a docstring to total":               Nothing,
		"add a test for empty carts":             Nothing,
		"write a commit message":                 Nothing,
		"create a pull request":                  Nothing,
		"please commit and push":                 Nothing,
		"make it faster":                         Nothing,
		"make sure that the tests pass":          Nothing,
		"change that to a loop":                  Nothing,
		"fix the failing test":                   Nothing,
		"that is wrong, use a Decimal instead":   Nothing,
		"you forgot the discount. Add the sum":   Nothing,
		"continue with the plan":                 Nothing,
		"go on with step 2":                      Nothing,
		"add error handling to the plan":         Nothing,
		"is the cart done? does it build?":       Nothing,
		"run the tests again":                    Nothing,
		"update the readme":                      Nothing,
		"/review":                                Nothing,
		"[writ] the tests fail: add the missing": Nothing,
		"<task-notification>\n<result>\nNext task: an export.\n</result>\n</task-notification>": Nothing,
	} {
		if got := Wish(prompt); got != want {
			t.Errorf("%q: %d, want %d", prompt, got, want)
		}
	}
}
