package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/passkey"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/verify"
	"github.com/writbus/writ/schemas"
)

// verifyFlags say what the log is compared with.
type verifyFlags struct {
	against     []string
	key, stream string
}

func (a *app) auditVerifyCommand() *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use: "verify [PROOF]", Short: "Compare the whole log with what was signed, or check a proof",
		Long: `Without PROOF: has the log signed as it stands, reads every stream again, and
compares each record with the hashes and every signed checkpoint that were kept.
A record that was altered, removed, inserted or moved is named. So is an approval
by passkey, or an act that a person signed (writ approve key), that its signature
does not bear out, checked from the public key alone.
Exit code 1 says that something was found. Records that were given up after damage, or
whose texts were forgotten, are named each time, and are no change.

With PROOF, a file of writ audit prove or "-": checks that file alone. It needs the
public key and neither the log nor the daemon.

--against adds a second place that checkpoints were published to: a file of
checkpoints, or a folder, whose hashes then count instead of those kept here.
A member of a hub (writ help team) is held against what the hub's witness cosigned.`,
		Example: `  writ audit verify
  writ audit verify --against /srv/evidence/writ/
  writ audit verify proof.json --key key.pub`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.verifyProof(args[0], f.key)
			}
			return a.verifyLog(cmd.Context(), f)
		},
	}
	c.Flags().StringArrayVar(&f.against, "against", nil, "`file` or folder that checkpoints were published to; may be repeated")
	c.Flags().StringVar(&f.key, "key", "", "public `key`, or a file with it (default: this installation's)")
	c.Flags().StringVar(&f.stream, "stream", "", "only this stream")
	return c
}

// verified is the outcome for the whole log.
type verified struct {
	OK       bool              `json:"ok"`
	Key      string            `json:"key"`
	Witness  string            `json:"witness,omitempty"`
	Streams  []evidence.Report `json:"streams"`
	Passkeys passkey.Report    `json:"passkeys"`
	Persons  evidence.Persons  `json:"persons"`
	Problems []string          `json:"problems,omitempty"`
	// Restored are the backups that the log was restored from, as it says itself.
	Restored []schemas.LogRestored `json:"restored,omitempty"`
	Hub      *verify.Second        `json:"hub,omitempty"`
	Seconds  float64               `json:"seconds"`
}

func (v verified) records() (n uint64) {
	for _, s := range v.Streams {
		n += s.Records
	}
	return n
}

func (a *app) verifyLog(ctx context.Context, f verifyFlags) error {
	const what = "audit verify"
	v, err := a.checkLog(ctx, what, f)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(v); err != nil {
			return err
		}
	} else {
		a.showVerified(v)
	}
	if !v.OK {
		why := "the log is not the one that was signed"
		if len(v.Passkeys.Bad)+len(v.Persons.Bad) > 0 {
			why = "an act is not borne out by its signature, or the log is not the one that was signed"
		}
		return client.Refused(what, why, "Keep the data directory as it is, and compare with a backup or a published copy (--against).")
	}
	return nil
}

// checkLog compares the streams, several at a time.
func (a *app) checkLog(ctx context.Context, what string, f verifyFlags) (v verified, err error) {
	streams, err := streamsOf(what, replayFlags{stream: f.stream})
	if err != nil {
		return v, err
	}
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return v, client.Explain(what, err)
	}
	defer s.Close()
	log, able := s.(interface {
		verify.Log
		Restores(context.Context) ([]schemas.LogRestored, error)
	})
	if !able {
		return v, client.Refused(what, "this connection cannot read the log", "")
	}
	began := a.Env.Now()
	sealed, err := client.Call[schemas.AuditSealed](ctx, s, schemas.SvcAuditSeal, struct{}{})
	if err != nil {
		return v, client.Explain(what, err)
	}
	f.key = cmp.Or(f.key, sealed.Key)
	key, err := a.auditKey(what, f.key)
	if err != nil {
		return v, err
	}
	v.Key = key.Name()
	for _, p := range sealed.Streams {
		if p.Problem != "" {
			v.Problems = append(v.Problems, p.Problem)
		}
	}
	places := []string{sealed.Dir}
	if _, err := os.Stat(sealed.Witness); err == nil {
		v.Witness = sealed.Witness
		places = append(places, v.Witness)
	}
	hub, err := client.Call[schemas.TeamReply](ctx, s, schemas.SvcTeam, schemas.TeamRequest{Act: schemas.TeamStatus})
	if err != nil {
		return v, client.Explain(what, err)
	}
	v.Hub = verify.NewSecond(hub)
	for _, place := range f.against {
		place = a.Env.Absolute(place)
		if _, err := os.Stat(place); err != nil {
			return v, client.Refused(what, "nothing can be read at "+place, "--against takes a file or folder that checkpoints were published to.")
		}
		places = append(places, place)
	}
	if v.Streams, err = verify.Streams(ctx, log, streams, places, v.Hub, key); err != nil {
		return v, client.Explain(what, err)
	}
	if v.Restored, err = log.Restores(ctx); err != nil {
		return v, client.Explain(what, err)
	}
	v.Problems = append(v.Problems, v.Hub.Problems(len(v.Restored) > 0)...)
	v.OK = len(v.Problems) == 0
	for _, r := range v.Streams {
		v.OK = v.OK && r.OK()
	}
	if f.stream == "" {
		if v.Passkeys, v.Persons, err = checkSignatures(ctx, log); err != nil && !errors.Is(err, bus.ErrGap) {
			return v, client.Explain(what, err)
		}
		v.OK = v.OK && len(v.Passkeys.Bad) == 0 && len(v.Persons.Bad) == 0
	}
	v.Seconds = a.Env.Now().Sub(began).Seconds()
	return v, nil
}

