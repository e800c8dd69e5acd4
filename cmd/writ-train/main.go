// Command writ-train trains the models that come with Writ, for who has text or
// labels of their own: the table of the static embedder, and the classifier of
// memory. It also packs the encoder, and embeds the shipped rules with it. It is not installed with Writ: run it with
//
//	go run github.com/writbus/writ/cmd/writ-train@latest
//
// It reads no log and asks no daemon, and writes only the files it is told.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage is returned for a command line that cannot be understood.
var errUsage = errors.New("usage")

const usage = `Train the models that come with Writ.

  writ-train table --data corpus/ --out table.bin
  writ-train classifier --data train.jsonl --heldout heldout.jsonl --out model.bin
  writ-train encoder --data all-MiniLM-L6-v2/ --out model.bin
  writ-train vectors --out vectors.bin

Each explains its flags with --help.
`

// run returns the exit status: 0, 1 when training failed, 2 for a command line
// that cannot be understood.
func run(ctx context.Context, args []string, out, errw io.Writer) int {
	if len(args) == 0 {
		args = []string{""}
	}
	var err error
	switch args[0] {
	case "table":
		err = trainTable(ctx, args[1:], out, errw)
	case "classifier":
		err = trainClassifier(args[1:], out, errw)
	case "encoder":
		err = packEncoder(args[1:], out, errw)
	case "vectors":
		err = embedShipped(ctx, args[1:], out, errw)
	case "help", "-h", "--help":
		_, err = io.WriteString(out, usage)
	default:
		_, _ = io.WriteString(errw, usage)
		return 2
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintf(errw, "writ-train %s: %v\n", args[0], err)
		return 2
	}
	_, _ = fmt.Fprintf(errw, "writ-train %s: %v\n", args[0], err)
	return 1
}

// parse reads the flags, without which there is nothing to do but for data and a
// place to write to.
func parse(flags *flag.FlagSet, args []string, data, path *string) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(0))
	}
	if *data == "" || *path == "" {
		return fmt.Errorf("%w: --data and --out are needed", errUsage)
	}
	return nil
}
