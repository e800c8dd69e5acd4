package processtree

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/writbus/writ/enforcement/confine"
)

func parents() (int, lookup) { return os.Getppid(), lookIn("/proc") }

// lookIn reads a process from a proc file system, see proc(5).
func lookIn(proc string) lookup {
	return func(pid int) (Process, int, bool) {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			return Process{}, 0, false
		}
		// The program's name stands in parentheses and may hold any byte; what
		// follows the last one is fixed: state, then parent.
		text := string(stat)
		open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
		if open < 0 || end < open {
			return Process{}, 0, false
		}
		fields := strings.Fields(text[end+1:])
		if len(fields) < 2 {
			return Process{}, 0, false
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			return Process{}, 0, false
		}
		p := Process{PID: pid, Name: text[open+1 : end]}
		if len(fields) > 4 {
			p.terminal, _ = strconv.Atoi(fields[4])
		}
		if raw, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(raw) > 0 {
			p.Args = strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00")
		}
		return p, parent, true
	}
}

// Unattended tells why no person can be taken to sit at this process's terminal,
// "" where one can. More names programs whose terminals count, beside the known.
func Unattended(more []string) string {
	return machine{proc: "/proc", user: os.Getuid(), more: more}.unattended(os.Getpid(), 0)
}

// machine is what a proc file system shows of a system's processes.
type machine struct {
	proc string
	user int // whose processes are looked at
	more []string
}

// Bounds of the look at terminals within terminals.
const (
	maxNested  = 4
	ptsMajor   = 136 // to 143: terminals that a program made, see devices.txt of Linux
	ptsMajors  = 8
	firstChild = 1
)

func (m machine) unattended(pid, depth int) string {
	look := lookIn(m.proc)
	self, parent, ok := look(pid)
	switch {
	case !ok || depth > maxNested:
		return "its processes cannot be seen"
	case m.held(pid):
		return "it runs held, as agents' commands and sandboxed programs do"
	case self.terminal == 0:
		return "it has no terminal of its own"
	}
	for at := self; ; {
		if started := m.startedBy(at.PID); started != "" {
			return fmt.Sprintf("an agent started %s above it (%s is set there)", at.Name, started)
		}
		if parent == 0 || at.PID == firstChild {
			return "" // the first process of a container or of the system
		}
		up, above, ok := look(parent)
		switch {
		case !ok:
			return "its processes cannot be seen"
		case up.terminal == at.terminal:
		case up.PID == firstChild && !pseudo(at.terminal):
			return "" // a console
		case up.PID == firstChild:
			return "nobody holds its terminal any more"
		case up.terminal != 0:
			return m.unattended(up.PID, depth+1)
		default:
			return m.holder(up, depth)
		}
		at, parent = up, above
	}
}

// held says that a process was started in a hold, or in what the first process here is
// not in: filters of system calls are handed on and never taken off. What its command
// line or its name say may be anything.
func (m machine) held(pid int) bool {
	return m.status(pid, "NoNewPrivs:") == 1 && m.status(pid, "Seccomp_filters:") > m.status(firstChild, "Seccomp_filters:")
}

