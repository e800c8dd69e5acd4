package agents

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/dialect"
)

func (a *app) agentCommand() *cobra.Command {
	return client.Group("agent", "Ask an agent to work, show its runs, schedules and constitutions",
		"  writ agent run --agent reviewer.json \"look at the diff\"\n  writ agent list\n  writ agent show 0190c2…\n  writ agent schedule list",
		a.runCommand(), a.agentListCommand(), a.agentShowCommand(), a.agentStopCommand(), a.scheduleCommand(),
		a.agentValidateCommand(), a.dispatchCommand(), client.Named("lint", a.lintStreamCommand()))
}

// maxConstitution bounds the file of a constitution.
const maxConstitution = 1 << 20

// validated is the verdict on one file, as JSON shows it.
type validated struct {
	File         string   `json:"file"`
	OK           bool     `json:"ok"`
	Name         string   `json:"name,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Problem      string   `json:"problem,omitempty"`
	Prompt       string   `json:"prompt,omitempty"`
}

func (a *app) agentValidateCommand() *cobra.Command {
	prompt := false
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check the files of constitutions",
		Long: `Checks constitutions strictly: an unknown key, a wrong type or an unknown
capability is an error that names file and key. The exit status is 1 where a
file has one.`,
		Example: "  writ agent validate agents/reviewer.json\n  writ agent validate agents/*.json --json\n  writ agent validate agents/reviewer.json --prompt",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			failed := 0
			for _, name := range args {
				v := a.validate(name)
				if prompt && v.OK {
					v.Prompt = dialect.Prompt(dialect.NewGrant(v.Capabilities))
				}
				if !v.OK {
					failed++
				}
				if err := a.showValidated(v); err != nil {
					return err
				}
			}
			if failed > 0 {
				return &client.Fault{Code: client.ExitFailed}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&prompt, "prompt", false, "show what the agent is told about its commands")
	return c
}

func (a *app) validate(name string) validated {
	v := validated{File: name}
	raw, err := client.ReadBounded(a.Env.Absolute(name), maxConstitution)
	if err != nil {
		v.Problem = name + ": " + err.Error()
		return v
	}
	c, err := dialect.ParseConstitution(name, raw)
	if err != nil {
		v.Problem = strings.TrimPrefix(err.Error(), dialect.ErrConstitution.Error()+": ")
		v.Problem = strings.Replace(v.Problem, dialect.ErrCapability.Error()+": ", "", 1)
		return v
	}
	v.OK, v.Name, v.Capabilities = true, c.Name, c.Capabilities
	return v
}

func (a *app) showValidated(v validated) error {
	if a.JSON {
		return a.PrintJSON(v)
	}
	st := a.Env.Style(a.Out)
	if !v.OK {
		a.Printf("%s %s\n", st.Red("✗"), v.Problem)
		return nil
	}
	may := "nothing but /help: it has no capabilities"
	if len(v.Capabilities) > 0 {
		may = strings.Join(v.Capabilities, ", ")
	}
	a.Printf("%s %s: %s may use %s\n", st.Green("✓"), v.File, st.Bold(v.Name), may)
	if v.Prompt != "" {
		a.Printf("\n%s\n", v.Prompt)
	}
	return nil
}
