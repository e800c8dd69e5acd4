package lazyregexp

import "testing"

func TestAWrongExpressionPanicsInTests(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New took an expression that does not compile")
		}
	}()
	New(`(`)
}

func TestRegexpAnswersAsTheCompiledOne(t *testing.T) {
	r := New(`a(b*)`)
	if !r.MatchString("xab") || r.MatchString("x") {
		t.Error("MatchString")
	}
	if m := r.FindStringSubmatch("xabb"); len(m) != 2 || m[1] != "bb" {
		t.Errorf("FindStringSubmatch: %q", m)
	}
	if s := r.ReplaceAllString("abab", "<$1>"); s != "<b><b>" {
		t.Errorf("ReplaceAllString: %q", s)
	}
}
