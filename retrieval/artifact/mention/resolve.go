package mention

import (
	"path"
	"slices"
	"strings"
)

// Outcome is what a mention came to.
type Outcome int

// Outcomes.
const (
	// Nothing: it is no mention of a file after all, such as a person's name.
	Nothing Outcome = iota
	Resolved
	// ToFolder is a mention of a folder that the project has.
	ToFolder
	Ambiguous
	Unresolved
)

// Resolve says what a mention in a text means: a path from the project's
// folder, then one from the text's own, then the one path that ends with it, at
// last without regard to case or extension. Several that fit equally are
// ambiguous; they are returned sorted.
func (p *Paths) Resolve(from string, m Mention) (Outcome, []string) {
	beside := path.Join(path.Dir(from), m.Path)
	candidates := []string{m.Path, beside}
	if rest, isBeside := strings.CutPrefix(m.Path, "./"); isBeside {
		candidates = []string{beside, rest}
	}
	for _, one := range candidates {
		if p.has(one) && !m.Folder {
			return Resolved, []string{one}
		}
		if one != "." && p.hasFolder(one) {
			return ToFolder, []string{one}
		}
	}
	wanted := wanted(m)
	if m.Folder || strings.HasPrefix(m.Path, "../") {
		return p.missing(m)
	}
	// A word alone, such as @Override, names a file by its exact name only.
	word := !strings.ContainsAny(wanted, "/.") && !m.Sure
	name := strings.ToLower(path.Base(wanted))
	if !word {
		if outcome, found := endingWith(p.named(name), wanted, ""); outcome != Nothing {
			return outcome, found
		}
		if strings.Contains(wanted, "/") || m.Sure {
			if outcome, found := endingWith(p.stemmed(name), wanted, ".*"); outcome != Nothing {
				return outcome, found
			}
		}
	}
	return p.missing(m)
}

// endingWith picks the paths that end with what is wanted: first in its own
// case, then in any.
func endingWith(paths []string, wanted, extension string) (Outcome, []string) {
	for _, fold := range []bool{false, true} {
		var found []string
		for _, one := range paths {
			compared := one
			if extension != "" {
				compared = strings.TrimSuffix(one, path.Ext(one))
			}
			if endsWith(compared, wanted, fold) {
				found = append(found, one)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return Resolved, found
		default:
			slices.Sort(found)
			return Ambiguous, found
		}
	}
	return Nothing, nil
}

func endsWith(one, wanted string, fold bool) bool {
	if fold {
		one, wanted = strings.ToLower(one), strings.ToLower(wanted)
	}
	return one == wanted || strings.HasSuffix(one, "/"+wanted)
}

// missing tells a path that is not there from what only looks like one: a
// package's name (@types/node), a decorator (@app.route), a person.
func (p *Paths) missing(m Mention) (Outcome, []string) {
	if m.Sure {
		return Unresolved, nil
	}
	first, _, nested := strings.Cut(m.Path, "/")
	switch {
	case nested && p.hasFolder(first), extensions[strings.ToLower(path.Ext(m.Path))]:
		return Unresolved, nil
	}
	return Nothing, nil
}

// extensions make a word a file's name. Those that are also words of programs
// (".get", ".route") are not among them.
var extensions = func() map[string]bool {
	all := map[string]bool{}
	for _, one := range strings.Fields(`md markdown mdx rst adoc txt go py pyi js jsx mjs cjs ts tsx java kt kts cs rs c h cc cpp hpp
		swift scala php rb sh bash sql proto graphql json jsonl yaml yml toml ini xml html htm css scss csv tsv pdf png jpg svg ipynb
		feature tf dockerfile vue svelte lua ex exs erl hs clj dart zig`) {
		all["."+one] = true
	}
	return all
}()
