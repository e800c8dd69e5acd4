package observation

import (
	"errors"
	"reflect"
	"testing"
)

func TestNearDuplicates(t *testing.T) {
	got := Duplicates([]string{"Use pnpm, never npm.", "the port is 5432", "never npm: use PNPM", "the port is 5433", "use pnpm never npm"})
	if want := []Duplicate{{2, 0, 1}, {4, 0, 1}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestNotes(t *testing.T) {
	texts := []string{
		"the deploy job locks the state file", "coffee is in the kitchen", "the deploy job locks the shared state file", "the nightly deploy job locks the state file", "tabs",
	}
	got := Notes(texts, nil)
	if len(got) != 1 || !reflect.DeepEqual(got[0].From, []int{0, 2, 3}) || got[0].Text != "the deploy job locks the state file (observed 3 times)" || got[0].Rule != "" {
		t.Errorf("%+v", got)
	}
	if got := Notes(texts, func(a, b int) float64 { return 0.1 }); got != nil {
		t.Errorf("unlike in meaning: %+v", got)
	}
	if got := Notes(texts, func(a, b int) float64 { return 0.9 }); len(got) != 1 || len(got[0].From) != 5 {
		t.Errorf("alike in meaning: %+v", got)
	}
}

func TestReflected(t *testing.T) {
	answer := "Here:\nnote 1,3: Deploys run alone.\n- rule 2, 2: {\"id\":\"OPS-DEPLOY-001\",\"statement\":\"Run alone: always\"}\nrule 1: {broken\nnote 9: out of range\nnote: none\nnote 1:\nidea 1: x\n"
	got, err := Reflected(answer, 3)
	want := []Proposed{
		{Text: "Deploys run alone.", From: []int{0, 2}},
		{Text: "Run alone: always", Rule: `{"id":"OPS-DEPLOY-001","statement":"Run alone: always"}`, From: []int{1}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Reflected("None.", 3); err != nil || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Reflected("I think all is well.", 3); !errors.Is(err, ErrAnswer) {
		t.Error(err)
	}
}

func FuzzReflected(f *testing.F) {
	f.Add("note 1: a\nrule 1,2: {\"statement\":\"b\"}", 2)
	f.Add("none", 0)
	f.Fuzz(func(t *testing.T, answer string, n int) {
		all, _ := Reflected(answer, n)
		for _, p := range all {
			if p.Text == "" || len(p.From) == 0 {
				t.Fatalf("%+v", p)
			}
			for _, i := range p.From {
				if i < 0 || i >= n {
					t.Fatalf("%+v of %d", p, n)
				}
			}
		}
	})
}
