package outcome

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// rspecReport is what RSpec prints as JSON.
type rspecReport struct {
	Messages []string `json:"messages"`
	Examples []struct {
		Name      string `json:"full_description"`
		Status    string `json:"status"`
		Exception struct {
			Class     string   `json:"class"`
			Message   string   `json:"message"`
			Backtrace []string `json:"backtrace"`
		} `json:"exception"`
	} `json:"examples"`
}

var rubyRaised = lazyregexp.New(`(?m)^\s*(\w+(?:::\w+)*):\n((?:[ \t]+.*(?:\n|$))+)`)

func readRSpec(r *Run, file, stdout, _ string) {
	var report rspecReport
	at := strings.IndexByte(stdout, '{')
	if at < 0 || json.NewDecoder(strings.NewReader(stdout[at:])).Decode(&report) != nil {
		return
	}
	for _, one := range report.Examples {
		switch one.Status {
		case "passed":
			r.Passed = append(r.Passed, one.Name)
		case "failed":
			f := rubyFailure(file, one.Exception.Class, one.Exception.Message, one.Exception.Backtrace)
			f.Name = one.Name
			r.failed(f)
		default:
			r.Skipped = append(r.Skipped, one.Name)
		}
	}
	for _, message := range report.Messages {
		if m := rubyRaised.FindStringSubmatch(message); m != nil && strings.Contains(message, "error occurred") {
			f := rubyFailure(file, m[1], m[2], nil)
			f.Whole = true
			r.failed(f)
		}
	}
}

var (
	miniResult = lazyregexp.New(`(?m)^(\S+#.+?) = [\d.]+ s = ([.FES])$`)
	miniDetail = lazyregexp.New(`(?m)^(?:\s+\d+\) )?(?:Failure|Error):\n(\S+#.+?)(?: \[[^\]\n]*\])?:\n`)
	miniFrame  = lazyregexp.New(`(?m)^\s+(\S+:\d+:in .*)$`)
	rubyLoad   = lazyregexp.New(`(?m)^.+?: (.*) \((\w+(?:::\w+)*)\)$`)
)

// readMinitest reads Minitest's verbose output. A file that could not be loaded is
// told by Ruby itself.
func readMinitest(r *Run, file, stdout, stderr string) {
	details := map[string]string{}
	found := miniDetail.Regexp().FindAllStringSubmatchIndex(stdout, -1)
	for i, m := range found {
		end := len(stdout)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		details[stdout[m[2]:m[3]]] = stdout[m[1]:end]
	}
	for _, m := range miniResult.Regexp().FindAllStringSubmatch(stdout, -1) {
		switch m[2] {
		case ".":
			r.Passed = append(r.Passed, m[1])
		case "S":
			r.Skipped = append(r.Skipped, m[1])
		default:
			detail := details[m[1]]
			class, message := "Minitest::Assertion", detail
			if m[2] == "E" {
				class, message, _ = strings.Cut(detail, ": ")
			}
			var trace []string
			for _, f := range miniFrame.Regexp().FindAllStringSubmatch(detail, -1) {
				trace = append(trace, f[1])
			}
			f := rubyFailure(file, class, message, trace)
			f.Name = m[1]
			r.failed(f)
		}
	}
	if len(r.Passed)+len(r.Failed)+len(r.Skipped) > 0 {
		return
	}
	if m := rubyLoad.FindStringSubmatch(stderr); m != nil {
		f := rubyFailure(file, m[2], m[1], nil)
		f.Whole = true
		r.failed(f)
	} else if strings.Contains(stderr, "syntax error") || strings.Contains(stderr, "SyntaxError") {
		f := rubyFailure(file, "SyntaxError", stderr, nil)
		f.Whole = true
		r.failed(f)
	}
}

var (
	rubyFile     = lazyregexp.New(`cannot load such file -- (\S+)`)
	rubyConstant = lazyregexp.New(`uninitialized constant (\S+)`)
	rubyMethod   = lazyregexp.New("undefined (?:local variable or )?method [`'](\\w+[?!=]?)' for (.*)")
	rubyIn       = lazyregexp.New("^(.+?):(\\d+):in [`'](?:.*[#.])?([^`']*)'")
	rubyArity    = lazyregexp.New(`^(?:wrong number of arguments|unknown keywords?:|missing keywords?:)`)
	rubyNothing  = lazyregexp.New(`^(?:nil|true|false|\d|"|an instance of (?:Integer|String|Float|Array|Hash|Symbol|NilClass))`)
)

// rubyFailure says why a test of Ruby failed, by the error's class, its message and
// where it was raised.
func rubyFailure(file, class, message string, trace []string) schemas.TestFailure {
	class = strings.TrimSpace(class)
	out := schemas.TestFailure{Cause: schemas.FailOther, Line: last(class) + ": " + rubyLine(message)}
	missing := func(module, symbol string) { out.Cause, out.Module, out.Symbol = schemas.FailMissing, module, symbol }
	var raised []string
	if len(trace) > 0 {
		raised = rubyIn.FindStringSubmatch(trace[0])
	}
	inTest := raised == nil || path.Base(raised[1]) == path.Base(file)
	switch kind := last(class); {
	case strings.Contains(kind, "Assertion"), strings.Contains(kind, "Expectation"):
		out.Cause = schemas.FailAssertion
	case kind == "LoadError":
		if m := rubyFile.FindStringSubmatch(message); m != nil {
			missing(m[1], "")
		}
	case kind == "NameError" && rubyConstant.MatchString(message):
		missing("", last(rubyConstant.FindStringSubmatch(message)[1]))
	case kind == "NameError", kind == "NoMethodError":
		m := rubyMethod.FindStringSubmatch(message)
		switch {
		case m == nil || rubyNothing.MatchString(m[2]):
		case strings.Contains(m[2], "RSpec::ExampleGroups"), strings.Contains(m[2], "Test"):
			missing("main", m[1]) // a function of nobody's, or a misspelt word
		default:
			missing("", m[1])
		}
	case kind == "ArgumentError" && rubyArity.MatchString(strings.TrimSpace(message)) && raised != nil:
		missing("", raised[3])
	case kind == "NotImplementedError" && !inTest:
		missing(raised[1], raised[3])
	case kind == "SyntaxError" && strings.Contains(message, path.Base(file)):
		out.Cause = schemas.FailFault
	}
	return out
}

// rubyLine is what a message says on its first lines, up to the code it shows.
func rubyLine(message string) string {
	said, _, _ := strings.Cut(strings.TrimSpace(message), "\n\n")
	return said
}
