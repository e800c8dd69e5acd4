package outcome

import (
	"encoding/xml"
	"strings"

	"github.com/writbus/writ/schemas"
	"github.com/writbus/writ/schemas/lazyregexp"
)

// Reports is the line after which the reports of Maven and Gradle follow their logs.
const Reports = "writ: reports"

var (
	// javaError is what is said of one error by Maven, and by javac, which Gradle runs
	// and which shows the line before it goes on.
	javaError   = lazyregexp.New(`(?m)^(?:\[ERROR\] )?(?:\S*/)?(\S+\.(?:java|kt)):(?:\[(\d+),\d+\] (?:error: )?|(\d+): error: )(.*)(?:\n.*\n +\^$)?((?:\n(?:\[ERROR\] )? +(?:symbol|location): .*)*)`)
	javaSymbol  = lazyregexp.New(`symbol: +(?:class|variable|method|constructor|interface) (\w+)`)
	javaPackage = lazyregexp.New(`^package (\S+) does not exist`)
	javaShape   = lazyregexp.New(`^(?:method|constructor) (\w+) in .* cannot be applied`)
)

func readMaven(r *Run, file, stdout, stderr string) {
	log, reports, _ := strings.Cut(stdout, Reports+"\n")
	decoder := xml.NewDecoder(strings.NewReader(reports))
	decoder.Strict = false
	for {
		var report junit
		if decoder.Decode(&report) != nil {
			break
		}
		for _, c := range report.all() {
			if file == "" {
				c.Name = c.Class + "." + c.Name
			}
			switch {
			case c.Failure != nil:
				r.failed(javaFailure(c.Name, *c.Failure))
			case c.Error != nil:
				r.failed(javaFailure(c.Name, *c.Error))
			case c.Skipped != nil:
				r.Skipped = append(r.Skipped, c.Name)
			default:
				r.Passed = append(r.Passed, c.Name)
			}
		}
	}
	if len(r.Passed)+len(r.Failed)+len(r.Skipped) > 0 {
		return
	}
	for _, m := range javaError.Regexp().FindAllStringSubmatch(log+"\n"+stderr, -1) {
		f := schemas.TestFailure{Cause: schemas.FailFault, Whole: true, Line: m[1] + ":" + m[2] + m[3] + ": " + m[4]}
		switch {
		case strings.HasPrefix(m[4], "cannot find symbol"):
			f.Cause = schemas.FailMissing
			if s := javaSymbol.FindStringSubmatch(m[5]); s != nil {
				f.Symbol = s[1]
				f.Line += " " + s[1]
			}
		case javaPackage.MatchString(m[4]):
			f.Cause, f.Module = schemas.FailMissing, javaPackage.FindStringSubmatch(m[4])[1]
		case javaShape.MatchString(m[4]):
			f.Cause, f.Symbol = schemas.FailMissing, javaShape.FindStringSubmatch(m[4])[1]
		}
		r.failed(f)
	}
}

func javaFailure(name string, f junitFault) schemas.TestFailure {
	line, _, _ := strings.Cut(strings.TrimSpace(f.Message+"\n"+f.Text), "\n")
	out := schemas.TestFailure{Name: name, Cause: schemas.FailOther, Line: last(f.Type) + ": " + line}
	switch kind := last(f.Type); {
	case strings.Contains(kind, "Assert"), strings.Contains(kind, "Comparison"), kind == "MultipleFailuresError":
		out.Cause = schemas.FailAssertion
	case kind == "UnsupportedOperationException", unfinished.MatchString(line):
		out.Cause = schemas.FailMissing
	}
	return out
}
