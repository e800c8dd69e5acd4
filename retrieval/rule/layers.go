package rule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
)

// Released is a rule as a release has it, beside what this machine has under its id.
type Released struct {
	Release schemas.Release `json:"release"` // that brought it so
	Rule    schemas.Rule    `json:"rule"`
	Hash    string          `json:"hash"`
	Content string          `json:"content,omitempty"`
}

// Text names whose it is.
func (r Released) Text() string { return r.Release.Layer + " " + r.Release.Name }

// Given is a rule as it is given, of all that have its id: State is that of the layer
// which holds.
type Given struct {
	State
	Layer, Owner string
	// From is the release it is of, nil for this machine's.
	From *schemas.Release
	// Instead are the layers, with their owners, that are not given.
	Instead []string
}

// Given is the rule of the nearest layer; a mandatory one of a release holds before
// all that are nearer, the farthest before the others.
func (s State) Given() Given {
	g := Given{State: s}
	g.Layer, g.Owner = s.own()
	if len(s.Released) == 0 {
		return g
	}
	from := slices.SortedFunc(slices.Values(s.Released), func(a, b Released) int {
		far := cmp.Compare(slices.Index(schemas.Layers(), a.Release.Layer), slices.Index(schemas.Layers(), b.Release.Layer))
		return cmp.Or(far, cmp.Compare(b.Release.Name, a.Release.Name))
	})
	best := slices.IndexFunc(from, func(r Released) bool { return r.Rule.Mandatory })
	stands := s.InForce() && !s.Proposal()
	if best < 0 && stands && g.Layer != schemas.LayerShipped {
		for _, r := range from {
			g.Instead = append(g.Instead, r.Text())
		}
		return g
	}
	if best < 0 {
		best = len(from) - 1
	}
	r := from[best]
	for i, other := range from {
		if i != best {
			g.Instead = append(g.Instead, other.Text())
		}
	}
	if stands {
		g.Instead = append(g.Instead, strings.TrimSpace(g.Layer+" "+g.Owner))
	}
	g.Layer, g.Owner, g.From = r.Release.Layer, r.Release.Name, &r.Release
	g.State = State{
		Rule: r.Rule, Status: Active, Source: r.Release.Text(), Hash: r.Hash, Content: r.Content,
		Revisions: s.Revisions, Last: s.Last,
	}
	return g
}

// own is the layer of what this machine has, and whose it is.
func (s State) own() (layer, owner string) {
	switch {
	case s.Edited, s.Source == SourceTerminal, s.Source == "":
		return schemas.LayerPerson, ""
	case s.Source == SourceShipped, s.Source == SourceCompressed:
		return schemas.LayerShipped, "writ"
	}
	owner, _, _ = strings.Cut(s.Source, "/")
	return schemas.LayerProject, owner
}

// hold takes a release's rule in the place of what that one had before.
func (s State) hold(id string, p schemas.RuleImported) State {
	p.Rule.ID, p.Rule.Authority = id, cmp.Or(p.Rule.Authority, authorityHuman)
	s = s.without(p.Release.Name)
	s.Released = append(s.Released, Released{Release: *p.Release, Rule: p.Rule, Hash: p.Hash, Content: p.Content})
	return s
}

// without is the state without what somebody released. It changes no other state.
func (s State) without(name string) State {
	s.Released = slices.DeleteFunc(slices.Clone(s.Released), func(r Released) bool { return r.Release.Name == name })
	if len(s.Released) == 0 {
		s.Released = nil
	}
	return s
}

func (s State) released(name string) (r Released, has bool) {
	at := slices.IndexFunc(s.Released, func(r Released) bool { return r.Release.Name == name })
	if at < 0 {
		return r, false
	}
	return s.Released[at], true
}

// foreign refuses an act on a rule that is not this machine's.
func (s State) foreign() error {
	g := s.Given()
	if g.From == nil {
		return nil
	}
	todo := "writ rule edit " + g.Rule.ID + " gives one of your own in its place"
	if g.Rule.Mandatory {
		todo = "It is mandatory, so that nothing here takes its place; writ team release propose " + g.Rule.ID + " asks its maintainers for another one"
	}
	return schemas.Faultf(schemas.CodeRefused, "%s is of %s, release %d, and stays as it was released. %s", g.Rule.ID, g.From.Name, g.From.Number, todo)
}

// Take brings in a rule of a release, where that has another one than before.
type Take struct {
	Rule          schemas.Rule
	Hash, Content string
	Release       schemas.Release
}

func (c Take) decide(s State) (Decision, error) {
	if had, has := s.released(c.Release.Name); has && had.Hash == c.Hash && had.Release.Layer == c.Release.Layer {
		return Decision{}, nil
	}
	return recorded(schemas.RuleImported{Rule: c.Rule, Source: c.Release.Text(), Hash: c.Hash, Content: c.Content, Release: &c.Release}, "")
}

// Drop takes a release's rule out again: it says so, or is followed no more.
type Drop struct {
	Release schemas.Release
	Reason  string
}

func (c Drop) decide(s State) (Decision, error) {
	if _, has := s.released(c.Release.Name); !has {
		return Decision{}, nil
	}
	return recorded(schemas.RuleRetired{Reason: c.Reason, Release: &c.Release}, "")
}
