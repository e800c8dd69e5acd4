package dialect

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ErrCapability is wrapped by errors about a capability's text.
var ErrCapability = errors.New("dialect: bad capability")

// Capability is one entry of an allowlist: all, a verb, or a verb under
// conditions. The zero value grants nothing.
type Capability struct {
	text   string
	all    bool
	verb   string
	sub    []string // words that the argument begins with
	scopes []scope  // all must hold
}

// scope is one condition; one of its patterns must match.
type scope struct {
	key      string
	patterns []string
}

// ParseCapability reads "*", "/verb", "/verb sub-verb" and any of these but the
// star with "key=pattern,pattern" after it. The error wraps ErrCapability.
func ParseCapability(text string) (Capability, error) {
	if text == "*" {
		return Capability{text: text, all: true}, nil
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") {
		return Capability{}, fmt.Errorf("%w: %q does not start with a slash and a verb", ErrCapability, text)
	}
	v := Lookup(words[0][1:])
	if v == nil {
		return Capability{}, fmt.Errorf("%w: %q names no verb; /help lists them", ErrCapability, text)
	}
	c := Capability{text: strings.Join(words, " "), verb: v.Name}
	for _, word := range words[1:] {
		key, value, scoped := strings.Cut(word, "=")
		switch {
		case scoped:
			s, err := parseScope(v, key, value)
			if err == nil && slices.ContainsFunc(c.scopes, func(o scope) bool { return o.key == key }) {
				err = fmt.Errorf("%w: %s= stands twice; separate patterns with commas", ErrCapability, key)
			}
			if err != nil {
				return Capability{}, fmt.Errorf("%w in %q", err, text)
			}
			c.scopes = append(c.scopes, s)
		case len(c.scopes) > 0:
			return Capability{}, fmt.Errorf("%w: %q stands after a scope in %q", ErrCapability, word, text)
		default:
			c.sub = append(c.sub, word)
		}
	}
	if !v.hasSub(c.sub) {
		return Capability{}, fmt.Errorf("%w: %q names no sub-verb of /%s", ErrCapability, text, v.Name)
	}
	return c, nil
}

func parseScope(v *Verb, key, value string) (scope, error) {
	if !slices.Contains(v.Scopes, key) {
		return scope{}, fmt.Errorf("%w: /%s has no scope %q", ErrCapability, v.Name, key)
	}
	s := scope{key: key, patterns: strings.Split(value, ",")}
	for i, pattern := range s.patterns {
		switch key {
		case "host":
			s.patterns[i] = strings.ToLower(pattern)
		case "path":
			if slices.Contains(strings.Split(pattern, "/"), "..") {
				return scope{}, fmt.Errorf("%w: path pattern %q climbs out", ErrCapability, pattern)
			}
			if pattern != "" {
				s.patterns[i] = path.Clean(pattern)
			}
		}
		if pattern == "" {
			return scope{}, fmt.Errorf("%w: an empty pattern for %s=", ErrCapability, key)
		}
	}
	return s, nil
}

// hasSub reports whether some sub-verb begins with the words.
func (v *Verb) hasSub(words []string) bool {
	return len(words) == 0 || slices.ContainsFunc(v.Subs, func(s Sub) bool {
		_, ok := cutWords(s.Name, words)
		return ok
	})
}

// String is the capability as it is written.
func (c Capability) String() string { return c.text }

// names reports whether the capability is about this use of the verb, its
// scopes apart.
func (c Capability) names(v *Verb, args string) bool {
	if c.all {
		return true
	}
	if c.verb != v.Name {
		return false
	}
	_, ok := cutWords(args, c.sub)
	return ok
}

// covers reports whether all scopes hold for a target.
func (c Capability) covers(t target, workspace string) bool {
	return !slices.ContainsFunc(c.scopes, func(s scope) bool { return !t.meets(s, workspace) })
}
