package outcome

import (
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

var (
	rustResult = lazyregexp.New(`(?m)^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)
	rustError  = lazyregexp.New(`(?m)^(\S+\.rs):(\d+):\d+: error(?:\[(E\d+)\])?: (.*)$`)
	rustPanic  = lazyregexp.New(`panicked at (\S+\.rs):(\d+):\d+:\n(.*)`)
	rustName   = lazyregexp.New("`([\\w:]+)`")
	rustIn     = lazyregexp.New("in (?:crate|module) `([\\w:]+)`")
	rustScope  = lazyregexp.New("cannot find (?:value|macro) .* in this scope")
)

// rustMissing are the compiler's codes for what is missing, or has another shape.
var rustMissing = map[string]bool{
	"E0432": true, "E0433": true, "E0463": true, "E0583": true, // modules and crates
	"E0425": true, "E0412": true, "E0405": true, "E0422": true, "E0423": true, "E0531": true, "E0599": true, "E0560": true,
	"E0609": true, "E0026": true, "E0061": true, "E0107": true, "E0407": true, "E0437": true, "E0438": true, "E0576": true,
}

func readCargo(r *Run, _, stdout, stderr string) {
	for _, m := range rustResult.Regexp().FindAllStringSubmatch(stdout, -1) {
		switch m[2] {
		case "ok":
			r.Passed = append(r.Passed, m[1])
		case "ignored":
			r.Skipped = append(r.Skipped, m[1])
		default:
			_, printed, _ := strings.Cut(stdout, "---- "+m[1]+" stdout ----")
			printed, _, _ = strings.Cut(printed, "\n---- ")
			r.failed(rustFailure(m[1], printed))
		}
	}
	if len(r.Passed)+len(r.Failed)+len(r.Skipped) > 0 {
		return
	}
	for _, m := range rustError.Regexp().FindAllStringSubmatch(stdout+"\n"+stderr, -1) {
		f := schemas.TestFailure{Cause: schemas.FailFault, Whole: true, Line: m[1] + ":" + m[2] + ": " + m[4]}
		if rustMissing[m[3]] && !rustScope.MatchString(m[4]) {
			f.Cause = schemas.FailMissing
			if name := rustName.FindStringSubmatch(m[4]); name != nil {
				if m[3] == "E0432" || m[3] == "E0433" || m[3] == "E0463" {
					f.Module = name[1]
				} else {
					f.Symbol = last(name[1])
				}
				if in := rustIn.FindStringSubmatch(m[4]); in != nil {
					f.Module = in[1] + "::" + f.Symbol
				}
			}
		}
		r.failed(f)
	}
}

func rustFailure(name, printed string) schemas.TestFailure {
	out := schemas.TestFailure{Name: name, Cause: schemas.FailOther, Line: LastLine(printed)}
	m := rustPanic.FindStringSubmatch(printed)
	if m == nil {
		return out
	}
	out.Line = m[1] + ":" + m[2] + ": " + m[3]
	inTest := strings.HasPrefix(m[1], "tests/") || strings.HasSuffix(m[1], "/tests.rs")
	switch {
	case strings.HasPrefix(m[3], "assertion "):
		out.Cause = schemas.FailAssertion
	case !inTest && unfinished.MatchString(m[3]):
		out.Cause, out.Module = schemas.FailMissing, m[1]
	case inTest && !strings.HasPrefix(m[3], "called `") && !unfinished.MatchString(m[3]):
		out.Cause = schemas.FailAssertion // with words of its own
	}
	return out
}
