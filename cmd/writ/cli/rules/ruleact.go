package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/retrieval/corpus/folder"
	"github.com/writbus/writ/schemas"
)

func (a *app) ruleAddCommand() *cobra.Command {
	return &cobra.Command{
		Use: "add FILE|-", Short: "Add one rule, from a file or standard input",
		Long:    "Adds one node to the corpus. An id that exists is refused: `writ rule edit`\nchanges a rule.",
		Example: "  writ rule add GO-CTX-FIRST-001.md\n  writ rule add - < GO-CTX-FIRST-001.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, name, err := a.ruleContent(args[0])
			if err != nil {
				return err
			}
			return a.changeRule(cmd.Context(), "rule add", schemas.RuleChangeRequest{Act: schemas.RuleAdd, Path: name, Content: content})
		},
	}
}

func (a *app) ruleEditCommand() *cobra.Command {
	var file, reason string
	c := &cobra.Command{
		Use: "edit ID", Short: "Change a rule, in your editor or from a file",
		Long: `Opens the rule in $VISUAL or $EDITOR and records what you save as its next
revision. With --file the new content is read from there. If the rule changes
meanwhile, nothing is overwritten.`,
		Example: "  writ rule edit GO-ERR-WRAP-001\n  writ rule edit GO-ERR-WRAP-001 --file new.md --reason \"name the sentinel\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			request := schemas.RuleChangeRequest{Act: schemas.RuleEdit, ID: args[0], Reason: reason}
			if file != "" {
				content, name, err := a.ruleContent(file)
				if err != nil {
					return err
				}
				request.Content, request.Path = content, name
				return a.changeRule(cmd.Context(), "rule edit "+args[0], request)
			}
			return a.editInEditor(cmd.Context(), request)
		},
	}
	c.Flags().StringVar(&file, "file", "", "read the new content from this file, - for standard input")
	c.Flags().StringVar(&reason, "reason", "", "why, for the history")
	return c
}

// editInEditor lets the person edit until the rule is sound or unchanged.
func (a *app) editInEditor(ctx context.Context, request schemas.RuleChangeRequest) error {
	what := "rule edit " + request.ID
	if err := a.IsPerson(); err != nil {
		return client.Refused(what, "an editor needs a terminal", "Use --file.")
	}
	view, err := client.Ask[schemas.RuleView](ctx, a.Client, client.RoleHook, what, schemas.SvcRule, schemas.RuleQuery{ID: request.ID})
	if err != nil {
		return err
	}
	page, err := client.Ask[schemas.RuleExportPage](ctx, a.Client, client.RoleHook, what, schemas.SvcRuleExport, schemas.RuleExportRequest{ID: request.ID})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "writ-rule")
	if err != nil {
		return client.Refused(what, err.Error(), "")
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, request.ID+".md")
	if err := os.WriteFile(path, []byte(page.Files[0].Content), 0o600); err != nil {
		return client.Refused(what, err.Error(), "")
	}
	if err := a.runEditor(ctx, path); err != nil {
		return client.Refused(what, err.Error(), "Nothing was changed.")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return client.Refused(what, err.Error(), "Nothing was changed.")
	}
	if string(content) == page.Files[0].Content {
		a.Note("Nothing was changed.")
		return nil
	}
	request.Content, request.Path, request.Seen = string(content), filepath.Base(path), view.Revisions
	err = a.changeRule(ctx, what, request)
	if err != nil {
		kept := filepath.Join(os.TempDir(), request.ID+".rejected.md")
		if os.WriteFile(kept, content, 0o600) == nil {
			a.Note("What you wrote is kept in %s.", kept)
		}
	}
	return err
}

func (a *app) runEditor(ctx context.Context, path string) error {
	editor := a.Env.Getenv("VISUAL")
	if editor == "" {
		editor = a.Env.Getenv("EDITOR")
	}
	editor = cmp.Or(editor, "vi")
	words := strings.Fields(editor)
	c := exec.CommandContext(ctx, words[0], append(words[1:], path)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("the editor %q: %w", editor, err)
	}
	return nil
}

func (a *app) ruleRetireCommand() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "retire ID --reason TEXT", Short: "Take a rule out of retrieval; its history stays",
		Example: "  writ rule retire GO-OLD-001 --reason \"the linter does it now\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeRule(cmd.Context(), "rule retire "+args[0], schemas.RuleChangeRequest{Act: schemas.RuleRetire, ID: args[0], Reason: reason})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why")
	return c
}

