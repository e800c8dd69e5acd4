package rules

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/check/files"
	"github.com/writbus/writ/schemas"
)

// checkBatch is how many bytes of files travel in one request, of which agents may ask
// 1 MiB, with what JSON adds.
const checkBatch = 512 << 10

// checks run the mechanical checks of rules.
type checks struct{ *client.Client }

func (a *checks) checkCommand() *cobra.Command {
	var diff, staged bool
	var base string
	c := &cobra.Command{
		Use: "check [FILE|DIR…]", Short: "Run the rules' mechanical checks over files or changed lines",
		Long: `Runs the checks that rules carry. With --diff only on the lines that differ from
the last commit (or from --base), new files included; with --staged on what is
about to be committed. Exit 1 if anything is found.`,
		Example: "  writ check internal/store.go\n  writ check --diff\n  writ check --diff --base origin/main --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []schemas.CheckFile
			var changes string
			var err error
			tree := files.Tree{Dir: a.Env.Dir, Env: a.Env.Vars}
			switch {
			case diff || staged || base != "":
				if all, changes, err = tree.Changed(cmd.Context(), args, base, staged); err != nil {
					return client.Refused("check --diff", err.Error(), "It needs a git work tree; name files instead.")
				}
			case len(args) == 0:
				return client.Usage("check: name files or folders, or say --diff", "`writ check --help` shows examples.")
			default:
				if all, err = tree.Named(args); err != nil {
					return client.Refused("check", err.Error(), "")
				}
			}
			return a.checkFiles(cmd.Context(), all, changes)
		},
	}
	c.Flags().BoolVar(&diff, "diff", false, "only lines changed since the last commit")
	c.Flags().BoolVar(&staged, "staged", false, "only lines that are staged")
	c.Flags().StringVar(&base, "base", "", "only lines changed since this commit")
	return c
}

func (a *checks) checkFiles(ctx context.Context, files []schemas.CheckFile, diff string) error {
	if len(files) == 0 {
		if !a.JSON {
			a.Note("there is no file to check")
		}
		return nil
	}
	findings, checks := 0, 0
	st := a.Env.Style(a.Out)
	for len(files) > 0 {
		n, bytes := 0, 0
		for n < len(files) && (n == 0 || bytes+len(files[n].Content) <= checkBatch) {
			bytes += len(files[n].Content)
			n++
		}
		what := "check"
		if n == 1 {
			what += " " + files[0].Path
		}
		reply, err := client.Ask[schemas.CheckReply](ctx, a.Client, client.RoleHook, what, schemas.SvcCheck, schemas.CheckRequest{Files: files[:n], Diff: diff})
		if err != nil {
			return err
		}
		checks = reply.Checks
		findings += len(reply.Findings)
		for _, f := range reply.Findings {
			if a.JSON {
				if err := a.PrintJSON(f); err != nil {
					return err
				}
				continue
			}
			a.Printf("%s:%d:%d: %s: %s\n", f.Path, f.Line, f.Column, st.Bold(st.Yellow(f.Rule)), f.Message)
			if f.Excerpt != "" {
				a.Printf("    %s\n", st.Dim(f.Excerpt))
			}
		}
		files = files[n:]
	}
	if findings > 0 {
		return client.Refused("check", client.Plural(findings, "finding", "findings"), "`writ rule show ID` says why and how to do it right.")
	}
	if !a.JSON {
		a.Note("nothing found by %s", client.Plural(checks, "check", "checks"))
	}
	return nil
}
