package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/atomicfile"
)

func (a *app) memoryCommand() *cobra.Command {
	return client.Group("memory", "Record what was observed, and look after it", "  writ memory add \"the staging database is read-only\"\n  writ memory health\n  writ memory review\n  writ memory reflect\n  writ memory triage\n  writ memory forget ID --reason \"private\"",
		client.Named("add", a.observeCommand()), a.memoryHealthCommand(), a.memoryReportCommand(), a.memoryReviewCommand(), a.memoryReflectCommand(), a.memoryTriageCommand(), a.memoryForgetCommand(), a.shareCommand(), a.scopeCommand(), a.memoryExportCommand(), a.memoryImportCommand())
}

func (a *app) memoryHealthCommand() *cobra.Command {
	var request schemas.MemoryHealthRequest
	c := &cobra.Command{
		Use: "health", Short: "What the write gate decided lately, and whether it drifts",
		Long: `Counts the verdicts of a window: fallbacks are among the allowed. An alarm is
raised when, of at least 45 verdicts in an hour, 45 % are fallbacks, 85 % are
held or 70 % are discarded; it is recorded once.`,
		Example: "  writ memory health\n  writ memory health --minutes 1440 --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.memoryHealth(cmd.Context(), "memory health", request)
		},
	}
	c.Flags().IntVar(&request.Minutes, "minutes", 60, "the window")
	c.Flags().StringVar(&request.Scope, "scope", "", "only this project, or global")
	return c
}

func (a *app) memoryReportCommand() *cobra.Command {
	request := schemas.MemoryHealthRequest{Week: true}
	var week bool
	c := &cobra.Command{
		Use: "report", Short: "This week against the last, and the noise of proposals",
		Example: "  writ memory report --week",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.memoryHealth(cmd.Context(), "memory report", request)
		},
	}
	c.Flags().BoolVar(&week, "week", true, "the last seven days against the seven before")
	c.Flags().StringVar(&request.Scope, "scope", "", "only this project, or global")
	return c
}

func (a *app) memoryHealth(ctx context.Context, what string, request schemas.MemoryHealthRequest) error {
	return client.Show(ctx, a.Client, client.RoleHook, what, schemas.SvcMemoryHealth, request, func(h schemas.MemoryHealth) {
		st := a.Env.Style(a.Out)
		a.Printf("%s to %s\n", h.From.Local().Format("2006-01-02 15:04"), h.To.Local().Format("2006-01-02 15:04"))
		a.showTally("", h.Window)
		if h.Before != nil {
			a.showTally("the week before: ", *h.Before)
			a.Printf("proposals: %d made, %d rejected, noise %.0f %%\n", h.Proposed, h.Rejected, 100*h.Noise)
		}
		for _, alarm := range h.Alarms {
			a.Printf("%s %s: %.0f %% (limit %.0f %%) since %s\n", st.Red("alarm"), alarm.Alarm, 100*alarm.Ratio, 100*alarm.Limit, alarm.Since.Local().Format("2006-01-02 15:04"))
		}
		if len(h.Alarms) == 0 {
			a.Printf("no alarms\n")
		}
		a.Printf("of all time: %s, %d forgotten\n", client.Plural(int(h.Total), "observation", "observations"), h.Forgotten)
	})
}

func (a *app) showTally(name string, t schemas.MemoryTally) {
	a.Printf("%sallow %d, hold %d (%.0f %%), discard %d (%.0f %%), fallback %d (%.0f %%)\n", name,
		t.Allow, t.Hold, 100*t.HoldRatio, t.Discard, 100*t.DiscardRatio, t.Fallback, 100*t.FallbackRatio)
	for _, reason := range slices.Sorted(maps.Keys(t.Reasons)) {
		a.Printf("  %s %d\n", reason, t.Reasons[reason])
	}
}

func (a *app) memoryForgetCommand() *cobra.Command {
	var request schemas.MemoryForgetRequest
	c := &cobra.Command{
		Use: "forget ID", Short: "Erase what an observation says; its tombstone stays",
		Long: `Erases the key that an observation was sealed with: neither the log, nor a
replica of it, nor a view can be read any more. That it was there, its verdict
and the reason for forgetting it stay. There is no way back.`,
		Example: "  writ memory forget 019f… --reason \"a customer's name\"",
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			request.ID = args[0]
			return a.memoryAct(cmd.Context(), "memory forget "+args[0], schemas.SvcMemoryForget, request)
		}),
	}
	c.Flags().StringVar(&request.Reason, "reason", "", "why; it stays")
	c.Flags().StringVar(&request.Scope, "scope", "", "the project it belongs to, where several have the id")
	return c
}

func (a *app) memoryAct(ctx context.Context, what, subject string, request any) error {
	return client.Show(ctx, a.Client, client.RoleAdmin, what, subject, request, func(reply schemas.MemoryActReply) {
		a.Printf("%s.\n", reply.Message)
	})
}

