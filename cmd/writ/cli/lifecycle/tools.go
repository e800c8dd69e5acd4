package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
)

// tools are the commands that need what only the daemon's binary links: writ hands
// them over to writd, arguments, streams and exit status.
type tools struct{ *app }

// modelCommand is what finds by meaning, and how well it does.
func (a tools) modelCommand() *cobra.Command {
	c := a.toolCommand("model", "List, pull or choose embedders, tune and measure", `Lists the embedders that are at hand (list), fetches one (pull), chooses the one that
finds rules, files and observations (use), and measures how well it does. --help
behind each shows its flags.`, "  writ model list\n  writ model pull all-MiniLM-L6-v2\n  writ model use all-MiniLM-L6-v2\n  writ model tune --truth queries.jsonl\n  writ model benchmark rules --truth queries.jsonl")
	c.AddCommand(a.benchmarkCommand(), a.tuneCommand())
	return c
}

func (a tools) benchmarkCommand() *cobra.Command {
	return a.toolCommand("benchmark", "Measure how well rules are found and observations judged", `Measures how well and how fast rules are found (rules), files of projects are found
(retrieval), and observations are judged (memory). --help behind each shows its
flags.`, "  writ model benchmark rules --truth queries.jsonl --scale 1000,10000\n  writ model benchmark memory --data turns.jsonl")
}

func (a tools) tuneCommand() *cobra.Command {
	return a.toolCommand("tune", "Fit a ranking profile to judged queries", `Fits a ranking profile by cross-validation to the queries of --truth, files of JSON
Lines with commas between, and says whether it beats the current one, or that of
--profile NAME. --without FILE leaves out queries by their ids. --giving fits the
decision what is given instead. The rules are those of --corpus DIR, or those that
are shipped; --embedder NAME finds them. --folds N is how many parts the
cross-validation has, --seed N of what its intervals are drawn.`, "  writ model tune --truth queries.jsonl")
}

// topCommand needs no flags, and a terminal.
func (a tools) topCommand() *cobra.Command {
	c := a.toolCommand("top", "See what waits and approve it; watch sessions and decisions, live", `Shows what waits for you, sessions with where they stand, what agents ask for and
what is answered, how far views are behind the log, and how long searches take.
Of what waits, a shows it whole and asks for your yes, d asks what should change:
both run writ approve, which is for a person at a terminal; ? explains all keys.
Where standard output is no terminal, and with --once or --json, it prints what it
would show now and ends.`, "  writ top\n  writ top --once\n  writ top --json | jq .sessions")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if asksForHelp(args) {
			return cmd.Help()
		}
		if a.JSON && len(args) == 0 {
			args = []string{"--json"}
		}
		in, err := a.WithDaemon(cmd.Context())
		if err != nil {
			return client.Explain("top", err)
		}
		return a.handOver(cmd.Context(), "top", append([]string{"--writ", in.Env.Executable}, args...))
	}
	return c
}

// whatIfCommand links retrieval, so writd runs it.
func (a tools) whatIfCommand() *cobra.Command {
	return a.toolCommand("whatif", "Run the log once more under other settings, and say what would have changed", `Runs recorded decisions under another policy (--policy FILE, a project's settings as
in .writ/config.yaml) and recorded prompts over another corpus (--corpus DIR) or
with other weights (--weights FILE or the name of a profile). It reports decisions
that would have come out otherwise, with both reasons, and rules that prompts would
have gained or lost, with tokens and latency. Nothing is written to the log.
What the log does not hold cannot be run again and is counted with the reason.`, "  writ log whatif --policy strict.yaml --since 24h\n  writ log whatif --corpus ./rules\n  writ log whatif --weights tuned.json --json")
}

// mcpCommand is started by hosts, with nothing after its name.
func (a tools) mcpCommand() *cobra.Command {
	c := a.toolCommand("mcp", "Serve an agent's host over the Model Context Protocol", `Serves the tools query, recall, status, propose and advance_phase over standard
input and output, to a host that starts it. writ help agents says what else it has,
and how hosts are told of it.`, "  writ mcp < requests.jsonl")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if asksForHelp(args) {
			return cmd.Help()
		}
		return a.handOver(cmd.Context(), "mcp", args)
	}
	return c
}

func asksForHelp(args []string) bool {
	return len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help")
}

func (a tools) toolCommand(name, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Long: long, Example: example, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asksForHelp(args) || len(args) == 0 {
				return cmd.Help()
			}
			return a.handOver(cmd.Context(), name, args)
		},
	}
}

// handOver runs a tool of writd in this program's place.
func (a tools) handOver(ctx context.Context, name string, args []string) error {
	writd, c, err := a.Writd(ctx)
	if err != nil {
		return client.Explain(name, err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := exec.CommandContext(ctx, writd, append([]string{name}, args...)...)
	program.Stdin, program.Stdout, program.Stderr = a.In, a.Out, a.Err
	program.Dir, program.Env = c.Env.Dir, c.Env.Vars
	// Told to stop, it says what it leaves behind; only then is it ended.
	program.WaitDelay = cmp.Or(c.Env.StopGrace, 3*time.Second)
	program.Cancel = func() error {
		if program.Process.Signal(os.Interrupt) != nil { // not every system has it
			return program.Process.Kill()
		}
		return nil
	}
	err = program.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &client.Fault{Code: exit.ExitCode()}
	case errors.Is(err, context.Canceled) && program.ProcessState.Success():
		return nil // told to stop, it did
	}
	return err
}
