package history

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/observer/eventlog/table"
	"github.com/writbus/writ/observer/replay"
	"github.com/writbus/writ/schemas"
)

// rowsTo begin what takes the lines of rows in a format, and writes them to a file.
// What they return ends it; the file is left open.
var rowsTo = map[string]func(exports, context.Context, io.Writer) (io.Writer, func() error, error){
	"jsonl": func(_ exports, _ context.Context, to io.Writer) (io.Writer, func() error, error) {
		w := bufio.NewWriter(to)
		return w, w.Flush, nil
	},
	"parquet": exports.parquet,
}

// parquet hands the lines to writd, which has the library for it.
func (a exports) parquet(ctx context.Context, to io.Writer) (io.Writer, func() error, error) {
	writd, in, err := a.Writd(ctx)
	if err != nil {
		return nil, nil, err
	}
	program := exec.CommandContext(ctx, writd, "parquet")
	program.Stdout, program.Stderr, program.Dir, program.Env = to, a.Err, in.Env.Dir, in.Env.Vars
	lines, err := program.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := program.Start(); err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriter(lines)
	return w, func() error { return errors.Join(w.Flush(), lines.Close(), program.Wait()) }, nil
}

type exportReply struct {
	Events int    `json:"events"`
	File   string `json:"file"`
	Format string `json:"format"`
}

// exports writes the log as a table.
type exports struct{ *app }

func (a exports) command() *cobra.Command {
	var f replayFlags
	var format, output string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write events as a table, for analysis with other programs",
		Long: `Writes the events of the log, as they are stored and as far as they are there when
it begins, in the order of their streams: one row each, with typed columns. Parquet
is for DuckDB, pandas and the like; JSON lines have the same columns, one object a
line. ` + "`writ help log`" + ` shows a query for each.

The file is yours alone to read, as the log is. It must not exist yet.`,
		Example: `  writ log export --output events.parquet
  writ log export --format jsonl --since 24h | jq -r .tool
  writ log export --output denied.jsonl --type tool.decided`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			whole, err := sessionOf(cmd, a.app, f)
			if err != nil {
				return err
			}
			f.session = whole
			return a.export(cmd.Context(), f, format, output)
		},
	}
	flags := c.Flags()
	flags.StringVar(&format, "format", "", "parquet or jsonl (default: the end of --output's name, else jsonl)")
	flags.StringVarP(&output, "output", "o", "-", "the file to write; - is standard output")
	flags.StringVar(&f.since, "since", "", "from this time or record on")
	flags.StringVar(&f.until, "until", "", "before this time, or up to this record")
	flags.StringVar(&f.stream, "stream", "", "only this stream, such as WRIT_SESSIONS or sessions")
	flags.StringVar(&f.session, "session", "", "only this session")
	flags.StringVar(&f.eventType, "type", "", "only events of this type")
	return c
}

func (a exports) export(ctx context.Context, f replayFlags, format, output string) error {
	if format == "" {
		format = strings.TrimPrefix(filepath.Ext(output), ".")
	}
	format = cmp.Or(format, "jsonl")
	begin := rowsTo[format]
	if begin == nil {
		return client.Usage(fmt.Sprintf("log export: there is no format %q", format), "Give --format parquet or --format jsonl.")
	}
	base, last, err := a.stretch("log export", f)
	if err != nil {
		return err
	}
	streams, err := streamsOf("log export", f)
	if err != nil {
		return err
	}
	if format == "parquet" && output == "-" && client.IsTerminal(a.Out) {
		return client.Usage("log export: Parquet is nothing to read in a terminal", "Give --output FILE.")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain("log export", err)
	}
	defer s.Close()
	to, end, err := a.exportTo(output)
	if err != nil {
		return client.Explain("log export", err)
	}
	reply := exportReply{File: output, Format: format}
	w, done, err := begin(a, ctx, to)
	if err == nil {
		reply.Events, err = exportRows(ctx, s, w, streams, base, last)
		err = cmp.Or(err, done())
	}
	if err = end(err); err != nil {
		return client.Explain("log export", err)
	}
	if output == "-" {
		return nil
	}
	return a.Print(reply, func() { a.Printf("%s events are in %s.\n", client.Thousands(uint64(reply.Events)), output) }) //nolint:gosec // a count
}

// exportTo opens what is written to. end closes it, and removes what an error left
// unfinished.
func (a exports) exportTo(output string) (to io.Writer, end func(error) error, err error) {
	if output == "-" {
		return a.Out, func(err error) error { return err }, nil
	}
	path := a.Env.Absolute(output)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, nil, client.Refused("log export", path+" is there already", "Give another name, or remove it.")
	}
	if err != nil {
		return nil, nil, err
	}
	return file, func(err error) error {
		if err == nil {
			err = file.Sync()
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return errors.Join(err, os.Remove(path))
		}
		return nil
	}, nil
}

// exportRows writes a stretch of each stream, up to where it ends now, and returns
// how many events that were.
func exportRows(ctx context.Context, s client.Service, w io.Writer, streams []schemas.Stream, base schemas.ReplayRequest, last uint64) (n int, err error) {
	ends, err := lastRecords(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, stream := range streams {
		end := ends[stream]
		if last > 0 {
			end = min(end, last)
		}
		base.Stream = stream
		for e, err := range replay.Merged(ctx, pagesOf(s), base) {
			if err != nil {
				return n, err
			}
			if e.Position.Seq > end {
				break
			}
			line, err := replay.Marshal(table.RowOf(e))
			if err != nil {
				return n, err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
