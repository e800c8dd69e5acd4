package testrun

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/writbus/writ/enforcement/testrun/outcome"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/lazyregexp"
)

const (
	// maxListed bounds the failures that are reported.
	maxListed = 40
	// asking bounds what a toolchain is asked before any test runs.
	asking = 20 * time.Second
)

// runs is one run of the tests that a change can reach.
type runs struct {
	run    schemas.TestRun
	world  World
	result schemas.TestResult
}

// failing is a suite of which tests failed.
type failing struct {
	suite
	failed []schemas.TestFailure
	fresh  []schemas.TestFailure // those that the base has not
	ended  string                // why it did not come to its end, "" where it did
	notRun string                // why nothing of it ran
	passed int
	status int
	output string
}

// began reports whether a test of the suite ran, as far as they can be told apart.
func (f failing) began() bool {
	return f.passed > 0 || len(f.failed) == 0 || slices.ContainsFunc(f.failed, func(one schemas.TestFailure) bool { return !one.Whole })
}

// reached runs the tests that the changed files can reach, one suite after another,
// and tells failures that are new from those that the commit before the session has.
func reached(ctx context.Context, run schemas.TestRun, w World) schemas.TestResult {
	began := time.Now()
	r := &runs{run: run, world: w, result: schemas.TestResult{ID: run.ID}}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(run.Millis)*time.Millisecond)
	defer cancel()
	var failed []failing
	var commands, output []string
	ran := 0
	for _, s := range r.plan(ctx) {
		if len(r.result.New) > 0 {
			break // what stands further away can wait until this is mended
		}
		switch {
		case s.why != "":
			r.unrun(s.why)
			continue
		case s.whole && run.Chosen:
			r.result.Left = true
			continue
		case ctx.Err() != nil:
			r.result.TimedOut = true
			continue
		}
		commands = append(commands, s.shown())
		one := r.once(ctx, s)
		r.result.Passed += one.passed
		switch {
		case one.notRun != "":
			r.unrun(one.notRun)
			continue
		case one.ended != "":
			r.result.TimedOut = true
		case one.began():
			ran++
		}
		r.result.Whole = r.result.Whole || s.whole
		if len(one.failed) > 0 {
			r.compare(ctx, &one)
			failed = append(failed, one)
		}
		if len(one.failed) > 0 || s.tool == "" {
			output = append(output, one.output)
		}
	}
	r.result.Command = strings.Join(commands, " && ")
	r.result.Output = lastLines(strings.Join(output, "\n"), maxOutput)
	r.tell(failed, ran)
	r.result.Millis = time.Since(began).Milliseconds()
	return r.result
}

// plan is the project's own command, or the suites of the changed files' languages.
func (r *runs) plan(ctx context.Context) []suite {
	if r.run.Command != "" {
		return []suite{{at: place{root: r.run.Project}, command: r.run.Command}}
	}
	return suites(r.run.Project, r.run.Changed, func(at place, command string) string {
		ctx, cancel := context.WithTimeout(ctx, asking)
		defer cancel()
		printed, said := &start{most: maxReport}, &end{most: maxOutput}
		status, err := execute(ctx, process{command: command, confine: r.run.Confine, dir: at.path("."), out: printed, errs: said}, r.world)
		if err != nil || status != 0 {
			return ""
		}
		return printed.String()
	})
}

var forReport = lazyregexp.New(`^r=\$\(mktemp\) && \{ (?:env -u PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE=1 )?| >&2; s=\$\?; cat .*$| -o cache_dir="\$r\.d" --tb=short --continue-on-collection-errors| --(?:junitxml=|out |log-junit )"\$r"`)

// shown is the command of a suite as a person would type it.
func (s suite) shown() string {
	command := forReport.ReplaceAllString(s.command, "")
	if s.at.dir == "" {
		return command
	}
	return "(cd " + quoted(s.at.dir) + " && " + command + ")"
}

