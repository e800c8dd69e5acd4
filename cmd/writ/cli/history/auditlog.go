package history

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/verify"
	"github.com/writbus/writ/schemas"
)

func (a *app) auditCommand() *cobra.Command {
	c := client.Group("audit", "Prove that the log was not changed, and report what it says",
		`  writ audit verify
  writ audit prove 019f… --out proof.json
  writ audit verify proof.json --key key.pub
  writ audit export --out approvals.md`,
		a.auditVerifyCommand(), a.auditProveCommand(), a.auditCheckpointCommand(), a.auditKeyCommand(), a.auditExportCommand())
	c.Long = `Every stream of the log is under a Merkle tree (RFC 6962). The daemon signs its
root at intervals with a key of its own, and keeps the signed checkpoints and the
hashes of all records in the folder audit of its data directory, outside of
everything that can be built anew.

One who can write to this machine's files can also take the key and sign another
log. So publish checkpoints to a place that he cannot write to, in config.yaml:

  audit_publish:
    - /mnt/other/writ.checkpoints          a file: checkpoints are appended
    - /srv/evidence/writ/                  a folder: the hashes of all records too
    - https://example.org/checkpoints      they are posted
    - nats://user:pass@host:4222/subject   a stream there stores them

and compare with it: writ audit verify --against /srv/evidence/writ/`
	return c
}

func (a *app) auditKeyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Print the public key, for those who verify proofs",
		Example: "  writ audit key > key.pub",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.AskThen(cmd.Context(), a.Client, client.RoleAdmin, "audit key", schemas.SvcAuditSeal, struct{}{}, func(sealed schemas.AuditSealed) error {
				return a.Print(map[string]string{"key": sealed.Key}, func() { a.Printf("%s\n", sealed.Key) })
			})
		},
	}
}

func (a *app) auditCheckpointCommand() *cobra.Command {
	var signed bool
	c := &cobra.Command{
		Use: "checkpoint", Short: "Sign the log as it stands now",
		Long: `Signs every stream that grew since its last checkpoint, and shows where the
evidence stands. The daemon does so by itself at intervals (audit_every).`,
		Example: "  writ audit checkpoint\n  writ audit checkpoint --signed > today.checkpoints",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return client.AskThen(cmd.Context(), a.Client, client.RoleAdmin, "audit checkpoint", schemas.SvcAuditSeal, struct{}{}, func(sealed schemas.AuditSealed) error { return a.showSealed(sealed, signed) })
		},
	}
	c.Flags().BoolVar(&signed, "signed", false, "print the signed checkpoints themselves, to keep or hand over")
	return c
}

func (a *app) showSealed(sealed schemas.AuditSealed, signed bool) error {
	switch {
	case a.JSON:
		if err := a.PrintJSON(sealed); err != nil {
			return err
		}
	case signed:
		for _, s := range sealed.Streams {
			if s.Checkpoint != "" {
				a.Printf("%s\n", s.Checkpoint)
			}
		}
	default:
		_ = client.Table(a.Client, "stream\trecords\troot", sealed.Streams, func(s schemas.AuditStream) string {
			return fmt.Sprintf("%s\t%s\t%s", s.Stream, client.Thousands(uint64(s.Records)), client.Shorten(s.Root, 20))
		})
		a.Printf("kept in %s\n", sealed.Dir)
		for _, p := range sealed.Publish {
			if p.Problem == "" {
				a.Printf("published to %s\n", p.Place)
			}
		}
	}
	if len(sealed.Problems) > 0 {
		return client.Refused("audit checkpoint", strings.Join(sealed.Problems, "; "), "")
	}
	return nil
}

// auditKey is the public key: a flag's text or file, else that of this
// installation.
func (a *app) auditKey(what, flag string) (note.Verifier, error) {
	if key, err := evidence.ParseKey(flag); err == nil {
		return key, nil // and no name of a file
	}
	text := flag
	if !strings.Contains(flag, "+") || strings.ContainsAny(flag, `/\`) && !strings.HasPrefix(flag, "writ-") {
		path := a.Env.Absolute(flag)
		if flag == "" {
			dataDir, err := a.Env.DataDir()
			if err != nil {
				return nil, client.Explain(what, err)
			}
			path = filepath.Join(client.AuditFolder(dataDir), evidence.KeyFile)
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && flag == "" {
			return nil, client.Refused(what, "there is no public key here", "Give it with --key: `writ audit key` prints it where the log is.")
		}
		if err != nil {
			return nil, client.Refused(what, err.Error(), "--key takes a public key or a file with one.")
		}
		text = string(raw)
	}
	key, err := evidence.ParseKey(text)
	if err != nil {
		return nil, client.Refused(what, client.OneLine(err.Error()), "`writ audit key` prints the public key where the log is.")
	}
	return key, nil
}

func (a *app) auditProveCommand() *cobra.Command {
	var out, since, until, stream string
	c := &cobra.Command{
		Use: "prove EVENT", Short: "Make a proof that an event is in the log",
		Long: `Makes a file that proves that the log holds an event, whole, under a signed
checkpoint. Anybody with the public key can check it, without the log:
writ audit verify FILE --key KEY. EVENT is an event's id, or STREAM/SEQUENCE such
as sessions/812.

With --since FILE it proves instead that the log only grew since a checkpoint
that was kept: nothing under it was changed or taken out. FILE may hold
checkpoints of several streams; the last of --stream counts.`,
		Example: `  writ audit prove 019f3c5e-… --out proof.json
  writ audit prove sessions/812
  writ audit prove --since march.checkpoints --stream sessions --out grown.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := a.proveRequest(client.First(args), since, until, stream)
			if err != nil {
				return err
			}
			reply, err := client.Ask[schemas.AuditProof](cmd.Context(), a.Client, client.RoleAdmin, "audit prove", schemas.SvcAuditProve, request)
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				a.Printf("%s\n", reply.Proof)
				return nil
			}
			if err := os.WriteFile(a.Env.Absolute(out), append(reply.Proof, '\n'), 0o644); err != nil { //nolint:gosec // a proof is made to be handed over
				return client.Refused("audit prove", err.Error(), "")
			}
			a.Note("The proof is in %s. Hand it over together with the public key (`writ audit key`); the record in it can be read.", out)
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "", "`file` to write (default: standard output)")
	c.Flags().StringVar(&since, "since", "", "prove that the log only grew since the checkpoint in this `file`")
	c.Flags().StringVar(&until, "until", "", "up to the checkpoint in this `file` (default: now)")
	c.Flags().StringVar(&stream, "stream", "sessions", "stream of --since")
	return c
}

