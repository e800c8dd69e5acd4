package shell

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// commandLines are the lines of a file of commands.
func commandLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

var evasionEnv = Env{Dir: "/p", Home: "/home/u", Project: "/p"}

// TestEvasions has a hurried agent's ways to write src/a.go, or to run a program
// that may: none may pass for a reader, or for a writer of something else.
func TestEvasions(t *testing.T) {
	for _, command := range commandLines(t, "testdata/evasions.txt") {
		r := Analyse(command, evasionEnv)
		inProject := slices.ContainsFunc(slices.Concat(r.Paths, r.Through), func(p string) bool {
			return !strings.HasPrefix(p, "/tmp/") && p != "/p/plan.md" || upwards(p)
		})
		if r.Effect != CannotTell && (r.Effect != Writes || !inProject) {
			t.Errorf("%s\njudged %s %v", command, r.Effect, r.Paths)
		}
	}
}

// TestReadersPass has what one does all day to look around; a refusal of one of
// these costs as much as an evasion.
func TestReadersPass(t *testing.T) {
	for _, command := range commandLines(t, "testdata/readers.txt") {
		if r := Analyse(command, evasionEnv); r.Effect != ReadsOnly {
			t.Errorf("%s\njudged %s: %v", command, r.Effect, r.Reasons)
		}
	}
}

// TestWhatDoesNotParseIsSaid: a shell may run what this parser cannot read.
func TestWhatDoesNotParseIsSaid(t *testing.T) {
	for command, unparsed := range map[string]bool{
		"touch /tmp/x; for f (src/a.go) touch $f":                 true,
		"touch /tmp/x; { ls } always { touch src/a.go }":          true,
		"bash -c 'touch /tmp/x; for f (src/a.go) touch $f'":       true,
		"touch /tmp/x; for f in src/a.go; do touch $f; done":      false,
		"bash -c 'touch /tmp/x'; cat <<EOF\n$(touch /tmp/y)\nEOF": false,
	} {
		if r := Analyse(command, evasionEnv); r.Unparsed != unparsed {
			t.Errorf("%q: unparsed %v", command, r.Unparsed)
		}
	}
}

// TestEndingTheDaemonByNameIsDown: the caller, which refuses an agent's "writ
// down", gets to know of another way to say it.
func TestEndingTheDaemonByNameIsDown(t *testing.T) {
	for command, want := range map[string]bool{
		"pkill writd": true, "pkill -9 -f writd": true, "killall writd": true, "killall -q $X": true,
		"pkill -f vite": false, "killall node": false, "pgrep writd": false,
	} {
		r := Analyse(command, evasionEnv)
		down := len(r.Writ) > 0 && slices.Equal(r.Writ[0].Args, []string{"down"})
		if down != want || !want && r.Effect != ReadsOnly {
			t.Errorf("%s: %+v, %s", command, r.Writ, r.Effect)
		}
	}
}
