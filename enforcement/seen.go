package enforcement

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/writbus/writ/enforcement/plan"
	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/excerpt"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Seen is what running a test file showed before its approval, and after.
type Seen struct {
	SHA256  string `json:"sha256"`            // of the content that ran
	Support string `json:"support,omitempty"` // as of schemas.TestsSeen
	Verdict string `json:"verdict"`
	Red     int    `json:"red,omitempty"`
	Passed  int    `json:"passed,omitempty"`
	Skipped int    `json:"skipped,omitempty"`
	Other   int    `json:"other,omitempty"`
	Line    string `json:"line,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Green says that all of it passed, in a run since this session last changed code.
	Green bool `json:"green,omitempty"`
}

// maxSeen bounds Work.Seen.
const maxSeen = 200

// shown is what runs of test files say about the files as they stand: of one that
// changed meanwhile they say nothing.
func shown(s State, files []schemas.TestFileResult, w Workspace) []schemas.Payload {
	if s.Mode != ModeWork {
		return nil
	}
	var out []schemas.Payload
	for _, f := range files {
		content, stands := w.Tests[f.Path]
		if !stands || Hash(content) != f.SHA256 || f.Support != SupportOf(w) {
			continue
		}
		out = append(out, judgeSeen(f, promisesOf(s, f.Path, w)))
	}
	return out
}

// SupportOf is the fingerprint of what serves the tests of a session without being
// one: fixtures, settings of the runner. "" for none.
func SupportOf(w Workspace) string {
	var files []schemas.FileState
	for name, content := range w.Tests {
		if !isTestFile(name) {
			files = append(files, fileState(name, content))
		}
	}
	if len(files) == 0 {
		return ""
	}
	return Fingerprint(files)
}

// judgeSeen says what a run shows, given what the plan promises.
func judgeSeen(f schemas.TestFileResult, p promises) schemas.TestsSeen {
	out := schemas.TestsSeen{
		Path: f.Path, SHA256: f.SHA256, Support: f.Support, Verdict: schemas.SeenNotRun, Reason: f.NotRun,
		Passed: f.Passed, Skipped: f.Skipped, Other: len(f.Differs), Millis: f.Millis,
	}
	var red, faults, others []schemas.TestFailure
	for _, failure := range f.Failed {
		switch {
		case failure.Cause == schemas.FailAssertion, failure.Cause == schemas.FailMissing && p.promised(failure):
			red = append(red, failure)
		case failure.Cause == schemas.FailFault:
			faults = append(faults, failure)
		default:
			others = append(others, failure)
		}
	}
	// What cannot be built is red where all that keeps it from it was promised.
	isWhole := func(one schemas.TestFailure) bool { return one.Whole }
	if whole := slices.ContainsFunc(f.Failed, isWhole); whole && len(faults)+len(others) > 0 {
		red = slices.DeleteFunc(red, isWhole)
	} else if whole {
		red = red[:1]
	}
	out.Red, out.Other = len(red), out.Other+len(faults)+len(others)
	for _, why := range [][]schemas.TestFailure{red, faults, others} {
		if len(why) > 0 && out.Line == "" {
			out.Line = why[0].Line
		}
	}
	switch {
	case f.NotRun != "":
	case len(red) > 0:
		out.Verdict = schemas.SeenRed
	case len(faults) > 0:
		out.Verdict = schemas.SeenBroken
	case len(f.Differs) > 0:
		out.Verdict, out.Line = schemas.SeenDiffers, f.Differs[0]
	case len(others) > 0:
		out.Verdict = schemas.SeenUnclear
	case f.Passed > 0:
		out.Verdict = schemas.SeenPasses
	default:
		out.Reason = "no test of it came to an end"
	}
	return out
}

// promises are what the approved plan says will be there.
type promises struct {
	test    string   // the test file
	content string   // of it
	plan    string   // the text of plan.md
	files   []string // the plan's files that are no tests
}

func promisesOf(s State, test string, w Workspace) promises {
	p := promises{test: test, content: string(w.Tests[test]), plan: comment.ReplaceAllString(string(w.Plan), "")}
	for _, f := range slices.Concat(s.Work.Gates[GatePlan].Planned, s.Work.Added) {
		if !isTest(f) {
			p.files = append(p.files, f)
		}
	}
	return p
}

// promised reports whether the plan promises what a test did not find: a module by
// its files, and a name by its text, or as one of a module that it promises.
func (p promises) promised(f schemas.TestFailure) bool {
	switch {
	case f.Module != "" && p.module(f.Module):
		return true
	case f.Symbol != "" && p.mentions(f.Symbol):
		return true
	case f.Module != "" && f.Symbol == "":
		return false
	}
	return p.beside() || f.Module == "" && p.uses()
}

var (
	sourceSuffix = lazyregexp.New(`\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|vue|svelte|json|rb|php)$`)
	comment      = lazyregexp.New(`(?s)<!--.*?(?:-->|$)`) // what a reader does not see promises nothing
	nameBreak    = lazyregexp.New(`[./\\]|::`)
)

// module reports whether one of the plan's files is a module, or lies in it. A
// module is named as a language does it: shop.cart, ./cart.js, example.org/m/cart,
// shop::cart.
func (p promises) module(module string) bool {
	parts := nameBreak.Regexp().Split(sourceSuffix.ReplaceAllString(module, ""), -1)
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "@" })
	if len(parts) == 0 {
		return false
	}
	wanted := parts[len(parts)-1:]
	if strings.Contains(module, "::") {
		wanted = parts // a crate's path ends with a name of the module
	}
	for _, f := range p.files {
		name := strings.TrimSuffix(path.Base(f), path.Ext(f))
		names := append(strings.Split(path.Dir(f), "/"), name)
		if name == "lib" && path.Ext(f) == ".rs" && len(wanted) > 1 {
			return true // the crate itself
		}
		for _, one := range wanted {
			if slices.Contains(names, one) || strings.Contains(name, "*") && slices.Contains(parts, path.Base(path.Dir(f))) {
				return true
			}
		}
	}
	return false
}

func (p promises) mentions(symbol string) bool { return hasWord(p.plan, symbol) }

// beside reports whether a file of the plan lies in the folder of the tests, which
// several languages take for one module.
func (p promises) beside() bool {
	return slices.ContainsFunc(p.files, func(f string) bool { return path.Dir(f) == path.Dir(p.test) })
}

// uses reports whether the tests name a file of the plan.
func (p promises) uses() bool {
	return slices.ContainsFunc(p.files, func(f string) bool {
		name := strings.TrimSuffix(path.Base(f), path.Ext(f))
		isCrate := name == "lib" && path.Ext(f) == ".rs" && path.Ext(p.test) == ".rs"
		return isCrate || hasWord(p.content, name) || hasWord(p.content, path.Base(path.Dir(f)))
	})
}

func hasWord(text, word string) bool {
	if word == "" || word == "." || !strings.Contains(text, word) {
		return false
	}
	found, err := regexp.MatchString(`(?:^|[^\w$])`+regexp.QuoteMeta(word)+`(?:[^\w$]|$)`, text)
	return err == nil && found
}

// seen folds in what a run showed. Before the implementation it is what the
// approval is given for; later it says whether what was red passes.
func (w Work) seen(p schemas.TestsSeen) Work {
	one, known := w.Seen[p.Path]
	if !known && (w.Phase != PhaseTesting || len(w.Seen) >= maxSeen) {
		return w
	}
	switch w.Phase {
	case PhaseTesting:
		one = Seen{
			SHA256: p.SHA256, Support: p.Support, Verdict: p.Verdict, Red: p.Red, Passed: p.Passed, Skipped: p.Skipped, Other: p.Other,
			Line: p.Line, Reason: p.Reason,
		}
	case PhaseImplementation, PhaseVerification:
		one.Green, one.Line, one.Reason = p.Verdict == schemas.SeenPasses, p.Line, p.Reason
	default:
		return w
	}
	w.Seen = cloned(w.Seen)
	w.Seen[p.Path] = one
	return w
}

// changed notes that code changed since the tests last ran.
func (w Work) changed() Work {
	if len(w.Seen) == 0 {
		return w
	}
	seen := maps.Clone(w.Seen)
	for name, one := range seen {
		one.Green = false
		seen[name] = one
	}
	w.Seen = seen
	return w
}

// stands is what is known of a test file as it stands, with all that serves it.
func (w Work) stands(name string, ws Workspace) (Seen, bool) {
	one, known := w.Seen[name]
	if !known || one.SHA256 != Hash(ws.Tests[name]) || one.Support != SupportOf(ws) {
		return Seen{}, false
	}
	return one, true
}

// Unseen are the test files that are to be run now: before the approval those
// that did not run as they stand, and after it those that were red and have not
// passed since, all of them where sub-agents may have changed code; sorted.
// Whether they can be run is the caller's to find out.
func Unseen(s State, w Workspace, delegated bool) []string {
	var files []string
	switch {
	case s.Mode != ModeWork:
	case s.Work.Phase == PhaseTesting && s.Approved(GatePlan):
		for name, content := range w.Tests {
			if _, known := s.Work.stands(name, w); !known && isTestFile(name) && testProblem(name, content) == "" {
				files = insert(files, name)
			}
		}
	case s.building():
		for _, name := range s.Work.reds() {
			if _, there := w.Tests[name]; there && (delegated || !s.Work.Seen[name].Green) {
				files = insert(files, name)
			}
		}
	}
	return files
}

// reds are the approved test files that were seen red, sorted.
func (w Work) reds() []string {
	var files []string
	for _, f := range w.Gates[GateTests].Files {
		if one := w.Seen[f.Path]; one.Verdict == schemas.SeenRed && one.SHA256 == f.SHA256 {
			files = insert(files, f.Path)
		}
	}
	return files
}

// SeenTests is what is told of a test file with an offer.
type SeenTests struct {
	Path    string
	Verdict string // "": it did not run as it stands
	Text    string
}

// shows adds to an offer of tests what running them showed, and what of that
// keeps it from being approved. Once code was written under the plan, tests may
// pass.
func (o *Offer) shows(s State, name string, w Workspace) {
	one, known := s.Work.stands(name, w)
	why, runs := w.Runs[name]
	if !known && runs {
		one = Seen{Verdict: schemas.SeenNotRun, Reason: why}
		known = why != ""
	}
	if !known {
		if runs {
			o.Seen = append(o.Seen, SeenTests{name, "", name + ": not run yet as it stands"})
		}
		switch _, ran := s.Work.Seen[name]; {
		case !runs || s.Work.Phase != PhaseTesting:
		case ran:
			o.Problems = append(o.Problems, name+" changed, or what serves it did, since it ran; it runs again at the end of the agent's turn")
		case s.Stops && s.Work.InTurn && len(s.Work.Written) == 0: // a host that tells of no end runs nothing
			o.Problems = append(o.Problems, name+" has not run yet; it runs as the agent ends its turn")
		}
		return
	}
	o.Seen = append(o.Seen, SeenTests{name, one.Verdict, name + ": " + one.told()})
	if s.Work.Phase != PhaseTesting || len(s.Work.Written) > 0 {
		return
	}
	switch one.Verdict {
	case schemas.SeenPasses:
		if !plan.Characterises(w.Plan, name) {
			o.Problems = append(o.Problems, fmt.Sprintf("%s: %s before any code is written, so it shows nothing new. Assert what the plan promises and is not there yet; where the file is to pin down what exists, the plan has to say so beside its name (\u201ccharacterises \u2026\u201d)", name, passes(one.Passed)))
		}
	case schemas.SeenBroken:
		o.Problems = append(o.Problems, fmt.Sprintf("%s: fails by a fault of its own, not for something that the plan promises: %s", name, excerpt.Runes(one.Line, 160)))
	}
}

func passes(n int) string {
	if n == 1 {
		return "its only test passes"
	}
	return fmt.Sprintf("all of its %d tests pass", n)
}

// told says in a line what a run showed.
func (one Seen) told() string {
	line := excerpt.Runes(one.Line, 160)
	var text string
	switch one.Verdict {
	case schemas.SeenRed:
		text = "seen red: " + excerpt.Count(one.Red, "test") + " (" + line + ")"
	case schemas.SeenPasses:
		text = "passes: " + excerpt.Count(one.Passed, "test")
	case schemas.SeenDiffers:
		text = "differs from run to run: " + line
	case schemas.SeenBroken:
		text = "fails by a fault of its own: " + line
	case schemas.SeenUnclear:
		text = "fails, for nothing that the plan promises: " + line
	default:
		return "not run: " + excerpt.Runes(one.Reason, 160)
	}
	if one.Verdict != schemas.SeenPasses && one.Passed > 0 {
		text += "; passes: " + excerpt.Count(one.Passed, "test")
	}
	if one.Skipped > 0 {
		text += "; skipped: " + excerpt.Count(one.Skipped, "test")
	}
	if one.Verdict == schemas.SeenRed && one.Other > 0 {
		text += "; fails otherwise: " + excerpt.Count(one.Other, "test")
	}
	return text
}

// ungreen says of the tests that were red which were not seen to pass since code
// last changed, as far as they can be run here.
func (w Work) ungreen(ws Workspace) (problems []string) {
	for _, name := range w.reds() {
		one := w.Seen[name]
		if why, runs := ws.Runs[name]; one.Green || !runs || why != "" {
			continue
		}
		if _, there := ws.Tests[name]; !there {
			problems = append(problems, name+" was seen red and is gone")
			continue
		}
		problems = append(problems, fmt.Sprintf("%s was seen red and has not passed since the code last changed; it runs at the end of the agent's turn (last: %s)", name, excerpt.Runes(one.Line+one.Reason, 160)))
	}
	return problems
}

// unready are the problems of test files that ran as the turn ended.
func (c EndTurn) unready(s State) (open, bool) {
	if s.Work.Phase != PhaseTesting || len(c.Seen) == 0 {
		return open{}, false
	}
	var o Offer
	for _, f := range c.Seen {
		o.shows(s, f.Path, c.Workspace)
	}
	if len(o.Problems) == 0 {
		return open{}, false
	}
	return open{
		rule:   RuleTests,
		reason: "the tests cannot be approved as they are:\n- " + strings.Join(o.Problems, "\n- "),
		left:   "with tests that cannot be approved: " + sentence(o.Problems),
	}, true
}
