package phrase

import "testing"

// agreedOn is the plan that prompts may change.
const agreedOn = `# Cart

The API takes 100 requests a minute. Totals are kept in SQLite, and exported as CSV,
taxed by 10 percent after the discount.`

func TestWish(t *testing.T) {
	for prompt, want := range map[string]Asked{
		"Great, thanks! Now add a payment module in src/payment.py": Change,
		"please implement rate limiting with tests":                 Change,
		"can you add support for refunds?":                          Change,
		"I want a dashboard for the totals":                         OtherTask,
		"refactor the cart into two classes":                        Change,
		"Looks good. Next, replace the cache with redis":            Change,
		"could you switch the store to postgres":                    Change,
		"let's build the invoice export":                            Change,
		"ok new task: log in with passkeys":                         OtherTask,
		"Next feature: invoices":                                    OtherTask,
		"forget the plan, do a login page":                          OtherTask,
		"here's another task for you, an export":                    OtherTask,
		"Actually, make it 15 percent instead.":                     OtherTask,
		"Change of plan: use PostgreSQL instead of SQLite":          OtherTask,
		"On second thought, let us charge tax before the discount":  OtherTask,
		"No, the limit should be 50 requests a minute, not 100.":    OtherTask,
		"Instead of CSV, export it as JSON.":                        OtherTask,

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
		"Actually, run the linter first":         Nothing,
		"Use a switch instead of the if chain":   Nothing,
		"Why did you pick 10 instead of 15?":     Nothing,
		"On second thought, keep it.":            Nothing,
		"It should return an error, not panic":   Nothing,
		"Make it camelCase instead":              Nothing,
		"Let's leave it for later instead":       Nothing,
		"Actually, let's move on":                Nothing,
		"Actually, use the one from utils too":   Nothing,
		"Actually keep it, that's not a problem": Nothing,
		"Instead of asking me, just do it":       Nothing,
		"It has to be exported, not internal":    Nothing,
		"it should be called once, not twice":    Nothing,
		"let's call it subtotal instead":         Nothing,
		"this should use the store, not raw SQL": Nothing,
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
		if got := Wish(prompt, agreedOn); got != want {
			t.Errorf("%q: %d, want %d", prompt, got, want)
		}
	}
}

// TestAFollowUpIsNoWish: what alters the code that was just written corrects it; what
// the program is to do besides is new.
func TestAFollowUpIsNoWish(t *testing.T) {
	for want, prompts := range map[Asked][]string{
		Change: {
			"We need rate limiting on the API", "Thanks. I also need an endpoint for the totals", "can we have a progress bar in the upload?",
			"it would be nice to have a dark theme", "there should be a limit on uploads", "Users should be able to reset their password",
			"The invoice should also show the tax", "From now on the API should return JSON", "Let users export their data", "now do the same for invoices",
			"Port it to Rust", "Turn the script into a package", "Cache the exchange rates for an hour", "Show the tax on the invoice",
			"ok, now the frontend: build a form", "Rename User to Account everywhere", "Remove the whole admin area", "Make it possible to pause a subscription",
		},
		OtherTask: {"Let's move on to something else: the search", "Now something completely different: write a game", "switch to another task", "New requirement: support refunds"},
		Nothing: {
			"rename total to sum_total", "rename the variable back", "remove the debug print", "delete the unused import", "move the helper below main",
			"split the function", "show me the diff", "sort the imports", "add the file to git", "I like the new design", "we need to talk",
			"the function should also handle None", "it should also work with zero", "I want the variable to be called x", "can I have the diff",
			"it would be nice to have more tests", "there should be a test for that", "let me see",
		},
	} {
		for _, p := range prompts {
			if got := Wish(p, ""); got != want {
				t.Errorf("%q: %d, want %d", p, got, want)
			}
		}
	}
}

// TestWhatWasAgreedOnIsChanged: a choice in place of the plan's, a thing that it does not speak
// of, and a number that it has otherwise; not what says how the code is to do what it says.
func TestWhatWasAgreedOnIsChanged(t *testing.T) {
	for want, prompts := range map[Asked][]string{
		OtherTask: {
			"use Redis instead of SQLite", "make the limit 50 instead of 100", "actually let's do a sliding window", "forget SQLite, go with memcached",
			"let's switch to Redis for the totals", "replace SQLite with MongoDB", "I changed my mind, keep the totals in memory", "no CSV, go for xlsx",
			"also add a PDF export", "we also need an allowlist for internal clients", "and add metrics for rejected requests", "could we do 60 per minute? 100 is too much",
			"while you're at it, add a command line tool that resets the totals", "my boss wants 50 requests per hour, not 100", "different idea: let the proxy do it",
			"and a second export for the invoices", "Actually, mail the totals", "can we also send reminders?", "our lawyer wants the VAT id on it", "change the 100 requests to 25", "on second thought we only need totals", "let's go with Typesense", "round up instead of down", "switch to Postgres", "I'd prefer the limit to be 10 per second", "also limit the export", "limit the export to 1000 rows", "one more feature: mail the totals", "don't use SQLite, use Postgres",
			"we no longer need the CSV export", "switch the totals from SQLite to Postgres", "we decided against SQLite", "restrict it to paid accounts", "take the VAT out of scope",
			"stop using SQLite, we move to Postgres", "could you bump the limit to 250 requests?",
		},
		Nothing: {
			"use const instead of let", "let's go with the second option", "use a loop instead of recursion", "that should use the store, not raw queries", "read it from ../csv instead of ../../csv", "it writes JSON instead of CSV", "why did you take SQLite rather than Redis?", "the total should be a Decimal, not a float",
			"it should answer 100, not 99", "skip the export for now, finish the totals first", "actually, let's run it again",
			"replace the loop over the totals with a map", "drop the comment about SQLite", "make the struct fields private", "extract the rounding into a helper",
			"remove the console.log", "No, that has to be rounded after the discount", "can you run prettier", "let's not do that now", "also add a test for the export",
			"hmm the export answers 99 instead of 100", "go with option 2", "use int64 rather than float64 for the totals", "I changed my mind about the name, call it subtotal", "on second thought keep the mutex",
		},
	} {
		for _, p := range prompts {
			if got := Wish(p, agreedOn); got != want {
				t.Errorf("%q: %d, want %d", p, got, want)
			}
		}
	}
}
