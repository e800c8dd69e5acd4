package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/disk"
	"github.com/writbus/writ/schemas/excerpt"
)

// Results of a check. Persisted in people's scripts; never change.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"` // ok, warn, fail
	Detail string `json:"detail,omitempty"`
	Todo   string `json:"todo,omitempty"`
}

type examination struct {
	app      *app
	dataDir  string
	quiet    bool // shows nothing by itself
	findings []finding
}

func (e *examination) ok(check, detail string) { e.add(finding{check, checkOK, detail, ""}) }

func (e *examination) warn(check, detail, todo string) {
	e.add(finding{check, checkWarn, detail, todo})
}

func (e *examination) fail(check, detail, todo string) {
	e.add(finding{check, checkFail, detail, todo})
}

func (e *examination) add(f finding) {
	e.findings = append(e.findings, f)
	if e.quiet {
		return
	}
	e.show(f)
}

func (e *examination) show(f finding) {
	if e.app.JSON {
		_ = e.app.PrintJSON(f)
		return
	}
	st := e.app.Env.Style(e.app.Out)
	mark := map[string]string{checkOK: st.Green("ok  "), checkWarn: st.Yellow("warn"), checkFail: st.Red("fail")}[f.Result]
	e.app.Printf("%s  %-14s %s\n", mark, f.Check, f.Detail)
	if f.Todo != "" {
		e.app.Printf("      %-14s %s\n", "", st.Bold(f.Todo))
	}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Check the installation, and that the hooks really refuse",
		Long: `Checks the data folder, the daemon and the project in DIR or around this folder.
It runs the very command lines of the project's hooks with made-up payloads in a
session of its own and looks at their answers: a write must be refused.`,
		Example: `  writ doctor
  writ doctor --json | jq 'select(.result != "ok")'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := a.Env.Dir
			if len(args) > 0 {
				dir = a.Env.Absolute(args[0])
			}
			if info, err := os.Stat(dir); err != nil || !info.IsDir() {
				return client.Usage("doctor: there is no folder "+dir, "")
			}
			e := &examination{app: a}
			e.data()
			e.daemon(cmd.Context())
			e.project(cmd.Context(), dir)
			return e.verdict()
		},
	}
}

func (e *examination) verdict() error {
	for _, f := range e.findings {
		if f.Result == checkFail {
			return &client.Fault{What: "doctor", Why: "something needs repair", Todo: "See the lines marked fail."}
		}
	}
	return nil
}

// checkBriefly looks at what doctor looks at, and shows a line for what is well and
// each finding that is not. It starts the daemon first: with an empty data folder
// that takes longer than a hook may wait.
func (a *app) checkBriefly(ctx context.Context, root string) error {
	e := &examination{app: a, quiet: true}
	if s, err := a.Open(ctx, client.RoleHook); err == nil {
		s.Close()
	}
	e.data()
	e.daemon(ctx)
	e.project(ctx, root)
	well, refusals := 0, 0
	for _, f := range e.findings {
		if f.Result != checkOK {
			e.show(f)
			continue
		}
		well++
		if strings.Contains(f.Detail, "refused, as it must be") {
			refusals++
		}
	}
	st := a.Env.Style(a.Out)
	a.Printf("%s %s, and %s refused a made-up write.\n", st.Bold("Checked:"), client.Plural(well, "thing is well", "things are well"), client.Plural(refusals, "hook", "hooks"))
	return e.verdict()
}

// minFree is how much space the log should have left, in bytes: at a kilobyte
// an event, a busy month.
const minFree = 256 << 20

func (e *examination) data() {
	dir, err := e.app.Env.DataDir()
	if err != nil {
		e.fail("data folder", excerpt.Plain(client.OneLine(err.Error())), "")
		return
	}
	e.dataDir = dir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		e.warn("data folder", dir+" does not exist yet", "`writ up` creates it.")
		return
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		e.fail("data folder", dir+" cannot be written: "+cmp.Or(disk.Room(dir, disk.Reserve), err).Error(), "Make room there, or make it writable for you, or set WRIT_HOME to another folder.")
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	if tree, inside := workTree(dir); inside {
		e.warn("data folder", dir+" is inside the work tree "+tree, "Set WRIT_HOME to a folder outside: agents can reach what is in a work tree.")
	} else {
		e.ok("data folder", dir)
	}
	if space, known := disk.Of(dir); known {
		free := client.Size(uint64(space.Free))
		if space.Free < minFree {
			e.warn("disk space", free+" free for the log", "Free some space: a full disk refuses every write of an agent.")
		} else {
			e.ok("disk space", free+" free")
		}
	}
	e.credentials()
}

// workTree finds a version-controlled folder at or above a folder.
func workTree(dir string) (root string, inside bool) {
	for {
		for _, mark := range []string{".git", ".hg", ".jj"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir, true
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func (e *examination) credentials() {
	found := 0
	for _, role := range []string{client.RoleHook, client.RoleDashboard, client.RoleAdmin, client.RoleAgent} {
		path := config.CredentialPath(e.dataDir, role)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		found++
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			e.fail("credentials", fmt.Sprintf("%s can be read by others (mode %04o)", path, info.Mode().Perm()), "chmod 600 "+client.ShellWord(path))
			return
		}
		if _, err := bus.LoadCredential(filepath.Dir(path), role); err != nil {
			e.fail("credentials", client.OneLine(err.Error()), "")
			return
		}
	}
	switch found {
	case 0:
		e.warn("credentials", "none yet", "The daemon makes them when it first starts: `writ up`.")
	case 4:
		e.ok("credentials", "for hook, dashboard, admin and agent, readable by you alone")
	default:
		e.fail("credentials", fmt.Sprintf("%d of 4 are there", found), "Restart the daemon: `writ down`, then `writ up`; it makes those that are missing.")
	}
}

func (e *examination) daemon(ctx context.Context) {
	path, err := launch.Find(e.app.Env.Executable, e.app.Env.Vars)
	switch {
	case err != nil && launch.Temporary(e.app.Env.Executable):
		e.warn("writd", "`go run` made this program without it", "`go run ./cmd/writ up` builds both.")
	case err != nil:
		remedy := launch.Installed(e.app.Env.Executable, e.app.Env.Home, e.app.Env.Vars).Remedy()
		e.fail("writd", "it is neither beside writ nor on the PATH", "`"+remedy+"` puts it beside "+e.app.Env.Executable+"; or set WRITD to its path.")
	default:
		e.ok("writd", path)
	}
	e.otherWrit()
	if e.dataDir == "" {
		return
	}
	s, at, err := e.app.Reach(ctx, client.RoleHook)
	switch {
	case errors.Is(err, config.ErrFormat), errors.Is(err, launch.ErrElsewhere):
		var fault *client.Fault
		errors.As(client.Explain("doctor", err), &fault)
		e.fail("daemon", fault.Why, fault.Todo)
		return
	case errors.Is(err, config.ErrNoDaemon):
		if said := lastWords((config.Layout{Root: e.dataDir}).DaemonLog()); said != "" {
			e.fail("daemon", "it ended at its start: "+client.OneLine(said), "Put that right, then `writ up`.")
			return
		}
		e.warn("daemon", "it does not run", "The first hook starts it, or `writ up`.")
		return
	case errors.Is(err, bus.ErrBadCredentials):
		e.fail("daemon", client.OneLine(err.Error()), "Restart it: `writ down`, or end process "+fmt.Sprint(at.PID)+", then `writ up`.")
		return
	case err != nil:
		e.fail("daemon", client.OneLine(err.Error()), "Its log is "+config.Layout{Root: e.dataDir}.DaemonLog()+".")
		return
	}
	defer s.Close()
	began := time.Now()
	status, err := client.Call[schemas.Status](ctx, s, schemas.SvcStatus, struct{}{})
	if err != nil {
		e.fail("daemon", "it does not answer: "+client.OneLine(err.Error()), "Its log is "+config.Layout{Root: e.dataDir}.DaemonLog()+".")
		return
	}
	e.ok("daemon", fmt.Sprintf("process %d at %s, answers in %s", status.PID, status.URL, time.Since(began).Round(10*time.Microsecond)))
	e.health(status)
}

// otherWrit looks for another writ that a shell finds first.
func (e *examination) otherWrit() {
	self, err := os.Stat(e.app.Env.Executable)
	if err != nil || launch.Temporary(e.app.Env.Executable) {
		return
	}
	for _, dir := range filepath.SplitList(e.app.Env.Getenv("PATH")) {
		found, err := exec.LookPath(filepath.Join(dir, "writ"))
		if err != nil {
			continue
		}
		if info, err := os.Stat(found); err == nil && !os.SameFile(info, self) {
			e.warn("writ", "a shell finds another one first, "+found+", not "+e.app.Env.Executable, "Remove the other one, or name this one's folder before it in PATH.")
		}
		return
	}
}

// lastWords are what the daemon that wrote a log said at its end, "" where it ended as it
// was told or another was started since.
func lastWords(log string) string {
	raw, _ := os.ReadFile(log) // of none it says nothing
	text := "\n" + strings.TrimSpace(string(raw))
	_, said, _ := strings.Cut(text[max(strings.LastIndex(text, "\nwritd: "), 0):], "\nwritd: ")
	if strings.Contains(said, "\ntime=") || strings.HasPrefix(said, "serving ") {
		return ""
	}
	return said
}

func (e *examination) health(s schemas.Status) {
	if s.Version == Version {
		e.ok("version", Version)
	} else {
		e.warn("version", "writ is "+Version+", the daemon "+s.Version, "Restart the daemon: `writ down`, then `writ up`.")
	}
	late := 0
	for _, v := range s.Views {
		switch {
		case v.State == "stopped":
			late++
			e.fail("view "+v.Name, "stopped: "+client.OneLine(v.Error), "Keep the daemon's log and report it; the log itself is unharmed, and the view is rebuilt after a fix.")
		case v.Error != "":
			late++
			e.fail("view "+v.Name, fmt.Sprintf("%s, %s events behind, and cannot go on: %s", v.State, client.Thousands(v.Lag), client.OneLine(v.Error)), standsStill(v.Error))
		case v.Progress() != "":
			late++
			e.warn("view "+v.Name, "being built from the log: "+v.Progress(), "What it held before answers until then; look again in a moment.")
		case v.State != "live" || v.Lag > 1000:
			late++
			e.warn("view "+v.Name, fmt.Sprintf("%s, %s events behind", v.State, client.Thousands(v.Lag)), "It catches up by itself; look again in a moment.")
		}
	}
	if late == 0 {
		e.ok("views", client.Plural(len(s.Views), "view", "views")+" live")
	}
	if s.Unheld == "" {
		e.ok("hold", "the kernel refused each write that a probe tried")
	} else {
		e.warn("hold", s.Unheld, "You are asked for commands whose effect cannot be told, as long as code is closed.")
	}
	if s.Rules == 0 {
		e.warn("rules", "none yet", "A daemon that has just begun is bringing the shipped ones in; `writ rule import DIR` brings in others.")
	} else {
		e.ok("rules", rulesText(s))
	}
	if s.Scrub != nil && s.Scrub.Damaged > 0 {
		e.fail("log", scrubText(s.Scrub, time.Now()), repairTodo)
	} else if s.Scrub != nil {
		e.ok("log", "read again: "+scrubText(s.Scrub, time.Now()))
	}
	for _, w := range s.Warnings {
		e.warn("daemon", w, "")
	}
}

const repairTodo = "`writ down`, then `writ repair --from BACKUP`; without a backup `writ repair` records what is lost."

// standsStill says what to do for a view that cannot go on.
func standsStill(why string) string {
	if strings.Contains(why, bus.ErrGap.Error()) {
		return repairTodo
	}
	return "The daemon's log says more; it is tried again all the time."
}
