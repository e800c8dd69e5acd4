package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/filelock"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// services answers each subject with a value or an error.
type services struct {
	replies map[string]any
	asked   map[string][]string // bodies by subject
	roles   []string
	within  map[string]time.Duration // what a request had left when it came
	before  func(*client.Client)     // what is done before the command; nil for nothing
}

func (s *services) Request(ctx context.Context, r bus.Request) (bus.Reply, error) {
	if s.asked == nil {
		s.asked, s.within = map[string][]string{}, map[string]time.Duration{}
	}
	if end, bounded := ctx.Deadline(); bounded {
		s.within[r.Subject] = time.Until(end)
	}
	s.asked[r.Subject] = append(s.asked[r.Subject], string(r.Body))
	switch reply := s.replies[r.Subject].(type) {
	case nil:
		return bus.Reply{}, bus.ErrUnavailable
	case error:
		return bus.Reply{}, reply
	case json.RawMessage:
		return bus.Reply{Body: reply}, nil
	case func(string) any:
		said := reply(string(r.Body))
		if err, failed := said.(error); failed {
			return bus.Reply{}, err
		}
		raw, err := json.Marshal(said)
		return bus.Reply{Body: raw}, err
	default:
		raw, err := json.Marshal(reply)
		return bus.Reply{Body: raw}, err
	}
}

func (s *services) Close() {}

type result struct {
	out, err string
	code     int
}

func (s *services) run(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return s.runIn(t, client.Env{}, stdin, args...)
}

// runIn runs a command line with what is missing of a world filled in.
func (s *services) runIn(t *testing.T, env client.Env, stdin string, args ...string) result {
	t.Helper()
	data := t.TempDir()
	if err := config.WriteEndpoint(data, config.Endpoint{URL: "nats://x", PID: os.Getpid()}); err != nil {
		t.Fatal(err)
	}
	env.Vars = append([]string{"WRIT_HOME=" + data}, env.Vars...)
	if env.Unattended == nil {
		env.Unattended = func([]string) string { return "" }
	}
	if env.Dir == "" {
		env.Dir = t.TempDir()
	}
	env.Now = func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	env.Connect = func(_ context.Context, _ config.Endpoint, _, role string) (client.Service, error) {
		s.roles = append(s.roles, role)
		return s, nil
	}
	var out, problems bytes.Buffer
	code := Run(t.Context(), args, strings.NewReader(stdin), &out, &problems, env)
	return result{out.String(), problems.String(), code}
}

func TestHelp(t *testing.T) {
	var all bytes.Buffer
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		all.WriteString("=== " + c.CommandPath() + "\n")
		var text bytes.Buffer
		c.SetOut(&text)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		all.WriteString(text.String() + "\n")
		for _, child := range c.Commands() {
			if child.Name() != "help" && child.Name() != "completion" {
				walk(child)
			}
		}
	}
	tree := (&app{&client.Client{}}).tree()
	walk(tree)
	for path, is := range map[string][]byte{filepath.Join("testdata", "help.txt"): all.Bytes(), filepath.Join("..", "help", "commands.md"): commandsPage(tree)} {
		if *update {
			if err := os.WriteFile(path, is, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")), is) {
			t.Errorf("%s differs from the commands; -update rewrites it:\n%s", path, is)
		}
	}
}

// commandsPage is the topic that lists every command.
func commandsPage(tree *cobra.Command) []byte {
	page := "# Commands\n\nEvery command of `writ` by what it is for; `--help` behind one has its flags and examples, and `--json` prints what a program reads.\n\nThis page is written by `go test ./cmd/writ/cli -run TestHelp -update`.\n"
	var rows func(c *cobra.Command)
	rows = func(c *cobra.Command) {
		if !c.IsAvailableCommand() || c.Name() == "completion" {
			return
		}
		page += "| `" + c.CommandPath() + "` | " + strings.ReplaceAll(c.Short, "|", "or") + " |\n"
		for _, child := range c.Commands() {
			rows(child)
		}
	}
	for _, g := range tree.Groups() {
		page += "\n## " + strings.TrimSuffix(g.Title, ":") + "\n\n| command | what it does |\n|---|---|\n"
		for _, c := range tree.Commands() {
			if c.GroupID == g.ID {
				rows(c)
			}
		}
	}
	return []byte(page)
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example or no short help", c.CommandPath())
		}
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk((&app{&client.Client{}}).tree())
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{
		{"frobnicate"},
		{"status", "extra"},
		{"status", "--frob"},
		{"emit"},
		{"emit", "a", "b"},
		{"emit", "prompt.submitted"},
		{"emit", "prompt.submitted", "--session", "s", "--data", "{"},
		{"emit", "prompt.submitted", "--session", "s", "--id", "t"},
		{"query"},
		{"mode", "set"},
		{"mode", "set", "sleep", "--session", "s"},
		{"mode"},
		{"phase", "invalidate"},
		{"phase", "invalidate", "plan", "--session", "s"},
		{"approve", "everything"},
		{"session", "show", "a", "b"},
		{"rule", "show"},
		{"replay", "--since", "yesterday"},
		{"replay", "--stream", "nothing"},
		{"watch", "--stream", "nothing"},
		{"init", "--agent", "emacs"},
		{"up", "--tour", "--no-tour"},
	} {
		s := &services{}
		r := s.run(t, "", args...)
		if r.code != client.ExitUsage || r.out != "" || !strings.HasPrefix(r.err, "writ: ") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("writ %s: code %d, out %q, err %q", strings.Join(args, " "), r.code, r.out, r.err)
		}
		if !strings.Contains(r.err, ". ") {
			t.Errorf("writ %s does not say what to do: %q", strings.Join(args, " "), r.err)
		}
		if len(s.roles) > 0 {
			t.Errorf("writ %s connected", strings.Join(args, " "))
		}
	}
}

