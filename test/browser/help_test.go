//go:build browser

package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// helpPages are read: found, linked to, and used by keyboard and on a phone.
func helpPages(t *testing.T, p *tab) {
	t.Run("help", func(t *testing.T) {
		p.do(goTo("#/help"), chromedp.WaitVisible(chromedp.CSS(".help article")))
		p.shows("Modes, phases and approvals")
		p.shows("Environment variables")
	})
	t.Run("help by a link to a section", func(t *testing.T) {
		p.do(goTo("#/help/gates/approving"), chromedp.WaitVisible(chromedp.CSS(".help article table")))
		p.shows("it negates, sets a condition, asks or doubts")
		if at := result[string](p, `document.activeElement.id`); at != "approving" {
			t.Errorf("the focus is on %q", at)
		}
		if top := result[int](p, `Math.round(document.getElementById('approving').getBoundingClientRect().top)`); top < 0 || top > 300 {
			t.Errorf("the section is at %d", top)
		}
		if marked := result[string](p, `document.querySelector('.topics a[aria-current]').textContent`); marked != "Modes, phases and approvals" {
			t.Errorf("the list marks %q", marked)
		}
		if title := result[string](p, "document.title"); !strings.HasPrefix(title, "Modes, phases") {
			t.Errorf("the title is %q", title)
		}
		p.picture("help")
	})
	t.Run("help finds words in all topics", func(t *testing.T) {
		p.do(chromedp.SendKeys(chromedp.CSS(".topics input"), "memory.keys"))
		p.shows("Files and folders")
		if found := result[[]string](p, `[...document.querySelectorAll('.topics a')].map(a => a.textContent)`); len(found) == 0 || len(found) > 4 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("every topic renders", func(t *testing.T) {
		p.do(goTo("#/help"), chromedp.WaitVisible(chromedp.CSS(".help dl")))
		links := result[[]string](p, `[...document.querySelectorAll('.help dl a')].map(a => a.hash)`)
		if len(links) < 15 {
			t.Fatalf("only %d topics: %q", len(links), links)
		}
		for _, hash := range links {
			name := strings.TrimPrefix(hash, "#/help/")
			p.do(goTo(hash))
			p.shows("In a terminal: writ help " + name)
			if wide := result[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
				t.Errorf("%s is wider than the window", name)
			}
			if broken := result[[]string](p, `[...document.querySelectorAll('.help article a[href^="#/help/"]')].map(a => a.hash.split('/')[2]).filter(n => ![...document.querySelectorAll('.topics a')].some(a => a.hash === '#/help/' + n))`); len(broken) > 0 {
				t.Errorf("%s links to topics that do not exist: %q", name, broken)
			}
		}
	})
}
