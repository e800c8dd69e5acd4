package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas/lazyregexp"
)

// Class says by whom a program acts that has another one do its work.
type Class string

// The classes of what acts elsewhere; the table has them as attributes.
const (
	Types     Class = "types"     // types into terminals and windows, or starts programs in them
	Agent     Class = "agent"     // another agent
	Schedule  Class = "schedule"  // starts programs later, or by a service
	Service   Class = "service"   // starts and stops what is set up
	Container Class = "container" // a daemon, a container, a virtual machine, a cluster
	Machine   Class = "machine"   // another machine
	Desktop   Class = "desktop"   // an editor or program that runs already
	Setuid    Class = "setuid"    // the rights of another user
	Socket    Class = "socket"    // the raw socket of one of them
)

var classes = []Class{Types, Agent, Schedule, Service, Container, Machine, Desktop, Setuid, Socket}

// Elsewhere is an act outside of what a kernel holds that holds the command line:
// other processes do it, with their own rights.
type Elsewhere struct {
	Class   Class
	Program string // base name of the program that is asked to
}

// actsElsewhere records an act of this kind.
func (a *analysis) actsElsewhere(class Class, program string) {
	program, _, _ = strings.Cut(program, " ")
	if e := (Elsewhere{class, program}); len(a.elsewhere) < maxReasons && !slices.Contains(a.elsewhere, e) {
		a.elsewhere = append(a.elsewhere, e)
	}
}

// sockets are those of the programs that act elsewhere. Whoever speaks to one can
// have it do anything.
var sockets = lazyregexp.New(`(?:^|/)(?:(?:docker|podman|containerd|buildkitd|crio|cri-dockerd|lxd|incus)[\w.-]*\.sock(?:et)?|unix\.socket|` +
	`tmux-\d+/.*|S\.screen/.*|screen/S-.*|(?:my)?kitty[\w-]*(?:\.sock)?|wezterm/[\w.-]*sock[\w.-]*|nvim\.[^/]*|vscode-ipc-.*\.sock|sway-ipc\..*|\.ydotool_socket|` +
	`\.X11-unix/.*|wayland-\d+|system_bus_socket|run/user/\d+/bus|systemd/private)$`)

// throughSockets records what cannot be told and names such a socket.
func (a *analysis) throughSockets() {
	if !a.opaque {
		return
	}
	for _, named := range []map[string]struct{}{a.mentions, a.patterns} {
		for p := range named {
			if at := sockets.Regexp().FindString(p); at != "" {
				a.actsElsewhere(Socket, strings.TrimPrefix(at, "/"))
			}
		}
	}
}

// typed is how people write what types, wherever it stands in a command line.
var typed = lazyregexp.New(`(?s)\b(?:(?:tmux|byobu)\b.{0,200}\b(?:send-keys|send-prefix|paste-buffer|run-shell|respawn-\w+|pipe-pane|if-shell|source-file|send\s)|` +
	`screen\b[^\n]{0,80}\s-X\s|(?:kitty|kitten|wezterm)\b.{0,80}\bsend-text\b|zellij\b.{0,80}\baction\b|[xy]dotool\b.{0,80}\b(?:type|key)\b|` +
	`osascript\b.{0,200}\bkeystroke\b)`)

// typesUnseen records a command line that cannot be told and spells out what types:
// what that does to the user's own terminal is worth a question.
func (a *analysis) typesUnseen(command string) {
	if at := typed.Regexp().FindString(command); a.opaque && at != "" {
		program := strings.FieldsFunc(at, func(r rune) bool { return r < 'A' || r > 'z' })[0]
		a.actsElsewhere(Types, program)
	}
}

// listedCommands finds commands that code hands over word by word.
var listedCommands = lazyregexp.New(`\b(?:subprocess\.\w+|\w*[sS]pawn\w*|exec\w*|Popen|system|run|check_\w+|call|command|open3?|proc_open)\s*\(?\s*[\[(]?\s*` +
	`((?:(?:"[^"\n]*"|'[^'\n]*')\s*,?\s*\[?\s*){2,})`)

var quotedWord = lazyregexp.New(`"([^"\n]*)"|'([^'\n]*)'`)

var quotedCommand = lazyregexp.New("`([^`\n]+)`|%x[({\\[]([^)}\\]\n]+)")

// listed judges the commands that code starts word by word, or in the quotes that
// Perl and Ruby have for it, as far as they act elsewhere: the code cannot be told
// in any case.
func (c *call) listed(code string) {
	if c.name == "perl" || c.name == "ruby" {
		for _, m := range quotedCommand.Regexp().FindAllStringSubmatch(code, maxItems) {
			c.sh.fork().script(m[1] + m[2])
		}
	}
	for _, m := range listedCommands.Regexp().FindAllStringSubmatch(code, maxItems) {
		var words []arg
		for _, w := range quotedWord.Regexp().FindAllStringSubmatch(m[1], maxItems) {
			words = append(words, literal(w[1]+w[2]))
		}
		if _, e, known := lookUp(words[0].val); known && e.class != "" {
			c.sh.fork().exec(words)
		}
	}
}

// lookUp finds a program in the table by a name that may have a folder. One that
// acts elsewhere may also have the version that a runner of packages is given.
func lookUp(name string) (base string, e *entry, known bool) {
	base = strings.TrimSuffix(path.Base(name), ".exe")
	if at := strings.LastIndexByte(base, '@'); at > 0 {
		if e := registry()[base[:at]]; e != nil && e.class != "" {
			return base[:at], e, true
		}
	}
	e, known = registry()[base]
	return base, e, known
}
