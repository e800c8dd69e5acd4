package runner

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/confine"
)

// rewritten is the line of a command in a project whose path takes quotes.
func (r Runner) rewritten(command string, s enforcement.State, shown bool) string {
	return r.Rewrite(command, Options("/home/u/it's a project", s, false), shown)
}

// TestAnyCommandComesThroughWhole: what is put into the line comes out of it,
// and a shell reads the very words.
func TestAnyCommandComesThroughWhole(t *testing.T) {
	c := Runner{Writ: "/opt/writ's/bin/writ", DataDir: "/data dir"}
	rapid.Check(t, func(t *rapid.T) {
		command := rapid.String().Draw(t, "command")
		for _, shown := range []bool{true, false} {
			line := c.rewritten(command, enforcement.State{Mode: enforcement.ModeConversation}, shown)
			if inner, ours := c.Unwrap(line); !ours || inner != command {
				t.Fatalf("shown %v: %q came back as %q, %v", shown, command, inner, ours)
			}
		}
	})
	for _, command := range []string{`echo "it's"; echo $HOME`, "a 'b' \\ `c`", "x\ny", ""} {
		line := c.rewritten(command, enforcement.State{}, false)
		out, err := exec.Command("/bin/sh", "-c", "for w in "+line[strings.Index(line, " confine ")+1:]+"; do [ \"$before\" = -c ] && text=$w; before=$w; done; printf %s \"$text\"").Output()
		if err != nil || string(out) != command {
			t.Errorf("the shell reads %q, %v, want %q", out, err, command)
		}
	}
}

func TestOnlyOurOwnLineIsUnwrapped(t *testing.T) {
	c := Runner{Writ: "/bin/writ", DataDir: "/d"}
	good := c.rewritten("rm x", enforcement.State{}, true)
	for _, line := range []string{
		"rm -rf /; " + good, good + "; rm -rf /", good + " && true", strings.Replace(good, "/bin/writ", "/tmp/writ", 1),
		strings.Replace(good, "/d", "/e", 1), strings.TrimSuffix(good, "fi"), strings.Replace(good, "else\n", "else\nreboot\n", 1), strings.Replace(good, "'rm x'", `'rm x'"$(reboot)"''`, 1), "",
	} {
		if inner, ours := c.Unwrap(line); ours {
			t.Errorf("%s was taken for %q", line, inner)
		}
	}
	if _, ours := (Runner{DataDir: "/d"}).Unwrap(good); ours {
		t.Error("unwrapped without confinement")
	}
}

