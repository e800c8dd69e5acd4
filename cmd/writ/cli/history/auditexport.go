package history

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/projections/audit/evidence"
	"github.com/writbus/writ/projections/audit/report"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

// exportFlags say what an export holds.
type exportFlags struct {
	format, out, since, until, session, project string
}

func (a *app) auditExportCommand() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export", Short: "Report who approved what, when and how",
		Long: `Writes what happened of consequence: approvals with their channel, fingerprint and
files, approvals that were refused or withdrawn, what agents were denied, and
changes of modes, rules and memories.

csv and jsonl hold one act per line. md is a report for a reviewer; it begins
with whether the log is the one that was signed, which is checked first.
Times are RFC 3339, a date, or how long ago (15m, 24h).`,
		Example: `  writ audit export --out approvals.md
  writ audit export --format csv --since 2026-11-01 > november.csv
  writ audit export --format jsonl --session 5e2c…`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.auditExport(cmd.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "", "csv, jsonl or md (default: what the name of --out says, else md)")
	flags.StringVar(&f.out, "out", "", "`file` to write (default: standard output)")
	flags.StringVar(&f.since, "since", "", "from this time on")
	flags.StringVar(&f.until, "until", "", "before this time")
	flags.StringVar(&f.session, "session", "", "only this session")
	flags.StringVar(&f.project, "project", "", "only sessions of the project with this root")
	return c
}

func (a *app) auditExport(ctx context.Context, f exportFlags) (err error) {
	const what = "audit export"
	format, known := report.Format(f.format, f.out, a.JSON)
	if !known {
		return client.Usage(fmt.Sprintf("audit export: there is no format %q", f.format), "Use csv, jsonl or md.")
	}
	r := report.Report{Made: a.Env.Now()}
	if r.From, err = a.Moment(what, f.since); err != nil {
		return err
	}
	if r.To, err = a.Moment(what, f.until); err != nil {
		return err
	}
	if f.project != "" {
		f.project = a.Env.Absolute(f.project)
	}
	if format == "md" {
		if r.Evidence, err = a.evidenceOf(ctx, what); err != nil {
			return err
		}
	}
	if err := a.collectActs(ctx, what, f, &r); err != nil {
		return err
	}
	return a.writeOut(what, f.out, func(w io.Writer) error { return r.Write(w, format) })
}

// writeOut writes to a file, whole or not at all, or to standard output.
func (a *app) writeOut(what, path string, write func(io.Writer) error) error {
	if path == "" || path == "-" {
		return write(a.Out)
	}
	path = a.Env.Absolute(path)
	if err := atomicfile.WriteFunc(path, atomicfile.Options{Mode: 0o644}, func(f *atomicfile.File) error { return write(f) }); err != nil {
		return client.Refused(what, err.Error(), "")
	}
	return nil
}

// evidenceOf checks the log, for the head of a report.
func (a *app) evidenceOf(ctx context.Context, what string) (report.Evidence, error) {
	v, err := a.checkLog(ctx, what, verifyFlags{})
	if err != nil {
		return report.Evidence{}, err
	}
	e := report.Evidence{OK: v.OK, Records: v.records(), Findings: v.Problems}
	for _, s := range v.Streams {
		for _, line := range evidence.Lines(s.Findings) {
			e.Findings = append(e.Findings, string(s.Stream)+": "+line.String())
		}
		for _, p := range s.Problems {
			e.Findings = append(e.Findings, string(s.Stream)+": "+p)
		}
	}
	sealed, err := client.Ask[schemas.AuditSealed](ctx, a.Client, client.RoleAdmin, what, schemas.SvcAuditSeal, struct{}{})
	if err != nil {
		return e, err
	}
	e.Key = sealed.Key
	for _, s := range sealed.Streams {
		if s.Records > 0 {
			e.Checkpoints = append(e.Checkpoints, report.Checkpoint{Stream: s.Stream, Records: s.Records, Root: s.Root})
		}
	}
	return e, nil
}

// collectActs reads the log from its start, since only that says which project
// a session belongs to.
func (a *app) collectActs(ctx context.Context, what string, f exportFlags, r *report.Report) error {
	streams, err := streamsOf(what, replayFlags{session: f.session})
	if err != nil {
		return err
	}
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain(what, err)
	}
	defer s.Close()
	var requests []schemas.ReplayRequest
	for _, stream := range streams {
		requests = append(requests, schemas.ReplayRequest{Stream: stream, Session: f.session, Until: r.To})
	}
	collected := report.NewCollector()
	for e, err := range replay.Merged(ctx, pagesOf(s), requests...) {
		if err != nil {
			return client.Explain(what, err)
		}
		collected.Add(e, outside(e.Time, r.From))
	}
	for _, act := range collected.Acts {
		if f.project == "" || act.Project == f.project {
			r.Acts = append(r.Acts, act)
		}
	}
	r.Counts = collected.Counts
	return nil
}

func outside(t, from time.Time) bool { return !from.IsZero() && t.Before(from) }