// TestArgumentsThatMeanNothing: they are told once, as misuse, and nothing is done.
func TestArgumentsThatMeanNothing(t *testing.T) {
	for told, args := range map[string][]string{
		"the text is empty": {"find", ""}, "find: the text is empty": {"find", " ", "\t"},
		"many files do not fit": {"rule", "export", "-"},
	} {
		s := &services{}
		if r := s.run(t, "", args...); r.code != client.ExitUsage || r.out != "" || strings.Count(r.err, told) != 1 {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestFaultsOfTheDaemon(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"not found":   {&bus.ServiceError{Code: schemas.CodeNotFound, Text: "there is no rule X"}, 1, "writ: rule show X: there is no rule X\n"},
		"refused":     {&bus.ServiceError{Code: schemas.CodeRefused, Text: "no"}, 1, "writ: rule show X: no\n"},
		"bad request": {&bus.ServiceError{Code: schemas.CodeBadRequest, Text: "what?"}, 2, "writ: rule show X: what?\n"},
		"not ready":   {&bus.ServiceError{Code: schemas.CodeNotReady, Text: "a view is being built"}, 1, "Try again in a moment"},
		"denied":      {bus.ErrDenied, 1, "`writ doctor` checks the credentials."},
		"a full disk": {&fs.PathError{Op: "write", Path: "/mnt/x", Err: syscall.ENOSPC}, 1, "Make room on that disk"},
		"too large":   {fmt.Errorf("%w: nats: maximum payload exceeded", bus.ErrTooLarge), 1, "writ: rule show X: it is more than the daemon takes in one request. Ask about less at once"},
		"busy":        {bus.ErrBusy, 1, "writ: rule show X: as many agents ask the daemon as may at once. Try again in a moment.\n"},
		"silent":      {bus.ErrUnavailable, 1, "`writ doctor` shows why."},
		"late":        {fmt.Errorf("launch: waiting: %w", context.DeadlineExceeded), 1, "writ: rule show X: the daemon did not answer in time. `writ doctor` shows why.\n"},
		"a file":      {&fs.PathError{Op: "open", Path: "/mnt/x", Err: fs.ErrNotExist}, 1, "writ: rule show X: /mnt/x: file does not exist\n"},
	} {
		s := &services{replies: map[string]any{schemas.SvcRule: c.err}}
		r := s.run(t, "", "rule", "show", "X")
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestManyFilesAreCheckedInParts, each of which an agent may ask about, too.
func TestManyFilesAreCheckedInParts(t *testing.T) {
	dir := t.TempDir()
	args := []string{"check"}
	for n := range 40 {
		args = append(args, filepath.Join(dir, fmt.Sprintf("%d.txt", n)))
		writeFile(t, args[len(args)-1], strings.Repeat("a \"line\" of it\n", 6<<10))
	}
	s := &services{replies: map[string]any{schemas.SvcCheck: schemas.CheckReply{Checks: 1}}}
	r := s.run(t, "", args...)
	files := 0
	for _, asked := range s.asked[schemas.SvcCheck] {
		if files += strings.Count(asked, `"path"`); len(asked) > 1<<20 {
			t.Errorf("%d bytes are asked at once", len(asked))
		}
	}
	if r.code != 0 || files != 40 {
		t.Errorf("%d files: %+v", files, r)
	}
	s = &services{replies: map[string]any{schemas.SvcCheck: bus.ErrTooLarge}}
	if r := s.run(t, "", args[:2]...); r.code != 1 || !strings.Contains(r.err, "0.txt: it is more than the daemon takes") {
		t.Errorf("%+v", r)
	}
}

func TestShowNamesWhatSupersedesARule(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcRule: schemas.RuleView{Rule: schemas.Rule{ID: "OLD-1"}, Superseded: "NEW-1"}}}
	if r := s.run(t, "", "rule", "show", "OLD-1"); r.code != 0 || !strings.Contains(r.out, "superseded by NEW-1") {
		t.Errorf("%+v", r)
	}
}

func TestTheListMarksWhatIsSuperseded(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcRules: schemas.RuleList{Rules: []schemas.RuleSummary{{ID: "OLD-1", Superseded: "NEW-1"}, {ID: "NEW-1"}}}}}
	if r := s.run(t, "", "rule", "list"); r.code != 0 || strings.Count(r.out, "superseded") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestACommandWaitsForTheRules(t *testing.T) {
	asked := 0
	s := &services{replies: map[string]any{schemas.SvcRules: func(string) any {
		if asked++; asked < 3 {
			return &bus.ServiceError{Code: schemas.CodeNotReady, Text: "the shipped rules are still being brought in"}
		}
		return schemas.RuleList{}
	}}}
	if r := s.run(t, "", "rule", "list"); r.code != 0 || asked != 3 {
		t.Errorf("asked %d times: %+v", asked, r)
	}
}

func TestStatusWithoutADaemon(t *testing.T) {
	var out, problems bytes.Buffer
	env := client.Env{Vars: []string{"WRIT_HOME=" + t.TempDir()}, Dir: t.TempDir(), Now: time.Now}
	code := Run(t.Context(), []string{"status"}, strings.NewReader(""), &out, &problems, env)
	if code != 1 || problems.String() != "writ: status: the daemon does not run. `writ up` starts it.\n" {
		t.Errorf("code %d, %q", code, problems.String())
	}
}

// TestWhoHoldsTheDataFolder: a daemon that was killed is gone, whoever has its number now,
// and one whose lock is held without an answer here runs elsewhere.
func TestWhoHoldsTheDataFolder(t *testing.T) {
	home := t.TempDir()
	status := func(pid int) string {
		if err := config.WriteEndpoint(home, config.Endpoint{URL: "nats://127.0.0.1:1", PID: pid, Protocol: config.Protocol, Version: config.Version}); err != nil {
			t.Fatal(err)
		}
		var out, problems bytes.Buffer
		env := client.Env{Vars: []string{"WRIT_HOME=" + home}, Dir: t.TempDir(), Now: time.Now}
		env.Connect = func(context.Context, config.Endpoint, string, string) (client.Service, error) {
			return nil, fmt.Errorf("%w: connection reset by peer", bus.ErrUnavailable)
		}
		Run(t.Context(), []string{"status"}, strings.NewReader(""), &out, &problems, env)
		return problems.String()
	}
	if said := status(os.Getpid()); !strings.Contains(said, "the daemon does not run. `writ up` starts it.") {
		t.Errorf("gone: %s", said)
	}
	lock, err := filelock.Take(config.Layout{Root: home}.Lock())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	ended := exec.Command("go", "version")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if said := status(ended.Process.Pid); !strings.Contains(said, "another process holds the data folder") || !strings.Contains(said, "another container") {
		t.Errorf("elsewhere: %s", said)
	}
}

// TestADaemonThatIsStartingIsNotCalledNone: who stops it waits for it to answer, and says
// what holds the folder where it does not.
func TestADaemonThatIsStartingIsNotCalledNone(t *testing.T) {
	home := t.TempDir()
	down := func(env client.Env) string {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		env.Vars, env.Dir, env.Now = []string{"WRIT_HOME=" + home}, t.TempDir(), time.Now
		var out bytes.Buffer
		Run(ctx, []string{"down"}, strings.NewReader(""), &out, &out, env)
		return out.String()
	}
	if said := down(client.Env{}); said != "No daemon runs.\n" {
		t.Errorf("none: %s", said)
	}
	for _, name := range []string{"daemon.lock", "start.lock"} {
		lock, err := filelock.Take(filepath.Join(home, name))
		if err != nil {
			t.Fatal(err)
		}
		if said := down(client.Env{}); !strings.Contains(said, "another process holds the data folder") || strings.Contains(said, "`writ down`") {
			t.Errorf("%s is held: %s", name, said)
		}
		lock.Release()
	}
	lock, err := filelock.Take(filepath.Join(home, "daemon.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := config.WriteEndpoint(home, config.Endpoint{URL: "nats://127.0.0.1:1", PID: os.Getpid(), Protocol: config.Protocol, Version: config.Version}); err != nil {
		t.Fatal(err)
	}
	said := down(client.Env{Connect: func(context.Context, config.Endpoint, string, string) (client.Service, error) {
		return nil, fmt.Errorf("%w: i/o timeout", bus.ErrUnavailable)
	}})
	if want := fmt.Sprintf("process %d holds %s and does not answer", os.Getpid(), home); !strings.Contains(said, want) {
		t.Errorf("it stands still: %s, not %q", said, want)
	}
}

func TestDoctorOfAFolderThatIsNotThere(t *testing.T) {
	var out, problems bytes.Buffer
	dir := t.TempDir()
	env := client.Env{Vars: []string{"WRIT_HOME=" + t.TempDir()}, Dir: dir, Now: time.Now}
	if code := Run(t.Context(), []string{"doctor", "nofolder"}, strings.NewReader(""), &out, &problems, env); code != client.ExitUsage || !strings.Contains(problems.String(), "there is no folder "+filepath.Join(dir, "nofolder")) {
		t.Errorf("%d: %s%s", code, out.String(), problems.String())
	}
}

// TestAResultThatCannotBePrinted: whoever reads it from a full disk is told.
func TestAResultThatCannotBePrinted(t *testing.T) {
	for _, line := range []string{"--help", "help", "help gates", "help topics", "help rule add", "rule add --help", "--version", "version"} {
		var problems bytes.Buffer
		env := client.Env{Vars: []string{"WRIT_HOME=" + t.TempDir()}, Dir: t.TempDir(), Now: time.Now}
		code := Run(t.Context(), strings.Fields(line), strings.NewReader(""), full{}, &problems, env)
		if said := problems.String(); code != client.ExitFailed || !strings.Contains(said, syscall.ENOSPC.Error()) {
			t.Errorf("%s: code %d, %q", line, code, said)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestDoctorNamesAnotherWrit: what a shell finds is not always what was installed last.
func TestDoctorNamesAnotherWrit(t *testing.T) {
	programs := map[string]string{}
	for _, name := range []string{"this", "other", "empty"} {
		dir := t.TempDir()
		programs[name] = filepath.Join(dir, "writ")
		if runtime.GOOS == "windows" {
			programs[name] += ".exe"
		}
		if name == "empty" {
			continue
		}
		if err := os.WriteFile(programs[name], nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path  []string
		warns bool
	}{{[]string{"empty", "other", "this"}, true}, {[]string{"this", "other"}, false}, {[]string{"empty"}, false}} {
		var dirs []string
		for _, name := range c.path {
			dirs = append(dirs, filepath.Dir(programs[name]))
		}
		var out, problems bytes.Buffer
		env := client.Env{
			Vars: []string{"WRIT_HOME=" + t.TempDir(), "PATH=" + strings.Join(dirs, string(os.PathListSeparator))},
			Dir:  t.TempDir(), Now: time.Now, Executable: programs["this"],
		}
		Run(t.Context(), []string{"doctor"}, strings.NewReader(""), &out, &problems, env)
		if warned := strings.Contains(out.String(), "finds another one first, "+programs["other"]); warned != c.warns {
			t.Errorf("%q: warned %v\n%s", c.path, warned, out.String())
		}
	}
}

// Where no daemon can run because of the folder, it is said why and what to do.
func TestNoDaemonForAFolderOfAnotherFormat(t *testing.T) {
	home := t.TempDir()
	layout := config.Layout{Root: home}
	if err := os.WriteFile(layout.FormatFile(), []byte("writ data directory, format 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"status", "doctor"} {
		var out, problems bytes.Buffer
		env := client.Env{Vars: []string{"WRIT_HOME=" + home}, Dir: t.TempDir(), Now: time.Now}
		code := Run(t.Context(), []string{command}, strings.NewReader(""), &out, &problems, env)
		if said := out.String() + problems.String(); code != 1 || !strings.Contains(said, layout.FormatFile()+" is damaged. Restore that file") {
			t.Errorf("%s: code %d, %q", command, code, said)
		}
	}
}

// A program of `go run` has no daemon beside it, so that what needs one builds
// both, where there is a checkout to build them from.
func TestGoRunBuildsTheDaemon(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	checkout := t.TempDir()
	if err := os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("module github.com/writbus/writ\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := client.Env{Vars: []string{"WRIT_HOME=" + t.TempDir(), "PATH="}, Now: time.Now, Executable: filepath.Join(t.TempDir(), "go-build1", "exe", "writ")}
	for dir, want := range map[string]string{
		checkout:    "go build in " + checkout,
		t.TempDir(): "writd is neither beside writ nor on the PATH",
	} {
		for _, args := range [][]string{{"query", "retry a request"}, {"benchmark", "rules"}} {
			env.Dir = dir
			var out, problems bytes.Buffer
			if code := Run(t.Context(), args, strings.NewReader(""), &out, &problems, env); code != 1 || !strings.Contains(problems.String(), want) {
				t.Errorf("%v: code %d, %q, want %q", args, code, problems.String(), want)
			}
		}
	}
}

func TestEmit(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcEmit: schemas.EmitReply{
		EventID: "e1", Position: schemas.Position{Stream: schemas.StreamSessions, Seq: 7},
	}}}
	r := s.run(t, `{"prompt":"<b>"}`, "emit", "prompt.submitted", "--session", "a.b", "--data", "-", "--event-id", "e1", "--json")
	if r.code != 0 || r.out != `{"event_id":"e1","position":{"stream":"WRIT_SESSIONS","seq":7}}`+"\n" {
		t.Fatalf("%+v", r)
	}
	var sent schemas.EmitRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcEmit][0]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.Type != "prompt.submitted" || sent.ID != "a.b" || sent.EventID != "e1" || !strings.Contains(string(sent.Data), "prompt") {
		t.Errorf("sent %+v", sent)
	}
	r = s.runIn(t, client.Env{Vars: []string{"CLAUDE_CODE_SESSION_ID=own"}}, "", "emit", "prompt.submitted", "--data", `{"prompt":"x"}`)
	if r.code != 1 || !strings.Contains(r.err, "for the user alone") || len(s.asked[schemas.SvcEmit]) != 1 {
		t.Errorf("an agent emits: %+v %v", r, s.asked)
	}
}

func TestAgentsCannotActAsTheUser(t *testing.T) {
	for _, args := range [][]string{
		{"approve", "--session", "s"}, {"phase", "invalidate", "plan", "--reason", "r", "--session", "s"}, {"phase", "reopen", "--session", "s"},
	} {
		for name, vars := range map[string][]string{"no terminal": nil, "an agent": {"CLAUDECODE=1"}} {
			s := &services{replies: map[string]any{schemas.SvcApprove: schemas.ActReply{OK: true, Fingerprint: "f"}, schemas.SvcPhase: schemas.ActReply{OK: true}}}
			r := s.runIn(t, client.Env{Vars: vars}, "yes\n", args...)
			if r.code != 1 || !strings.Contains(r.err, "this is for the user alone") || len(s.roles) > 0 {
				t.Errorf("%v with %s: %+v, as %v", args, name, r, s.roles)
			}
		}
	}
	s := &services{replies: map[string]any{schemas.SvcMode: schemas.ActReply{OK: true, Session: "s", Mode: "work", Phase: "planning"}}}
	r := s.runIn(t, client.Env{Vars: []string{"CLAUDECODE=1"}}, "", "mode", "set", "work", "--session", "s")
	if r.code != 0 || s.roles[0] != client.RoleHook || len(s.asked[schemas.SvcModeByUser]) > 0 {
		t.Errorf("%+v as %v", r, s.roles)
	}
}

func TestModeFindsTheLatestSessionOfTheProject(t *testing.T) {
	root := t.TempDir()
	writeFile(t, filepath.Join(root, ".writ", "config.yaml"), "")
	s := &services{replies: map[string]any{
		schemas.SvcSessions: schemas.SessionList{Sessions: []schemas.SessionSummary{
			{Session: "ended", Ended: true}, {Session: "sub", Parent: "live"}, {Session: "live"}, {Session: "older"},
		}},
		schemas.SvcMode: func(body string) any {
			var r schemas.ModeRequest
			_ = json.Unmarshal([]byte(body), &r)
			return schemas.ActReply{OK: true, Session: r.Session, Mode: "debug"}
		},
	}}
	r := s.runIn(t, client.Env{Dir: root}, "", "mode")
	if r.code != 0 || r.out != "debug  session live\n" || !strings.Contains(s.asked[schemas.SvcSessions][0], root) {
		t.Errorf("%+v %v", r, s.asked)
	}
}

func TestARefusedActShowsWhy(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcMode: schemas.ActReply{Message: "leaving work is for the user", Problems: []string{"one", "two"}}}}
	r := s.run(t, "", "mode", "set", "debug", "--session", "s")
	if r.code != 1 || r.err != "writ: mode set debug: leaving work is for the user\n  - one\n  - two\n" {
		t.Errorf("%+v", r)
	}
	r = s.run(t, "", "mode", "set", "debug", "--session", "s", "--json")
	if r.code != 1 || !json.Valid([]byte(r.out)) || r.err != "" {
		t.Errorf("%+v", r)
	}
}

// pages serves a stream's events a few at a time.
func pages(events map[schemas.Stream][]schemas.ReplayEvent) func(string) any {
	return func(body string) any {
		var r schemas.ReplayRequest
		_ = json.Unmarshal([]byte(body), &r)
		all := events[r.Stream]
		from := min(int(r.After), len(all))
		to := min(from+2, len(all))
		return schemas.ReplayPage{Events: all[from:to], Next: uint64(to), End: to == len(all)}
	}
}

func TestReplayMergesTheStreamsByTime(t *testing.T) {
	at := func(stream schemas.Stream, seq uint64, second int) schemas.ReplayEvent {
		return schemas.ReplayEvent{
			Position: schemas.Position{Stream: stream, Seq: seq}, Type: "prompt.submitted",
			Time: time.Date(2026, 11, 21, 0, 0, second, 0, time.UTC), Data: json.RawMessage(`{"prompt":"p"}`),
		}
	}
	s := &services{replies: map[string]any{schemas.SvcReplay: pages(map[schemas.Stream][]schemas.ReplayEvent{
		schemas.StreamSessions: {at(schemas.StreamSessions, 1, 1), at(schemas.StreamSessions, 2, 4), at(schemas.StreamSessions, 3, 3), at(schemas.StreamSessions, 4, 9)},
		schemas.StreamRules:    {at(schemas.StreamRules, 1, 2), at(schemas.StreamRules, 2, 5), at(schemas.StreamRules, 3, 6)},
	})}}
	r := s.run(t, "", "replay", "--json")
	var order []string
	for line := range strings.Lines(r.out) {
		var e schemas.ReplayEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		order = append(order, string(e.Position.Stream[5:6])+string(rune('0'+e.Position.Seq)))
	}
	if got := strings.Join(order, " "); r.code != 0 || got != "S1 R1 S2 S3 R2 R3 S4" {
		t.Errorf("%+v: %s", r, got)
	}
	if r := s.run(t, "", "replay", "--json", "--limit", "3", "--stream", "rules"); strings.Count(r.out, "\n") != 3 {
		t.Errorf("limited: %+v", r)
	}
	if r := s.run(t, "", "session", "replay", "s"); r.code != 0 || strings.Count(r.out, "\n") != 4 {
		t.Errorf("session: %+v", r)
	}
}

// TestTheLatestEventsAreReadAlone: of records that hold hundreds of events no more are
// read than are shown, and of others as many as it takes.
func TestTheLatestEventsAreReadAlone(t *testing.T) {
	const last = 1000
	for each, want := range map[uint64]uint64{833: last - 1, 10: last - 8, 1: last - 50} {
		var after []uint64
		s := &services{replies: map[string]any{
			schemas.SvcStatus: schemas.Status{Streams: []schemas.StreamStatus{{Name: schemas.StreamArtifacts, Last: last}}},
			schemas.SvcReplay: func(body string) any {
				var r schemas.ReplayRequest
				_ = json.Unmarshal([]byte(body), &r)
				page := schemas.ReplayPage{End: true}
				for seq := r.After + 1; r.Stream == schemas.StreamArtifacts && seq <= last; seq++ {
					for range each {
						page.Events = append(page.Events, schemas.ReplayEvent{Type: "artifact.indexed", Position: schemas.Position{Stream: r.Stream, Seq: seq}})
					}
				}
				if r.Stream == schemas.StreamArtifacts {
					after = append(after, r.After)
				}
				return page
			},
		}}
		r := s.run(t, "", "log")
		if shown := strings.Count(r.out, "artifact.indexed"); r.code != 0 || shown != 50 || slices.Min(after) != want {
			t.Errorf("%d events each: code %d, %d shown, read after %v, want %d\n%s", each, r.code, shown, after, want, r.err)
		}
	}
}

func TestReplayOfAnUnknownSession(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcReplay: schemas.ReplayPage{End: true}}}
	if r := s.run(t, "", "session", "replay", "nobody"); r.code != 1 || !strings.Contains(r.err, "no events of session nobody") {
		t.Errorf("%+v", r)
	}
}

func TestQueryIsReadable(t *testing.T) {
	s := &services{replies: map[string]any{schemas.SvcRetrieve: json.RawMessage(`{"rules":[{"id":"GO-A-001","type":"Rule","score":0.987,
"tier":"inject","severity":"high","domain":"go","authority":"human","title":"A title","trigger":"t","statement":"Do <this>.",
"why":{"bm25":9.5,"ranks":{"bm25":1},"terms":[{"term":"retri","score":1},{"term":"retri request","score":0.5}]}}],"mode":"standard","tier":"inject","probability":0.91,
"embedder":"none","profile":"lexical","latency_us":{"total":306.4},"block":"the block\n"}`)}}
	want := "GO-A-001  A title\n    score 0.99 · high · go · human\n    Do <this>.\n" +
		"    because: words 9.500 (rank 1), meaning 0.000 (not in its list), severity 0.00, confidence 0.00, neighbours 0.00; matched retri, “retri request”\n\n" +
		"1 rule in 0.3 ms; probability 0.91, standard, embedder none, profile lexical\n"
	if r := s.run(t, "", "query", "retry", "it", "--explain"); r.code != 0 || r.out != want {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(s.asked[schemas.SvcRetrieve][0], `"query":"retry it"`) {
		t.Errorf("asked %v", s.asked)
	}
	if r := s.run(t, "", "query", "x", "--block"); r.out != "the block\n" {
		t.Errorf("%+v", r)
	}
	if r := s.run(t, "", "query", "x", "--json"); !strings.Contains(r.out, `"Do <this>."`) || strings.Count(r.out, "\n") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestRuleImportSendsTheFiles(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "b", "two.md"), "2")
	writeFile(t, filepath.Join(dir, "a.md"), "1")
	writeFile(t, filepath.Join(dir, "README.md"), "not a rule")
	writeFile(t, filepath.Join(dir, ".git", "x.md"), "not a rule")
	writeFile(t, filepath.Join(dir, "notes.txt"), "not a rule")
	s := &services{replies: map[string]any{schemas.SvcRuleImport: schemas.RuleImportReply{Imported: []string{"A"}, Unchanged: 1}}}
	r := s.run(t, "", "rule", "import", dir)
	if r.code != 0 || r.out != "1 node imported, 1 unchanged, 0 retired.\n" {
		t.Fatalf("%+v", r)
	}
	var sent schemas.RuleImportRequest
	if err := json.Unmarshal([]byte(s.asked[schemas.SvcRuleImport][0]), &sent); err != nil {
		t.Fatal(err)
	}
	if len(sent.Files) != 2 || sent.Files[0] != (schemas.RuleFile{Path: "a.md", Content: "1"}) || sent.Files[1].Path != "b/two.md" {
		t.Errorf("sent %+v", sent.Files)
	}
	if strings.Contains(r.err, "symptoms") {
		t.Errorf("all rules have symptoms: %s", r.err)
	}
	s.replies[schemas.SvcRuleImport] = schemas.RuleImportReply{Imported: []string{"A"}, Undescribed: 4}
	if r := s.run(t, "", "rule", "import", dir); r.code != 0 || !strings.Contains(r.err, "4 rules have no symptoms") || !strings.Contains(r.err, "writ rule symptoms --write FILE") {
		t.Errorf("%+v", r)
	}
	s.replies[schemas.SvcRuleImport] = schemas.RuleImportReply{Problems: []string{"a.md:1: no front matter"}}
	if r := s.run(t, "", "rule", "import", dir); r.code != 1 || !strings.Contains(r.err, "a.md:1: no front matter") {
		t.Errorf("%+v", r)
	}
	s.replies[schemas.SvcRuleImport] = schemas.RuleImportReply{Skipped: []string{"2 × no front matter"}}
	if r := s.run(t, "", "rule", "import", dir, "--partial"); r.code != 1 || !strings.Contains(r.err, "2 × no front matter") || !strings.Contains(r.err, "nothing came in") {
		t.Errorf("%+v", r)
	}
	writeFile(t, filepath.Join(dir, "latin.md"), "a\nb\xe9\n")
	if r := s.run(t, "", "rule", "import", dir); r.code != 1 || !strings.Contains(r.err, "latin.md:2: this is not text in UTF-8") {
		t.Errorf("%+v", r)
	}
	if err := os.Remove(filepath.Join(dir, "latin.md")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "huge.md"), strings.Repeat("x", 256<<10+1))
	if r := s.run(t, "", "rule", "import", dir); r.code != 1 || !strings.Contains(r.err, "at most 256 KiB") {
		t.Errorf("%+v", r)
	}
}

