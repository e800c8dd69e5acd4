package scanner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/writbus/writ/test/conformance"
)

type conformanceCase struct {
	ID       string `json:"id"`
	Input    string `json:"input"`
	Commands []struct {
		Verb   string  `json:"verb"`
		Args   string  `json:"args"`
		Status string  `json:"status"`
		Body   *string `json:"body"`
	} `json:"commands"`
	Visible     string   `json:"visible"`
	Diagnostics []string `json:"diagnostics"`
	Note        string   `json:"note"`
}

func TestConformanceDialect(t *testing.T) {
	tab := table(t)
	conformance.Run(t, "dialect", func(t *testing.T, c conformanceCase) {
		r := scanAll(tab, c.Input)
		if d := cmp.Diff(c.Visible, r.visible.String()); d != "" {
			t.Errorf("visible:\n%s", d)
		}
		if d := cmp.Diff(c.Diagnostics, r.kinds()); d != "" {
			t.Errorf("diagnostics:\n%s", d)
		}
		if len(c.Commands) != len(r.commands) {
			t.Fatalf("%d commands, expected %d: %+v", len(r.commands), len(c.Commands), r.commands)
		}
		for i, want := range c.Commands {
			got := r.commands[i]
			if got.Verb != want.Verb || got.Args != want.Args || got.Status.String() != want.Status {
				t.Errorf("command %d is %+v, expected %+v", i, got, want)
			}
			if got.HasBody != (want.Body != nil) || want.Body != nil && got.Body != *want.Body {
				t.Errorf("command %d has another body: %q (%v)", i, got.Body, got.HasBody)
			}
		}
	})
}

func TestConformanceDialectBytewise(t *testing.T) {
	tab := table(t)
	for _, c := range conformance.Cases[conformanceCase](t, "dialect") {
		whole := scanAll(tab, c.Input)
		if d := cmp.Diff(whole.order, scanAll(tab, perByte(c.Input)...).order); d != "" {
			t.Errorf("%s:\n%s", c.ID, d)
		}
	}
}

func perByte(s string) []string {
	out := make([]string, len(s))
	for i := range out {
		out[i] = s[i : i+1]
	}
	return out
}
