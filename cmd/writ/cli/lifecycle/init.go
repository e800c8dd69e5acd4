package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/hook"
	"github.com/writbus/writ/enforcement/host/hosts"
	"github.com/writbus/writ/enforcement/host/install"
	"github.com/writbus/writ/enforcement/host/settings"
)

func (a *app) initCommand() *cobra.Command {
	var names []string
	var plugin string
	var check bool
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Guard a project: install hooks, slash commands and settings",
		Long: `Installs Writ in the project in DIR, or in this folder: hooks beside your own in
the settings of each agent, slash commands, and .writ/config.yaml. Without --agent
these are the agents the project shows traces of, else those installed on this
machine, else Claude Code. It says what it changed in each file, and at a terminal
has the hooks refuse a made-up write at the end, as "writ doctor" does at length.
Running it again changes nothing; "writ uninstall" takes everything out again.

What it writes can be committed: hooks name a link in the home folder of whoever
runs them, ~/.local/share/writ/writ, which this command and install.sh set. They do
not ask the PATH, on which a folder of the project may lie. On Windows they name the
program's own path.`,
		Example: `  writ init
  writ init ~/src/shop
  writ init --agent claude --agent codex`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if plugin != "" {
				return a.writePlugin(plugin)
			}
			agents, unknown := hosts.Named(names...)
			if unknown != "" {
				return client.Usage("init: the agent \""+unknown+"\" is unknown", "This build knows "+hook.AgentNames()+".")
			}
			root, err := a.projectDir("init", client.First(args))
			if err != nil {
				return err
			}
			if own := gitsOwn(root); own != "" {
				return client.Refused("init", own+" is git's own folder, in which no agent works",
					"Run it in a work tree: `git worktree add DIR` makes one.")
			}
			var others []settings.Agent
			if len(agents) == 0 {
				agents, others = install.Detect(root, isInstalled(a.Env))
			}
			if !cmd.Flags().Changed("check") {
				check = !a.JSON && client.IsTerminal(a.Out)
			}
			if err := a.install(cmd.Context(), root, agents, others); err != nil || !check {
				return err
			}
			return a.checkBriefly(cmd.Context(), root)
		},
	}
	c.Flags().StringSliceVar(&names, "agent", nil, "guard against this agent; may be repeated: "+hook.AgentNames())
	c.Flags().BoolVar(&check, "check", false, "have the hooks refuse a made-up write afterwards (at a terminal)")
	c.Flags().StringVar(&plugin, "plugin", "", "write Writ as a plugin of Claude Code to this folder, and guard no project")
	_ = c.RegisterFlagCompletionFunc("agent", cobra.FixedCompletions(hosts.Names, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// projectDir is the project a command is given, or the working folder.
func (a *app) projectDir(what, arg string) (string, error) {
	root := a.Env.Dir
	if arg != "" {
		root = a.Env.Absolute(arg)
	}
	info, err := os.Stat(root)
	switch {
	case err != nil:
		return "", client.Refused(what, err.Error(), "Give the folder of a project.")
	case !info.IsDir():
		return "", client.Refused(what, root+" is not a folder", "Give the folder of a project.")
	case launch.SameFolder(root, a.Env.Home):
		return "", client.Refused(what, root+" is your home folder, whose .claude/settings.json holds for every project",
			"Run it in the folder of a project.")
	case filepath.Dir(root) == root:
		return "", client.Refused(what, root+" is the root of the file system", "Run it in the folder of a project.")
	}
	return root, nil
}

// gitsOwn is the folder of git's own data, as a bare repository is, in which a folder
// lies, "" for none.
func gitsOwn(dir string) string {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	for ; !there(".git") && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if there("HEAD") && there("objects") && there("refs") {
			return dir
		}
	}
	return ""
}

// isInstalled tells which programs are on the PATH.
func isInstalled(env client.Env) func(program string) bool {
	return func(program string) bool {
		return slices.ContainsFunc(filepath.SplitList(env.Getenv("PATH")), func(dir string) bool {
			found, err := exec.LookPath(filepath.Join(dir, program))
			return err == nil && filepath.IsAbs(found)
		})
	}
}

func (a *app) install(ctx context.Context, root string, agents, others []settings.Agent) error {
	program, err := a.stableProgram(ctx)
	if err == nil {
		_, err = launch.Find(program, a.Env.Vars) // without it hooks could only refuse
	}
	if err != nil {
		return client.Explain("init", err)
	}
	agents, kept := a.sparingLines(root, agents)
	named, moved, err := linked(a.Env.Home, program)
	if err != nil {
		return client.Refused("init", err.Error(), "Hooks name a link there: move away what is in its place, or make the folder writable, and run this again; nothing was changed.")
	}
	report, err := a.installed(root, named, agents)
	if err != nil {
		return err
	}
	report.Notes = append(report.Notes, kept...)
	if moved != "" {
		report.Notes = append(report.Notes, "hooks of all projects run "+program+" from now on, in place of "+moved)
	}
	for _, other := range others {
		report.Notes = append(report.Notes, other.Title+" is installed as well: `writ init --agent "+other.Name+"` guards against it, too")
	}
	outer, nested := config.FindProject(filepath.Dir(root))
	if nested {
		report.Warnings = append(report.Warnings, outer+" uses Writ as well; inside "+root+" its own settings hold")
	}
	return a.Print(report, func() { a.showInstalled(root, agents, report) })
}

func (a *app) showInstalled(root string, agents []settings.Agent, report install.Report) {
	st := a.Env.Style(a.Out)
	if len(report.Written) == 0 {
		a.Printf("%s is guarded already; nothing had to change.\n", root)
	} else {
		a.Printf("%s %s\n", st.Bold("Writ guards "+root+"."), st.Dim("It changed:"))
		for _, c := range report.Changes {
			a.Printf("  %s\n", changeLine(c, st))
		}
		a.Printf("\nStart %s there.%s\n"+
			"`writ doctor` checks that the hooks answer, `writ uninstall` takes them out again.\n", titles(agents), liveAtOnce(agents))
	}
	for _, note := range report.Notes {
		a.Printf("%s %s\n", st.Bold("note:"), note)
	}
	for _, w := range report.Warnings {
		a.Printf("%s %s\n", st.Yellow("warning:"), w)
	}
}

// changeLine is a change as a comparison's summary has it: a new file, or lines
// that came and went.
func changeLine(c install.Change, st client.Style) string {
	if c.New {
		return st.Green("+ "+c.Path) + st.Dim("  new, "+client.Plural(c.Added, "line", "lines"))
	}
	text := fmt.Sprintf("  +%d", c.Added)
	if c.Removed > 0 {
		text += fmt.Sprintf(" -%d", c.Removed)
	}
	return st.Yellow("~ "+c.Path) + st.Dim(text+" lines")
}

// linked is the program as hooks name it, and what its link led to before. Where
// there is no home folder, and on Windows, where a link takes a privilege, it is
// the path itself.
func linked(home, program string) (named, moved string, err error) {
	if runtime.GOOS == "windows" || home == "" {
		return program, "", nil
	}
	moved, err = launch.Link(filepath.Join(home, filepath.FromSlash(settings.LinkAtHome)), program)
	if launch.SameFolder(moved, program) {
		moved = ""
	}
	return settings.AtHome, moved, err
}

// sparingLines leaves out the status line of an agent whose user has one: a
// project's would take its place.
func (a *app) sparingLines(root string, agents []settings.Agent) (sparing []settings.Agent, notes []string) {
	for _, agent := range agents {
		for _, file := range []string{filepath.Join(a.Env.Home, filepath.FromSlash(agent.Settings)), filepath.Join(root, filepath.FromSlash(agent.Settings))} {
			text, err := os.ReadFile(file)
			if err == nil && agent.Settings != "" && a.Env.Home != "" && agent.Host.Line.Foreign(text) {
				agent.Host.Line.Key = ""
				notes = append(notes, "your status line in "+file+" stays; its command may call `writ statusline` for Writ's")
				break
			}
		}
		sparing = append(sparing, agent)
	}
	return sparing, notes
}

func titles(agents []settings.Agent) string {
	var names []string
	for _, agent := range agents {
		names = append(names, agent.Title)
	}
	return strings.Join(names, " or ")
}

func liveAtOnce(agents []settings.Agent) string {
	if agents[0].Name == "claude" {
		return " In a running session of Claude Code the hooks are live at once."
	}
	return ""
}

func installFault(err error) error {
	if problem, ok := errors.AsType[*install.Problem](err); ok {
		return &client.Fault{What: problem.What, Why: problem.Why, Todo: problem.Todo}
	}
	return &client.Fault{What: "the project's files", Why: err.Error()}
}

// stableProgram is the path hooks run writ by: one that stays. `go run` makes
// a program that is gone afterwards; a package manager's link outlives the
// version it points to.
func (a *app) stableProgram(ctx context.Context) (string, error) {
	program := a.Env.Executable
	if launch.Temporary(program) {
		built, err := a.Programs(ctx)
		if err != nil {
			return "", err
		}
		if launch.Temporary(built) {
			return "", client.Refused("init", program+" is a temporary build, which will be gone",
				"Build writ and writd (`go install "+launch.Module+"/cmd/...@latest`), then run `writ init` with that.")
		}
		return built, nil
	}
	if found, err := exec.LookPath(strings.TrimSuffix(filepath.Base(program), ".exe")); err == nil {
		if found, err = filepath.Abs(found); err == nil && launch.SameFolder(found, program) {
			return found, nil
		}
	}
	return filepath.Abs(program)
}

// installed puts a project under guard: first in the data folder, so that the guard does
// not vanish with a file of the project, and then in the project.
func (a *app) installed(root, program string, agents []settings.Agent) (report install.Report, err error) {
	dataDir, err := a.Env.DataDir()
	if err != nil {
		return report, client.Explain("init", err)
	}
	before := config.Registered(dataDir, root)
	if err := config.Register(dataDir, root); err != nil {
		return report, client.Explain("init", err)
	}
	if report, err = install.Init(root, program, agents...); err != nil {
		if !before {
			_ = config.Unregister(dataDir, root) // what is left there guards nothing
		}
		return report, installFault(err)
	}
	return report, nil
}