// TestLongWorkIsWaitedFor: what builds or reads everything takes longer than a
// request usually may.
func TestLongWorkIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a.md"), "1")
	s := &services{replies: map[string]any{schemas.SvcRuleImport: schemas.RuleImportReply{Unchanged: 1}, schemas.SvcRuleSearch: schemas.RuleSearchReply{}}}
	for subject, args := range map[string][]string{
		schemas.SvcRuleImport: {"rule", "import", dir}, schemas.SvcRuleSearch: {"rule", "search", "backoff"},
	} {
		if r := s.run(t, "", args...); r.code != 0 || s.within[subject] < time.Minute {
			t.Errorf("%s is given %s: %+v", args, s.within[subject], r)
		}
	}
}

func TestInitRefusesWhatIsNoProject(t *testing.T) {
	home := t.TempDir()
	s := &services{}
	writd, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := client.Env{Home: home, Executable: filepath.Join(t.TempDir(), "writ"), Vars: []string{"WRITD=" + writd}}
	bare := t.TempDir()
	for _, name := range []string{"HEAD", "objects", "refs", filepath.Join("refs", "heads"), filepath.Join("tree", ".git", "info")} {
		if err := os.MkdirAll(filepath.Join(bare, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for arg, says := range map[string]string{
		home: "home folder", filepath.Join(home, "none"): "no such", string(filepath.Separator): "root of the file system",
		bare: bare + " is git's own folder", filepath.Join(bare, "refs", "heads"): bare + " is git's own folder",
	} {
		if r := s.runIn(t, env, "", "init", arg); r.code != 1 || !strings.Contains(r.err, says) {
			t.Errorf("init %s: %+v", arg, r)
		}
	}
	if r := s.runIn(t, env, "", "init", filepath.Join(bare, "tree")); r.code != 0 {
		t.Errorf("in a work tree that lies in a bare repository: %+v", r)
	}
	root := t.TempDir()
	nowhere := env
	nowhere.Vars = append(nowhere.Vars, "WRIT_HOME="+filepath.Join(writd, "data"))
	if r := s.runIn(t, nowhere, "", "init", root); r.code != 1 || !strings.Contains(r.err, "Set WRIT_HOME") {
		t.Errorf("without a data folder: %+v", r)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("an init that failed left %v, %v", left, err)
	}
	without := env
	without.Vars = nil
	if r := s.runIn(t, without, "", "init", root); r.code != 1 || !strings.Contains(r.err, "go install github.com/writbus/writ/cmd/writd@") {
		t.Errorf("without a daemon to start: %+v", r)
	}
	if r := s.runIn(t, env, "", "init", root, "--json"); r.code != 0 || !strings.Contains(r.out, ".claude/settings.json") {
		t.Errorf("%+v", r)
	}
	if r := s.runIn(t, env, "", "uninstall", root); r.code != 0 || !strings.Contains(r.out, "no longer guards") {
		t.Errorf("%+v", r)
	}
}

// The client stays thin: a hook's cost is the start of its process, and these
// packages take milliseconds to initialise. Confinement and the pure parts of
// the command language take microseconds; hashes, signatures, topics to read
// and the names of files' kinds nothing.
// lightRooms are what the client links of rooms that it is too small for.
var lightRooms = []string{
	"enforcement/processtree",
	"enforcement/check/files",
	"enforcement/confine",
	"enforcement/confine/worktree",
	"enforcement/cosign",
	"enforcement/dialect",
	"enforcement/dialect/programnames",
	"enforcement/help",
	"enforcement/host",
	"enforcement/host/claude",
	"enforcement/host/codex",
	"enforcement/host/copilot",
	"enforcement/host/cursor",
	"enforcement/host/gemini",
	"enforcement/host/help",
	"enforcement/host/hosts",
	"enforcement/host/install",
	"enforcement/host/opencode",
	"enforcement/host/settings",
	"enforcement/host/slash",
	"enforcement/owncommand",
	"enforcement/passkey",
	"enforcement/query",
	"enforcement/session/statediff",
	"enforcement/testrun",
	"enforcement/testrun/outcome",
	"observer/agent/scanner",
	"observer/agent/vocabulary",
	"observer/agent/vocabulary/help",
	"observer/help",
	"observer/eventlog/table",
	"observer/observation",
	"observer/observation/scope",
	"observer/replay",
	"projections/audit/attest",
	"projections/audit/gitcommit",
	"projections/audit/evidence",
	"projections/hubcopies",
	"retrieval/rulerelease",
	"projections/audit/report",
	"projections/hub",
	"projections/audit/verify",
	"projections/help",
	"retrieval/artifact",
	"retrieval/artifact/strategy",
	"retrieval/corpus/folder",
	"retrieval/drawing",
	"retrieval/help",
}

func TestTheClientLinksNothingHeavy(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/writbus/writ/cmd/writ").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	if err != nil {
		t.Skipf("no go tool: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		for _, heavy := range []string{
			"github.com/nats-io/nats-server", "github.com/blevesearch", "github.com/cockroachdb", "mvdan.cc/sh", "github.com/yuin/goldmark",
			"github.com/tiktoken-go", "github.com/coder/hnsw", "github.com/prometheus", "charm.land", "github.com/charmbracelet", "google.golang.org/protobuf",
			"github.com/writbus/writ/enforcement/", "github.com/writbus/writ/retrieval", "github.com/writbus/writ/projections", "github.com/writbus/writ/observer",
			"github.com/writbus/writ/bus/embedded", "github.com/writbus/writ/cmd/writd/daemon",
		} {
			light := slices.Contains(lightRooms, strings.TrimPrefix(path, "github.com/writbus/writ/"))
			if strings.HasPrefix(path, heavy) && !light {
				t.Errorf("writ links %s", path)
			}
		}
	}
}
