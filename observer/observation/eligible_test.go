package observation

import "testing"

func TestEligibility(t *testing.T) {
	text := func(s string) *string { return &s }
	const never, always = "....", "xxxx"
	for _, c := range []struct {
		name    string
		verdict *string
		recall  string // without flags, with hold, with discard, with both
		reflect bool
	}{
		{"none", nil, always, true},
		{"empty", text(""), always, true},
		{"allow", text(Allow), always, true},
		{"hold", text(Hold), ".x.x", false},
		{"discard", text(Discard), "..xx", false},
		{"unknown", text("keep"), never, false},
		{"in capitals", text("ALLOW"), never, false},
		{"with a blank", text("allow "), never, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, flags := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
				if got := MayRecall(c.verdict, flags[0], flags[1]); got != (c.recall[i] == 'x') {
					t.Errorf("recall with flags %v: %v", flags, got)
				}
			}
			if got := MayReflect(c.verdict); got != c.reflect {
				t.Errorf("reflect: %v", got)
			}
		})
	}
}