// shownFindings bounds what a person is shown of one stream.
const shownFindings = 20

func (a *app) showVerified(v verified) {
	st := a.Env.Style(a.Out)
	for _, r := range v.Streams {
		mark, said := st.Green("✓"), "as it was signed"
		switch {
		case !r.OK():
			mark, said = st.Red("✗"), st.Red("changed")
		case r.Kept == 0 && r.Records > 0:
			mark, said = st.Yellow("·"), "nothing was signed yet"
		case r.Records == 0:
			mark, said = st.Dim("·"), "empty"
		}
		a.Printf("%s %-16s %s\n", mark, r.Stream, client.JoinNonEmpty(", ", said, client.Plural(int(r.Records), "record", "records"), client.Plural(r.Checkpoints, "checkpoint holds", "checkpoints hold"), sinceText(r), unsignedText(r)))
		left := len(r.Findings)
		for i, line := range evidence.Lines(r.Findings) {
			if i == shownFindings {
				a.Printf("    and %s; --json lists all\n", client.Plural(left, "more", "more"))
				break
			}
			a.Printf("    %s %s\n", st.Red(string(line.Change)+":"), line.Text)
			left -= line.Of
		}
		if n := len(r.Lost); n > 0 {
			a.Printf("    %s\n", st.Yellow(fmt.Sprintf("%s from %d to %d: damaged, and given up by writ repair, as the log says", client.Plural(n, "record lost", "records lost"), r.Lost[0].Seq, r.Lost[n-1].Seq)))
		}
		if r.Forgotten > 0 {
			a.Printf("    %s\n", st.Yellow(client.Plural(int(r.Forgotten), "record whose texts", "records whose texts")+" somebody had forgotten: what was signed of them is in the tree")) //nolint:gosec // a count
		}
		for _, p := range r.Problems {
			a.Printf("    %s\n", st.Red(p))
		}
	}
	for _, r := range v.Restored {
		text := fmt.Sprintf("restored on %s from the backup of %s; %s", r.Restored.Local().Format(time.DateTime), r.Backup.Local().Format(time.DateTime), client.Plural(int(r.Gone()), "record signed beyond it is gone", "records signed beyond it are gone")) //nolint:gosec // a count
		if r.Path != "" {
			text += ": their checkpoints are in " + r.Path
		}
		a.Printf("%s %s\n", st.Yellow("·"), text)
	}
	if v.Hub != nil {
		a.Printf("%s %s\n", st.Yellow("·"), v.Hub)
	}
	a.showPasskeys(v.Passkeys)
	showPersons(a.Client, v.Persons)
	for _, p := range v.Problems {
		a.Printf("%s %s\n", st.Red("✗"), p)
	}
	second := "no second place"
	if v.Witness != "" {
		second = "second place " + v.Witness
	}
	a.Printf("%s, key %s, %s, %s\n", client.Plural(int(v.records()), "record read again", "records read again"), v.Key, second, time.Duration(v.Seconds*float64(time.Second)).Round(10*time.Millisecond))
}

// sinceText says from when on what was signed speaks for a stream.
func sinceText(r evidence.Report) string {
	if r.Since.IsZero() {
		return ""
	}
	return "signed since " + r.Since.Local().Format("2006-01-02 15:04:05")
}

func unsignedText(r evidence.Report) string {
	if r.Unsigned == 0 || r.Kept == 0 {
		return ""
	}
	return client.Plural(int(r.Unsigned), "record after the last of them", "records after the last of them")
}
