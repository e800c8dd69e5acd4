package outcome

import "testing"

func TestTextIsForPeople(t *testing.T) {
	printed := `{"Action":"build-output","Output":"# m\n"}
{"Action":"output","Package":"m","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m","Test":"TestA","Output":"    a_test.go:3: no\n"}
{"Action":"output","Package":"m","Test":"TestB","Output":"--- PASS: TestB (0.00s)\n"}
{"Action":"output","Package":"m","Output":"FAIL\n"}
`
	if got := Text(Go, printed); got != "# m\n    a_test.go:3: no\nFAIL\n" {
		t.Errorf("%q", got)
	}
	if got := Text(Jest, "{}"); got != "" {
		t.Errorf("a report: %q", got)
	}
}

// TestGroupsNameWhereATestStands: two packages or files may have tests of one name.
func TestGroupsNameWhereATestStands(t *testing.T) {
	run, _ := Read(Go, "", `{"Action":"fail","Package":"m/a","Test":"TestX"}
{"Action":"fail","Package":"m/a"}
{"Action":"pass","Package":"m/b","Test":"TestX"}
{"Action":"build-output","ImportPath":"m/c","Output":"c/c.go:3:1: syntax error\n"}
{"Action":"fail","Package":"m/c"}
`, "")
	if len(run.Failed) != 2 || run.Failed[0].Name != "m/c" || !run.Failed[0].Whole || run.Failed[0].Line != "c/c.go:3:1: syntax error" || run.Failed[1].Name != "m/a.TestX" || run.Passed[0] != "m/b.TestX" {
		t.Errorf("go: %+v", run)
	}
	run, _ = Read(Jest, "", `{"testResults":[{"name":"/p/a.test.ts","status":"failed","assertionResults":[{"fullName":"adds","status":"failed","failureMessages":["AssertionError: no"]}]},{"name":"/p/b.test.ts","status":"failed","message":"SyntaxError: x","assertionResults":[]}]}`, "")
	if len(run.Failed) != 2 || run.Failed[0].Name != "/p/a.test.ts › adds" || run.Failed[1].Name != "/p/b.test.ts" {
		t.Errorf("jest: %+v", run)
	}
	run, _ = Read(Maven, "", Reports+"\n"+`<testsuite><testcase classname="p.ATest" name="adds"><failure type="AssertionError">x</failure></testcase></testsuite>`, "")
	if len(run.Failed) != 1 || run.Failed[0].Name != "p.ATest.adds" {
		t.Errorf("maven: %+v", run)
	}
}
