package enforcement

import (
	"cmp"
	_ "embed" // verifying.txt
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/writbus/writ/enforcement/shell"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/wordset"
)

// RuleEvidence refuses to call work done that nothing verified since it was
// last changed.
const RuleEvidence = "ENF-EVIDENCE"

// What a run verifies (persisted; never change).
const (
	KindTest  = "test"  // tests
	KindCheck = "check" // a compiler, linter or type checker
)

// maxUntested bounds State.PendingTests and State.Unverified.
const maxUntested = 200

// maxEvidenceOutput is how much of a run's output is kept, in characters.
const maxEvidenceOutput = 3000

// Evidence is the last run of tests or checks.
type Evidence struct {
	Kind    string `json:"kind,omitempty"`
	Command string `json:"command,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Trigger string `json:"trigger,omitempty"`
	Output  string `json:"output,omitempty"` // the end of a failed run's
}

// Ran counts a session's runs of tests and checks.
type Ran struct {
	Runs  int `json:"runs,omitempty"`
	Fails int `json:"fails,omitempty"`
}

//go:embed verifying.txt
var verifyingText string

// verifiers are the programs of verifying.txt, and with a slash between their operands.
type verifiers struct{ tests, checks, testOperands, checkOperands, targets map[string]bool }

var verifying = sync.OnceValue(func() verifiers {
	in := func(name string) map[string]bool { return wordset.In(verifyingText, name) }
	return verifiers{in("tests"), in("checks"), in("tests by operand"), in("checks by operand"), in("targets")}
})

// verifies says what a program with its arguments verifies, "" for nothing.
func verifies(words []string) string {
	name := strings.TrimSuffix(words[0], ".exe")
	args, known := words[1:], verifying()
	switch name {
	case "python", "python3", "py":
		return verifiesPython(args)
	case "gradlew", "gradlew.bat":
		name = "gradle"
	case "mvnw", "mvnw.cmd":
		name = "mvn"
	}
	switch {
	case slices.Contains(args, "--version") || slices.Contains(args, "--help"):
		return ""
	case known.tests[name]:
		return KindTest
	case known.checks[name]:
		return KindCheck
	}
	for _, arg := range args {
		switch operand := name + "/" + arg[strings.LastIndexByte(arg, ':')+1:]; {
		case known.testOperands[operand]:
			return KindTest
		case known.checkOperands[operand]:
			return KindCheck
		}
		if !strings.HasPrefix(arg, "-") && name != "gradle" && name != "mvn" && name != "nx" && name != "turbo" && name != "bazel" && name != "xcodebuild" {
			break
		}
	}
	if known.targets[name] {
		return verifiesTarget(args)
	}
	// A script of the project that is named for what it does.
	return byName(strings.TrimSuffix(name, path.Ext(name)))
}

func verifiesPython(args []string) string {
	for i, arg := range args {
		switch {
		case arg == "-m" && i+1 < len(args):
			switch module := args[i+1]; {
			case verifying().tests[module], module == "unittest", module == "doctest":
				return KindTest
			case verifying().checks[module], module == "py_compile", module == "compileall":
				return KindCheck
			}
			return ""
		case arg == "-c":
			return ""
		case strings.HasPrefix(arg, "-"):
		default:
			base := path.Base(arg)
			if base == "manage.py" && slices.Contains(args, "test") {
				return KindTest
			}
			return byName(strings.TrimSuffix(base, path.Ext(base)))
		}
	}
	return ""
}

func verifiesTarget(args []string) string {
	found := ""
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") || strings.Contains(arg, "=") {
			continue
		}
		switch kind := byName(arg); kind {
		case KindTest:
			return KindTest
		case KindCheck:
			found = KindCheck
		}
	}
	return found
}

// byName says what a target or script does, by the words of its name.
func byName(name string) string {
	found := ""
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_:./", r) })
	for _, word := range words {
		switch word {
		case "test", "tests", "spec", "specs", "unittest", "e2e", "verify", "ci", "testall", "runtests":
			return KindTest
		case "lint", "check", "typecheck", "types", "build", "compile", "vet", "validate", "tsc", "all":
			found = KindCheck
		}
	}
	return found
}

// evidenceIn says what a command line verified, and whether its own exit status
// tells how that went; "" for nothing. configured is the project's test command.
func evidenceIn(command, configured string) (kind string, decides bool) {
	if configured != "" && strings.TrimSpace(command) == strings.TrimSpace(configured) {
		return KindTest, true
	}
	for _, run := range shell.Runs(command) {
		switch is := verifies(run.Words); {
		case is == "":
		case kind == "", is == KindTest && kind == KindCheck:
			kind, decides = is, run.Decides
		case is == kind:
			decides = decides && run.Decides
		}
	}
	return kind, decides
}

// evidence is what a tool's end says about the work, nil for nothing.
func (c FinishTool) evidence(s State) *schemas.TestsFinished {
	if c.Command == "" {
		return nil
	}
	kind, decides := evidenceIn(c.Command, c.TestCommand)
	if kind == "" {
		return nil
	}
	e := &schemas.TestsFinished{
		Trigger: "tool", Kind: kind, Command: excerpt.Runes(c.Command, 200), Outcome: schemas.OutcomePassed,
		Millis: c.Millis, ToolUseID: c.ToolUseID, Agent: c.ToolFinished.Agent,
	}
	if kind == KindTest {
		e.Files = s.PendingTests
	} else {
		e.Files = s.Unverified
	}
	switch {
	case c.Failed:
		e.Outcome, e.Output = schemas.OutcomeFailed, tail(c.Error, maxEvidenceOutput)
	case !decides, c.Uncertain:
		e.Outcome = schemas.OutcomeUnknown
	}
	return e
}

// tail is the end of a text, at most n characters of it.
func tail(text string, n int) string {
	r := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	if len(r) <= n {
		return string(r)
	}
	return "…" + string(r[len(r)-n+1:])
}

// untested adds a file that a tool changed to those that tests and checks are
// due for.
func (s State) untested(file string) State {
	if !needsTests(file) {
		return s
	}
	if s.building() {
		s.Work = s.Work.changed()
	}
	if len(s.PendingTests) < maxUntested {
		s.PendingTests = insert(s.PendingTests, file)
	}
	if len(s.Unverified) < maxUntested {
		s.Unverified = insert(s.Unverified, file)
	}
	if len(s.Unreviewed) < maxUntested {
		s.Unreviewed = insert(s.Unreviewed, file)
	}
	return s
}

// prose are the suffixes of files that no test is about.
var prose = setOf(".md", ".markdown", ".txt", ".rst", ".adoc", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".pdf", ".log", ".lock", ".sum")

func needsTests(file string) bool {
	return !strings.HasPrefix(file, "/") && !prose[strings.ToLower(path.Ext(file))] && !strings.HasPrefix(path.Base(file), ".")
}

// ran folds a run in: what tests ran over is no longer due, however they ended;
// what is verified needs a run that did not fail.
func (s State) ran(p schemas.TestsFinished) State {
	if p.Outcome == schemas.OutcomeNotRun {
		s.Unrun = p.Output
		return s
	}
	s.Unrun = cmp.Or(p.Unrun, s.Unrun)
	s.Late = p.Late && p.Outcome == schemas.OutcomeFailed
	s.Ran.Runs++
	s.Evidence = Evidence{Kind: p.Kind, Command: p.Command, Outcome: p.Outcome, Trigger: p.Trigger}
	if p.Outcome == schemas.OutcomeFailed {
		s.Ran.Fails++
		s.Evidence.Output = p.Output
	}
	if p.Kind == KindTest && p.Outcome != schemas.OutcomeTimedOut {
		s.PendingTests = nil
	}
	if p.Outcome == schemas.OutcomePassed || p.Outcome == schemas.OutcomeUnknown {
		s.Unverified = nil
		if p.Kind == KindTest {
			s.Failing = false
		}
	} else if p.Kind == KindTest {
		s.Failing = p.Outcome == schemas.OutcomeFailed
	}
	return s
}

// building reports whether the session is where work is tested and verified.
func (s State) building() bool {
	return s.Mode == ModeWork && (s.Work.Phase == PhaseImplementation || s.Work.Phase == PhaseVerification)
}

// testsEndTurns reports whether tests run as a turn of the session ends: where code is
// written. Before that they are to fail.
func testsEndTurns(s State) bool { return s.building() || s.Mode == ModeSmall }

// DueTests are the files that tests should run over before a turn ends, none
// where they should not run now.
func (s State) DueTests() []string {
	if !testsEndTurns(s) {
		return nil
	}
	if len(s.PendingTests) == 0 {
		return nil
	}
	due := slices.Concat(s.PendingTests, s.Unverified) // a run that failed may have ended before the tests of these
	slices.Sort(due)
	return slices.Compact(due)
}

// completes judges an item that would be called done: not before something
// verified the changes behind it.
func (st stance) completes(items []string) ruling {
	if len(items) == 0 || st.exempt || !st.building() || len(st.Unverified) == 0 {
		return allowed
	}
	return ruling{rule: RuleEvidence, gate: "evidence", text: textEvidence(st.State)}
}

func textEvidence(s State) wording {
	why := "no test or check ran since " + fileList(s.Unverified) + " changed."
	if s.Evidence.Outcome == schemas.OutcomeFailed {
		why = "`" + excerpt.Runes(s.Evidence.Command, 80) + "` failed, and nothing passed since " + fileList(s.Unverified) + " changed."
	}
	return wording{why, "Run the tests, the build, or `writ check --diff` first; then call it done."}
}

// fileList names a few files.
func fileList(files []string) string {
	const most = 3
	var named []string
	for _, f := range files[:min(len(files), most)] {
		named = append(named, shortPath(f))
	}
	text := strings.Join(named, ", ")
	if more := len(files) - most; more > 0 {
		text += " and " + excerpt.Count(more, "more file")
	}
	return text
}

func first(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
