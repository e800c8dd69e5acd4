// Package confined reads the command line of `writ confine`.
//
// It imports nothing but enforcement/confine and what that imports, so that
// package early can use it. It runs nothing.
package confined

import (
	"os"
	"strconv"

	"github.com/writbus/writ/enforcement/confine"
)

// Misuse is a command line that cannot be understood.
type Misuse struct {
	What string // what is wrong
	Todo string // what to do about it
}

func (m *Misuse) Error() string { return m.What + ". " + m.Todo }

const showsOptions = "`writ confine --help` shows the options."

// World is what the command line is read in.
type World struct {
	// Absolute makes a path of the command line absolute.
	Absolute func(string) string
	// Project finds the project around the working folder, for a command line
	// that names none.
	Project func() (root string, found bool)
	// Reveal lists the files of a data folder that the command may read.
	Reveal func(dataDir string) []string
}

// Read fills in what the arguments say. Options end at the command, at "--", or
// with -c. The error is a *Misuse.
func Read(o confine.Options, args []string, w World) (confine.Options, error) {
	shell, hosts := "/bin/sh", false
	for len(args) > 0 {
		option := args[0]
		args = args[1:]
		switch option {
		case "--best-effort":
			o.BestEffort = true
			continue
		case "--quiet":
			o.Quiet = true
			continue
		case "--whole":
			o.Whole = true
			continue
		case "--git":
			o.Git = true
			continue
		case "--host-shell":
			hosts = true
			continue
		case "--":
			o.Args = args
			return complete(o, w)
		}
		if option == "" || option[0] != '-' {
			o.Args = append([]string{option}, args...)
			return complete(o, w)
		}
		name, value, inline := cut(option)
		if !takesValue(name) {
			return o, &Misuse{"confine: the option " + name + " is unknown", showsOptions}
		}
		if !inline {
			if len(args) == 0 {
				return o, &Misuse{"confine: " + name + " needs a value", showsOptions}
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "--project":
			o.Project = w.Absolute(value)
		case "--profile":
			o.Profile = confine.Profile(value)
		case "--write":
			o.Write = append(o.Write, value)
		case "--make":
			o.Make = append(o.Make, value)
		case confine.KeptOption:
			if o.Since, _ = strconv.ParseInt(value, 10, 64); o.Since <= 0 {
				return o, &Misuse{"confine: " + name + " " + value + " is no time", showsOptions}
			}
		case "--shell":
			shell = value
		case "--data":
			o.DataDir = w.Absolute(value)
		case "-c":
			// What follows the string is its $0, $1 and so on, as in any shell.
			o.Args = append([]string{shell, "-c", value}, args...)
			if hosts {
				o.Program, o.Args = hostShell(os.Getppid(), shell, value)
			}
			return complete(o, w)
		}
	}
	return complete(o, w)
}

// hostShell is how the shell around this process is run for a command line: by its
// own name, and with something behind the line, as hosts run it, since a shell
// with nothing more to do gives its process to the last program. What the host had
// its shell do before is done again, inside the hold: a new shell has none of the
// functions, aliases and options that it left.
func hostShell(above int, fallback, line string) (program string, args []string) {
	program, name, before, ok := confine.HostShell(above)
	if !ok {
		program, name = fallback, fallback
	}
	if before != "" {
		before = "eval " + quoted(before) + " >/dev/null 2>&1\n"
	}
	if old := os.Getenv("OLDPWD"); old != "" && len(program) > 3 && program[len(program)-4:] == "/zsh" { // it does not take it from there
		before = "{ cd -q -- " + quoted(old) + " && cd -q -; } >/dev/null 2>&1\n" + before
	}
	return program, []string{name, "-c", before + "eval " + quoted(line) + "\nexit $?", name}
}

// quoted is one word of a text for a POSIX shell.
func quoted(text string) string {
	word := []byte{'\''}
	for i := range len(text) {
		if text[i] == '\'' {
			word = append(word, `'\''`...)
			continue
		}
		word = append(word, text[i])
	}
	return string(append(word, '\''))
}

func takesValue(name string) bool {
	switch name {
	case "-c", "--project", "--profile", "--write", "--make", "--shell", "--data", confine.KeptOption:
		return true
	}
	return false
}

// complete fills in the project: the one around the working folder.
func complete(o confine.Options, w World) (confine.Options, error) {
	if o.Project == "" {
		root, found := w.Project()
		if !found {
			return o, &Misuse{"confine: " + o.Dir + " is in no project that Writ guards", "Name one with --project."}
		}
		o.Project = root
	}
	if o.DataDir != "" {
		o.Reveal = w.Reveal(o.DataDir)
	}
	for _, path := range o.Make {
		if !local(path) && (path == "" || path[0] != '/') {
			return o, &Misuse{"confine: --make " + path + " is not below the project", "Name it relative to the project."}
		}
	}
	return o, nil
}

// cut splits an option at its first "=".
func cut(option string) (name, value string, inline bool) {
	for i := range len(option) {
		if option[i] == '=' {
			return option[:i], option[i+1:], true
		}
	}
	return option, "", false
}