func (a *app) ruleRevertCommand() *cobra.Command {
	var to int
	var reason string
	c := &cobra.Command{
		Use: "revert ID --to N", Short: "Bring a rule back to an earlier revision",
		Long:    "Makes the content of an earlier revision the rule's next one. It brings a\nretired rule back, too. `writ rule log` shows the revisions.",
		Example: "  writ rule revert GO-ERR-WRAP-001 --to 2",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeRule(cmd.Context(), "rule revert "+args[0], schemas.RuleChangeRequest{Act: schemas.RuleRevert, ID: args[0], To: to, Reason: reason})
		},
	}
	c.Flags().IntVar(&to, "to", 0, "the revision")
	c.Flags().StringVar(&reason, "reason", "", "why")
	_ = c.MarkFlagRequired("to")
	return c
}

// changeRule asks for one act of a person on a rule.
func (a *app) changeRule(ctx context.Context, what string, request schemas.RuleChangeRequest) error {
	if err := a.NotForAgents(); err != nil {
		return err
	}
	if act := map[string]schemas.PersonAct{
		schemas.RulePromote: schemas.RulePromoted{}, schemas.RuleReject: schemas.RuleRejected{}, schemas.RuleDownweight: schemas.RuleDownweighted{},
	}[request.Act]; act != nil {
		id, err := uuid.NewV7()
		if err != nil {
			return client.Explain(what, err)
		}
		if request.Signed, err = a.Sign(what, schemas.RuleAggregate(request.ID), act, schemas.Signed{Act: id.String(), Revision: request.Seen}); err != nil {
			return err
		}
	}
	reply, err := client.Ask[schemas.RuleChangeReply](ctx, a.Client, client.RoleAdmin, what, schemas.SvcRuleChange, request)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.PrintJSON(reply); err != nil {
			return err
		}
	}
	if len(reply.Problems) > 0 {
		return &client.Fault{What: what + ": nothing was changed", Why: client.Plural(len(reply.Problems), "problem", "problems") + "\n  " + strings.Join(reply.Problems, "\n  ")}
	}
	for _, warning := range reply.Warnings {
		a.Note("warning: %s", warning)
	}
	if !a.JSON {
		a.Printf("%s (revision %d).\n", reply.Message, reply.Revision)
	}
	return nil
}

func (a *app) ruleLogCommand() *cobra.Command {
	return &cobra.Command{
		Use: "log ID", Short: "Show a rule's history: who changed what, when and why",
		Example: "  writ rule log GO-ERR-WRAP-001\n  writ rule log GO-ERR-WRAP-001 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.shown(cmd.Context(), "rule log "+args[0], args[0]); err != nil {
				return err
			}
			log, err := client.Ask[schemas.RuleLog](cmd.Context(), a.Client, client.RoleHook, "rule log "+args[0], schemas.SvcRuleLog, schemas.RuleQuery{ID: args[0]})
			if err != nil {
				return err
			}
			return client.Each(a.Client, log.Entries, "", func() error {
				a.showRuleLog(log.Entries)
				return nil
			})
		},
	}
}

func (a *app) showRuleLog(entries []schemas.RuleLogEntry) {
	st := a.Env.Style(a.Out)
	for _, e := range entries {
		a.Printf("%s  %s  %s\n", st.Bold("revision "+strconv.Itoa(e.Revision)), e.Type,
			st.Dim(client.JoinNonEmpty(" · ", e.Time.Local().Format("2006-01-02 15:04:05"), e.Actor, e.Reason)))
		for line := range strings.SplitSeq(strings.TrimRight(e.Diff, "\n"), "\n") {
			switch {
			case line == "":
			case strings.HasPrefix(line, "@@"):
				a.Printf("  %s\n", st.Dim(strings.TrimSpace(strings.ReplaceAll(line, "@@", ""))))
			case strings.HasPrefix(line, "+"):
				a.Printf("  %s\n", st.Green(line))
			case strings.HasPrefix(line, "-"):
				a.Printf("  %s\n", st.Red(line))
			default:
				a.Printf("  %s\n", line)
			}
		}
	}
}

// ruleContent reads one rule file, "-" for standard input.
func (a *app) ruleContent(path string) (content, name string, err error) {
	if path != "-" {
		file, err := folder.File(filepath.Dir(a.Env.Absolute(path)), a.Env.Absolute(path))
		if errors.Is(err, os.ErrNotExist) {
			return "", "", client.Refused(path, "there is no such file", "")
		}
		if err != nil {
			return "", "", client.Refused(path, err.Error(), "")
		}
		return file.Content, file.Path, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.In, folder.MaxRule+1))
	switch {
	case err != nil:
		return "", "", client.Refused("standard input", err.Error(), "")
	case len(raw) > folder.MaxRule:
		return "", "", client.Refused("standard input", "a rule has at most "+client.Size(folder.MaxRule), "")
	}
	return string(raw), "stdin.md", nil
}
