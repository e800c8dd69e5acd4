package chunk

import (
	"sort"
	"strings"
)

// hollow is Go source without what stands in braces: function bodies, fields,
// the elements of composite literals. What a file declares is all there, and a
// parser is done with it in a fraction of the time.
type hollow struct {
	text string
	cuts []cut
}

// cut is a place where something was left out.
type cut struct{ at, before int } // at of the hollow text, and how much is missing up to there

// hollowed leaves out what stands in the outermost braces. It says no where
// braces, strings or comments do not end, which is no Go.
func hollowed(text string) (hollow, bool) {
	h := hollow{cuts: make([]cut, 0, 16)}
	var kept strings.Builder
	kept.Grow(len(text) / 4)
	depth, from, missing := 0, 0, 0
	for at := 0; at < len(text); {
		if plainGo[text[at]] {
			at++
			continue
		}
		switch text[at] {
		case '{':
			at++
			if depth++; depth == 1 {
				kept.WriteString(text[from:at])
				from = at
			}
		case '}':
			if depth--; depth < 0 {
				return hollow{}, false
			}
			if depth == 0 && at > from {
				missing += at - from
				h.cuts = append(h.cuts, cut{kept.Len(), missing})
				from = at
			}
			at++
		default:
			n := opaque(text[at:])
			if n == 0 {
				return hollow{}, false
			}
			at += n
		}
	}
	if depth != 0 {
		return hollow{}, false
	}
	kept.WriteString(text[from:])
	h.text = kept.String()
	return h, true
}

// plainGo are the bytes that neither are braces nor may begin a string or a
// comment.
var plainGo = func() (is [256]bool) {
	for b := range is {
		is[b] = strings.IndexByte("{}\"`'/", byte(b)) < 0
	}
	return is
}()

// opaque is the length of the string or comment that a text begins with, 1 for
// a slash that begins none, and 0 for what has no end.
func opaque(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		return lineLen(s)
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return 2 + end + 2
		}
		return 0
	case s[0] == '/':
		return 1
	case s[0] == '`':
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return 1 + end + 1
		}
		return 0
	}
	return quoted(s)
}

// origin is the place in the source of a place in the hollow text.
func (h hollow) origin(at int) int {
	i := sort.Search(len(h.cuts), func(i int) bool { return h.cuts[i].at > at })
	if i == 0 {
		return at
	}
	return at + h.cuts[i-1].before
}
