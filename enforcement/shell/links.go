package shell

import (
	"maps"
	"slices"
	"strings"
)

// link is a symbolic link that the command line makes. Nobody can look it up
// before the command line has run, so what is written through it is worked out
// here.
type link struct{ at, to string } // to is "" where it is known only at run time

// maxMadeLinks bounds the links, and the copies, of one command line that are
// followed.
const maxMadeLinks = 64

// linkAt records a symbolic link with this text at a path.
func (a *analysis) linkAt(at string, target arg) {
	to := ""
	switch {
	case !target.known || target.guess:
	case strings.HasPrefix(target.val, "/"):
		to = tidy(target.val)
	default:
		to = tidy(under(parent(at), target.val))
	}
	if len(a.links) >= maxMadeLinks {
		a.unsure("", "too many links to follow")
		return
	}
	a.links = append(a.links, link{at: at, to: to})
}

// copyTo records a tree that is copied or moved with the links in it.
func (a *analysis) copyTo(from, to string) {
	if len(a.copies) >= maxMadeLinks {
		a.unsure("", "too many copies to follow")
		return
	}
	a.copies = append(a.copies, Copy{From: from, To: to})
}

// followLinks finds what is written through the links of the command line,
// whichever of the two comes first in it: loops and background commands keep no
// order.
func (a *analysis) followLinks() []string {
	var through []string
	seen := map[string]bool{}
	follow := func(p string, opened bool) {
		for _, l := range a.links {
			rest, below := strings.CutPrefix(p, l.at+"/")
			if !below && !(opened && p == l.at) {
				continue
			}
			if !below {
				rest = ""
			}
			to := tidy(under(l.to, rest))
			switch {
			case l.to == "":
				a.unsure("", "writes through a link whose target is known only at run time")
			case len(to) > 4096 || len(through) >= maxFindings:
				a.unsure("", "too many links to follow")
			case !seen[to]:
				seen[to] = true
				through = append(through, to)
				a.reason("", "writes "+to+" through a link")
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(a.paths)) {
		follow(p, a.paths[p])
	}
	for i := 0; i < len(through); i++ {
		follow(through[i], true)
	}
	slices.Sort(through)
	return through
}
