// Package skeleton judges test skeletons: test files written before the code
// they test, which the user approves as the second gate.
//
// A skeleton is valid when the language's test runner would take the file and
// at least one test function in it asserts something that can fail. Go is read
// with go/parser; Python, JavaScript and TypeScript, Java, Kotlin, C#, PHP,
// Rust and Ruby by the tokens of schemas/lexer, one file per language; Bats by
// its lines, and shunit2 with it; files of other languages by name and by the
// presence of an assertion, as each calls it.
//
// What does not count: skipped and ignored tests, empty bodies, unconditional
// failures ("not implemented"), comparisons of constants or of a value with
// itself, what the test itself made of literals and nothing else has touched, what only looks at mocks that the test has programmed, and what cannot
// run or whose failure is caught and dropped. Helpers of
// the same file count as part of the tests that call them. A mock that is handed
// to real code may be verified.
//
// It is also where a path is told to be that of a test, or of what serves tests
// (IsTestPath, IsTestSupport).
//
// Guarantees: no input makes it panic, time grows about linearly with the
// input, equal input gives equal output. It does no I/O, does not resolve
// imports, and does not know whether the test compiles.
package skeleton

import "fmt"

// Codes of problems (persisted in denials; never change).
const (
	WrongPlace     = "wrong_place"      // the runner does not take a file of this name or in this folder
	NoTestFunction = "no_test_function" // helpers, set-up or comments only
	NoAssertion    = "no_assertion"     // nothing in the tests can fail by assertion
	AlwaysTrue     = "always_true"      // constants, or a value compared with itself
	MockOnly       = "mock_only"        // only the test's own mocks are looked at
)

// MaxBytes bounds what is read; a longer file is judged by its beginning.
const MaxBytes = 256 << 10

// Problem is why a file is no valid skeleton; the zero Problem means valid.
type Problem struct {
	Code string // one of the codes above, empty when valid
	Line int    // 1-based line the problem is shown at; 0 for the whole file
	Text string // for a person: what is wrong and how to mend it
}

// Validate judges one file. path is relative to the project root, with
// forward slashes.
func Validate(path string, content []byte) Problem {
	if !IsTestPath(path) {
		return Problem{Code: WrongPlace, Text: fmt.Sprintf(
			"%s is not where the test runner looks. %s", path, placeHint(path))}
	}
	if len(content) > MaxBytes {
		content = content[:MaxBytes]
	}
	return judge(languageOf(path)(content))
}

// strength is what an assertion is worth, in rising order.
type strength int

const (
	unconditional strength = iota // fails always: a reminder, not an assertion
	constant                      // compares constants or a value with itself
	mocked                        // looks only at programmed mocks
	meaningful
)

// test is one test function with the best of its assertions.
type test struct {
	name string
	line int
	// found are the assertions in its body and in the helpers it calls.
	found []assertion
}

type assertion struct {
	line     int
	strength strength
}

func judge(tests []test) Problem {
	if len(tests) == 0 {
		return Problem{
			Code: NoTestFunction, Line: 1,
			Text: "the file has no test function that the runner runs. Add one (not skipped, not a helper) for each capability.",
		}
	}
	best := assertion{line: tests[0].line, strength: unconditional}
	for _, t := range tests {
		for _, a := range t.found {
			if a.strength > best.strength {
				best = a
			}
		}
	}
	switch best.strength {
	case meaningful:
		return Problem{}
	case mocked:
		return Problem{
			Code: MockOnly, Line: best.line,
			Text: "the assertions look only at mocks that the test itself has programmed. Assert what the code under test returns or does to them.",
		}
	case constant:
		return Problem{
			Code: AlwaysTrue, Line: best.line,
			Text: "the assertions compare constants, or a value with itself, so they cannot fail. Compare a result of the code under test with what is expected.",
		}
	case unconditional:
	}
	return Problem{
		Code: NoAssertion, Line: best.line,
		Text: "no test asserts anything that can fail (an unconditional failure asserts nothing). Compare a result of the code under test with what is expected.",
	}
}
