package hook

import "github.com/spf13/cobra"

// hookCommand exists for its help; Run handles hooks before this tree is
// built.
func (a *app) hookCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "hook AGENT [EVENT]",
		Short: "Answer an agent's hook: the host's JSON in, the host's JSON out",
		Long: `Answers a hook of an agent's host: claude, cursor, codex, gemini, copilot or
opencode. The payload is read from standard input; the event it names wins over
EVENT. In a project without Writ it lets everything pass.

It always answers within two seconds. When the daemon cannot be reached or
started, writes are refused, unless .writ/config.yaml says "fail: open".`,
		Example:            `  writ hook claude PreToolUse < payload.json`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
