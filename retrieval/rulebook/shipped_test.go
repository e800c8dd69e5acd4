package rulebook

import "testing"

func TestShippedRulesAreReadAgainAfterTheyWereForgotten(t *testing.T) {
	first, err := shipped.files()
	if err != nil || len(first) == 0 {
		t.Fatalf("%d rules, %v", len(first), err)
	}
	shipped.forget()
	again, err := shipped.files()
	if err != nil || len(again) != len(first) {
		t.Errorf("%d rules, %v, want %d", len(again), err, len(first))
	}
}
