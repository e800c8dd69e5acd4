// Package strategy says which files of a project an agent is given: their types,
// tags and phases, how many, and how relevant they must be.
//
// Guarantees: everything is a value; names of agents are the same with hyphens,
// underscores or blanks and in any letter case; an agent that has no strategy
// gets the default one.
//
// It does not search, and reads no settings: the caller passes what a project
// configures.
package strategy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/retrieval/artifact"
)

// Default is the name of the strategy of agents that have none.
const Default = "default"

// ErrStrategy is returned for a configured strategy that cannot be meant.
var ErrStrategy = errors.New("strategy: not a strategy")

// Strategy is what an agent is given. Empty lists admit everything.
type Strategy struct {
	Types  []artifact.Type // any of them
	Tags   []string        // any of them; a file without tags passes
	Phases []string        // any of them; a file without a phase passes
	TopK   int             // at most so many hits
	// MinScore is a share, 0 to 1: a file is given whose sum is at least so much of
	// the best one's. Cosines, which such numbers once were, say how near a file is
	// and not how good; what is enough depends on what there is.
	MinScore float64
}

// Override is what a project configures of a strategy. What is nil stays as it
// is in the built-in one of the same name, or in the default one.
type Override struct {
	Types    *[]string `yaml:"types" json:"types"`         // only files of these types
	Tags     *[]string `yaml:"tags" json:"tags"`           // only files with one of these tags, and with none
	Phases   *[]string `yaml:"phases" json:"phases"`       // only files of these phases, and of none
	TopK     *int      `yaml:"top_k" json:"top_k"`         // how many files at most
	MinScore *float64  `yaml:"min_score" json:"min_score"` // leave out what is less than this share of the best, 0 to 1
}

// Set holds the strategies of a project by canonical name.
type Set map[string]Strategy

// BuiltIn returns the strategies of a project that configures none.
func BuiltIn() Set {
	return Set{
		"test_engineer": {
			Types:  []artifact.Type{artifact.Requirement, artifact.Architecture, artifact.Code},
			Phases: []string{artifact.Elaboration, artifact.Construction}, TopK: 15, MinScore: 0.65,
		},
		"security_auditor": {
			Types: []artifact.Type{artifact.Architecture, artifact.Code},
			Tags:  []string{"security", "authentication", "authorization"}, TopK: 10, MinScore: 0.70,
		},
		"api_designer": {Types: []artifact.Type{artifact.Requirement, artifact.Architecture}, TopK: 8, MinScore: 0.75},
		"integrator": {
			Types: []artifact.Type{artifact.Architecture, artifact.Test, artifact.Documentation}, TopK: 12, MinScore: 0.65,
		},
		Default: {
			Types: []artifact.Type{artifact.Requirement, artifact.Architecture, artifact.Code, artifact.Test}, TopK: 10, MinScore: 0.70,
		},
	}
}

// Canonical is an agent's name as strategies are looked up by it.
func Canonical(agent string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(agent), func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), "_")
}

// With returns the set with what a project configures. An error wraps
// [ErrStrategy] and names the strategy and what is wrong; nothing of it applies.
func (s Set) With(overrides map[string]Override) (Set, error) {
	out := maps.Clone(s)
	names := slices.Sorted(maps.Keys(overrides))
	// What others are based on comes first.
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	seen := map[string]string{}
	for _, name := range names {
		key := Canonical(name)
		if before, twice := seen[key]; twice {
			return nil, fmt.Errorf("%w: %q and %q are the same name", ErrStrategy, before, name)
		}
		seen[key] = name
		base, known := out[key]
		if !known {
			base = out[Default]
		}
		changed, err := base.with(overrides[name])
		if err != nil || key == "" {
			return nil, fmt.Errorf("%w: %q: %w", ErrStrategy, name, cmp.Or(err, errNoName))
		}
		out[key] = changed
	}
	return out, nil
}

var errNoName = errors.New("the name is blank")

func rank(name string) int {
	if Canonical(name) == Default {
		return 0
	}
	return 1
}

func (s Strategy) with(o Override) (Strategy, error) {
	if o.Types != nil {
		s.Types = nil
		for _, t := range *o.Types {
			known := artifact.Type(strings.ToLower(t))
			if !known.Known() {
				return s, fmt.Errorf("there is no type %q; use %s", t, list(artifact.Types()))
			}
			s.Types = append(s.Types, known)
		}
	}
	if o.Tags != nil {
		s.Tags = slices.Clone(*o.Tags)
	}
	if o.Phases != nil {
		s.Phases = slices.Clone(*o.Phases)
	}
	if o.TopK != nil {
		if s.TopK = *o.TopK; s.TopK < 1 || s.TopK > MostTopK {
			return s, fmt.Errorf("top_k is %d, must be 1 to %d", s.TopK, MostTopK)
		}
	}
	if o.MinScore != nil {
		if s.MinScore = *o.MinScore; !(s.MinScore >= 0 && s.MinScore <= 1) {
			return s, fmt.Errorf("min_score is %v, must be 0 to 1", s.MinScore)
		}
	}
	return s, nil
}

// MostTopK is the most hits that a search may ask for.
const MostTopK = 1000

func list(types []artifact.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// Of returns the strategy of an agent, and whether it has one of its own.
func (s Set) Of(agent string) (found Strategy, own bool) {
	if found, own = s[Canonical(agent)]; own {
		return found, true
	}
	return s[Default], false
}

// Names lists the strategies, sorted.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s)) }