// putProgram writes a program to be run. No other is started meanwhile: it would
// inherit the file that is open for writing, and what is open for writing cannot
// be run.
func putProgram(t testing.TB, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestTheSecondMentionNeverRuns: a command's programs are named once more in
// Claude Code's line, so that its user's rules find them, and it ends as it would
// have alone, in the folder where it would have.
func TestTheSecondMentionNeverRuns(t *testing.T) {
	stand := filepath.Join(t.TempDir(), "writ")
	// In the place of writ: runs the string behind -c, and says that it did.
	putProgram(t, stand, "#!/bin/sh\nfor w in \"$@\"; do [ \"$before\" = -c ] && text=$w; before=$w; done\necho confined\nexec /bin/bash -c \"$text\"\n")
	c := Runner{Writ: stand, DataDir: "/d"}
	for _, command := range []string{
		"echo one", "echo one; exit 3", "false || echo one", "cat <<'E'\nfi\necho one\nE\n", "echo one # fi", "if true; then echo one; fi",
		"cat <<E\nx\nE\\\n\necho two\nE\n", "x=$(cat <<E\nx\nE)\necho two\nE\n)", "echo \"${x:-\\}}'}\"; echo two; echo \"'}\"", "cat <<E\n${x:-'}\nE\necho two\ncat <<E\n'}\nE\n",
		"cd /tmp && echo one", "cd /tmp; cd /usr && pwd", "cd /nowhere && echo one", "cd /nowhere; echo one", "cd /tmp\nfalse", "cd '/tmp' && exit 3", "cd /tmp &\necho one",
		"cd /tmp && cd /usr && pwd && cd .. && echo one", "cd /usr && false && cd lib", "echo one && cd /usr && cd lib && exit 3", "cd /usr && (cd lib && pwd) && cd ..",
		"cd /usr && ls -d . | cat && cd lib && pwd", "cd /usr && x=lib && cd $x && pwd", "cd /usr && true || cd lib", "cd /nowhere && ls || echo one", "cd /nowhere 2>&1 && ls || exit 3", "cd /nowhere && cd /tmp && ls || pwd", "cd '/usr' && ls nosuch 2> /dev/null || echo one", "cd /usr && ls -d . || true; cd lib", "cd /usr && eval 'cd lib' && cd .. && pwd", "cd /usr && { cd lib; } && cd .. && pwd", "cd /tmp && cat <<E && cd /usr\n&& cd lib\nE",
		"cd /usr && ls -d . && cd - > /dev/null", "cd /usr; pwd | cat; cd - &> /dev/null", "cd /usr > /dev/null 2>&1 && pwd", "cd /usr && cd lib > /nowhere/x; pwd",
		"echo one\n", "f() { echo one; }; f", "cd /usr; pwd; cd -", "cd /usr; ls -d .; cd lib", "echo one; cd /usr && cd -", "cd /usr; x=$(cd lib && pwd); cd ..", "cd /usr && ls -d .; cd lib; ls -d .", "ls -d /; cd /usr; ls -d .", "false && cd /usr; echo one", "echo one; cd ~ && pwd",
		"echo one; cd /nowhere 2>&1; echo two", "echo one; cd /nowhere; echo two", "echo one; cd /usr; exit 3", "x=1", "# echo two", "(echo one; exit 4)", "case x in x) echo one;; esac", "echo one &\nwait",
	} {
		line := c.rewritten(command, enforcement.State{}, true)
		if !strings.Contains(line, rulesBegin) {
			t.Errorf("%q is not shown: %s", command, line)
		}
		const where = "\nstatus=$?; pwd >&2; exit $status"
		var stood, stands bytes.Buffer
		alone := exec.Command("/bin/bash", "-c", command+where)
		alone.Stderr = &stood
		want, _ := alone.Output()
		together := exec.Command("/bin/bash", "-c", line+where)
		together.Stderr = &stands
		got, _ := together.Output()
		if alone.ProcessState.ExitCode() == 0 && !strings.Contains(command, "$x") && stood.String() != stands.String() {
			t.Errorf("%q: the shell stands in %q, want %q\n%s", command, stands.String(), stood.String(), line)
		}
		if folder, _ := leading(command); folder != "" && alone.ProcessState.ExitCode() == 1 && len(want) == 0 {
			want = nil
			got = bytes.TrimPrefix(got, []byte("confined\n"))
		} else {
			want = append([]byte("confined\n"), want...)
		}
		if string(got) != string(want) || alone.ProcessState.ExitCode() != together.ProcessState.ExitCode() {
			t.Errorf("%q: %q, exit %d, want %q, exit %d\n%s", command, got, together.ProcessState.ExitCode(), want, alone.ProcessState.ExitCode(), line)
		}
	}
	for _, command := range []string{"echo one\nif then", "fi; reboot; if true; then true", "echo 'one", ""} {
		if Named(command) {
			t.Errorf("%q is taken for one whose programs can be named", command)
		}
	}
}

func TestProfilesFollowThePhase(t *testing.T) {
	work := func(phase string) enforcement.State {
		return enforcement.State{Mode: enforcement.ModeWork, Work: enforcement.Work{Phase: phase, TestFiles: []string{"test/a_test.go", "pkg/b_test.go", "web/__tests__/x.js"}}}
	}
	for name, c := range map[string]struct {
		state  enforcement.State
		worker bool
		want   confine.Profile
	}{
		"unset":          {enforcement.State{}, false, confine.Scratch},
		"review":         {enforcement.State{Mode: enforcement.ModeReview}, false, confine.Scratch},
		"conversation":   {enforcement.State{Mode: enforcement.ModeConversation}, false, confine.Implementation},
		"planning":       {work(enforcement.PhasePlanning), false, confine.ReadOnly},
		"testing":        {work(enforcement.PhaseTesting), false, confine.Tests},
		"implementation": {work(enforcement.PhaseImplementation), false, confine.Implementation},
		"verification":   {work(enforcement.PhaseVerification), false, confine.ReadOnly},
		"a worker":       {enforcement.State{}, true, confine.Implementation},
	} {
		if got := profileOf(c.state, c.worker); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	c := Runner{Writ: "/bin/writ", DataDir: "/d"}
	line := c.rewritten("x", work(enforcement.PhaseTesting), true)
	if !strings.Contains(line, "--write test --write web/__tests__") || strings.Contains(line, "pkg") {
		t.Error(line)
	}
}

// TestARefusalIsToldInWhateverWords: some programs say only what they could not do.
func TestARefusalIsToldInWhateverWords(t *testing.T) {
	s := enforcement.State{Mode: enforcement.ModeWork, Work: enforcement.Work{Phase: enforcement.PhasePlanning}}
	for said, want := range map[string]bool{
		"mkdir: cannot create directory 'dist': Permission denied":                  true,
		"CMake Error: Unable to (re)create the private pkgRedirects directory:\n/x": true,
		"Shop.java:1: error: error while writing Shop: /x/Shop.class":               true,
		"Error: attempt to write a readonly database":                               true,
		"FAIL: TestTotal: got 3, want 4":                                            false,
		"undefined: total":                                                          false,
	} {
		if told := Explain(s, false, said); strings.Contains(told, "what builds make go to $TMPDIR") != want {
			t.Errorf("%s: %q", said, told)
		}
	}
}
