//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPhone opens the dashboard on a narrow screen: nothing has to be found by
// scrolling sideways.
func TestPhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.begin()
	p := newTab(t)
	p.do(chromedp.EmulateViewport(390, 844), chromedp.Navigate(w.link()), chromedp.WaitVisible(chromedp.CSS("main table")))
	p.picture("phone")
	for _, name := range result[[]string](p, `[...document.querySelectorAll('header a, header button')].filter((x) => { const r = x.getBoundingClientRect(); return !x.matches('.skip') && (r.left < 0 || r.right > innerWidth || r.height < 24); }).map((x) => x.textContent)`) {
		t.Errorf("%q is out of sight", name)
	}
	for _, name := range result[[]string](p, `[...document.querySelectorAll('main td')].filter((x) => { const r = x.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth; }).map((x) => x.dataset.head)`) {
		t.Errorf("the column %q is out of sight", name)
	}
	if wide := result[int](p, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the page is %d pixels wide", wide)
	}
}
