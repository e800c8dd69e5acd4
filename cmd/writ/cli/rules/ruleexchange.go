package rules

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/retrieval/corpus/folder"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

func (a *app) ruleExportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "export DIR", Short: "Write the corpus as files, one node each",
		Long: `Writes every node in the corpus below a folder: the ones nobody changed since
they were imported with the very bytes they had, the others in the canonical
form. Files that are there with the same content are left alone; files that
this export does not know are not touched.`,
		Example: "  writ rule export ./rules\n  git -C rules diff",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				return client.Usage("rule export: many files do not fit into standard output", "Name a folder; one of that name is ./-.")
			}
			return a.exportRules(cmd.Context(), a.Env.Absolute(args[0]))
		},
	}
	return c
}

func (a *app) exportRules(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return client.Refused("rule export", err.Error(), "")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return client.Refused("rule export", err.Error(), "")
	}
	defer func() { _ = root.Close() }()
	written, same := 0, 0
	for request := (schemas.RuleExportRequest{}); ; {
		page, err := client.Ask[schemas.RuleExportPage](ctx, a.Client, client.RoleHook, "rule export", schemas.SvcRuleExport, request)
		if err != nil {
			return err
		}
		for _, f := range page.Files {
			changed, err := writeInside(root, f)
			if err != nil {
				return client.Refused("rule export "+f.Path, err.Error(), "")
			}
			if changed {
				written++
			} else {
				same++
			}
		}
		if request.After = page.Next; request.After == "" {
			break
		}
	}
	return a.Print(map[string]any{"dir": dir, "written": written, "unchanged": same}, func() {
		a.Printf("%s written to %s, %d were there already.\n", client.Plural(written, "file", "files"), dir, same)
	})
}

// writeInside writes a file below a root, whole or not at all, if it differs.
func writeInside(root *os.Root, f schemas.RuleFile) (changed bool, err error) {
	name := filepath.FromSlash(f.Path)
	if have, err := root.ReadFile(name); err == nil && string(have) == f.Content {
		return false, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	return true, atomicfile.WriteIn(root, name, []byte(f.Content), atomicfile.Options{Mode: 0o644})
}

func (a *app) ruleValidateCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "validate [DIR]", Short: "Look for what is wrong with the corpus",
		Long: `Checks the corpus, or the files of a folder as if they were one: conflicts,
orphans, stale and redundant rules, proposals nobody reviewed, missing examples,
the size of the band that every prompt carries. Exit 1 if there are errors.`,
		Example: "  writ rule validate\n  writ rule validate ./rules --strict",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var request schemas.RuleValidateRequest
			if len(args) > 0 {
				files, err := folder.Read(a.Env.Absolute(args[0]))
				if err != nil {
					return client.Refused("rule validate", err.Error(), "")
				}
				request.Files = files
			}
			return client.AskThen(cmd.Context(), a.Client, client.RoleHook, "rule validate", schemas.SvcRuleValidate, request, func(reply schemas.RuleValidateReply) error { return a.showValidation(reply, strict) })
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "exit 1 on warnings, too")
	return c
}

func (a *app) showValidation(reply schemas.RuleValidateReply, strict bool) error {
	problems, warnings := 0, 0
	st := a.Env.Style(a.Out)
	for _, f := range reply.Findings {
		mark := st.Yellow("warning")
		if f.Severity == "error" {
			problems++
			mark = st.Red("error")
		} else {
			warnings++
		}
		if a.JSON {
			if err := a.PrintJSON(f); err != nil {
				return err
			}
			continue
		}
		where := f.ID
		if f.Path != "" {
			where = fmt.Sprintf("%s:%d", f.Path, f.Line)
		}
		a.Printf("%s  %s: %s %s\n", mark, where, f.Text, st.Dim("("+f.Check+")"))
	}
	if !a.JSON {
		a.Printf("%s, %s: %s, %s.\n", client.Plural(reply.Nodes, "node", "nodes"), client.Plural(reply.Edges, "edge", "edges"),
			client.Plural(problems, "error", "errors"), client.Plural(warnings, "warning", "warnings"))
	}
	if problems > 0 || strict && warnings > 0 {
		return client.Refused("rule validate", "the corpus is not clean", "")
	}
	return nil
}

func (a *app) ruleCompressCommand() *cobra.Command {
	var request schemas.RuleCompressRequest
	c := &cobra.Command{
		Use: "compress", Short: "Write abstractions: one node for several alike rules",
		Long: `Groups the rules of each domain by meaning and writes one Abstraction for each
group. Prompts with a budget below 2,000 tokens get abstractions instead of
rules. The same corpus always gives the same abstractions.`,
		Example: "  writ rule compress --dry-run\n  writ rule compress",
		Args:    cobra.NoArgs,
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, _ []string) error {
			return client.ShowWithin(cmd.Context(), a.Client, client.RoleAdmin, "rule compress", client.ImportBudget, schemas.SvcRuleCompress, request, func(reply schemas.RuleCompressReply) {
				st := a.Env.Style(a.Out)
				for _, r := range reply.Abstractions {
					a.Printf("%s  %s\n", st.Bold(st.Cyan(r.ID)), r.Title)
					if r.Abstraction != nil {
						for _, line := range a.Prose(r.Abstraction.Summary, 2) {
							a.Printf("  %s\n", line)
						}
						a.Printf("  %s\n", st.Dim(fmt.Sprintf("%s · %.0f %% of their tokens", strings.Join(r.Abstraction.Members, ", "), 100*r.Abstraction.Ratio)))
					}
				}
				verb := "changed"
				if request.DryRun {
					verb = "would change"
				}
				a.Printf("%s, %d %s.\n", client.Plural(len(reply.Abstractions), "abstraction", "abstractions"), len(reply.Changed), verb)
			})
		}),
	}
	c.Flags().BoolVar(&request.DryRun, "dry-run", false, "only show them")
	return c
}
