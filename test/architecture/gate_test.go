package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGateRunsWhatItPutsElsewhere: a test that the gate takes out of go test is one
// test of one package, and a stage of the gate names it.
func TestTheGateRunsWhatItPutsElsewhere(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	gate := read(".ci/run")
	list := regexp.MustCompile(`(?m)^elsewhere='(.*)'$`).FindStringSubmatch(gate)
	if list == nil {
		t.Fatal("the gate has no list of them")
	}
	stages := strings.Replace(gate, list[0], "", 1) + read("test/ci/sim.sh")
	files, err := exec.Command("git", "-C", "../..", "grep", "-hoE", `^func Test\w+`, "--", "*_test.go").Output()
	if err != nil {
		t.Skipf("git lists no tests: %v", err)
	}
	tests := strings.Fields(string(files))
	for _, name := range strings.Split(list[1], "|") {
		same := 0
		for _, one := range tests {
			if one == name {
				same++
			}
		}
		if same != 1 {
			t.Errorf("%d tests are named %s", same, name)
		}
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(stages) {
			t.Errorf("no stage runs %s", name)
		}
	}
}
