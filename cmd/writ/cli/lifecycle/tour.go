package lifecycle

import (
	"context"
	_ "embed" // what is written in the tour
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/cmd/writ/cli/hook"
	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/host/claude"
	"github.com/writbus/writ/enforcement/host/install"
	"github.com/writbus/writ/schemas"
)

// tour is a whole conversation between a user and a coding agent in a scratch
// project. Everything it shows is real: the hooks are those `writ init`
// installs, run as processes with the payloads Claude Code sends, answered by
// the running daemon.
type tour struct {
	app     *app
	style   client.Style
	self    string // the writ that hooks run
	root    string
	session string
	hooks   map[string]claude.Hook
	step    int
	tools   int      // calls so far, for their ids
	prompts int      // prompts so far, likewise
	cited   []string // rules the plan cites: those the prompt brought
	wrong   []string // what was not as expected
}

// tour shows what Writ does, and checks that it does it.
func (a *app) tour(ctx context.Context, self string) error {
	root, err := os.MkdirTemp("", "writ-tour-")
	if err != nil {
		return client.Explain("tour", err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return client.Explain("tour", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return client.Explain("tour", err)
	}
	t := &tour{app: a, style: a.Env.Style(a.Out), self: self, root: root, session: "writ-tour-" + id.String()}
	if err := t.run(ctx); err != nil {
		return client.Explain("tour", err)
	}
	if len(t.wrong) > 0 {
		return &client.Fault{
			What: "tour", Why: client.Plural(len(t.wrong), "answer was", "answers were") + " not as expected:\n  - " + strings.Join(t.wrong, "\n  - "),
			Todo: "`writ log --session " + t.session + "` shows what happened.",
		}
	}
	return nil
}

func (t *tour) run(ctx context.Context) error {
	t.print("\n%s\n%s\n", t.style.Bold("A tour: one conversation in a scratch project, through the real hooks and daemon."), t.style.Dim(t.root))
	for _, scene := range []func(context.Context) error{
		t.installed, t.start, t.prompt, t.writes("The agent writes code at once", "retry.go", tourCode, "ENF-GATE-MODE"),
		t.mode, t.plan, t.approval("plan"), t.writes("It writes the tests first", "retry_test.go", tourTests, ""),
		t.approval("tests"), t.writes("Now it may write the code", "retry.go", tourCode, ""), t.drift, t.end,
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// What is said and written in the tour.
const tourPrompt = "Add a retry with backoff to the payment request in Go."

var (
	//go:embed tour/retry_test.go.txt
	tourTests string
	//go:embed tour/retry.go.txt
	tourCode string
	//go:embed tour/plan.md
	tourPlanText string
)

// tourPlan cites the rules the prompt brought: citing one that was not shown
// is refused.
func (t *tour) tourPlan() string {
	rules := "No matching rules\n"
	if len(t.cited) > 0 {
		rules = ""
		for _, id := range t.cited {
			rules += "- " + id + ": how the retry is built and bounded\n"
		}
	}
	return strings.Replace(tourPlanText, "RULES\n", rules, 1)
}

func (t *tour) installed(context.Context) error {
	t.heading("writ init", "puts the hooks into the project")
	report, err := install.Init(t.root, t.self)
	if err != nil {
		return err
	}
	t.line(strings.Join(report.Written, ", "))
	settings, err := os.ReadFile(filepath.Join(t.root, ".claude", "settings.json"))
	if err != nil {
		return err
	}
	hooks, err := claude.Installed(settings)
	if err != nil {
		return err
	}
	t.hooks = map[string]claude.Hook{}
	for _, h := range hooks {
		t.hooks[h.Event] = h
	}
	return nil
}

func (t *tour) start(ctx context.Context) error {
	// A first start brings the rules in: what follows is to show them.
	for range 8 {
		if _, err := client.Ask[schemas.AlwaysOnReply](ctx, t.app.Client, client.RoleHook, "tour", schemas.SvcAlwaysOn, struct{}{}); err == nil {
			break
		}
	}
	t.heading("The agent starts a session", "")
	reply, err := t.hook(ctx, "SessionStart", map[string]any{"source": "startup", "model": "claude-sonnet-5"})
	if err != nil {
		return err
	}
	t.expect("session start", reply.Exit == 0 && injected(reply) != "", "the rules that always hold, and how to proceed", reply)
	t.quote(injected(reply), 4)
	return nil
}

func (t *tour) prompt(ctx context.Context) error {
	t.heading("The user asks", tourPrompt)
	before, err := t.view(ctx)
	if err != nil {
		return err
	}
	reply, err := t.say(ctx, tourPrompt)
	if err != nil {
		return err
	}
	after, err := t.view(ctx)
	if err != nil {
		return err
	}
	for _, id := range after.Shown {
		if !slices.Contains(before.Shown, id) {
			t.cited = append(t.cited, id)
		}
	}
	t.expect("prompt", reply.Exit == 0 && len(t.cited) > 0, client.Plural(len(t.cited), "rule is", "rules are")+" added to the prompt: "+client.Dash(strings.Join(t.cited, ", ")), reply)
	t.quote(ruleLines(injected(reply), t.cited), 6)
	return nil
}

// ruleLines are the lines that begin with what the rules of these ids demand:
// the whole block would fill the screen.
func ruleLines(block string, ids []string) string {
	var kept strings.Builder
	inside := false
	for line := range strings.Lines(block) {
		text := strings.TrimSpace(line)
		if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text, id) }) {
			inside = true
		}
		if inside && strings.HasPrefix(text, "RULE") {
			kept.WriteString(line)
			inside = false
		}
	}
	return kept.String()
}

// writes is a scene in which the agent writes a file.
func (t *tour) writes(heading, name, content, refusedBy string) func(context.Context) error {
	return func(ctx context.Context) error {
		t.heading(heading, name)
		return t.write(ctx, name, content, refusedBy)
	}
}

func (t *tour) mode(ctx context.Context) error {
	t.heading("The agent chooses to work", "writ mode set work")
	cmd := exec.CommandContext(ctx, t.self, "mode", "set", "work", "--session", t.session)
	cmd.Dir, cmd.Env = t.root, hostVars(t.app.Env.Vars)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	t.expect("mode set work", err == nil, firstLine(string(out)), schemas.HookReply{Stderr: string(out)})
	return nil
}

func (t *tour) plan(ctx context.Context) error {
	t.heading("It writes a plan", "plan.md: files, analysis, rules, capabilities")
	return t.write(ctx, "plan.md", t.tourPlan(), "")
}

func (t *tour) drift(ctx context.Context) error {
	t.heading("Somebody changes the approved plan behind the gate", "echo '- [ ] Retry refunds as well' >> plan.md")
	file, err := os.OpenFile(filepath.Join(t.root, "plan.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString("- [ ] Retry refunds as well\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return t.write(ctx, "retry.go", tourCode+"\n// Changed.\n", "ENF-GATE-DRIFT")
}

func (t *tour) end(ctx context.Context) error {
	t.heading("The session ends", "")
	reply, err := t.hook(ctx, "SessionEnd", map[string]any{"reason": "prompt_input_exit"})
	if err != nil {
		return err
	}
	t.expect("session end", reply.Exit == 0, "", reply)
	view, err := t.view(ctx)
	if err != nil {
		return err
	}
	t.expect("the record", view.Events > 0 && view.Refusals >= 2,
		fmt.Sprintf("%s in the log, %s among them", client.Plural(view.Events, "event", "events"), client.Plural(view.Refusals, "refusal", "refusals")), reply)
	t.print("\n%s\n", "To see it all again: "+t.style.Bold(client.ShellWord(t.self)+" session replay "+t.session))
	return nil
}

// approval is a scene in which the user's word for a gate is submitted, and whether
// that opened is looked at.
func (t *tour) approval(gate string) func(context.Context) error {
	return func(ctx context.Context) error {
		t.heading("The user says", "approved")
		reply, err := t.say(ctx, "approved")
		if err != nil {
			return err
		}
		view, err := t.view(ctx)
		if err != nil {
			return err
		}
		opened := slices.ContainsFunc(view.Gates, func(g schemas.SessionGate) bool { return g.Gate == gate && g.State == "approved" })
		t.expect("approval of the "+gate, opened, "the "+gate+" gate opens, for exactly these files; phase "+view.Phase, reply)
		return nil
	}
}

// write lets the agent write a file: the hook before it decides, and only when
// it allows is the file written and the hook after it run.
func (t *tour) write(ctx context.Context, name, content, refusedBy string) error {
	t.tools++
	call := map[string]any{
		"tool_name": "Write", "tool_use_id": fmt.Sprintf("toolu_%s_%d", t.session, t.tools), "permission_mode": "default",
		"tool_input": map[string]any{"file_path": filepath.Join(t.root, name), "content": content},
	}
	reply, err := t.hook(ctx, hook.EventPreToolUse, call)
	if err != nil {
		return err
	}
	reason, denied := host.Refusal(reply)
	if refusedBy != "" {
		t.expect("writing "+name, denied && reply.Exit == 2 && strings.Contains(reason, refusedBy), "refused:", reply)
		t.quote(reason, 6)
		return nil
	}
	t.expect("writing "+name, !denied && reply.Exit == 0, "allowed", reply)
	if denied {
		t.quote(reason, 6)
		return nil
	}
	if err := os.WriteFile(filepath.Join(t.root, name), []byte(content), 0o644); err != nil {
		return err
	}
	call["tool_response"] = map[string]any{"filePath": filepath.Join(t.root, name), "success": true}
	_, err = t.hook(ctx, "PostToolUse", call)
	return err
}

// say submits a prompt with an id of its own, as Claude Code does: of two alike
// without one, the second counts as the first's, asked again.
func (t *tour) say(ctx context.Context, prompt string) (schemas.HookReply, error) {
	t.prompts++
	return t.hook(ctx, "UserPromptSubmit", map[string]any{
		"prompt": prompt, "prompt_id": fmt.Sprintf("prompt_%s_%d", t.session, t.prompts), "source": "user",
	})
}

// hook runs one of the installed command lines.
func (t *tour) hook(ctx context.Context, event string, fields map[string]any) (schemas.HookReply, error) {
	h, found := t.hooks[event]
	if !found {
		return schemas.HookReply{}, fmt.Errorf("no hook for %s is installed", event)
	}
	payload := map[string]any{
		"session_id": t.session, "cwd": t.root, "transcript_path": filepath.Join(t.root, "..", t.session+".jsonl"),
		"hook_event_name": event,
	}
	maps.Copy(payload, fields)
	return t.app.runHookLine(ctx, t.root, h, payload)
}

func (t *tour) view(ctx context.Context) (schemas.SessionView, error) {
	return client.Ask[schemas.SessionView](ctx, t.app.Client, client.RoleHook, "tour", schemas.SvcSession, schemas.SessionQuery{Session: t.session})
}
