package files

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// searchFlags are those of a search for files and of a context.
type searchFlags struct {
	request  schemas.ArtifactSearchRequest
	project  string
	minScore float64
}

func (s *searchFlags) add(a *app, c *cobra.Command) {
	f := c.Flags()
	r := &s.request
	a.projectFlag(c, &s.project)
	f.StringVar(&r.Agent, "agent", "", "search as its strategy says: types, tags, phases, how many, how sure")
	f.StringVar(&r.Method, "method", "", "bm25, semantic or two-stage (default two-stage)")
	f.IntVar(&r.Stage1TopK, "stage1-topk", 100, "candidates of the first stage")
	f.IntVar(&r.Stage2TopK, "limit", 10, "hits to show; given, it wins over the strategy's")
	f.IntVar(&r.Stage2TopK, "stage2-topk", 10, "the same as --limit")
	f.StringSliceVar(&r.Types, "type", nil, "only requirement, architecture, test, code, documentation or research")
	f.StringSliceVar(&r.Tags, "tag", nil, "only files with one of these tags")
	f.StringSliceVar(&r.Phases, "phase", nil, "only files of these phases, and of none")
	f.StringVar(&r.Path, "path", "", "only paths that match this `glob`, such as 'docs/**/*.md'")
	f.Float64Var(&s.minScore, "min-score", 0, "leave out what scores less, 0 to 1 (default: the strategy's)")
}

// filled checks the flags and makes the request.
func (s *searchFlags) filled(a *app, what, text string, c *cobra.Command) (schemas.ArtifactSearchRequest, error) {
	f, r := c.Flags(), s.request
	r.Query = text
	r.Project = a.indexedProject(c.Context(), s.project)
	given := f.Changed("limit") || f.Changed("stage2-topk")
	if f.Changed("stage1-topk") && r.Stage1TopK < 1 || given && r.Stage2TopK < 1 {
		return r, client.Usage(what+": --limit, --stage1-topk and --stage2-topk must be at least 1", "")
	}
	if !given {
		r.Stage2TopK = 0 // the strategy's
	}
	if f.Changed("min-score") {
		if !(s.minScore >= 0 && s.minScore <= 1) {
			return r, client.Usage(fmt.Sprintf("%s: --min-score is %v, must be 0 to 1", what, s.minScore), "")
		}
		r.MinScore = &s.minScore
	}
	return r, nil
}

func (a *app) searchCommand() *cobra.Command {
	var flags searchFlags
	c := &cobra.Command{
		Use:   "search TEXT",
		Short: "Find the files of a project that a text asks for",
		Long: `Finds pieces of the project's own files: words and meaning, the names of files
and what they declare. A score is the chance, 0 to 1, that a file answers.
` + "`writ index build`" + ` makes the index.`,
		Example: `  writ search "where are retries configured"
  writ search --agent test-engineer "checkout flow"
  writ search --type architecture,documentation --path 'docs/**' "event log"
  writ search --json getUserName | jq -r '.artifacts[].path'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := flags.filled(a, "search", strings.Join(args, " "), cmd)
			if err != nil {
				return err
			}
			return client.Show(cmd.Context(), a.Client, client.RoleHook, "search", schemas.SvcArtifact, request, a.showSearched)
		},
	}
	flags.add(a, c)
	c.Flags().BoolVar(&flags.request.Explain, "explain", false, "show what each score is made of, and how long each step took")
	return c
}