func (a *app) memoryExportCommand() *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use: "export [FILE]", Short: "Write all observations as JSON Lines, byte for byte",
		Long: `Writes every observation with its verdicts, whatever they are, one JSON object a
line in the order of the log; original holds its bytes in base64.`,
		Example: "  writ memory export memory.jsonl\n  writ memory export | jq -r .text",
		Args:    cobra.MaximumNArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				_, err := a.exportMemory(cmd.Context(), a.Out, scope)
				return err
			}
			return a.exportMemoryTo(cmd.Context(), a.Env.Absolute(args[0]), scope)
		}),
	}
	c.Flags().StringVar(&scope, "scope", "", "only this project, or global")
	return c
}

func (a *app) exportMemoryTo(ctx context.Context, path, scope string) error {
	f, err := atomicfile.Create(path, atomicfile.Options{Mode: 0o600})
	if err != nil {
		return client.Refused("memory export", err.Error(), "")
	}
	defer f.Discard()
	n, err := a.exportMemory(ctx, f, scope)
	if err != nil {
		return err
	}
	if err := f.Commit(); err != nil {
		return client.Refused("memory export", err.Error(), "")
	}
	return a.Print(map[string]any{"file": path, "observations": n}, func() { a.Printf("%s written to %s.\n", client.Plural(n, "observation", "observations"), path) })
}

func (a *app) exportMemory(ctx context.Context, w io.Writer, scope string) (n int, err error) {
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return 0, client.Explain("memory export", err)
	}
	defer s.Close()
	for request := (schemas.MemoryExportRequest{Scope: scope}); ; {
		page, err := client.CallWithin[schemas.MemoryExportPage](ctx, s, judgedBudget, schemas.SvcMemoryExport, request)
		if err != nil {
			return n, client.Explain("memory export", err)
		}
		if err := jsonLines(w, page.Items); err != nil {
			return n, client.Refused("memory export", err.Error(), "")
		}
		n += len(page.Items)
		if request.After = page.Next; request.After == 0 {
			return n, nil
		}
	}
}

func (a *app) memoryImportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "import FILE|-", Short: "Take exported observations in; ids that are known stay as they are",
		Long: `Reads JSON Lines as export writes them. Verdicts stay what they were; an
observation without one counts as allow, one with an unknown verdict is stored
and never recalled. Repeating an import changes nothing.`,
		Example: "  writ memory import memory.jsonl",
		Args:    cobra.ExactArgs(1),
		RunE: client.Only(a.NotForAgents, func(cmd *cobra.Command, args []string) error {
			raw, err := a.readObserved(args[0], observedFile)
			if err != nil {
				return err
			}
			items, err := importedItems(args[0], raw)
			if err != nil {
				return err
			}
			return a.importMemory(cmd.Context(), items)
		}),
	}
	return c
}

func importedItems(name string, raw []byte) ([]schemas.MemoryItem, error) {
	var items []schemas.MemoryItem
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var item schemas.MemoryItem
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, client.Refused(fmt.Sprintf("memory import %s:%d", name, n), client.OneLine(err.Error()), "Nothing was imported.")
		}
		if item.ObservationID == "" {
			return nil, client.Refused(fmt.Sprintf("memory import %s:%d", name, n), "the object has no observation_id", "Nothing was imported.")
		}
		if item.Original == nil {
			item.Original = []byte(item.Text)
		}
		items = append(items, item)
	}
	return items, nil
}

func (a *app) importMemory(ctx context.Context, items []schemas.MemoryItem) error {
	s, err := a.Open(ctx, client.RoleAdmin)
	if err != nil {
		return client.Explain("memory import", err)
	}
	defer s.Close()
	var sum schemas.MemoryImportReply
	for done := 0; done < len(items); {
		n, size := 0, 0
		for n < len(items)-done && n < observeBatch && (n == 0 || size+len(items[done+n].Original) < observeBytes) {
			size += len(items[done+n].Original)
			n++
		}
		reply, err := client.CallWithin[schemas.MemoryImportReply](ctx, s, judgedBudget, schemas.SvcMemoryImport, schemas.MemoryImportRequest{Items: items[done : done+n]})
		if err != nil {
			return client.Explain("memory import", err)
		}
		done += n
		sum.Imported, sum.Known, sum.Redacted = sum.Imported+reply.Imported, sum.Known+reply.Known, sum.Redacted+reply.Redacted
	}
	return a.Print(sum, func() {
		a.Printf("%s imported, %d were known, secrets taken out of %d.\n", client.Plural(sum.Imported, "observation", "observations"), sum.Known, sum.Redacted)
	})
}

// verdictWord reads what a person types for a verdict.
func verdictWord(answer string) string {
	switch strings.ToLower(answer) {
	case "a", "allow":
		return "allow"
	case "d", "discard":
		return "discard"
	case "h", "hold":
		return "hold"
	}
	return ""
}
