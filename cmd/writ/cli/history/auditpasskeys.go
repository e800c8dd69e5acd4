package history

import (
	"context"
	"maps"
	"slices"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/passkey"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/verify"
	"github.com/writbus/writ/schemas"
)

// checkSignatures checks every approval by passkey, and every act that a person
// signed, from the public keys alone.
func checkSignatures(ctx context.Context, log verify.Log) (passkey.Report, evidence.Persons, error) {
	var a passkey.Audit
	var persons evidence.Persons
	err := verify.Signatures(ctx, log, schemas.StreamArtifacts, func(e schemas.Event) {
		if e.Aggregate == schemas.Passkeys() {
			a.Passkey(e)
		}
	})
	if err == nil {
		err = verify.Signatures(ctx, log, schemas.StreamSessions, func(e schemas.Event) {
			a.Session(e)
			persons.Count(e)
		})
	}
	if err == nil {
		err = verify.Signatures(ctx, log, schemas.StreamRules, persons.Count)
	}
	return a.Report(), persons, err
}

// showPersons says who signed, nothing where nobody did.
func showPersons(a *client.Client, p evidence.Persons) {
	st := a.Env.Style(a.Out)
	for _, name := range slices.Sorted(maps.Keys(p.By)) {
		a.Printf("%s %s signed %s\n", st.Green("✓"), client.Printable(name), client.Plural(p.By[name], "act", "acts"))
	}
	for _, bad := range p.Bad {
		a.Printf("%s event %s on %s: %s\n", st.Red("✗"), client.Printable(bad.Event), client.Printable(bad.On), client.Printable(bad.Why))
	}
}

// showPasskeys says what was found of approvals by passkey, nothing where there are
// none.
func (a *app) showPasskeys(r passkey.Report) {
	st := a.Env.Style(a.Out)
	if r.Approvals == 0 && len(r.Bad) == 0 {
		return
	}
	mark, said := st.Green("✓"), "each signed by an enrolled passkey"
	if len(r.Bad) > 0 {
		mark, said = st.Red("✗"), st.Red(client.Plural(len(r.Bad), "is not borne out by its signature", "are not borne out by their signatures"))
	}
	fell := ""
	if r.Fell > 0 {
		fell = st.Yellow(client.Plural(r.Fell, "counter fell: a passkey may have been copied", "counters fell: a passkey may have been copied"))
	}
	a.Printf("%s %-16s %s\n", mark, "passkeys", client.JoinNonEmpty(", ", client.Plural(r.Approvals, "approval", "approvals"), said, fell))
	for i, f := range r.Bad {
		if i == shownFindings {
			a.Printf("    and %s; --json lists all\n", client.Plural(len(r.Bad)-i, "more", "more"))
			break
		}
		a.Printf("    %s the %s of session %s, event %s: %s\n", st.Red("bad:"), client.Printable(f.Gate), client.Printable(f.Session), f.Event, client.Printable(f.Why))
	}
}
