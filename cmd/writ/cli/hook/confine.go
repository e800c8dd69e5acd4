package hook

import (
	"errors"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/confined"
	"github.com/writbus/writ/enforcement/confine"
)

// runConfine runs what package early did not, and says what is wrong with it: it
// is dispatched before any command tree is built.
func (a *app) runConfine(args []string) int {
	o, err := a.confineOptions(args)
	if err != nil {
		return a.Fail(err)
	}
	exit, err := confine.Run(o, a.Err)
	if err != nil {
		return a.Fail(confineFault(err))
	}
	return exit
}

func confineFault(err error) error {
	f := &client.Fault{What: strings.TrimPrefix(err.Error(), "confine: "), Code: confine.ExitFor(err)}
	switch f.Code {
	case confine.ExitUsage:
		f.Todo = "`writ confine --help` shows the options."
	case confine.ExitUnsupported:
		if errors.Is(err, syscall.EAGAIN) {
			f.Todo = "Nothing ran. The system can make no more processes (`ulimit -u`, pids.max of a container): end some, and run it again."
			break
		}
		f.Todo = "Nothing ran. `writ doctor` says what this system can do; --best-effort runs it unconfined."
	}
	return f
}

// confineOptions reads the command line.
func (a *app) confineOptions(args []string) (confine.Options, error) {
	o := confine.Options{Home: a.Env.Home, Dir: a.Env.Dir, Vars: a.Env.Vars}
	if dir, err := a.Env.DataDir(); err == nil {
		o.DataDir = dir
	}
	o, err := confined.Read(o, args, confined.World{
		Absolute: a.Env.Absolute,
		Project:  func() (string, bool) { return a.FindProject(a.Env.Dir) },
		Reveal: func(dir string) []string {
			return []string{config.EndpointPath(dir), config.CredentialPath(dir, client.RoleAgent)}
		},
	})
	if misuse, ok := errors.AsType[*confined.Misuse](err); ok {
		err = client.Usage(misuse.What, misuse.Todo)
	}
	return o, err
}

// confineCommand exists for its help; Run handles confine before this tree is
// built.
func (a *app) confineCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "confine [OPTION…] -- COMMAND [ARG…]",
		Short: "Run a command that can write only what a phase allows",
		Long: `Runs a command that the kernel holds to a profile: it may write the places of the
profile and nothing else, and cannot read Writ's own data, but for a credential
with which ` + "`writ status`, `query` and `recall`" + ` go on working. Writ puts this in
front of commands of an agent that it cannot judge; it restricts whoever runs
it, so anybody may.

  --profile P    scratch (temp folders and caches), read-only (and the plan's
                 files), tests (and what --write names), implementation (and
                 the project)
  --project DIR  the project; without it, the one around the working folder
  --write PATH   one more path that may be written; may be repeated
  -c STRING      run STRING in a shell; further words are its arguments
  --shell PATH   the shell for -c, /bin/sh by default
  --data DIR     Writ's data folder, which the command cannot read
  --best-effort  where the kernel cannot confine, run the command all the same
  --quiet        no line about the profile when the command fails
  --whole        when the command ends, at SIGTERM, or when whoever started this
                 ends, end everything the command started, also what left its
                 group or session (Linux)

Exit status: the command's own, 128+n where signal n ended it; 2 for a command
line that cannot be understood, 125 where nothing ran because this system cannot
confine, or where what held the command ended before it, 126 and 127 for a command that cannot be started or is not found.

A protected file that the command changed all the same is put back, with a line
that begins "` + strings.TrimSpace(confine.RestoredPrefix) + `".`,
		Example: `  writ confine --profile read-only -- make test
  writ confine --profile tests --write tests -c 'npm test && ls'`,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if client.WantsHelp(args) {
				return cmd.Help()
			}
			return errors.New("confine is run before this point")
		},
	}
}
