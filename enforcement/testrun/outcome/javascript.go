package outcome

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

var (
	tapResult = lazyregexp.New(`^(\s*)(not ok|ok) \d+ - (.*?)(?:\s+# (SKIP|TODO)\b.*)?$`)
	tapField  = lazyregexp.New(`^(\w+): (.*)$`)
	nodeFile  = lazyregexp.New(`^\S+\.[cm]?[jt]sx?$`)
)

// readNode reads the TAP of `node --test`. Suites are told by what they hold.
func readNode(r *Run, file, stdout, _ string) {
	lines := strings.Split(stdout, "\n")
	said := ""
	for i := 0; i < len(lines); i++ {
		if text, is := strings.CutPrefix(strings.TrimSpace(lines[i]), "# "); is && !strings.HasPrefix(text, "Subtest:") {
			said += text + "\n"
			continue
		}
		m := tapResult.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		fields, next := tapFields(lines, i+1, len(m[1])+2)
		i = next
		name := m[3]
		whole := fields["exitCode"] != "" || fields["failureType"] == "testCodeFailure" && fields["error"] == "test failed"
		switch {
		case fields["type"] == "suite" || fields["failureType"] == "subtestsFailed":
		case m[4] != "":
			r.Skipped = append(r.Skipped, name)
		case m[2] == "not ok" && whole:
			f := scriptFailure(file, said)
			f.Whole, f.Name = true, name
			r.failed(f)
		case m[2] == "not ok":
			f := scriptFailure(file, fields["name"]+": "+fields["error"]+"\n"+fields["code"]+"\n"+fields["stack"])
			f.Name = name
			r.failed(f)
		case nodeFile.MatchString(name): // of the file as a whole, when it has no tests
		default:
			r.Passed = append(r.Passed, name)
		}
	}
}

// tapFields reads the block of a result, and says where it ends.
func tapFields(lines []string, from, indent int) (fields map[string]string, end int) {
	fields = map[string]string{}
	if from >= len(lines) || strings.TrimSpace(lines[from]) != "---" {
		return fields, from - 1
	}
	key := ""
	for end = from + 1; end < len(lines) && strings.TrimSpace(lines[end]) != "..."; end++ {
		line := lines[end]
		inner := strings.TrimPrefix(line, strings.Repeat(" ", indent))
		m := tapField.FindStringSubmatch(inner)
		if m != nil && !strings.HasPrefix(inner, " ") {
			key = m[1]
			if value := strings.Trim(m[2], `'"`); value != "|-" && value != ">-" && value != "|" {
				fields[key] = value
			}
			continue
		}
		fields[key] += strings.TrimSpace(line) + "\n"
	}
	return fields, end
}

// jestReport is what jest and vitest print as JSON.
type jestReport struct {
	TestResults []struct {
		Name             string `json:"name"` // absolute path
		Status           string `json:"status"`
		Message          string `json:"message"`
		AssertionResults []struct {
			FullName        string   `json:"fullName"`
			Status          string   `json:"status"`
			FailureMessages []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

func readJest(r *Run, file, stdout, _ string) {
	var report jestReport
	at := strings.IndexByte(stdout, '{')
	if at < 0 || json.NewDecoder(strings.NewReader(stdout[at:])).Decode(&report) != nil {
		return
	}
	for _, one := range report.TestResults {
		prefix := ""
		if file == "" {
			prefix = one.Name + Inside
		}
		for _, c := range one.AssertionResults {
			c.FullName = prefix + c.FullName
			switch c.Status {
			case "passed":
				r.Passed = append(r.Passed, c.FullName)
			case "failed":
				f := scriptFailure(file, strings.Join(c.FailureMessages, "\n"))
				f.Name = c.FullName
				r.failed(f)
			default:
				r.Skipped = append(r.Skipped, c.FullName)
			}
		}
		if len(one.AssertionResults) == 0 && one.Status == "failed" {
			f := scriptFailure(file, one.Message)
			f.Whole, f.Name = true, strings.TrimSuffix(prefix, Inside)
			r.failed(f)
		}
	}
}

var (
	jsExport    = lazyregexp.New(`module '([^']+)' does not provide an export named '([\w$]+)'`)
	jsModule    = lazyregexp.New(`(?:Cannot find (?:module|package)|Failed to resolve import|Failed to load url|Could not resolve) ['"]?([^'"\s]+)`)
	jsCallee    = lazyregexp.New(`([\w$]+)\)? is not a (?:function|constructor)`)
	jsMember    = lazyregexp.New(`TS2305: Module '"(.+?)"' has no exported member '([\w$]+)'|TS2339: Property '([\w$]+)' does not exist`)
	jsUndefined = lazyregexp.New(`(?:^|\s)[\w$]+ is not defined\b`)
	jsAssertion = lazyregexp.New(`AssertionError|ERR_ASSERTION|\bexpect\(|JestAssertionError`)
	jsFrame     = lazyregexp.New(`(?:\(|at |^)(?:file://)?(/[^\s():]+):(\d+):\d+`)
	jsSyntax    = lazyregexp.New(`SyntaxError: (.*)|Transform failed|Unexpected token|TS1\d{3}: `)
	colours     = lazyregexp.New("\x1b\\[[0-9;]*m")
)

// scriptFailure says why a test of JavaScript or TypeScript failed, by the error's
// text with its stack.
func scriptFailure(file, text string) schemas.TestFailure {
	text = colours.ReplaceAllString(text, "")
	out := schemas.TestFailure{Cause: schemas.FailOther, Line: scriptLine(text)}
	missing := func(module, symbol string) { out.Cause, out.Module, out.Symbol = schemas.FailMissing, module, symbol }
	at := ""
	if m := jsFrame.FindStringSubmatch(text); m != nil {
		at = m[1]
	}
	inTest := at == "" || path.Base(at) == path.Base(file)
	switch {
	case jsExport.MatchString(text):
		m := jsExport.FindStringSubmatch(text)
		missing(m[1], m[2])
	case jsMember.MatchString(text):
		m := jsMember.FindStringSubmatch(text)
		missing(m[1], m[2]+m[3])
	case jsModule.MatchString(text):
		missing(jsModule.FindStringSubmatch(text)[1], "")
	case jsUndefined.MatchString(text) && !strings.Contains(text, "ERR_ASSERTION") && inTest:
		out.Cause = schemas.FailFault
	case strings.Contains(text, "TypeError") && jsCallee.MatchString(text):
		missing("", jsCallee.FindStringSubmatch(text)[1])
	case jsAssertion.MatchString(text):
		out.Cause = schemas.FailAssertion
	case jsSyntax.MatchString(text):
		out.Cause = schemas.FailFault
	case !inTest && unfinished.MatchString(text):
		missing(at, "")
	}
	return out
}

// scriptLine is the first line of an error that says something.
func scriptLine(text string) string {
	first := ""
	for line := range strings.Lines(text) {
		line = strings.Trim(strings.TrimSpace(line), ": ")
		if strings.Contains(line, "Error") && !strings.HasPrefix(line, "throw ") {
			return line
		}
		if first == "" && line != "" {
			first = line
		}
	}
	return first
}
