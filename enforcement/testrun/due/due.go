// Package due finds which test files of a session are to be run one by one: before
// their approval, so that they are seen to fail, and at the end, so that they are
// seen to pass. What runs them is package testrun, which a hook's small program
// links as well.
package due

import (
	"time"

	"github.com/writbus/writ/enforcement"
	"github.com/writbus/writ/enforcement/skeleton"
	"github.com/writbus/writ/enforcement/testrun"
	"github.com/writbus/writ/schemas"
)

// seenTwice is how often a test file runs before its approval: one that ends
// otherwise from time to time shows nothing.
const seenTwice = 2

// WithFiles adds to a run the test files of a session that are to be run one by
// one: those that wait for approval as they stand, or that were red before.
func WithFiles(r schemas.TestRun, s enforcement.State, w enforcement.Workspace, delegated bool) schemas.TestRun {
	room := testrun.FilesTime
	if r.Command != "" || len(r.Changed) > 0 {
		room = min(room, schemas.MaxTestTime-time.Duration(r.Millis)*time.Millisecond)
	}
	if room < time.Second || len(r.Confine) == 0 {
		return r
	}
	for _, file := range enforcement.Unseen(s, w, delegated) {
		if why, runs := w.Runs[file]; !runs || why != "" || len(r.Files) == testrun.MaxFiles {
			continue
		}
		one, _ := testrun.File(r.Project, file)
		one.Support = enforcement.SupportOf(w)
		r.Files = append(r.Files, one)
	}
	r.Times, r.FilesMillis = 1, room.Milliseconds()
	if s.Phase() == enforcement.PhaseTesting {
		r.Times = seenTwice
		r.WaitMillis += r.FilesMillis // the approval that comes next needs them
	}
	return r
}

// Runnable says of each test file among some why it is not run by itself, "" where
// it is. why is what keeps all of them from it, "" for nothing.
func Runnable(root string, files map[string][]byte, why string) map[string]string {
	all := map[string]string{}
	for name := range files {
		if !skeleton.IsTestPath(name) {
			continue
		}
		all[name] = why
		if why == "" {
			_, all[name] = testrun.File(root, name)
		}
	}
	return all
}
