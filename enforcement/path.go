package enforcement

import (
	"bytes"
	"path"
	"strings"
)

// Bounds of resolving one path, as Linux has them: symbolic links followed, and
// bytes of a path or a link's target.
const (
	maxLinks = 40
	maxPath  = 4096
)

// Resolve makes a path absolute and follows symbolic links component by
// component, so that ".." after a link leaves the link's target. dir is the
// working folder, home stands for a leading "~"; readlink returns the target of
// a symbolic link and false for anything else, what does not exist included.
// Paths use forward slashes. What lies beyond the bounds is taken literally: the
// system would not open it. A path that is too long is cleaned first, as the
// programs that take such paths do.
func Resolve(p, dir, home string, readlink func(string) (string, bool)) string {
	whole := absolute(p, dir, home)
	if len(whole) > maxPath {
		whole = path.Clean(whole)
	}
	rest := strings.Split(whole, "/")
	var at []byte // without the slash of the root
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = at[:max(0, bytes.LastIndexByte(at, '/'))]
			continue
		}
		parent := len(at)
		at = append(append(at, '/'), name...)
		if readlink == nil || links == maxLinks || len(at) > maxPath {
			continue
		}
		target, isLink := readlink(string(at))
		if !isLink || len(target) > maxPath {
			continue
		}
		links++
		at = at[:parent]
		if strings.HasPrefix(target, "/") {
			at = at[:0]
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if len(at) == 0 {
		return "/"
	}
	return string(at)
}

func absolute(p, dir, home string) string {
	switch {
	case p == "~":
		return home
	case strings.HasPrefix(p, "~/"):
		return home + "/" + p[2:]
	case strings.HasPrefix(p, "/"):
		return p
	}
	return dir + "/" + p
}

// within returns p relative to root ("." for root itself) when p is root or
// below it; fold compares as a case-insensitive file system does.
func within(root, p string, fold bool) (rel string, ok bool) {
	if root == "" {
		return "", false
	}
	root = path.Clean(root)
	if root == "/" {
		return strings.TrimPrefix(p, "/"), strings.HasPrefix(p, "/")
	}
	if same(root, p, fold) {
		return ".", true
	}
	if len(p) > len(root) && p[len(root)] == '/' && same(root, p[:len(root)], fold) {
		return p[len(root)+1:], true
	}
	return "", false
}

func same(a, b string, fold bool) bool {
	return a == b || fold && strings.EqualFold(a, b)
}
