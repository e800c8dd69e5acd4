//go:build browser

package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const gnu = `---
id: ZOO-GNU-001
title: Count the gnus
domain: zoo
severity: medium
trigger: The keeper locks the enclosure of the gnus in the evening.
statement: Count the gnus at the gate and write the number into the ledger.
symptoms:
  - one is missing in the morning
  - nobody knows how many there were
  - the ledger has gaps
violation: lock(gate)
pass_example: ledger.write(count(gnus)); lock(gate)
rationale: A gnu that left is found within the hour or not at all.
---
`

// click, choose and types are what a person's hand does. Typing is no click.
func click(css string) chromedp.Action[chromedp.Void] { return chromedp.Click(chromedp.CSS(css)) }

// press clicks on a button or link by what it says.
func press(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(fmt.Sprintf(`(//main//*[self::a or self::button or self::summary][normalize-space()=%q])[1]`, text))
}

func visit(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(fmt.Sprintf(`//nav//a[text()=%q]`, name))
}

func choose(name, value string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf(`(() => { const s = document.querySelector('main select[aria-label=%q]'); if (s) { s.value = %q; s.dispatchEvent(new Event('change')); } return Boolean(s); })()`, name, value), chromedp.WithPollingTimeout(patience))
}

// TestQuestions asks the dashboard what users want to know or do. Each begins at
// the first page and takes two clicks at the most.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("gnu.md", gnu)
	w.run("", "rule", "propose", "gnu.md", "--by", "claude")
	w.run("", "observe", "[gate=allow] The billing tests need the race detector", "--id", "allowed")
	w.run("", "observe", "[gate=hold] The billing tests perhaps need Mondays", "--id", "held")
	w.begin()
	users := scene{w, "77b0e941-users"}
	users.hook("SessionStart", map[string]any{"source": "startup", "model": "m"})
	users.says("Look users up by address in Go, with SQL.")
	users.writes("plan.md", plan)
	users.says("approved")
	users.writes("store/users_test.go", storeTest)

	p := newTab(t)
	p.do(chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main table")))
	type clicks = []chromedp.Action[chromedp.Void]
	session := `main td a[href="#/session/` + users.name + `"]`
	call := `main section.call[aria-label^="The tests"] `
	for i, q := range []struct {
		asks   string
		clicks clicks
		typed  int // of the clicks, those that are typing
		says   string
	}{
		{"What waits for me?", nil, 0, "The plan of shop waits for your approval"},
		{"Who works now, on what, and how far?", nil, 0, "testing"},
		{"What did the agents cost this week?", nil, 0, "tokens given, 7 days"},
		{"What does the plan say?", clicks{click(`main section.call[aria-label^="The plan"] button`)}, 0, "An unknown address yields ErrNotFound"},
		{"What do the tests assert?", clicks{click(call + "button")}, 0, "want ErrNotFound"},
		{"Were the tests seen red?", clicks{click(call + "button")}, 0, "seen red"},
		{"Which rules was a session given, and were they followed?", clicks{click(session)}, 0, "rules given"},
		{"What did a session cost?", clicks{click(session)}, 0, "since the last of"},
		{"What did a session write, and under which approval?", clicks{click(session), click("main details.changed summary")}, 0, "plan approved ·"},
		{"What happened in a session, step by step?", clicks{click(session)}, 0, "plan approved by"},
		{"How did it stand at a moment?", clicks{click(session), click("ol.log li:last-child button")}, 0, "After event 1 it stood:"},
		{"What does a rule say that was given?", clicks{click(session), click("main dd a.chip")}, 0, "Neighbours"},
		{"What was refused, and why?", clicks{visit("Decisions"), choose("Verdict", "deny")}, 0, "the plan is not approved yet"},
		{"What was decided in the last hour?", clicks{visit("Decisions"), choose("Span", "1")}, 0, "shown, the newest is sessions/"},
		{"Which rules are followed least?", clicks{visit("Rules"), choose("Order", "ignored")}, 0, "Ignored"},
		{"Take a proposed rule over.", clicks{visit("Rules"), press("Promote")}, 0, "promoted ZOO-GNU-001"},
		{"What is remembered?", clicks{visit("Memory"), choose("Verdict", "allow")}, 0, "The billing tests need the race detector"},
		{"What do we know about a matter?", clicks{visit("Memory"), chromedp.SendKeys(chromedp.CSS("main input[type=search]"), "billing race")}, 1, "The billing tests need the race detector"},
		{"Is the log whole, and are the views there?", clicks{visit("System")}, 0, "session-state"},
		{"How is something done?", clicks{visit("Help"), chromedp.SendKeys(chromedp.CSS(".topics input"), "passkey"), press("Modes, phases and approvals")}, 1, "passkey"},
		{"Approve the tests.", clicks{click(call + "button"), click(call + "button.yes")}, 0, "implementation"},
	} {
		t.Run(q.asks, func(t *testing.T) {
			p := &tab{t, p.ctx}
			if len(q.clicks)-q.typed > 2 {
				t.Errorf("it takes %d clicks", len(q.clicks))
			}
			p.do(goTo("#/system"), goTo("#/"), chromedp.WaitVisible(chromedp.CSS("main table")))
			p.do(q.clicks...)
			p.shows(q.says)
			p.picture(fmt.Sprintf("question-%02d", i+1))
		})
	}

	t.Run("Let an observation be recalled.", func(t *testing.T) {
		p := &tab{t, p.ctx}
		p.do(goTo("#/memory"), chromedp.WaitVisible(chromedp.CSS(".entry summary")))
		p.do(press("Judge it"), press("Allow"))
		p.shows("Say why first")
		p.do(chromedp.SendKeys(chromedp.CSS(".entry input"), "we asked"), press("Allow"))
		p.shows("There is none.")
		if out := w.run("", "recall", "billing", "Mondays"); !strings.Contains(out, "perhaps need Mondays") {
			t.Errorf("recall: %s", out)
		}
	})

	t.Run("Be told when something waits.", func(t *testing.T) {
		p := &tab{t, p.ctx}
		p.do(func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, target, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: hearsNotifications})
			return chromedp.Void{}, err
		}, chromedp.Navigate(w.bare()), chromedp.WaitVisible(chromedp.CSS("main table")))
		p.do(press("Notify me"))
		p.shows("Notifies you")
		p.shows("live")
		p.do(goTo("#/system"))
		p.shows("session-state")
		w.put("plan.md", plan+"- [ ] Two users with one address are an error\n")
		users.runs("git status")
		p.do(chromedp.Poll[chromedp.Void]("window.told.length > 1", chromedp.WithPollingTimeout(patience)))
		// The plan of a folder is the plan of both sessions in it.
		told := result[[]string](p, "window.told")
		slices.Sort(told)
		if len(slices.Compact(told)) != 2 || !strings.HasPrefix(told[1], "The plan waits for you: Look users up by address in Go, with SQL.") {
			t.Errorf("told %q", told)
		}
	})
}

// hearsNotifications keeps what a page would show on the desktop.
const hearsNotifications = `
window.told = [];
window.Notification = class extends EventTarget {
  static permission = 'granted';
  static requestPermission() { return Promise.resolve('granted'); }
  constructor(title, options) { super(); window.told.push(title + ': ' + options.body); }
};`
