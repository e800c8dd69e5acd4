package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writd/daemon"
	"github.com/writbus/writ/cmd/writd/tools"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/excerpt"
)

const usage = `writd serves Writ's log, gates and rules for one data directory.

Usage: writd [--data DIR] [--durability power-loss|interval] [--port N] [--nats-url URL]

It runs in the foreground until it is told to stop (writ down, Ctrl-C).
Example: WRIT_HOME=~/writ-data writd --durability interval

`

// run is the program: it takes its world and returns the exit status, 0 after
// a graceful stop, 1 when it could not serve, 2 for bad flags, launch.HeldStatus where
// another daemon does.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && slices.Contains(tools.Names(), args[0]) {
		return tools.Run(ctx, args, stdout, stderr)
	}
	if slices.Equal(args, []string{"--version"}) {
		_, err := fmt.Fprintf(stdout, "writd %s protocol %d format %d\n", config.Version, config.Protocol, config.Format())
		return map[bool]int{true: 0, false: 1}[err == nil]
	}
	settings, verbose, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "writd: %v\n", err)
		return 2
	}
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	if err = tools.Misplaced(settings.DataDir); err == nil {
		err = daemon.Run(ctx, settings, logger, func(url string) {
			_, _ = fmt.Fprintf(stdout, "writd: serving %s at %s\n", settings.DataDir, url)
		})
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "writd: %s%s\n", excerpt.Plain(err.Error()), remedy(err, settings.DataDir))
		if errors.Is(err, daemon.ErrRunning) {
			return launch.HeldStatus
		}
		return 1
	}
	return 0
}

// remedy is what helps where the log lacks records, or a file of the data directory is not
// what it is to be.
func remedy(err error, dataDir string) string {
	if errors.Is(err, bus.ErrGap) {
		return ". Run `writ repair --from BACKUP`, or `writ repair` without a backup, which records what is lost"
	}
	var file *fs.PathError
	switch {
	case disk.Full(err):
		return ". Make room there, or set WRIT_HOME to another folder"
	case !errors.As(err, &file) || !strings.HasPrefix(file.Path, dataDir) || errors.Is(err, fs.ErrPermission):
		return ""
	}
	return ". Put that right, such as from a backup; views may be deleted, they are made anew. Or move " + dataDir + " away and run `writ backup restore BACKUP`"
}

func parse(args []string, stderr io.Writer) (s config.Settings, verbose bool, err error) {
	flags := flag.NewFlagSet("writd", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = io.WriteString(stderr, usage)
		flags.PrintDefaults()
	}
	dataDir := flags.String("data", "", "data `directory` (default: WRIT_HOME, else the user's state folder)")
	durability := flags.String("durability", "", "power-loss: fsync before every acknowledgement; interval: every 100 ms")
	port := flags.Int("port", -1, "port to listen on, loopback only (0: any)")
	natsURL := flags.String("nats-url", "", "use the NATS at this `URL` instead of embedding one")
	flags.BoolVar(&verbose, "verbose", false, "log what the daemon does")
	if err := flags.Parse(args); err != nil {
		return s, false, err
	}
	if flags.NArg() > 0 {
		return s, false, fmt.Errorf("unexpected argument %q. See writd --help", flags.Arg(0))
	}
	if *dataDir == "" {
		if *dataDir, err = config.DataDir(); err != nil {
			return s, false, err
		}
	}
	if s, err = config.Load(*dataDir); err != nil {
		return s, false, err
	}
	if *durability != "" {
		s.Durability = *durability
	}
	if *port >= 0 {
		s.Port = *port
	}
	if *natsURL != "" {
		s.NATSURL = *natsURL
	}
	return s, verbose, s.Check()
}
