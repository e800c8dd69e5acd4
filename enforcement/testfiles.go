package enforcement

import (
	"fmt"
	"path"

	"github.com/writbus/writ/enforcement/skeleton"
)

// isTestFile reports whether a test runner would take a file of this name and
// place. rel is relative to the project root.
func isTestFile(rel string) bool { return skeleton.IsTestPath(rel) }

// isTest reports whether a path may be written in the testing phase: a test
// file, what tests need beside them, or a folder for either.
func isTest(rel string) bool {
	if skeleton.IsTestPath(rel) || skeleton.IsTestSupport(rel) {
		return true
	}
	return path.Ext(rel) == "" && rel != "." && skeleton.IsTestSupport(rel+"/file")
}

// testProblem says why a test file does not count as a skeleton, "" where it
// does.
func testProblem(rel string, content []byte) string {
	p := skeleton.Validate(rel, content)
	switch {
	case p.Code == "":
		return ""
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", rel, p.Line, p.Text)
	}
	return rel + ": " + p.Text
}
