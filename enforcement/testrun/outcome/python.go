package outcome

import (
	"encoding/xml"
	"path"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// junit is a report in the form that JUnit made common.
type junit struct {
	Suites []junit     `xml:"testsuite"`
	Cases  []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *junitFault `xml:"failure"`
	Error   *junitFault `xml:"error"`
	Skipped *junitFault `xml:"skipped"`
}

type junitFault struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (j junit) all() []junitCase {
	cases := j.Cases
	for _, s := range j.Suites {
		cases = append(cases, s.all()...)
	}
	return cases
}

func readPytest(r *Run, file, stdout, stderr string) {
	var report junit
	_ = xml.Unmarshal([]byte(stdout), &report) // without one nothing ran
	if _, why, found := strings.Cut(stderr, "ImportError while loading conftest "); found {
		r.failed(pythonFailure("", file, junitFault{Message: "collection failure", Text: why}))
	}
	for _, c := range report.all() {
		name := strings.TrimPrefix(c.Class+"."+c.Name, ".")
		switch {
		case name == "pytest.internal": // an error of its own is no test
		case c.Failure != nil:
			r.failed(pythonFailure(name, file, *c.Failure))
		case c.Error != nil:
			r.failed(pythonFailure(name, file, *c.Error))
		case c.Skipped != nil:
			r.Skipped = append(r.Skipped, name)
		default:
			r.Passed = append(r.Passed, name)
		}
	}
}

var (
	pyFrame     = lazyregexp.New(`(?m)^(\S+):(\d+): in (\S+)`)
	pySyntax    = lazyregexp.New(`(?m)^E\s+((?:SyntaxError|IndentationError|TabError): .*)`)
	pySyntaxIn  = lazyregexp.New(`(?m)^E\s+File "(.+)", line (\d+)`)
	pyFixture   = lazyregexp.New(`fixture '(\w+)' not found`)
	pyModule    = lazyregexp.New(`No module named '([^']+)'`)
	pyImport    = lazyregexp.New(`cannot import name '(\w+)' from (?:partially initialized module )?'([^']+)'`)
	pyAttribute = lazyregexp.New(`^AttributeError: module '([^']+)' has no attribute '(\w+)'`)
	pyMember    = lazyregexp.New(`^AttributeError: (?:type object )?'(\w+)' (?:object )?has no attribute '(\w+)'`)
	pyCall      = lazyregexp.New(`^TypeError: ([\w.<>]+)\(\) (?:got an unexpected keyword argument|got multiple values|takes|missing)`)
)

// pyBuiltin are types whose members no project adds.
var pyBuiltin = map[string]bool{"NoneType": true, "int": true, "str": true, "float": true, "bool": true, "list": true, "dict": true, "tuple": true, "set": true, "bytes": true, "function": true, "method": true}

// pythonFailure says why a test of pytest failed, by the traceback.
func pythonFailure(name, file string, f junitFault) schemas.TestFailure {
	out := schemas.TestFailure{Name: name, Cause: schemas.FailOther, Whole: f.Message == "collection failure"}
	head, _, _ := strings.Cut(f.Message, "\n")
	for line := range strings.Lines(f.Text) {
		if said, is := strings.CutPrefix(line, "E   "); is {
			head = strings.TrimSpace(said)
			break
		}
	}
	var at, in string
	if all := pyFrame.Regexp().FindAllStringSubmatch(f.Text, -1); len(all) > 0 {
		frame := all[len(all)-1]
		at, in = frame[1], frame[3]
		out.Line = frame[1] + ":" + frame[2] + ": "
	}
	inTest := at == "" || path.Base(at) == path.Base(file)
	if m := pySyntax.FindStringSubmatch(f.Text); m != nil {
		if where := pySyntaxIn.FindStringSubmatch(f.Text); where != nil {
			inTest = path.Base(where[1]) == path.Base(file)
			out.Line = file + ":" + where[2] + ": "
		}
		out.Line += m[1]
		if inTest {
			out.Cause = schemas.FailFault
		}
		return out
	}
	out.Line += head
	missing := func(module, symbol string) { out.Cause, out.Module, out.Symbol = schemas.FailMissing, module, symbol }
	kind, _, _ := strings.Cut(head, ":")
	if m := pyFixture.FindStringSubmatch(f.Text); m != nil {
		out.Cause, out.Line = schemas.FailFault, m[0]
		return out
	}
	switch kind = last(kind); {
	case strings.HasPrefix(head, "assert "), kind == "AssertionError", kind == "Failed", strings.HasSuffix(kind, "AssertionError"):
		out.Cause = schemas.FailAssertion
	case kind == "ModuleNotFoundError", kind == "ImportError":
		if m := pyModule.FindStringSubmatch(head); m != nil {
			missing(m[1], "")
		} else if m := pyImport.FindStringSubmatch(head); m != nil {
			missing(m[2], m[1])
		}
	case kind == "AttributeError":
		if m := pyAttribute.FindStringSubmatch(head); m != nil {
			missing(m[1], m[2])
		} else if m := pyMember.FindStringSubmatch(head); m != nil && !pyBuiltin[m[1]] {
			missing("", m[2])
		}
	case kind == "TypeError" && inTest:
		if m := pyCall.FindStringSubmatch(head); m != nil {
			missing("", last(m[1]))
		}
	case kind == "NotImplementedError" && !inTest:
		missing(at, in)
	case (kind == "NameError" || kind == "UnboundLocalError") && inTest:
		out.Cause = schemas.FailFault
	}
	return out
}
