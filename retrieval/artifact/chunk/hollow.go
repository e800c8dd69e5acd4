package chunk

import (
	"bytes"
	"sort"
	"strings"
)

// hollow is Go source without what stands in braces: function bodies, fields,
// the elements of composite literals; and without parameters and comments. What a
// file declares is all there, and a parser is done with it in a fraction of the
// time. Plain functions that follow another one are left out altogether.
type hollow struct {
	text      []byte
	cuts      []cut
	functions []function // that are left out, in their order
	// commented says that comments are all there, since one that may stand within
	// a line is among them: who looks for the comment above a declaration cannot
	// do with its lines.
	commented bool
}

// cut is a place where something was left out.
type cut struct{ at, before int } // at of the hollow text, and how much is missing up to there

// hollowing makes a text hollow.
type hollowing struct {
	text    string
	kept    []byte
	cuts    []cut
	from    int // what is not kept yet
	missing int

	functions []function
	behind    int // how much was kept up to behind the last plain one; 0 before it
	head      head
}

// head is a plain function whose body has not ended yet, and what was there
// before it.
type head struct {
	function
	open                bool
	kept, cuts, missing int
}

// hollowed leaves out what stands in the outermost braces. It says no where
// braces, strings or comments do not end, which is no Go. What it makes is in the
// memory of what was made before, which is gone then.
func hollowed(text string, before hollow) (hollow, bool) {
	h := hollowing{text: text, kept: before.text[:0], cuts: before.cuts[:0], functions: before.functions[:0]}
	commented, ok := h.all(false)
	if ok && commented {
		h = hollowing{text: text, kept: h.kept[:0], cuts: h.cuts[:0], functions: h.functions[:0]}
		_, ok = h.all(true)
	}
	return hollow{h.kept, h.cuts, h.functions, commented}, ok
}

// all leaves out what it may. It stops at a comment that may stand within a line
// unless comments are kept.
func (h *hollowing) all(comments bool) (commented, ok bool) {
	text, depth, plain := h.text, 0, &plainOutside
	for at := 0; at < len(text); {
		if plain[text[at]] {
			at++
			continue
		}
		switch text[at] {
		case '{':
			at++
			if depth++; depth == 1 {
				h.keep(at)
				plain = &plainGo
			}
		case '}':
			if depth--; depth < 0 {
				return false, false
			}
			if depth == 0 {
				h.leave(at)
				plain = &plainOutside
				h.close(at + 1)
			}
			at++
		case 'f':
			at = h.signature(at, !comments)
		default:
			n := opaque(text[at:])
			if n == 0 {
				return false, false
			}
			if depth == 0 && !comments && n > 1 && text[at] == '/' {
				if text[at+1] == '*' && !h.first(at) {
					return true, true
				}
				h.keep(at)
				if line := at == 0 || text[at-1] == '\n'; line && at+n < len(text) && text[at+n] == '\n' {
					n++
				}
				h.leave(at + n)
			}
			at += n
		}
	}
	h.keep(len(text))
	return comments, depth == 0
}

// keep takes the text up to a place.
func (h *hollowing) keep(to int) {
	h.kept = append(h.kept, h.text[h.from:to]...)
	h.from = to
}

// leave leaves the text out up to a place.
func (h *hollowing) leave(to int) {
	if to > h.from {
		h.missing += to - h.from
		h.cuts = append(h.cuts, cut{len(h.kept), h.missing})
		h.from = to
	}
}

// first says whether nothing but white space and comments stands before a place.
func (h *hollowing) first(at int) bool {
	return len(bytes.TrimSpace(h.kept)) == 0 && strings.TrimSpace(h.text[h.from:at]) == ""
}

// signature leaves out the parameters of a function that is declared at a place,
// if one is. Where no comment has to be found above it, a plain one is opened. It
// returns where to go on.
func (h *hollowing) signature(at int, plain bool) int {
	text := h.text
	if !strings.HasPrefix(text[at:], "func ") || at > 0 && text[at-1] != '\n' {
		return at + 1
	}
	h.head.open = false
	if plain {
		if f, ok := functionAt(text, at); ok {
			h.keep(at)
			h.head = head{f, true, len(h.kept), len(h.cuts), h.missing}
		}
	}
	at += len("func ")
	if end := parameters(text, at); end > 0 {
		at = end // the receiver
	}
	for at < len(text) && (text[at] == ' ' || inName[text[at]]) {
		at++
	}
	for range 2 { // parameters, and results
		end := parameters(text, at)
		if end == 0 {
			break
		}
		h.keep(at + 1)
		h.leave(end - 1)
		if at = end; at < len(text) && text[at] == ' ' {
			at++
		}
	}
	return at
}

// close leaves out the function whose body ends at a place, if it is a plain one,
// a line ends there, and nothing stands between it and another one: what stands
// before that may be no Go.
func (h *hollowing) close(at int) {
	f, rest := h.head, h.text[at:]
	if h.head.open = false; !f.open || rest != "" && !strings.HasPrefix(rest, "\n") && !strings.HasPrefix(rest, "\r\n") {
		return
	}
	if h.behind > 0 && len(bytes.TrimSpace(h.kept[h.behind:f.kept])) == 0 {
		h.kept, h.cuts, h.missing, h.from = h.kept[:f.kept], h.cuts[:f.cuts], f.missing, f.from
		h.leave(at)
		f.to = at
		h.functions = append(h.functions, f.function)
	} else {
		h.keep(at)
	}
	h.behind = len(h.kept)
}

// parameters is where the parentheses end that begin at a place; 0 where none do,
// or something is in them that is not easily passed over.
func parameters(text string, at int) (end int) {
	if at >= len(text) || text[at] != '(' {
		return 0
	}
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at + 1
			}
		case '{', '}', '"', '`', '\'', '/':
			return 0
		}
	}
	return 0
}

// plainGo are the bytes that neither are braces nor may begin a string or a
// comment; plainOutside those that do not begin a function, either.
var plainGo, plainOutside = func() (within, outside [256]bool) {
	for b := range within {
		within[b] = strings.IndexByte("{}\"`'/", byte(b)) < 0
		outside[b] = within[b] && b != 'f'
	}
	return within, outside
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
