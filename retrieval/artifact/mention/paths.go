package mention

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Paths are those of a project, made to look mentions up in. They do not change;
// [Paths.With] makes others, which share what is the same.
type Paths struct {
	base *named
	came map[string]bool // that base has not
	left map[string]bool // of base
	more named           // what came adds, and of folders what left takes away
}

// named are paths by what mentions call them.
type named struct {
	all map[string]bool
	// folders count the files and the folders with files in each.
	folders map[string]int
	// byName lists the paths by their last element, and by that without its
	// extension, in lower case.
	byName map[string][]string
	byStem map[string][]string
}

// mostApart is how far paths may be from those that they share before they are
// looked at anew.
const mostApart = 512

// NewPaths takes the paths of a project's documents.
func NewPaths(all []string) *Paths {
	p := &Paths{base: newNamed(len(all))}
	for _, one := range all {
		p.base.add(one)
		p.base.count(one, 1, nil)
	}
	return p
}

func newNamed(n int) *named {
	return &named{
		all: make(map[string]bool, n), folders: map[string]int{}, byName: make(map[string][]string, n), byStem: make(map[string][]string, n),
	}
}

func (n *named) add(one string) {
	n.all[one] = true
	name, stem := namesOf(one)
	n.byName[name] = append(n.byName[name], one)
	if stem != "" {
		n.byStem[stem] = append(n.byStem[stem], one)
	}
}

// namesOf are what a path is looked up by; the stem is empty where it is none of
// its own.
func namesOf(one string) (name, stem string) {
	name = strings.ToLower(path.Base(one))
	if stem = strings.TrimSuffix(name, path.Ext(name)); stem == name {
		return name, ""
	}
	return name, stem
}

// count counts a file that came or left in its folder, and a folder that came or
// left with it in that above. base, if not nil, is what was counted before.
func (n *named) count(one string, sign int, base map[string]int) {
	for at := strings.LastIndexByte(one, '/'); at > 0; at = strings.LastIndexByte(one, '/') {
		one = one[:at]
		before := base[one] + n.folders[one]
		n.folders[one] += sign
		if before > 0 && before+sign > 0 {
			return
		}
	}
}

// With are the paths with some that came and without some that left, and the
// names of what is there now and was not, or the other way round: what mentions
// lead to changes only for those that ask for one of these.
func (p *Paths) With(came, left []string) (next *Paths, names map[string]bool) {
	next = &Paths{base: p.base, came: cloned(p.came), left: cloned(p.left)}
	var moved []string
	for _, one := range left {
		switch {
		case !next.has(one):
			continue
		case next.came[one]:
			delete(next.came, one)
		default:
			next.left[one] = true
		}
		moved = append(moved, one)
	}
	for _, one := range came {
		switch {
		case next.has(one):
			continue
		case next.left[one]:
			delete(next.left, one)
		default:
			next.came[one] = true
		}
		moved = append(moved, one)
	}
	next.overlay()
	names = map[string]bool{}
	for _, one := range moved {
		name, stem := namesOf(one)
		names[name] = true
		names[stem] = stem != ""
		for at := strings.LastIndexByte(one, '/'); at > 0; at = strings.LastIndexByte(one, '/') {
			one = one[:at]
			if p.hasFolder(one) != next.hasFolder(one) {
				names[strings.ToLower(path.Base(one))] = true
			}
		}
	}
	if len(next.came)+len(next.left) > mostApart {
		return NewPaths(next.list()), names
	}
	return next, names
}

func cloned(set map[string]bool) map[string]bool {
	if set == nil {
		return map[string]bool{}
	}
	return maps.Clone(set)
}

// overlay names what came and left.
func (p *Paths) overlay() {
	p.more = *newNamed(0)
	for one := range p.left {
		p.more.count(one, -1, p.base.folders)
	}
	for one := range p.came {
		p.more.add(one)
		p.more.count(one, 1, p.base.folders)
	}
}

func (p *Paths) list() []string {
	all := slices.Collect(maps.Keys(p.came))
	for one := range p.base.all {
		if !p.left[one] {
			all = append(all, one)
		}
	}
	return all
}

func (p *Paths) has(one string) bool { return p.came[one] || p.base.all[one] && !p.left[one] }

func (p *Paths) hasFolder(one string) bool { return p.base.folders[one]+p.more.folders[one] > 0 }

// named lists the paths with a name.
func (p *Paths) named(name string) []string {
	return p.living(p.base.byName[name], p.more.byName[name])
}

// stemmed lists the paths with a name before their extension.
func (p *Paths) stemmed(stem string) []string {
	return p.living(p.base.byStem[stem], p.more.byStem[stem])
}

func (p *Paths) living(base, more []string) []string {
	if len(more) == 0 && !slices.ContainsFunc(base, func(one string) bool { return p.left[one] }) {
		return base
	}
	var all []string
	for _, one := range base {
		if !p.left[one] {
			all = append(all, one)
		}
	}
	return append(all, more...)
}

// Names are those that say whether what a mention leads to may have changed: see
// [Paths.With]. Always says that every change may have.
func (m Mention) Names() (names []string, always bool) {
	first, _, _ := strings.Cut(m.Path, "/")
	for _, one := range []string{first, path.Base(path.Clean(m.Path)), path.Base(wanted(m))} {
		if one == "." || one == ".." {
			always = true
		}
		if one = strings.ToLower(one); one != "" && !slices.Contains(names, one) {
			names = append(names, one)
		}
	}
	return names, always
}

// wanted is what the path ends with that a mention means.
func wanted(m Mention) string { return path.Clean(strings.TrimLeft(m.Path, "./")) }
