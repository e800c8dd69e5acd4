package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/launch"
)

// stopGrace is how long a program that was told to stop may take for it.
const stopGrace = 3 * time.Second

// toolCommands are the programs that need what only the daemon's binary links:
// writ hands them over to writd, arguments, streams and exit status.
func (a *app) toolCommands() []*cobra.Command {
	return []*cobra.Command{
		a.toolCommand("benchmark", "Measure how well and how fast rules are found", "  writ benchmark rules --truth queries.jsonl --scale 1000,10000"),
		a.toolCommand("tune", "Fit a ranking profile to judged queries", "  writ tune --truth queries.jsonl"),
		a.toolCommand("model", "List, pull, choose or train embedders",
			"  writ model list\n  writ model pull all-MiniLM-L6-v2\n  writ model use all-MiniLM-L6-v2\n  writ model train --data corpus/ --out table.bin"),
	}
}

func (a *app) toolCommand(name, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: example, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			writd, err := launch.Find(a.env.Executable, a.env.Vars)
			if err != nil {
				return explain(name, err)
			}
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help") || len(args) == 0 {
				return cmd.Help()
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			program := exec.CommandContext(ctx, writd, append([]string{name}, args...)...)
			program.Stdin, program.Stdout, program.Stderr = a.in, a.out, a.err
			program.Dir, program.Env = a.env.Dir, a.env.Vars
			// Told to stop, it says what it leaves behind; only then is it ended.
			program.WaitDelay = stopGrace
			program.Cancel = func() error {
				if program.Process.Signal(os.Interrupt) != nil { // not every system has it
					return program.Process.Kill()
				}
				return nil
			}
			err = program.Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return &fault{code: exit.ExitCode()}
			}
			return err
		},
	}
}
