package turn

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/writbus/writ/enforcement/host"
	"github.com/writbus/writ/enforcement/project"
)

// TestATreeThatCannotBeComparedIsTold, once in each session.
func TestATreeThatCannotBeComparedIsTold(t *testing.T) {
	var a afterwards
	gone := turn{Call: host.Call{Session: "s1", ToolUseID: "t1"}, project: project.Project{Root: filepath.Join(t.TempDir(), "gone")}}
	tree, err := a.before.keep(gone)
	if tree != nil || err == nil {
		t.Fatalf("%v, %v", tree, err)
	}
	if said := a.unseen("s1", err); !strings.Contains(said, "cannot be compared") || !strings.Contains(said, gone.project.Root) {
		t.Errorf("told %q", said)
	}
	if said := a.unseen("s1", err); said != "" {
		t.Errorf("told again: %q", said)
	}
	if said := a.unseen("s2", err); said == "" {
		t.Error("another session is told nothing")
	}
	if said := a.unseen("s3", nil); said != "" {
		t.Errorf("told without a reason: %q", said)
	}
}
