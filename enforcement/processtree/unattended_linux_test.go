package processtree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
)

type shown struct {
	pid, parent, terminal int
	exe, args, environ    string
	filters               int // of system calls, with no new privileges
}

const (
	pts  = 136<<8 | 3
	pts2 = 136<<8 | 4
	tty1 = 4<<8 | 1
)

// proc writes a proc file system that shows the processes.
func proc(t *testing.T, all []shown) string {
	t.Helper()
	root := t.TempDir()
	if all[0].pid != 1 {
		all = append([]shown{{pid: 1, exe: "/sbin/init"}}, all...)
	}
	for _, p := range all {
		dir := filepath.Join(root, strconv.Itoa(p.pid))
		name := filepath.Base(p.exe)
		if p.args == "" {
			p.args = name
		}
		for file, content := range map[string]string{
			"stat":    fmt.Sprintf("%d (%s) S %d %d %d %d 0", p.pid, name, p.parent, p.pid, p.pid, p.terminal),
			"cmdline": strings.ReplaceAll(p.args, " ", "\x00") + "\x00",
			"environ": strings.ReplaceAll(p.environ, " ", "\x00"),
			"status":  fmt.Sprintf("Name:\t%s\nNoNewPrivs:\t%d\nSeccomp:\t2\nSeccomp_filters:\t%d\n", name, min(p.filters, 1), p.filters),
		} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(p.exe, filepath.Join(dir, "exe")); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// guardedProject is one outside of the temp folders.
func guardedProject(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	project, err := os.MkdirTemp(here, "project-") //nolint:usetesting // t.TempDir is below a temp folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(project) })
	if err := os.Mkdir(filepath.Join(project, ".writ"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ".writ", "config.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return project
}

func TestUnattended(t *testing.T) {
	writ := shown{pid: 100, parent: 90, terminal: pts, exe: "/usr/bin/writ"}
	bash := shown{pid: 90, parent: 80, terminal: pts, exe: "/usr/bin/bash"}
	home, project := "/home/u", guardedProject(t)
	t.Setenv("HOME", home)
	for name, c := range map[string]struct {
		processes []shown
		foreign   bool // the processes are another user's
		want      string
	}{
		"in a window":                    {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/gnome-terminal-server"}}, false, ""},
		"in a window of one's home":      {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/home/u/.local/kitty.app/bin/kitty"}}, false, ""},
		"in a window written in Python":  {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/python3.12", args: "python3 /usr/bin/terminator"}}, false, ""},
		"in an editor":                   {[]shown{writ, bash, {pid: 80, parent: 70, exe: "/usr/share/code/code", args: "code --type=utility"}, {pid: 70, parent: 1, exe: "/usr/share/code/code"}}, false, ""},
		"in an editor's far end":         {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/home/u/.vscode-server/bin/abc/node"}}, false, ""},
		"over ssh":                       {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/sbin/sshd"}}, false, ""},
		"over what belongs to root":      {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/opt/remote"}}, true, ""},
		"at a console":                   {[]shown{{pid: 100, parent: 90, terminal: tty1, exe: "/usr/bin/writ"}, {pid: 90, parent: 1, terminal: tty1, exe: "/bin/login"}}, false, ""},
		"in a container":                 {[]shown{writ, {pid: 90, parent: 0, terminal: pts, exe: "/bin/sh"}}, false, ""},
		"in script, in a window":         {[]shown{writ, bash, {pid: 80, parent: 70, terminal: pts2, exe: "/usr/bin/script"}, {pid: 70, parent: 60, terminal: pts2, exe: "/usr/bin/bash"}, {pid: 60, parent: 1, exe: "/usr/bin/foot"}}, false, ""},
		"in tmux":                        {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/tmux"}, {pid: 50, parent: 60, terminal: pts2, exe: "/usr/bin/tmux"}, {pid: 60, parent: 1, exe: "/usr/bin/foot"}}, false, ""},
		"with a program that is named":   {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/opt/myterm"}}, false, ""},
		"in no terminal":                 {[]shown{{pid: 100, parent: 1, exe: "/usr/bin/writ"}}, false, "no terminal"},
		"in script, left behind":         {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/script"}}, false, "held by script"},
		"in expect":                      {[]shown{writ, {pid: 90, parent: 1, exe: "/usr/bin/expect"}}, false, "held by expect"},
		"in a program's terminal":        {[]shown{writ, {pid: 90, parent: 1, exe: "/usr/bin/python3.12", args: "python3 /home/u/terminator"}}, false, "held by python3.12"},
		"in a copy of a window":          {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/tmp/x/xterm"}}, false, "held by xterm"},
		"in a copy in a cache":           {[]shown{writ, bash, {pid: 80, parent: 1, exe: filepath.Join(home, ".cache/x/kitty")}}, false, "held by kitty"},
		"in a copy in a cache of a tool": {[]shown{writ, bash, {pid: 80, parent: 1, exe: filepath.Join(home, "go/pkg/mod/xterm")}}, false, "held by xterm"},
		"in a copy in a project":         {[]shown{writ, bash, {pid: 80, parent: 1, exe: filepath.Join(project, "bin/xterm")}}, false, "held by xterm"},
		"held, in what looks like one":   {[]shown{{pid: 100, parent: 90, terminal: pts, exe: "/usr/bin/writ", filters: 1}, bash, {pid: 80, parent: 1, exe: "/usr/bin/python3.12", args: "python3 /usr/bin/terminator", filters: 1}}, false, "held"},
		"in a container that is guarded": {[]shown{{pid: 1, exe: "/bin/sh", filters: 1}, {pid: 100, parent: 90, terminal: pts, exe: "/usr/bin/writ", filters: 1}, {pid: 90, parent: 0, terminal: pts, exe: "/bin/sh", filters: 1}}, false, ""},
		"in nobody's terminal":           {[]shown{writ, {pid: 90, parent: 1, terminal: pts, exe: "/usr/bin/bash"}}, false, "nobody holds"},
		"in tmux that nobody looks at":   {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/tmux"}}, false, "nobody is attached"},
		"in tmux that a script looks at": {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/tmux"}, {pid: 50, parent: 60, terminal: pts2, exe: "/usr/bin/tmux"}, {pid: 60, parent: 1, exe: "/usr/bin/script"}}, false, "nobody is attached"},
		"in tmux that an agent looks at": {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/tmux"}, {pid: 50, parent: 60, terminal: pts2, exe: "/usr/bin/tmux"}, {pid: 60, parent: 70, terminal: pts2, exe: "/usr/bin/claude"}, {pid: 70, parent: 1, exe: "/usr/bin/foot"}}, false, "nobody is attached"},
		"in a window that an agent made": {[]shown{writ, bash, {pid: 80, parent: 1, exe: "/usr/bin/xterm", environ: "A=b CLAUDECODE=1"}}, false, "CLAUDECODE"},
		"below what an agent started":    {[]shown{writ, {pid: 90, parent: 80, terminal: pts, exe: "/usr/bin/bash", environ: "CODEX_SANDBOX=x"}, {pid: 80, parent: 1, exe: "/usr/bin/foot"}}, false, "CODEX_SANDBOX"},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine{proc: proc(t, c.processes), user: os.Getuid(), more: []string{"myterm"}}
			if c.foreign {
				m.user++
			}
			if got := m.unattended(100, 0); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestUnattendedOfThisSystem looks at real processes: the test's own terminal is
// one that a program made.
func TestUnattendedOfThisSystem(t *testing.T) {
	const asked = "WRIT_TEST_UNATTENDED"
	if os.Getenv(asked) != "" {
		fmt.Printf("<%s>\n", Unattended(strings.Fields(os.Getenv("WRIT_TEST_TERMINALS"))))
		return
	}
	self := exec.Command(os.Args[0], "-test.run=^TestUnattendedOfThisSystem$")
	var clean []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "CLAUDE") {
			clean = append(clean, v)
		}
	}
	self.Env = append(clean, asked+"=1")
	apart := exec.Command("setsid", "-w", self.Path, self.Args[1])
	apart.Env = self.Env
	if out, err := apart.CombinedOutput(); err != nil || !strings.Contains(string(out), "<it has no terminal of its own>") {
		t.Errorf("in a session of its own: %v\n%s", err, out)
	}
	for terminals, want := range map[string]string{"": "is held by", filepath.Base(os.Args[0]): "<>"} {
		c := exec.Command(self.Path, self.Args[1])
		c.Env = append(append([]string{}, self.Env...), "WRIT_TEST_TERMINALS="+terminals)
		terminal, err := pty.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		buf := make([]byte, 1024)
		for {
			n, err := terminal.Read(buf)
			out.Write(buf[:n])
			if err != nil {
				break
			}
		}
		_ = c.Wait()
		_ = terminal.Close()
		if !strings.Contains(out.String(), want) {
			t.Errorf("terminals %q: %s, want %s", terminals, out.String(), want)
		}
	}
}
