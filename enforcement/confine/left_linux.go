package confine

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// Left are the processes that keep what commands in the implementation of a project
// left running, which may write it as long as it runs; of any project for "".
func Left(project string) (keepers []int) {
	for _, pid := range processes() {
		args := arguments(pid)
		// Above a command are the one that was asked for it, a copy of that, and in the
		// end the one that keeps what it left.
		if (project == "" || option(args, "--project") == project) && option(args, "--profile") == string(Implementation) && limitsIn(args) != nil {
			keepers = append(keepers, pid)
		}
	}
	return keepers
}

// arguments are those of a process, nil where the system does not show them.
func arguments(pid int) [][]byte {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return nil
	}
	return bytes.Split(raw, []byte{0})
}

// limitsIn are the arguments of a process that runs or keeps a command, up to the
// command and without when that began; nil for another process.
func limitsIn(args [][]byte) (limits [][]byte) {
	if len(args) < 4 {
		return nil
	}
	rest := args[2:]
	if string(rest[0]) == KeptOption {
		rest = rest[2:]
	}
	limits = slices.Clone(args[:2])
	for _, arg := range rest {
		if string(arg) == "-c" || string(arg) == "--" {
			return limits
		}
		limits = append(limits, arg)
	}
	return nil
}

// option is the value of one among arguments, "" for none.
func option(args [][]byte, name string) string {
	at := slices.IndexFunc(args, func(arg []byte) bool { return string(arg) == name })
	if at < 0 || at+1 >= len(args) {
		return ""
	}
	return string(args[at+1])
}

// EndLeft ends what such processes keep, and so themselves. None starts another one
// meanwhile that is not ended as well.
func EndLeft(keepers []int) {
	for _, keeper := range keepers {
		for range 100 {
			alive := descendantsOf(keeper)
			if len(alive) == 0 {
				break
			}
			kill(alive)
			pause(1)
		}
	}
}
