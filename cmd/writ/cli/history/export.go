package history

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// exportedRows is how many rows of a table stay together: what is held in memory
// while it is written, and what a reader can skip.
const exportedRows = 50_000

// exported is an event as a row. Where it came from and what it is, and fields of
// its data that many events have, are columns; the whole data is one more.
type exported struct {
	Stream        string    `parquet:"stream,dict" json:"stream"`
	Seq           int64     `parquet:"seq" json:"seq"`
	Part          int32     `parquet:"part" json:"part"` // of the record, which may hold several events
	ID            string    `parquet:"id" json:"id"`
	Type          string    `parquet:"type,dict" json:"type"`
	Version       int32     `parquet:"version" json:"version"`
	Time          time.Time `parquet:"time,timestamp(microsecond)" json:"time"`
	Kind          string    `parquet:"kind,dict" json:"kind"`           // of the aggregate
	Aggregate     string    `parquet:"aggregate,dict" json:"aggregate"` // a session's id, a rule's, …
	Actor         string    `parquet:"actor,dict" json:"actor"`
	ActorKind     string    `parquet:"actor_kind,dict" json:"actor_kind"`
	CausationID   *string   `parquet:"causation_id" json:"causation_id"`
	CorrelationID *string   `parquet:"correlation_id" json:"correlation_id"`
	Undecodable   *string   `parquet:"undecodable" json:"undecodable"` // why data is the raw body

	// Fields of events' data; null where an event has none.
	Host       *string  `parquet:"host,dict" json:"host"`
	Project    *string  `parquet:"project,dict" json:"project"`
	Tool       *string  `parquet:"tool,dict" json:"tool"`
	Verdict    *string  `parquet:"verdict,dict" json:"verdict"`
	Rule       *string  `parquet:"rule,dict" json:"rule"`
	Gate       *string  `parquet:"gate,dict" json:"gate"`
	Mode       *string  `parquet:"mode,dict" json:"mode"`
	Phase      *string  `parquet:"phase,dict" json:"phase"`
	Tokens     *int64   `parquet:"tokens" json:"tokens"`
	Bytes      *int64   `parquet:"bytes" json:"bytes"`
	Millis     *int64   `parquet:"millis" json:"millis"`
	Confidence *float64 `parquet:"confidence" json:"confidence"`

	Text string          `parquet:"data,json" json:"-"`
	Data json.RawMessage `parquet:"-" json:"data"`
}

// row makes an event a row. A field of another type than its column's is in the
// data alone.
func row(e schemas.ReplayEvent) exported {
	r := exported{
		Stream: string(e.Position.Stream), Seq: int64(e.Position.Seq), Part: int32(e.Position.Part), ID: e.ID, Type: string(e.Type), //nolint:gosec // places in a log
		Version: int32(e.Version), Time: e.Time.UTC(), Kind: string(e.Aggregate.Kind), Aggregate: e.Aggregate.ID, //nolint:gosec // a small number
		Actor: e.Actor, ActorKind: string(schemas.ParseActor(e.Actor).Kind()), Text: string(e.Data), Data: e.Data,
		CausationID: given(e.CausationID), CorrelationID: given(e.CorrelationID), Undecodable: given(e.Undecodable),
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(e.Data, &fields) != nil {
		return r
	}
	d := &r
	for name, column := range map[string]any{
		"host": &d.Host, "project": &d.Project, "tool": &d.Tool, "verdict": &d.Verdict, "rule": &d.Rule, "gate": &d.Gate, "mode": &d.Mode,
		"phase": &d.Phase, "tokens": &d.Tokens, "bytes": &d.Bytes, "millis": &d.Millis, "confidence": &d.Confidence,
	} {
		if raw, has := fields[name]; has && json.Unmarshal(raw, column) != nil {
			_ = json.Unmarshal([]byte("null"), column) // what was begun of it
		}
	}
	return r
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// rowWriter writes rows in a format. Close ends the format, not what is below it.
type rowWriter interface {
	Write(rows []exported) (int, error)
	Close() error
}

// exportFormats make the writers, by the names of the formats and the ends of
// files' names.
var exportFormats = map[string]func(io.Writer) rowWriter{
	"parquet": func(to io.Writer) rowWriter {
		return parquet.NewGenericWriter[exported](to, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(exportedRows))
	},
	"jsonl": func(to io.Writer) rowWriter { return jsonRows{bufio.NewWriter(to)} },
}

type jsonRows struct{ to *bufio.Writer }

func (j jsonRows) Write(rows []exported) (int, error) {
	for i, r := range rows {
		line, err := marshal(r)
		if err != nil {
			return i, err
		}
		if _, err := j.to.Write(append(line, '\n')); err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

func (j jsonRows) Close() error { return j.to.Flush() }

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
	if format == "" {
		format = "jsonl"
	}
	begin := exportFormats[format]
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
	w := begin(to)
	reply.Events, err = exportRows(ctx, s, w, streams, base, last)
	if err = end(errors.Join(err, w.Close())); err != nil {
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
func exportRows(ctx context.Context, s client.Service, w rowWriter, streams []schemas.Stream, base schemas.ReplayRequest, last uint64) (n int, err error) {
	ends, err := lastRecords(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, stream := range streams {
		end := ends[stream]
		if last > 0 {
			end = min(end, last)
		}
		c := &cursor{service: s, request: base}
		c.request.Stream = stream
		for {
			e, err := c.head(ctx)
			if err != nil {
				return n, err
			}
			if e == nil || e.Position.Seq > end {
				break
			}
			rows := make([]exported, 0, len(c.page))
			for _, e := range c.page {
				if e.Position.Seq <= end {
					rows = append(rows, row(e))
				}
			}
			c.page = nil
			if _, err := w.Write(rows); err != nil {
				return n, err
			}
			n += len(rows)
		}
	}
	return n, nil
}
