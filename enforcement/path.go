package enforcement

import (
	"path"
	"strings"
)

// maxLinks bounds the symbolic links followed for one path, as Linux does.
const maxLinks = 40

// Resolve makes a path absolute and follows symbolic links component by
// component, so that ".." after a link leaves the link's target. dir is the
// working folder, home stands for a leading "~"; readlink returns the target of
// a symbolic link and false for anything else, what does not exist included.
// Paths use forward slashes. Beyond maxLinks the rest is taken literally: the
// system would not open such a path.
func Resolve(p, dir, home string, readlink func(string) (string, bool)) string {
	rest := strings.Split(absolute(p, dir, home), "/")
	at, links := "/", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		target, isLink := "", false
		if readlink != nil && links < maxLinks {
			target, isLink = readlink(next)
		}
		if !isLink {
			at = next
			continue
		}
		links++
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return at
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
