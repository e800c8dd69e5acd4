package confine

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
)

// ErrUnsupported is returned by Run where the kernel cannot confine and the
// caller did not ask for best effort.
var ErrUnsupported = errors.New("confine: this system cannot confine a command")

// ErrNotFound is returned by Run where no program of the command's name is on
// the PATH.
var ErrNotFound = errors.New("executable file not found in $PATH")

// Exit statuses of Run when no command ran, as env(1) and timeout(1) have them
// (kept stable; scripts rely on them).
const (
	ExitUsage       = 2
	ExitUnsupported = 125 // no confinement, or it failed; nothing ran
	ExitCannotRun   = 126 // the program was found and cannot be started
	ExitNotFound    = 127
)

// RestoredPrefix begins each line that tells of a protected file that was put
// back: "writ confine: ENF-PROTECTED: .git/hooks/pre-commit was created; it is
// removed again". Hooks recognise it in a tool's output.
const RestoredPrefix = "writ confine: ENF-PROTECTED: "

const notePrefix = "writ confine: "

// ExitFor is the exit status for an error of Run.
func ExitFor(err error) int {
	switch {
	case errors.Is(err, ErrOptions):
		return ExitUsage
	case errors.Is(err, ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return ExitNotFound
	case errors.Is(err, fs.ErrPermission):
		return ExitCannotRun
	}
	return ExitUnsupported
}

func say(notes io.Writer, line string) { tell(notes, notePrefix+line) }

// tell writes a line; there is nobody to tell that it could not be written.
func tell(notes io.Writer, line string) { _, _ = io.WriteString(notes, line+"\n") }

// report tells what was put back, and for a command that failed what limits
// left out, what it was allowed, and what to do.
func report(notes io.Writer, o Options, left []string, restored []Restored, exit int) {
	for _, r := range restored {
		tell(notes, RestoredPrefix+r.String())
	}
	if exit != 0 && !o.Quiet {
		for _, line := range left {
			say(notes, line)
		}
		say(notes, "exit "+strconv.Itoa(exit)+" under "+o.Profile.Refusals())
	}
}

// Refusals says what the profile allows, and what to do where a command that
// failed was refused something by it.
func (p Profile) Refusals() string {
	return "profile " + string(p) + ", which " + p.allows() + ". " + p.next()
}

// allows says in a few words what a profile allows.
func (p Profile) allows() string {
	switch p {
	case ReadOnly:
		return "writes temp folders (links in folders there), caches and an existing plan.md or capabilities.md"
	case Tests:
		return "writes temp folders (links in folders there), caches, the plan's files and the test folders"
	case Implementation:
		return "writes the project, temp folders (links in folders there) and caches, not Writ's data or live settings of agents and git"
	case Scratch:
	}
	return "writes temp folders (links in folders there) and caches only"
}

// next says what to do about a refusal.
func (p Profile) next() string {
	const refused = "If a refused write is why: "
	switch p {
	case Implementation:
		return refused + "write below the project or $TMPDIR; the user changes the rest."
	case Tests:
		return refused + "write tests now with the file tools; code waits for the user's approval of the tests (`writ status`)."
	case ReadOnly:
		return refused + "finish plan.md and let the user approve it (`writ status`); scratch files and what builds make go to $TMPDIR (`-o`, `-B`, `--outDir`)."
	case Scratch:
	}
	return refused + "use $TMPDIR for scratch files; `writ status` shows the session's mode and phase."
}
