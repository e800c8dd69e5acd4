package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/schemas/digest"

	"github.com/writbus/writ/schemas"
)

// TestApprovedFilesAreKeptForAWhile: what is kept is what was approved, and it is
// forgotten once its session's last approval is long ago.
func TestApprovedFilesAreKeptForAWhile(t *testing.T) {
	root, a := t.TempDir(), approvedFiles{t.TempDir()}
	if err := os.WriteFile(filepath.Join(root, "plan.md"), []byte("a plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	approved := schemas.FileState{Path: "plan.md", SHA256: digest.Hex("a plan")}
	other := schemas.FileState{Path: "plan.md", SHA256: digest.Hex("another")}
	if err := a.keep("s1", root, []schemas.FileState{approved}); err != nil {
		t.Fatal(err)
	}
	if err := a.keep("s2", root, []schemas.FileState{other}); err != nil {
		t.Fatal(err)
	}
	if o := a.offered("s1", root, approved); o.New || o.Diff != "" {
		t.Errorf("as approved: %+v", o)
	}
	if o := a.offered("s2", root, approved); !o.New {
		t.Errorf("a content that was not the approved one was kept: %+v", o)
	}
	if path := a.at("s1", "plan.md"); true {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			whole[i] ^= 4
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if o := a.offered("s1", root, approved); !o.New {
				t.Errorf("with byte %d wrong something is compared with it: %+v", i, o)
			}
			whole[i] ^= 4
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		after time.Duration
		kept  bool
	}{{keptApproved - time.Hour, true}, {keptApproved + time.Hour, false}} {
		if err := a.prune(time.Now().Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if o := a.offered("s1", root, approved); o.New == c.kept {
			t.Errorf("after %v: %+v", c.after, o)
		}
	}
}