// once runs a suite.
func (r *runs) once(ctx context.Context, s suite) failing {
	f := failing{suite: s}
	printed, said := &start{most: maxReport}, &end{most: maxOutput}
	confined, remove := making(r.run, s.made)
	defer remove()
	p := process{command: s.command, confine: confined, dir: s.at.path("."), out: printed, errs: said}
	both := &end{most: maxOutput}
	if s.tool == "" {
		p.out, p.errs = both, both
	}
	status, err := execute(ctx, p, r.world)
	f.status, f.output = status, both.String()
	if s.tool != "" {
		f.output = said.String()
	}
	switch {
	case ctx.Err() != nil:
		f.ended = "it did not end in time"
	case err != nil:
		f.notRun = err.Error()
	case status == notFound || status == cannotRun || status == noConfinement && len(p.confine) > 0:
		f.notRun = outcome.LastLine(f.output)
	}
	if f.notRun != "" || f.ended != "" && s.tool == "" {
		return f
	}
	if s.tool != "" {
		read, why := outcome.Read(s.tool, "", printed.String(), f.output)
		f.passed = len(read.Passed)
		if why != "" && f.ended == "" && (status == 0 || s.tool == outcome.Pytest && status == pytestNone) {
			if f.notRun = noTests; len(read.Skipped) > 0 {
				f.notRun = why
			}
			return f
		}
		for _, one := range read.Failed {
			one.Name = s.at.plain(one.Name)
			f.failed = append(f.failed, one)
		}
		if strings.TrimSpace(f.output) == "" {
			f.output = lastLines(outcome.Text(s.tool, printed.String()), maxOutput)
		}
		if why := missingTool(f.output); why != "" && status != 0 && len(f.failed)+f.passed == 0 {
			f.notRun = why
			return f
		}
	}
	if s.tool == "" && status == 0 && noTest.MatchString(f.output) && !someTest.MatchString(f.output) {
		f.notRun = noTests
	} else if status != 0 && len(f.failed) == 0 && f.ended == "" {
		f.failed = []schemas.TestFailure{{Name: s.command, Cause: schemas.FailOther, Whole: true, Line: lastSaid(f.output)}}
	}
	return f
}

// noTests is why nothing ran where a runner ended well without a test.
const noTests = "it found no test to run"

// noTest and someTest are how runners of which only the exit status is read say that
// nothing ran, and that something did.
var (
	noTest   = lazyregexp.New(`(?mi)^\W*(?:(?:there are )?no tests? (?:ran|run|found|to run|collected|files?)\b|ran 0 tests|0 passing|0 examples, 0 failures|tests:? 0\b|.*\[no test(?:s to run| files)\])`)
	someTest = lazyregexp.New(`(?mi)^\W*(?:[1-9]\d* (?:passing|failing|passed|failed|tests?|examples)\b|ran [1-9]|tests:? +[1-9]|ok\s(?:.*[^\]]\s*$))|\b[1-9]\d* passed\b`)
)

// lastSaid is the last line of a runner's output, or of what it says of an error of its
// own.
func lastSaid(output string) string {
	if all := internalError.Regexp().FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return outcome.LastLine(output)
}

var internalError = lazyregexp.New(`(?m)^INTERNALERROR> (\S.*)$`)

// pytestNone is pytest's status where it found no test (pytest.ExitCode).
const pytestNone = 5

// missingTool is the line that says that a runner is not installed, "" for none.
func missingTool(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, "No module named pytest") || strings.HasPrefix(line, "Could not find gem") || strings.HasPrefix(line, "bundler: command not found") ||
			strings.Contains(line, "Could not resolve dependencies") || strings.Contains(line, "no matching package named") {
			return excerpt.Runes(line, 200)
		}
	}
	return ""
}

// plain is the name of a test without the folder that the place lies in.
func (p place) plain(name string) string {
	for _, dir := range []string{p.path("."), realPath(p.path("."))} {
		name = strings.TrimPrefix(name, filepath.ToSlash(filepath.Clean(dir))+"/")
	}
	return name
}

func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	return name
}

func (r *runs) unrun(why string) {
	if why = excerpt.Runes(why, 200); !slices.Contains(r.result.Unrun, why) {
		r.result.Unrun = append(r.result.Unrun, why)
	}
}

// tell settles how the run ended: what the base has too is no failure, and where no
// test began there is nothing to tell.
func (r *runs) tell(failed []failing, ran int) {
	var lines []string
	for _, f := range failed {
		for _, one := range f.fresh {
			r.result.Exit = cmp.Or(f.status, 1)
			if one.Name != f.command {
				lines = append(lines, strings.TrimPrefix(strings.TrimSuffix(one.Name+": "+one.Line, ": "), ": "))
			}
		}
	}
	if len(lines) > 0 {
		lines = slices.Compact(lines)
		r.result.Output = strings.Join(append(lines[:min(len(lines), maxListed)], "", r.result.Output), "\n")
	}
	r.result.New, r.result.Known = bounded(r.result.New), bounded(r.result.Known)
	if ran == 0 && r.result.Exit == 0 && !r.result.TimedOut && len(r.result.Unrun) > 0 {
		r.result.NotRun = strings.Join(r.result.Unrun, "; ")
	}
}

func bounded(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxListed*10)]
}

// lastLines is the end of a text.
func lastLines(text string, most int) string {
	e := &end{most: most}
	_, _ = e.Write([]byte(text))
	return strings.TrimSpace(e.String())
}
