package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/schemas"
)

// statusBudget bounds a status line: the host draws it while people type.
const statusBudget = 300 * time.Millisecond

// maxStatusInput bounds what is read of the host's description of a session.
const maxStatusInput = 1 << 20

// statusInput is what Claude Code tells its status line, as far as Writ reads
// it.
type statusInput struct {
	Session   lenientText `json:"session_id"`
	Dir       lenientText `json:"cwd"`
	Workspace struct {
		Dir     lenientText `json:"current_dir"`
		Project lenientText `json:"project_dir"`
	} `json:"workspace"`
}

// runStatusline prints one line about the session, and never fails: where Writ
// guards nothing the line is empty.
func (a *app) runStatusline(ctx context.Context) int {
	var in statusInput
	if raw, err := io.ReadAll(io.LimitReader(a.In, maxStatusInput)); err == nil {
		_ = json.Unmarshal(raw, &in)
	}
	for _, dir := range []lenientText{in.Dir, in.Workspace.Dir, in.Workspace.Project, lenientText(a.Env.Dir)} {
		if root, found := a.FindProject(string(dir)); found {
			ctx, cancel := context.WithTimeout(ctx, statusBudget)
			defer cancel()
			// Not folded: a host draws what it is given, and cuts it itself.
			_, _ = fmt.Fprintln(a.Out, a.statusLine(ctx, root, a.SessionOr(string(in.Session))))
			return client.ExitOK
		}
	}
	return client.ExitOK
}

func (a *app) statusLine(ctx context.Context, root, session string) string {
	if a.hooksOff(root) {
		return "writ: GATE OFF, disableAllHooks is set"
	}
	dataDir, err := a.Env.DataDir()
	if err != nil {
		return "writ: " + client.OneLine(err.Error())
	}
	at, err := config.ReadEndpoint(dataDir)
	if errors.Is(err, config.ErrNoDaemon) || err == nil && !launch.Alive(at.PID) {
		return "writ: guarded, its daemon starts with the next hook"
	}
	if err != nil {
		return "writ: " + client.Shorten(client.OneLine(err.Error()), 80)
	}
	s, err := a.Connect(ctx, at, dataDir, client.RoleHook)
	if err != nil {
		return "writ: no answer of the daemon, see writ doctor"
	}
	defer s.Close()
	view, err := client.Call[schemas.SessionView](ctx, s, schemas.SvcSession, schemas.SessionQuery{Session: session})
	var service *bus.ServiceError
	switch {
	case errors.As(err, &service) && (service.Code == schemas.CodeNotFound || service.Code == schemas.CodeBadRequest):
		return "writ: no hook was seen in this session yet"
	case err != nil:
		return "writ: no answer of the daemon, see writ doctor"
	}
	return describeStatus(view)
}

// hooksOff says whether settings that hold here switch every hook off.
func (a *app) hooksOff(root string) bool {
	for _, file := range []string{
		filepath.Join(a.Env.Home, ".claude", "settings.json"),
		filepath.Join(root, ".claude", "settings.json"),
		filepath.Join(root, ".claude", "settings.local.json"),
	} {
		if text, err := os.ReadFile(file); err == nil && claude.Disabled(text) {
			return true
		}
	}
	return false
}

// describeStatus is a session in one line: mode and phase, gates, and what is
// open.
func describeStatus(v schemas.SessionView) string {
	mode := cmp.Or(v.Mode, "no mode")
	parts := []string{"writ: " + client.JoinNonEmpty("/", mode, v.Phase)}
	if v.Mode == "work" {
		var gates []string
		for _, g := range v.Gates {
			mark := cmp.Or(map[string]string{"approved": "✓", "drifted": "!"}[g.State], "·")
			gates = append(gates, g.Gate+" "+mark)
		}
		parts = append(parts, strings.Join(gates, "  "))
	}
	if v.Pending > 0 {
		parts = append(parts, client.Plural(v.Pending, "violation", "violations"))
	}
	switch {
	case v.Failing && len(v.Untested) == 0:
		parts = append(parts, "tests fail")
	case len(v.Untested) > 0 && v.Phase == "implementation":
		parts = append(parts, client.Plural(len(v.Untested), "file", "files")+" untested")
	}
	if v.Refusals > 0 {
		parts = append(parts, client.Plural(v.Refusals, "refusal", "refusals"))
	}
	if all := max(v.Given.All(), v.Tokens); all > 0 {
		given := client.Plural(all, "token", "tokens") + " given"
		if v.GivenSince > 0 && v.GivenSince < all {
			given += fmt.Sprintf(", %s by this prompt", client.Thousands(uint64(v.GivenSince)))
		}
		parts = append(parts, given)
	}
	return strings.Join(parts, " │ ")
}

// statuslineCommand exists for its help; Run handles it before this tree is
// built.
func (a *app) statuslineCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "statusline",
		Short: "Print the session in one line, for the status line of Claude Code",
		Long: `Reads Claude Code's description of the session from standard input and prints one
line: mode and phase, the gates (✓ approved, ! drifted, · open), what is not in
order, and how many tokens of rules the session was given. It starts no daemon
and waits a third of a second at most. Where Writ guards nothing it prints
nothing. ` + "`writ init`" + ` installs it, unless you have a
status line of your own.`,
		Example: `  echo '{"session_id":"5e2c…","cwd":"/home/me/shop"}' | writ statusline`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
