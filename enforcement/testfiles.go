package enforcement

import (
	"path"
	"regexp"
	"strings"
)

var testName = regexp.MustCompile(`^(test_.+\.py|.+_test\.(py|go|rb)|.+_spec\.rb|.+\.(test|spec)\.[cm]?[jt]sx?|.+Tests?\.(java|kt|cs|php|swift))$`)

// isTestFile reports whether a path relative to the project root is that of a
// test file.
func isTestFile(rel string) bool {
	return testName.MatchString(path.Base(rel)) || strings.Contains("/"+rel, "/__tests__/")
}

// isTest reports whether a path may be written in the testing phase: a test
// file, or what tests need beside them.
func isTest(rel string) bool {
	return isTestFile(rel) || strings.Contains("/"+rel, "/testdata/") || path.Base(rel) == "conftest.py"
}

// testProblem says why a test file does not count as a skeleton, "" where it
// does.
func testProblem(rel string, content []byte) string {
	if len(content) == 0 {
		return rel + ": the file is empty"
	}
	return ""
}
