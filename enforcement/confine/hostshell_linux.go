package confine

import (
	"bytes"
	"os"
	"strconv"
)

// shells are the programs that a command line can be handed to.
var shells = map[string]bool{"bash": true, "zsh": true, "sh": true, "dash": true, "ksh": true}

// HostShell is the shell that is a process, the name that it goes by, and
// what the host had it do before the command: a command line is read by the shell
// that the host meant it for, as that shell then is. ok is false where it is
// none.
func HostShell(process int) (program, name, before string, ok bool) {
	at := "/proc/" + strconv.Itoa(process)
	program, err := os.Readlink(at + "/exe")
	if err != nil || !shells[base(program)] {
		return "", "", "", false
	}
	raw, err := os.ReadFile(at + "/cmdline")
	words := bytes.Split(raw, []byte{0})
	if err != nil || len(words[0]) == 0 || words[0][0] == '-' {
		return program, program, "", true
	}
	for _, word := range words[1:] {
		if len(word) == 0 || word[0] != '-' {
			before = preparation(word)
			break
		}
	}
	return program, string(words[0]), before, true
}

// preparation is what a host's script does before it evaluates a command of ours:
// it reads the functions, aliases and options of the user's own shell.
func preparation(script []byte) string {
	script, _, ours := bytes.Cut(script, []byte(" confine --data "))
	before, _, evaluates := bytes.Cut(script, []byte("eval "))
	if !ours || !evaluates {
		return ""
	}
	return string(bytes.TrimRight(before, "&; \n"))
}