// status is a number of a process's, 0 where it is not shown.
func (m machine) status(pid int, field string) (number int) {
	raw, err := os.ReadFile(filepath.Join(m.proc, strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if text, found := strings.CutPrefix(line, field); found {
			number, _ = strconv.Atoi(strings.TrimSpace(text)) // 0 where it is none
		}
	}
	return number
}

func pseudo(terminal int) bool {
	major := terminal >> 8 & 0xfff
	return major >= ptsMajor && major < ptsMajor+ptsMajors
}

// holder tells why a program that made a terminal, and has none itself, is not
// one that a person sits at.
func (m machine) holder(p Process, depth int) string {
	if started := m.startedBy(p.PID); started != "" {
		return fmt.Sprintf("an agent started %s, which holds its terminal (%s is set there)", p.Name, started)
	}
	if owner, known := m.owner(p.PID); known && owner != m.user {
		return "" // sshd, login and the like
	}
	name, path := m.program(p)
	switch {
	case slices.Contains(m.more, name):
		return ""
	case !slices.Contains(terminals, name) && !server(path), madeUp(path):
		return fmt.Sprintf("its terminal is held by %s, at which no person is known to sit", name)
	case slices.Contains(multiplexers, name):
		return m.attached(name, depth)
	}
	return ""
}

// attached tells why nobody sits at a multiplexer: none of its programs has a
// terminal that a person sits at.
func (m machine) attached(name string, depth int) string {
	entries, err := os.ReadDir(m.proc)
	if err != nil {
		return "its processes cannot be seen"
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p, _, ok := lookIn(m.proc)(pid)
		if !ok || p.terminal == 0 {
			continue
		}
		if program, _ := m.program(p); program == name && m.unattended(pid, depth+1) == "" && m.agentAbove(pid) == "" {
			return ""
		}
	}
	return "nobody is attached to the " + name + " that holds its terminal"
}

func (m machine) agentAbove(pid int) string {
	for _, p := range walk(pid, lookIn(m.proc)) {
		if program := p.agent(); program != "" {
			return program
		}
	}
	return ""
}

// startedBy names an agent's variable in a process's environment, as far as it
// can be read.
func (m machine) startedBy(pid int) string {
	raw, err := os.ReadFile(filepath.Join(m.proc, strconv.Itoa(pid), "environ"))
	if err != nil {
		return ""
	}
	for entry := range strings.SplitSeq(string(raw), "\x00") {
		if name, value, _ := strings.Cut(entry, "="); value != "" && slices.Contains(agentVars, name) {
			return name
		}
	}
	return ""
}

func (m machine) owner(pid int) (user int, known bool) {
	info, err := os.Stat(filepath.Join(m.proc, strconv.Itoa(pid)))
	if err != nil {
		return 0, false
	}
	sys, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return int(sys.Uid), true
}

// program is the name and path of what a process runs: its file, or the script
// that its interpreter runs.
func (m machine) program(p Process) (name, path string) {
	path, err := os.Readlink(filepath.Join(m.proc, strconv.Itoa(p.PID), "exe"))
	if err != nil {
		return p.Name, ""
	}
	path = strings.TrimSuffix(path, " (deleted)")
	if name = filepath.Base(path); strings.HasPrefix(name, "python") && len(p.Args) > 1 && strings.HasPrefix(p.Args[1], "/usr/") {
		path, name = p.Args[1], filepath.Base(p.Args[1])
	}
	return name, path
}

// madeUp says that a program lies where agents put files: in a temp folder, a cache
// of tools, or a project.
func madeUp(path string) bool {
	if path == "" {
		return false
	}
	home, _ := os.UserHomeDir() // without one there are no caches in it
	for _, dir := range append(confine.CacheNames(home), "/tmp", "/var/tmp", "/dev/shm", os.TempDir()) {
		if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	for dir := filepath.Dir(path); dir != "/" && dir != home && dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".writ", "config.yaml")); err == nil {
			return true
		}
	}
	return false
}

// server says that a program is the part of an editor that runs on the machine
// that its window does not stand on.
func server(path string) bool {
	for _, part := range []string{"/.vscode-server/", "/.vscode-server-insiders/", "/.cursor-server/", "/code-server/", "/.vscodium-server/"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

var multiplexers = strings.Fields("tmux screen SCREEN zellij dtach abduco")

// terminals are the programs at whose terminals people sit: windows, servers of
// other machines, multiplexers, editors.
var terminals = append(strings.Fields(`
	sshd sshd-session dropbear login mosh-server etterminal
	gnome-terminal-server kgx gnome-console ptyxis ptyxis-agent konsole yakuake xterm uxterm rxvt urxvt urxvtd st alacritty kitty foot
	wezterm-gui ghostty terminator tilix xfce4-terminal lxterminal mate-terminal qterminal terminology deepin-terminal guake tilda sakura
	termite contour rio warp warp-terminal tabby hyper waveterm cosmic-term blackbox io.elementary.terminal
	code code-insiders codium cursor zed zed-editor idea pycharm goland webstorm clion rustrover phpstorm rubymine rider studio java emacs
`), multiplexers...)
