package artifact

import "testing"

func TestEveryTypeIsKnown(t *testing.T) {
	for _, one := range Types() {
		if !one.Known() {
			t.Errorf("%q is listed and not known", one)
		}
	}
	for _, other := range []Type{"", "Code", "codes"} {
		if other.Known() {
			t.Errorf("%q is known", other)
		}
	}
}
