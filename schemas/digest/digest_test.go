package digest

import "testing"

func TestDigestsArePersisted(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := Hex("abc"); got != abc {
		t.Errorf("Hex = %s", got)
	}
	if got := Name([]byte("abc")); got != abc[:32] {
		t.Errorf("Name = %s", got)
	}
}
