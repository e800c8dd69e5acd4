// Package outcome reads what the runners of tests print: which tests passed, and
// of those that failed why, as far as the runner says it – an assertion that does
// not hold, a module or name that is missing, a fault of the test itself.
//
// It guarantees that equal input gives equal output, and that what it cannot read
// counts as no test. It does not say whether something missing was promised: that
// takes the plan.
package outcome

import (
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// The tools whose output can be read.
const (
	Pytest = "pytest"
	Go     = "go"
	Node   = "node"
	Jest   = "jest" // and Vitest, which prints the same
	Cargo  = "cargo"
	Maven  = "maven"

	RSpec    = "rspec"
	Minitest = "minitest"
	PHPUnit  = "phpunit" // and Pest, which reports the same
)

const (
	// maxFailures bounds the failures that are told of one file.
	maxFailures = 40
	// maxLine bounds a line of a runner, in characters.
	maxLine = 200
)

// A Run is how the tests of one file ended.
type Run struct {
	Passed, Skipped []string
	Failed          []schemas.TestFailure
}

// Inside stands between a file and a test of it in the names of a run of several
// files by Jest or Vitest.
const Inside = " › "

// Read reads a run of one file, or with "" for file a run of several, in which a
// name says where its test stands. stdout is all of what the runner printed, and
// stderr the end. Nothing at all having run is told by why.
func Read(tool, file, stdout, stderr string) (r Run, why string) {
	read, known := readers[tool]
	if !known {
		return r, "nobody here reads the output of " + tool
	}
	read(&r, file, stdout, stderr)
	switch {
	case len(r.Passed)+len(r.Failed) > 0:
	case len(r.Skipped) > 0:
		return r, "all of its tests were skipped"
	default:
		why = "no test of it came to an end"
		if said := LastLine(stderr); said != "" {
			why += ": " + said
		}
	}
	return r, why
}

// Text is what a runner printed as a person would read it; "" of a report that says
// nothing which its failures do not.
func Text(tool, stdout string) string {
	switch tool {
	case Go:
		return goText(stdout)
	case Jest:
		return ""
	}
	return stdout
}

var readers = map[string]func(r *Run, file, stdout, stderr string){
	Pytest: readPytest, Go: readGo, Node: readNode, Jest: readJest, Cargo: readCargo, Maven: readMaven,
	RSpec: readRSpec, Minitest: readMinitest, PHPUnit: readPHPUnit,
}

// Merge tells what several runs of one file show together. A test that ended
// otherwise in one of them differs.
func Merge(runs []Run) (out schemas.TestFileResult) {
	ended := map[string][]string{}
	for _, r := range runs {
		for _, name := range r.Passed {
			ended[name] = append(ended[name], "passed")
		}
		for _, f := range failures(r) {
			ended[f] = append(ended[f], "failed")
		}
	}
	last := runs[len(runs)-1]
	out.Skipped = len(last.Skipped)
	for name, each := range ended {
		switch {
		case len(each) < len(runs) || len(slices.Compact(slices.Clone(each))) > 1:
			out.Differs = append(out.Differs, excerpt.Runes(name, maxLine))
		case each[0] == "passed":
			out.Passed++
		}
	}
	slices.Sort(out.Differs)
	out.Differs = out.Differs[:min(len(out.Differs), maxFailures)]
	for _, f := range last.Failed {
		if !slices.Contains(out.Differs, excerpt.Runes(f.Name, maxLine)) && len(out.Failed) < maxFailures {
			f.Name, f.Line = excerpt.Runes(f.Name, maxLine), excerpt.Runes(f.Line, maxLine)
			out.Failed = append(out.Failed, f)
		}
	}
	return out
}

// failures are the names of the tests that failed, each once.
func failures(r Run) []string {
	var names []string
	for _, f := range r.Failed {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// failed adds a failure. One that kept the whole file from running is told once,
// however often the runner says it.
func (r *Run) failed(f schemas.TestFailure) {
	f.Line = strings.Join(strings.Fields(f.Line), " ")
	if f.Whole && slices.Contains(r.Failed, f) {
		return
	}
	r.Failed = append(r.Failed, f)
}

// behind begins what stands behind a reason: Gradle's advice, Rust's stack.
var behind = lazyregexp.New(`(?i)\n(?:\* try:|\s*stack backtrace:)`)

// LastLine is the last line of what a program said that says why.
func LastLine(text string) string {
	if at := behind.Regexp().FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = strings.TrimSpace(text)
	return excerpt.Runes(text[strings.LastIndexByte(text, '\n')+1:], maxLine)
}

// last is the part of a qualified name behind its last separator.
func last(name string) string {
	return name[strings.LastIndexAny(name, ".:$")+1:]
}
