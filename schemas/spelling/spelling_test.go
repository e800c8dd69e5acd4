package spelling

import (
	"strings"
	"testing"
)

func TestNearAreTheNamesThatMayBeMeant(t *testing.T) {
	names := []string{"status", "session", "search", "log", "statusline", "GO-ERR-WRAP-001", "GO-ERR-WRAP-002"}
	for word, want := range map[string]string{
		"statsu":          "status",
		"lgo":             "log",
		"SESION":          "session",
		"sta":             "status statusline",
		"go-err-wrap-01":  "GO-ERR-WRAP-001 GO-ERR-WRAP-002",
		"GO-ERR":          "GO-ERR-WRAP-001 GO-ERR-WRAP-002",
		"zzzz":            "",
		"":                "",
		"x":               "",
		"sessionstatusxx": "session",
	} {
		if got := strings.Join(Near(word, names, 3), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	if got := Meant("statsu", names); got != ", perhaps status is meant" {
		t.Errorf("%q", got)
	}
	if got := Meant("zzzz", names); got != "" {
		t.Errorf("%q", got)
	}
}
