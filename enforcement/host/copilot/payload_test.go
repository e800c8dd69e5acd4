package copilot

import (
	"strings"
	"testing"
)

func TestCopilotsContextIsBoundedInBytes(t *testing.T) {
	if got := clipBytes(strings.Repeat("ü", 20_000), maxContext); len(got) > maxContext || strings.ToValidUTF8(got, "") != got {
		t.Errorf("%d bytes", len(got))
	}
}
