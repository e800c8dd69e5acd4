package strategy

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/writbus/writ/retrieval/artifact"
)

func TestBuiltIn(t *testing.T) {
	set := BuiltIn()
	if got := set.Names(); !slices.Equal(got, []string{"api_designer", "default", "integrator", "security_auditor", "test_engineer"}) {
		t.Errorf("names: %v", got)
	}
	for _, agent := range []string{"test_engineer", "test-engineer", "Test Engineer", "TEST__ENGINEER"} {
		s, own := set.Of(agent)
		if !own || s.TopK != 15 || s.MinScore != 0.65 || !slices.Equal(s.Phases, []string{"elaboration", "construction"}) {
			t.Errorf("%s: %+v, own %v", agent, s, own)
		}
	}
	if s, own := set.Of("gardener"); own || s.TopK != 10 || s.MinScore != 0.70 || len(s.Types) != 4 {
		t.Errorf("an unknown agent gets %+v, own %v", s, own)
	}
}

func pointer[T any](v T) *T { return &v }

func TestWith(t *testing.T) {
	set, err := BuiltIn().With(map[string]Override{
		"Security-Auditor": {TopK: pointer(3), Tags: pointer([]string{"crypto"})},
		"gardener":         {Types: pointer([]string{"Documentation"})},
		"default":          {MinScore: pointer(0.5)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := set["security_auditor"]; got.TopK != 3 || !slices.Equal(got.Tags, []string{"crypto"}) || got.MinScore != 0.70 || len(got.Types) != 2 {
		t.Errorf("security_auditor: %+v", got)
	}
	if got := set["gardener"]; got.MinScore != 0.5 || !slices.Equal(got.Types, []artifact.Type{artifact.Documentation}) || got.TopK != 10 {
		t.Errorf("a new one is based on the default as it is configured: %+v", got)
	}
	if !reflect.DeepEqual(BuiltIn()["default"].MinScore, 0.70) {
		t.Error("the built-in ones were changed")
	}
}

func TestWithRefuses(t *testing.T) {
	for want, o := range map[string]map[string]Override{
		`there is no type "poem"`:      {"a": {Types: pointer([]string{"poem"})}},
		"top_k is 0":                   {"a": {TopK: pointer(0)}},
		"min_score is 1.5":             {"a": {MinScore: pointer(1.5)}},
		`"a-b" and "a_b" are the same`: {"a-b": {}, "a_b": {}},
		"the name is blank":            {" - ": {}},
	} {
		_, err := BuiltIn().With(o)
		if !errors.Is(err, ErrStrategy) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
