package check

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestChanged(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		want                []Range
	}{
		{"equal", "a\nb\n", "a\nb\n", []Range{}},
		{"new file", "", "a\nb\n", []Range{{1, 2}}},
		{"emptied", "a\n", "", []Range{}},
		{"only removed", "a\nb\nc\n", "a\nc\n", []Range{}},
		{"one changed", "a\nb\nc\n", "a\nB\nc\n", []Range{{2, 2}}},
		{"two places", "a\nb\nc\nd\ne\n", "A\nb\nc\nx\ny\ne\n", []Range{{1, 1}, {4, 5}}},
		{"appended", "a\n", "a\nb\n", []Range{{2, 2}}},
		{"last newline", "a\nb", "a\nb\n", []Range{}},
		{"moved", "a\nb\nc\n", "b\nc\na\n", []Range{{3, 3}}},
		{"repeated line", "a\na\n", "a\na\na\n", []Range{{3, 3}}},
		{"line ends", "a\nb\n", "a\r\nb\n", []Range{{1, 1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Changed([]byte(tc.before), []byte(tc.after))); diff != "" {
				t.Errorf("ranges (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChangedLeavesASubsequence checks what defines a difference: the lines
// that did not change stand in the old text in the same order, and there are
// as many of them as can be.
func TestChangedLeavesASubsequence(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 12).Draw(t, "lines")
	})
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		var kept []string
		changed := Changed([]byte(strings.Join(before, "\n")), []byte(strings.Join(after, "\n")))
		for i, l := range after {
			if !touches(changed, i+1, i+1) {
				kept = append(kept, l)
			}
		}
		rest := before
		for _, l := range kept {
			i := slices.Index(rest, l)
			if i < 0 {
				t.Fatalf("%v is no part of %v", kept, before)
			}
			rest = rest[i+1:]
		}
		if want := longestCommon(before, after); len(kept) != want {
			t.Fatalf("%d lines kept of %v and %v, want %d", len(kept), before, after, want)
		}
	})
}

func longestCommon(a, b []string) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			best[i+1][j+1] = max(best[i][j+1], best[i+1][j])
			if a[i] == b[j] {
				best[i+1][j+1] = best[i][j] + 1
			}
		}
	}
	return best[len(a)][len(b)]
}

func TestChangedGivesUp(t *testing.T) {
	before, after := strings.Repeat("a\n", 3000), strings.Repeat("b\n", 3000)
	got := Changed([]byte("same\n"+before+"end\n"), []byte("same\n"+after+"x\nend\n"))
	if want := []Range{{2, 3002}}; !slices.Equal(got, want) {
		t.Errorf("Changed = %v, want %v", got, want)
	}
}

func TestNormalise(t *testing.T) {
	got := Normalise([]Range{{5, 6}, {9, 8}, {1, 2}, {3, 3}, {6, 7}})
	if want := []Range{{1, 3}, {5, 7}}; !slices.Equal(got, want) {
		t.Errorf("Normalise = %v, want %v", got, want)
	}
	if Normalise(nil) != nil || Normalise([]Range{}) == nil {
		t.Error("nil and empty are not kept apart")
	}
}

func TestParseDiff(t *testing.T) {
	for _, tc := range []struct {
		name, diff string
		want       []FileDiff
	}{
		{"nothing", "", nil},
		{
			"changed", "diff --git a/x/y.go b/x/y.go\nindex 1..2 100644\n--- a/x/y.go\n+++ b/x/y.go\n@@ -1,3 +1,4 @@ func\n a\n-b\n+B\n+C\n c\n@@ -10 +11 @@\n-d\n+D\n",
			[]FileDiff{{"x/y.go", "x/y.go", []Range{{2, 3}, {11, 11}}}},
		},
		{
			"new and deleted", "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\ndiff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
			[]FileDiff{{"", "n", []Range{{1, 2}}}, {"d", "", []Range{}}},
		},
		{
			"renamed without a change", "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n",
			[]FileDiff{{"old name", "new name", []Range{}}},
		},
		{"binary", "diff --git a/a b/i.png b/a b/i.png\nindex 1..2\nBinary files a/a b/i.png and b/a b/i.png differ\n", []FileDiff{{"a b/i.png", "a b/i.png", []Range{}}}},
		{
			"quoted", "diff --git \"a/t\\303\\244\\t\\\"x\\\"\" \"b/t\\303\\244\\t\\\"x\\\"\"\n--- \"a/t\\303\\244\\t\\\"x\\\"\"\n+++ \"b/t\\303\\244\\t\\\"x\\\"\"\n@@ -1 +1 @@\n-a\n+b\n",
			[]FileDiff{{"tä\t\"x\"", "tä\t\"x\"", []Range{{1, 1}}}},
		},
		{"blank in a name", "diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n", []FileDiff{{"a b", "a b", []Range{{1, 1}}}}},
		{"mnemonic prefixes", "diff --git i/a w/a\n--- i/a\n+++ w/a\n@@ -1 +1 @@\n-a\n+b\n", []FileDiff{{"a", "a", []Range{{1, 1}}}}},
		{"no prefixes", "diff --git src/a src/a\n--- src/a\n+++ src/a\n@@ -1 +1 @@\n-a\n+b\n", []FileDiff{{"src/a", "src/a", []Range{{1, 1}}}}},
		{
			"plain diff of two files", "--- a.old\t2026-01-01 00:00:00\n+++ a.new\t2026-01-02 00:00:00\n@@ -1 +1,2 @@\n a\n+b\n--- b.old\n+++ b.new\n@@ -1 +1 @@\n-a\n+b\n",
			[]FileDiff{{"a.old", "a.new", []Range{{2, 2}}}, {"b.old", "b.new", []Range{{1, 1}}}},
		},
		{"lines that look like headers", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n a\n", []FileDiff{{"x", "x", []Range{{1, 1}}}}},
		{
			"merge", "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,3 -1,1 +1,3 @@@\n  a\n +b\n++c\n- d\n",
			[]FileDiff{{"x", "x", []Range{{2, 3}}}},
		},
		{"text around", "commit 1\nAuthor: x\n\n    subject\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.1\n", []FileDiff{{"x", "x", []Range{{1, 1}}}}},
		{"windows line ends", "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+b\r\n c\r\n", []FileDiff{{"x", "x", []Range{{1, 1}}}}},
		{"blank context line", "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n\n+b\n c\n", []FileDiff{{"x", "x", []Range{{2, 2}}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseDiff(tc.diff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseDiffRefuses(t *testing.T) {
	for _, diff := range []string{
		"--- a/x\n+++ b/x\n@@ -1,2\n",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\nwhat\n",
		"--- a/x\n+++ b/x\n@@ -1 +99999999999 @@\n+a\n",
	} {
		if _, err := ParseDiff(diff); !errors.Is(err, ErrDiff) {
			t.Errorf("ParseDiff(%q) = %v, want ErrDiff", diff, err)
		}
	}
}

// TestDiffsOfGit compares both ways to the changed lines on what git itself
// writes.
func TestDiffsOfGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n"
	after := "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm"
	for name, content := range map[string]string{"old": before, "new \"1\"\tä": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(git, "diff", "--no-index", "old", "new \"1\"\tä")
	cmd.Dir = dir
	out, _ := cmd.Output() // ends with 1 when there is a difference
	got, err := ParseDiff(string(out))
	if err != nil {
		t.Fatal(err)
	}
	want := []FileDiff{{"old", "new \"1\"\tä", Changed([]byte(before), []byte(after))}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s\n%s", diff, out)
	}
}
