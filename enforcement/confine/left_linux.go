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
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err != nil || !bytes.Contains(raw, []byte(KeptOption)) {
			continue
		}
		args := bytes.Split(raw, []byte{0})
		if len(args) > 3 && string(args[2]) == KeptOption && (project == "" || option(args, "--project") == project) && option(args, "--profile") == string(Implementation) {
			keepers = append(keepers, pid)
		}
	}
	return keepers
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
