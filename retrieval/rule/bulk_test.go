package rule

import "testing"

func TestMostShippedThere(t *testing.T) {
	shipped, own := State{Source: SourceShipped}, State{Source: "team/go.md"}
	for name, c := range map[string]struct {
		ships  int
		states []State
		want   bool
	}{
		"none of them":           {4, nil, false},
		"a first part":           {4, []State{shipped}, false},
		"rules of somebody else": {4, []State{own, own, own, shipped}, false},
		"half of them":           {4, []State{shipped, shipped}, true},
		"retired ones":           {2, []State{{Source: SourceShipped, Status: Retired}}, true},
		"nothing is shipped":     {0, nil, true},
	} {
		if got := MostShippedThere(c.ships, c.states); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
