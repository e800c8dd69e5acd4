package worktree

import "testing"

// TestBlobAnswers reads what git cat-file --batch prints.
func TestBlobAnswers(t *testing.T) {
	got := parseBatch([]byte("aa blob 4\na\nb\n\nbb missing\ncc commit 1\nx\ndd blob 0\n\nee blob 99\nshort"))
	if len(got) != 2 || string(got["aa"]) != "a\nb\n" || got["dd"] == nil {
		t.Errorf("%q", got)
	}
}
