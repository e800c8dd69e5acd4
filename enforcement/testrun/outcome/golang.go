package outcome

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// goEvent is a line of `go test -json` (cmd/test2json).
type goEvent struct{ Action, Package, Test, Output string }

func readGo(r *Run, file, stdout, stderr string) {
	printed, ended := map[string]string{}, map[string]string{}
	built := stderr
	var failed []string // packages
	for line := range strings.Lines(stdout) {
		var e goEvent
		if json.Unmarshal([]byte(line), &e) != nil {
			built += line
			continue
		}
		top, _, sub := strings.Cut(e.Test, "/")
		if file == "" && top != "" {
			top = e.Package + "." + top
		}
		switch e.Action {
		case "output":
			printed[top] += e.Output
		case "build-output":
			built += e.Output
		case "pass", "fail", "skip":
			if top != "" && !sub {
				ended[top] = e.Action
			} else if file == "" && top == "" && e.Action == "fail" {
				failed = append(failed, e.Package)
			}
		}
	}
	for _, name := range failed { // a package of which no test says why
		if !hasFailure(ended, name+".") {
			r.failed(schemas.TestFailure{Name: name, Cause: schemas.FailOther, Whole: true, Line: goBroken(built, printed[""])})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ended)) {
		switch ended[name] {
		case "pass":
			r.Passed = append(r.Passed, name)
		case "skip":
			r.Skipped = append(r.Skipped, name)
		default:
			r.failed(goFailure(name, printed[name]))
		}
	}
	if len(ended) == 0 && len(failed) == 0 {
		for line := range strings.Lines(built + printed[""]) {
			if m := goEmpty.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				r.failed(schemas.TestFailure{Cause: schemas.FailMissing, Whole: true, Module: m[1], Line: m[0]})
			} else if m := goError.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && !strings.HasPrefix(m[3], "too many errors") {
				r.failed(goBuild(m))
			}
		}
	}
}

// goText is what the tests and the compiler printed, without what passed.
func goText(stdout string) string {
	var b strings.Builder
	for line := range strings.Lines(stdout) {
		var e goEvent
		_ = json.Unmarshal([]byte(line), &e) // what is none prints nothing
		said := strings.TrimSpace(e.Output)
		if said != "PASS" && !strings.HasPrefix(said, "=== ") && !strings.HasPrefix(said, "--- PASS") && !strings.HasPrefix(said, "ok ") {
			b.WriteString(e.Output)
		}
	}
	return b.String()
}

func hasFailure(ended map[string]string, prefix string) bool {
	for name, how := range ended {
		if how == "fail" && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// goBroken is the first line that says why a package has no tests that ran.
func goBroken(built, printed string) string {
	for line := range strings.Lines(built) {
		if goError.MatchString(strings.TrimRight(line, "\n")) {
			return strings.TrimSpace(line)
		}
	}
	return cmp.Or(goPanic.Regexp().FindString(printed), LastLine(built+printed))
}

var (
	goError    = lazyregexp.New(`^(?:vet: )?(?:\./)?(\S+\.go):(\d+)(?::\d+)?: (.*)$`)
	goEmpty    = lazyregexp.New(`^(?:\S+: )?no non-test Go files in (\S+)$`)
	goLine     = lazyregexp.New(`(?m)^\s+(\S+\.go:\d+: .*)$`)
	goPanic    = lazyregexp.New(`(?m)^panic: (.*)$`)
	goPanicAt  = lazyregexp.New(`(?m)^\t(/\S+\.go):\d+`)
	unfinished = lazyregexp.New(`(?i)\b(?:not (?:yet )?implemented|unimplemented|todo)\b`)
)

// goFailure says why a test of Go failed: what is not a panic is told by the test.
func goFailure(name, printed string) schemas.TestFailure {
	out := schemas.TestFailure{Name: name, Cause: schemas.FailAssertion, Line: LastLine(printed)}
	if m := goLine.FindStringSubmatch(printed); m != nil {
		out.Line = m[1]
	}
	m := goPanic.FindStringSubmatch(printed)
	if m == nil {
		return out
	}
	out.Cause, out.Line = schemas.FailOther, m[0]
	_, trace, _ := strings.Cut(printed, m[0])
	for _, at := range goPanicAt.Regexp().FindAllStringSubmatch(trace, -1) {
		switch {
		case strings.Contains(at[1], "/src/runtime/"), strings.Contains(at[1], "/src/testing/"):
			continue
		case !strings.HasSuffix(at[1], "_test.go") && unfinished.MatchString(m[1]):
			out.Cause, out.Module = schemas.FailMissing, at[1]
		}
		break
	}
	return out
}

// goMissing are the compiler's words for a name that is missing, or that takes or
// gives something else; the group is its name, with its package where it has one.
var goMissing = []*lazyregexp.Regexp{
	lazyregexp.New(`^undefined: ([\w.]+)$`),
	lazyregexp.New(`undefined \(type \S+ has no field or method (\w+)`),
	lazyregexp.New(`^unknown field (\w+) in struct literal`),
	lazyregexp.New(`^(?:too many|not enough) arguments in call to ([\w.]+)`),
	lazyregexp.New(`^assignment mismatch: .* but ([\w.]+)(?:\(.*\))? returns? `),
	lazyregexp.New(`\(missing method (\w+)\)`),
}

// goPackage are those for a package that is missing.
var goPackage = lazyregexp.New(`^(?:package (\S+) is not in std|no required module provides package ([^\s;:]+)|cannot find (?:package|module providing package) "?([^\s"]+?)"?(?:[:\s].*)?$)`)

func goBuild(m []string) schemas.TestFailure {
	out := schemas.TestFailure{Cause: schemas.FailOther, Whole: true, Line: m[1] + ":" + m[2] + ": " + m[3]}
	if p := goPackage.FindStringSubmatch(m[3]); p != nil {
		out.Cause, out.Module = schemas.FailMissing, p[1]+p[2]+p[3]
		return out
	}
	for _, missing := range goMissing {
		if found := missing.FindStringSubmatch(m[3]); found != nil {
			out.Cause, out.Symbol = schemas.FailMissing, last(found[1])
			if pkg, _, qualified := strings.Cut(found[1], "."); qualified {
				out.Module = pkg
			}
			return out
		}
	}
	if strings.HasSuffix(m[1], "_test.go") {
		out.Cause = schemas.FailFault
	}
	return out
}
