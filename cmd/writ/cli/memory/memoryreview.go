package memory

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
)

// memoryReviewFlags are what a script says instead of typing.
type memoryReviewFlags struct {
	allow, hold, discard bool
	reason, scope        string
}

func (a *app) memoryReviewCommand() *cobra.Command {
	var flags memoryReviewFlags
	c := &cobra.Command{
		Use: "review [ID]", Short: "Go through what the write gate held",
		Long: `Without flags: at a terminal, goes through what is held, oldest first, and asks;
elsewhere, lists it. With an id and a flag, changes the verdict of that one. The
change is recorded with its reason; the history stays.`,
		Example: `  writ memory review
  writ memory review 019f… --allow --reason "true, we checked"`,
		Args: cobra.MaximumNArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			return a.reviewMemory(cmd.Context(), client.First(args), flags)
		}),
	}
	c.Flags().BoolVar(&flags.allow, "allow", false, "let it be recalled")
	c.Flags().BoolVar(&flags.hold, "hold", false, "keep it back")
	c.Flags().BoolVar(&flags.discard, "discard", false, "keep it for audit only")
	c.Flags().StringVar(&flags.reason, "reason", "", "why")
	c.Flags().StringVar(&flags.scope, "scope", "", "only this project, or global")
	c.MarkFlagsMutuallyExclusive("allow", "hold", "discard")
	return c
}

func (a *app) reviewMemory(ctx context.Context, id string, flags memoryReviewFlags) error {
	verdict := map[bool]string{flags.allow: "allow", flags.hold: "hold", flags.discard: "discard"}[true]
	if verdict != "" {
		if id == "" {
			return client.Usage("memory review: --"+verdict+" needs the id of an observation", "`writ memory review` lists what is held.")
		}
		return a.memoryAct(ctx, "memory review "+id, schemas.SvcMemoryRegate, schemas.MemoryRegateRequest{ID: id, Scope: flags.scope, Verdict: verdict, Reason: flags.reason})
	}
	interactive := !a.JSON && client.IsTerminal(a.In) && client.IsTerminal(a.Out) && a.IsPerson() == nil
	in, seen := bufio.NewReader(a.In), 0
	for request := (schemas.MemoryReviewRequest{ID: id, Scope: flags.scope}); ; {
		page, err := client.Ask[schemas.MemoryReviewPage](ctx, a.Client, client.RoleAdmin, "memory review", schemas.SvcMemoryReview, request)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			seen++
			if a.JSON {
				if err := a.PrintJSON(item); err != nil {
					return err
				}
				continue
			}
			a.showHeld(item)
			if !interactive {
				continue
			}
			if quit, err := a.decideHeld(ctx, in, item); quit || err != nil {
				return err
			}
		}
		if request.After = page.Next; request.After == 0 {
			break
		}
	}
	switch {
	case seen > 0:
	case id != "":
		return client.Refused("memory review", "there is no observation "+id, "`writ memory review` lists what is held.")
	case !a.JSON:
		a.Printf("Nothing is held.\n")
	}
	return nil
}

func (a *app) showHeld(item schemas.MemoryItem) {
	st := a.Env.Style(a.Out)
	a.Printf("\n%s  %s\n", st.Bold(st.Cyan(item.ObservationID)), st.Dim(client.JoinNonEmpty(" · ",
		fmt.Sprintf("%s %.2f", item.Current(), item.Confidence), item.Reason, item.Category, item.Source, item.Time.Local().Format("2006-01-02 15:04"))))
	text := client.OneLine(item.Text)
	if item.Lost {
		text = "(its key is missing, nobody can read it)"
	}
	for _, line := range a.Prose(text, 2) {
		a.Printf("  %s\n", line)
	}
	for _, g := range item.Regated {
		a.Printf("  %s\n", st.Dim(client.JoinNonEmpty(" · ", g.Verdict, g.Reason, "by "+g.Actor, g.Time.Local().Format("2006-01-02 15:04"))))
	}
}

// decideHeld asks about one observation until there is an answer.
func (a *app) decideHeld(ctx context.Context, in *bufio.Reader, item schemas.MemoryItem) (quit bool, err error) {
	for {
		answer, err := a.AskLine(in, "[a]llow  [d]iscard  [n]ext  [q]uit > ")
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, client.Refused("memory review", err.Error(), "")
		}
		switch strings.ToLower(answer) {
		case "q", "quit":
			return true, nil
		case "", "n", "next":
			return false, nil
		}
		verdict := verdictWord(answer)
		if verdict == "" {
			a.Note("%q is none of the choices.", answer)
			continue
		}
		reason, err := a.AskLine(in, "why? ")
		if err != nil {
			return true, nil //nolint:nilerr // the terminal is gone, nothing was decided
		}
		err = a.memoryAct(ctx, "memory review "+item.ObservationID, schemas.SvcMemoryRegate,
			schemas.MemoryRegateRequest{ID: item.ObservationID, Scope: item.Scope, Verdict: verdict, Reason: reason})
		if err == nil {
			return false, nil
		}
		a.Note("writ: %v", err)
	}
}
