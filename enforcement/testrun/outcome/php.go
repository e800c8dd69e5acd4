package outcome

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// readPHPUnit reads the report that PHPUnit and Pest write as JUnit does. What keeps
// a file from being loaded is told by PHP itself.
func readPHPUnit(r *Run, file, stdout, stderr string) {
	var report junit
	_ = xml.Unmarshal([]byte(stdout), &report) // without one nothing ran
	for _, c := range report.all() {
		name := strings.TrimPrefix(c.Class+"::"+c.Name, "::")
		switch {
		case c.Failure != nil:
			r.failed(phpFailure(name, file, *c.Failure))
		case c.Error != nil:
			r.failed(phpFailure(name, file, *c.Error))
		case c.Skipped != nil:
			r.Skipped = append(r.Skipped, name)
		default:
			r.Passed = append(r.Passed, name)
		}
	}
	if len(r.Passed)+len(r.Failed)+len(r.Skipped) > 0 {
		return
	}
	if m := phpFatal.FindStringSubmatch(stderr); m != nil {
		f := phpFailure("", file, junitFault{Type: m[1], Text: m[2] + " in " + m[3]})
		f.Whole = true
		r.failed(f)
	}
}

var (
	phpFatal    = lazyregexp.New(`(?m)^(?:PHP )?(?:Fatal error|Parse error): +(?:Uncaught )?(?:([\w\\]+): )?(.*) in (\S+?)(?::| on line )\d+`)
	phpClass    = lazyregexp.New(`(?:Class|Interface|Trait|Enum) ["']([\w\\]+)["'] (?:not found|does not exist)`)
	phpFunction = lazyregexp.New(`Call to undefined function ([\w\\]+)\(\)`)
	phpMethod   = lazyregexp.New(`Call to undefined method ([\w\\]+)::(\w+)\(\)`)
	phpConstant = lazyregexp.New(`Undefined (?:class )?constant ["']?([\w\\:]+)`)
	phpRequired = lazyregexp.New(`Failed opening required ["']([^"']+)["']`)
	phpArity    = lazyregexp.New(`(?:Too few arguments to function|Unknown named parameter \$\w+|([\w\\]+)::(\w+)\(\): Argument)(?: ([\w\\]+)::(\w+)\(\))?`)
)

func phpFailure(name, file string, f junitFault) schemas.TestFailure {
	text := strings.TrimSpace(f.Message + "\n" + f.Text)
	if first, rest, more := strings.Cut(text, "\n"); more && strings.HasPrefix(first, name) {
		text = strings.TrimSpace(rest)
	}
	line, _, _ := strings.Cut(text, "\n")
	kind := f.Type[strings.LastIndexByte(f.Type, '\\')+1:]
	out := schemas.TestFailure{Name: name, Cause: schemas.FailOther, Line: line}
	missing := func(module, symbol string) {
		out.Cause, out.Module, out.Symbol = schemas.FailMissing, module, symbol[strings.LastIndexByte(symbol, '\\')+1:]
	}
	switch {
	case kind == "ExpectationFailedException", kind == "AssertionFailedError", kind == "ComparisonFailure":
		out.Cause = schemas.FailAssertion
	case phpRequired.MatchString(text):
		missing(phpRequired.FindStringSubmatch(text)[1], "")
	case phpClass.MatchString(text):
		class := phpClass.FindStringSubmatch(text)[1]
		missing(class, class)
	case phpFunction.MatchString(text):
		missing("", phpFunction.FindStringSubmatch(text)[1])
	case phpMethod.MatchString(text):
		m := phpMethod.FindStringSubmatch(text)
		missing(m[1], m[2])
	case phpConstant.MatchString(text):
		missing("", last(phpConstant.FindStringSubmatch(text)[1]))
	case kind == "ArgumentCountError" && phpArity.MatchString(text):
		m := phpArity.FindStringSubmatch(text)
		missing(m[1]+m[3], m[2]+m[4])
	case kind == "ParseError", strings.HasPrefix(line, "syntax error"):
		if strings.Contains(text, path.Base(file)) {
			out.Cause = schemas.FailFault
		}
	case unfinished.MatchString(line):
		missing("", "")
	}
	return out
}
