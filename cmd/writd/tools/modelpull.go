package tools

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval/embed/hub"
)

// modelPull fetches a known model.
func modelPull(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("model pull", "Fetch a model into the data directory. It needs the network, or --from with a folder.",
		"writ model pull all-MiniLM-L6-v2", errw)
	from := flags.String("from", "", "`URL or folder` with the model's files, instead of the place where it is published")
	name, err := parseOne(flags, args, "the name of a model, such as all-MiniLM-L6-v2")
	if err != nil {
		return err
	}
	model, err := hub.Find(name)
	if err != nil {
		return err
	}
	dir, err := config.DataDir()
	if err != nil {
		return err
	}
	place := cmp.Or(*from, model.URL)
	network := ""
	if strings.Contains(place, "://") {
		network = " (this needs the network)"
	} else if place, err = filepath.Abs(place); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(errw, "%s, %s, %s, from %s%s\n", model.Name, model.License, megabytes(model.Size()), place, network)
	progress := newBar(errw)
	path, already, err := hub.Pull(ctx, model, hub.Options{
		Dir: config.Layout{Root: dir}.Models(), From: place,
		Progress: func(done, total int64) { progress.show(percent(done, total), "") },
	})
	progress.end()
	if err != nil {
		return err
	}
	what := "is in"
	if already {
		what = "was already in"
	}
	_, err = fmt.Fprintf(out, "%s %s %s, its checksums hold. To use it: writ model use %s\n", model.Name, what, path, model.Name)
	return err
}

// percent is a bar of forty signs.
func percent(done, total int64) string {
	share := int(100 * done / max(total, 1))
	return fmt.Sprintf("[%-40s] %3d%%", strings.Repeat("=", share*40/100), share)
}

// parseOne parses flags and one argument, in any order.
func parseOne(flags *pflag.FlagSet, args []string, what string) (string, error) {
	switch err := understand(flags, args); {
	case err != nil:
		return "", err
	case flags.NArg() == 0:
		return "", fmt.Errorf("%w: %s is needed", errUsage, what)
	case flags.NArg() > 1:
		return "", fmt.Errorf("%w: unexpected argument %q", errUsage, flags.Arg(1))
	}
	return flags.Arg(0), nil
}
