package copilot

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host"
)

func TestCopilotsContextIsBoundedInBytes(t *testing.T) {
	reply := Render(host.Call{Kind: host.SessionStart}, host.Answer{Context: strings.Repeat("ü", 20_000)})
	var out output
	if err := json.Unmarshal([]byte(reply.Stdout), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.AdditionalContext; len(got) > maxContext || len(got) < maxContext-4 || strings.ToValidUTF8(got, "") != got || !strings.HasSuffix(got, host.CutMark) {
		t.Errorf("%d bytes", len(got))
	}
}
