package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// TestABuildWhoseDaemonEnded says that building again goes on.
func TestABuildWhoseDaemonEnded(t *testing.T) {
	s := &services{replies: map[string]any{
		schemas.SvcArtifactBuild: schemas.ArtifactStatus{State: "building"}, schemas.SvcArtifactStatus: fmt.Errorf("request: %w", bus.ErrUnavailable),
	}}
	if r := s.run(t, "", "index", "build"); r.code != 1 || !strings.Contains(r.err, "the daemon ended meanwhile. The index is as it was before; build again to go on.") {
		t.Errorf("%+v", r)
	}
	s.replies[schemas.SvcArtifactBuild] = bus.ErrUnavailable
	if r := s.run(t, "", "index", "build"); r.code != 1 || strings.Contains(r.err, "meanwhile") {
		t.Errorf("%+v", r)
	}
}
