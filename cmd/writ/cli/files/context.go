package files

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

func (a *app) contextCommand() *cobra.Command {
	var flags searchFlags
	var request schemas.ArtifactContextRequest
	var task string
	c := &cobra.Command{
		Use:   "context TEXT",
		Short: "Print what an agent should read of a project for a task",
		Long: `Prints pieces of the project's files, never more than a budget of tokens: first
what the task mentions (@path, @path:LINE, @path#section), then the best of what
a search with the agent's strategy finds. Where the texts of all do not fit, the
rest are named with what they declare.`,
		Example: `  writ context "add a flag to the CLI"
  writ context --agent test-engineer "cover the retry policy, see @docs/retries.md"
  writ context --task "add a flag to the CLI" --max-context-tokens 8000 > context.md
  writ context --agent api-designer --task "version the API" --format json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.TrimSpace(strings.Join(args, " "))
			if text != "" && task != "" {
				return client.Usage("context: the task is given twice, as a text and with --task", "")
			}
			if text = cmp.Or(text, strings.TrimSpace(task)); text == "" {
				return client.Usage("context: the task is missing", "Say what the agent is to do: writ context \"add a flag to the CLI\"")
			}
			if cmd.Flags().Changed("max-context-tokens") && request.MaxContextTokens < 1 {
				return client.Usage("context: --max-context-tokens must be at least 1", "")
			}
			search, err := flags.filled(a, "context", text, cmd)
			if err != nil {
				return err
			}
			request.ArtifactSearchRequest = search
			request.Agent = cmp.Or(request.Agent, "default")
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "context", schemas.SvcArtifactContext, request, a.showContext)
		},
	}
	flags.add(a, c)
	f := c.Flags()
	f.StringVar(&task, "task", "", "what the agent is to do, instead of a TEXT")
	f.IntVar(&request.MaxContextTokens, "max-context-tokens", 50000, "tokens the text may take")
	f.StringVar(&request.Format, "format", "markdown", "markdown or json")
	f.StringVar(&request.Session, "session", "", "leave out what this session was shown, and remember the rest as shown")
	return c
}

// showContext prints the text, and beside it what a person should know of it.
func (a *app) showContext(reply schemas.ArtifactContextReply) {
	a.Printf("%s", reply.Context)
	st := a.Env.Style(a.Err)
	switch {
	case reply.Context == "" && reply.Dropped > 0: // said below
	case reply.Context == "" && reply.Known > 0:
		a.Note("This session was shown what answers that: %s.", client.Plural(reply.Known, "piece", "pieces"))
	case reply.Context == "":
		a.Note("Nothing in this project answers that%s.", asAgent(reply.ArtifactSearchReply))
	default:
		a.Note("%s", st.Dim(client.Plural(len(reply.References), "file", "files")+", "+client.Plural(reply.Tokens, "token", "tokens")))
	}
	brief := 0
	for _, found := range reply.Artifacts {
		if found.Brief {
			brief++
		}
	}
	if brief > 0 {
		a.Note("%s without text; --max-context-tokens gives more.", client.Plural(brief, "piece is named", "pieces are named"))
	}
	if reply.Dropped > 0 {
		a.Note("%s %s had no room; --max-context-tokens gives more.", st.Yellow("warning:"), client.Plural(reply.Dropped, "piece", "pieces"))
	}
	for _, m := range reply.Unresolved {
		if len(m.Meant) > 0 {
			a.Note("%s %s may mean %s; write the whole path.", st.Yellow("warning:"), m.Mention, strings.Join(m.Meant, " or "))
			continue
		}
		a.Note("%s %s names no file of the index.", st.Yellow("warning:"), m.Mention)
	}
	a.warnProblem(reply.Problem)
	a.warnStale(reply.Index)
}