func (a *app) proveRequest(event, since, until, stream string) (r schemas.AuditProveRequest, err error) {
	switch {
	case since == "" && event == "":
		return r, client.Usage("audit prove: it needs an event's id, STREAM/SEQUENCE, or --since FILE", "`writ log --json` shows the ids.")
	case since != "" && event != "":
		return r, client.Usage("audit prove: it takes an event or --since, not both", "`writ audit prove --help` shows how to use it.")
	case since != "":
		streams, err := streamsOf("audit prove", replayFlags{stream: stream})
		if err != nil {
			return r, err
		}
		if r.Earlier, err = a.lastCheckpoint(since, streams[0]); err != nil {
			return r, err
		}
		if until != "" {
			r.Later, err = a.lastCheckpoint(until, streams[0])
		}
		return r, err
	}
	name, number, placed := strings.Cut(event, "/")
	if seq, err := strconv.ParseUint(number, 10, 64); placed && err == nil && !strings.Contains(name, "-") {
		streams, err := streamsOf("audit prove", replayFlags{stream: name})
		if err != nil {
			return r, err
		}
		return schemas.AuditProveRequest{Stream: streams[0], Seq: seq}, nil
	}
	return schemas.AuditProveRequest{Event: event}, nil
}

// lastCheckpoint is the last one of a stream in a file, still signed.
func (a *app) lastCheckpoint(path string, s schemas.Stream) (string, error) {
	text, err := os.ReadFile(a.Env.Absolute(path))
	if err != nil {
		return "", client.Refused("audit prove", err.Error(), "Give a file of checkpoints: `writ audit checkpoint --signed` prints one.")
	}
	all, _ := evidence.SplitCheckpoints(append(text, '\n')) // the empty line at the end may have been lost
	for i := len(all) - 1; i >= 0; i-- {
		signed := string(all[i].Signed)
		if origin, _, _ := strings.Cut(signed, "\n"); strings.HasSuffix(origin, "/"+string(s)) {
			return signed, nil
		}
	}
	return "", client.Refused("audit prove", fmt.Sprintf("%s holds no checkpoint of %s", path, s), "--stream says which stream.")
}

// verifyProof checks a proof without the log.
func (a *app) verifyProof(path, keyFlag string) error {
	const what = "audit verify"
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(a.In, maxProof))
	} else {
		text, err = os.ReadFile(a.Env.Absolute(path))
	}
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	key, err := a.auditKey(what, keyFlag)
	if err != nil {
		return err
	}
	if read, is, err := verify.Copies(text, key); is {
		if err != nil {
			return client.Refused(what+" "+path, err.Error(), "Do not rely on what it says.")
		}
		return a.Print(read, func() {
			a.Printf("%s of the log %s, as they were signed %s\n", client.Plural(int(read.Copies), "copy", "copies"), read.Log, read.Time.Local().Format(time.DateTime))
		})
	}
	proof, err := evidence.ReadProof(text)
	if err != nil {
		return client.Refused(what+" "+path, err.Error(), "`writ audit prove` makes proofs.")
	}
	shown, err := proof.Verify(key)
	if err != nil {
		return client.Refused(what+" "+path, err.Error(), "Do not rely on what it says.")
	}
	return a.showProven(shown)
}

// maxProof bounds a proof on standard input: one record of the largest size, in
// base64, with room to spare.
const maxProof = 64 << 20

func (a *app) showProven(p evidence.Proven) error {
	var events []schemas.ReplayEvent
	if p.Record != nil {
		events = replay.Show(*p.Record) // it is proven, whether this build understands it or not
	}
	if a.JSON {
		return a.PrintJSON(struct {
			OK     bool `json:"ok"`
			Proven any  `json:"proven"`
			Events any  `json:"events,omitempty"`
		}{true, p, events})
	}
	st := a.Env.Style(a.Out)
	c := p.Checkpoint
	if p.Earlier != nil {
		a.Printf("%s %s only grew: the %s signed %s are all among the %s signed %s.\n", st.Green("proven:"), c.Stream,
			client.Plural(int(p.Earlier.Size), "record", "records"), p.Earlier.Time.Format("2006-01-02 15:04:05Z"), client.Thousands(uint64(c.Size)), c.Time.Format("2006-01-02 15:04:05Z"))
	} else {
		a.Printf("%s record %d of %s is in the log, as it stands here.\n", st.Green("proven:"), p.Record.Seq, p.Record.Stream)
	}
	a.Printf("  %s %s, %s, root %s\n", st.Dim("signed by"), p.Key, c.Time.Format("2006-01-02 15:04:05Z"), base64.StdEncoding.EncodeToString(c.Root[:]))
	for _, e := range events {
		if err := a.showEvent(e, true); err != nil {
			return err
		}
	}
	return nil
}
