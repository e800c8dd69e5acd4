package tools

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/observer/top"
)

// watchLive is the live view in a terminal; elsewhere it prints what it would
// show now.
func watchLive(ctx context.Context, args []string, out, errw io.Writer) error {
	flags := newFlags("top", "Watch sessions, decisions, lag and latency, live.", "writ top", errw)
	once := flags.Bool("once", false, "print what it would show now, and end")
	asJSON := flags.Bool("json", false, "print that as JSON")
	client := flags.String("writ", "", "the `program` that approves and declines")
	if err := parse(flags, args); err != nil {
		return err
	}
	dataDir, err := config.DataDir()
	if err != nil {
		return err
	}
	conn, err := dialAs(ctx, dataDir, "dashboard")
	if err != nil {
		return err
	}
	defer conn.Close()
	screen, is := out.(*os.File)
	width := 0
	if is {
		width, _, _ = term.GetSize(int(screen.Fd())) // what is no terminal has none
	}
	if *once || *asJSON || !is || !term.IsTerminal(int(screen.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())) {
		return top.Once(ctx, conn, out, time.Now, cmp.Or(width, 120), *asJSON)
	}
	return top.Run(ctx, conn, top.Options{In: os.Stdin, Out: screen, Environ: os.Environ(), Now: time.Now, Writ: *client})
}
