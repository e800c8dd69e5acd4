package sessions

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/markdown"
)

// widestPlan is where a plan's lines are broken at most.
const widestPlan = 100

// showOffer prints what an approval would approve, beside the output a program
// may read: what the user asked for, the plan or the tests, what changed since the
// last approval, and what running the tests showed.
func (a *app) showOffer(offer schemas.GateOffer) error {
	st := a.Env.Style(a.Err)
	title := client.Printable(offer.Title)
	if title != "" {
		title = ": " + title
	}
	waits := " waits"
	if offer.Gate == "tests" {
		waits = " wait"
	}
	a.Note("%s", st.Bold("The "+offer.Gate+waits+title))
	a.row("asked for", client.Printable(offer.Wish))
	a.row("session", client.ShortSession(offer.Session))
	a.row("approvals", client.Printable(offer.Second))
	if offer.Declined != "" {
		a.row("declined", "you asked: "+client.Printable(offer.Declined))
	}
	a.Note("")
	if err := a.showPlan(offer); err != nil {
		return err
	}
	a.showTests(offer)
	for _, f := range offer.Files {
		a.showFile(offer, f)
	}
	a.Note("You approve exactly this, fingerprint %s; a later change takes it back.", client.Shorten(offer.Fingerprint, 13))
	return nil
}

func (a *app) row(name, value string) {
	if value != "" {
		a.Note("  %s  %s", a.Env.Style(a.Err).Dim(fmt.Sprintf("%-9s", name)), value)
	}
}

// showPlan renders the plan that waits, and lists the files that it covers.
func (a *app) showPlan(offer schemas.GateOffer) error {
	if offer.Plan == "" {
		return nil
	}
	width := a.Env.Width(a.Err)
	if width == 0 || width > widestPlan {
		width = widestPlan
	}
	var page bytes.Buffer
	text := client.PrintableLines(offer.Plan)
	if err := markdown.Render(&page, text, markdown.Options{Width: width - 2*indent, Colour: a.Env.Style(a.Err).On}); err != nil {
		return err
	}
	for line := range strings.Lines(strings.TrimSpace(page.String())) {
		a.Note("%s", strings.TrimRight(strings.Repeat(" ", indent)+line, " \n"))
	}
	a.Note("")
	covers := "It lets no file of code be written."
	if len(offer.Covers) > 0 {
		covers = "It lets " + client.Plural(len(offer.Covers), "file", "files") + " be written: " + client.Printable(strings.Join(offer.Covers, ", "))
	}
	a.Note("%s", covers)
	return nil
}

const indent = 2

// showTests lists the tests that wait with what they assert, and whether each file
// was seen red.
func (a *app) showTests(offer schemas.GateOffer) {
	st := a.Env.Style(a.Err)
	seen := map[string]schemas.SeenFile{}
	for _, one := range offer.Seen {
		seen[one.Path] = one
	}
	for _, file := range offer.Asserts {
		a.Note("%s", st.Bold(client.Printable(file.Path)))
		for _, t := range file.Tests {
			a.Note("  %s", client.Printable(strings.TrimSpace(fmt.Sprintf("%s :%d", t.Name, t.Line))))
			for _, text := range t.Asserts {
				a.Note("      %s", st.Dim(client.Printable(text)))
			}
			if len(t.Asserts) == 0 {
				a.Note("      %s", st.Yellow("asserts nothing that was found"))
			}
		}
	}
	for _, one := range offer.Seen {
		mark := st.Yellow("·")
		if one.Verdict == schemas.SeenRed {
			mark = st.Green("✓")
		}
		a.Note("  %s %s", mark, client.Printable(one.Text))
	}
	if offer.Gate == "tests" && len(offer.Seen) == 0 {
		a.Note("  %s", st.Yellow("No test was run: none was seen red."))
	}
}

// showFile says how a file differs from what was approved before. What was shown
// above whole is not shown again.
func (a *app) showFile(offer schemas.GateOffer, f schemas.OfferFile) {
	st := a.Env.Style(a.Err)
	name := client.Printable(f.Path) + "  " + st.Dim(client.Size(uint64(max(f.Bytes, 0)))+"  "+client.Shorten(f.SHA256, 13))
	switch {
	case f.Unshown != "":
		a.Note("%s is not shown: %s", name, f.Unshown)
	case f.New && offer.Plan != "" && filepath.Base(f.Path) == "plan.md":
		a.Note("%s  was not approved before", name)
	case f.Diff == "":
		a.Note("%s  is as approved before", name)
	default:
		what := "differs from what you approved last:"
		if f.New {
			what = "was not approved before:"
		}
		a.Note("%s  %s", name, what)
		for line := range strings.Lines(f.Diff) {
			a.Note("  %s", st.Diff(client.Printable(strings.TrimRight(line, "\r\n"))))
		}
	}
}
