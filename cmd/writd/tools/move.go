package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/enforcement/redact"
	"github.com/writbus/writ/projections/relocate"
	"github.com/writbus/writ/schemas/filelock"
)

// moveLog brings the log of a data folder to a NATS, or back.
func moveLog(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("log move", "Bring the log to a NATS, or back.", "writ log move tls://nats.example.org:4222 --replicas 3 --creds DIR", errw)
	var to relocate.NATS
	url := flags.String("to", "", "the `address` of a NATS, or here")
	creds := flags.String("creds", "", "a `folder` with the credentials of the roles")
	flags.IntVar(&to.Replicas, "replicas", 0, "copies of each event")
	flags.StringVar(&to.CA, "ca", "", "`file` with certificates")
	asJSON := flags.Bool("json", false, "print JSON")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *url != relocate.Here {
		to.URL = *url
	}
	if *url == "" {
		return fmt.Errorf("%w: --to is missing", errUsage)
	}
	if err := to.Check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	dataDir, err := config.DataDir()
	if err != nil {
		return err
	}
	layout := config.Layout{Root: dataDir}
	lock, err := filelock.Take(layout.Lock())
	if err != nil {
		return fmt.Errorf("a daemon runs on %s, or another move: %w. Stop it first: writ down", dataDir, err)
	}
	defer lock.Release()
	done, err := relocate.Run(ctx, relocate.Options{
		Dir: dataDir, Credentials: layout.Credentials(), Creds: *creds, Streams: layout.Log(), To: to,
		Writer: bus.WriterOptions{Source: "/writ/move", Now: func() time.Time { return time.Now().UTC() }, Redact: redact.Payload},
		Note:   func(text string) { _, _ = fmt.Fprintln(errw, text) },
	})
	if err != nil {
		return err
	}
	if *asJSON {
		return json.NewEncoder(out).Encode(done)
	}
	_, err = io.WriteString(out, done.Text())
	return err
}
