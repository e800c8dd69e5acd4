package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas/filelock"
)

// TestFollowADaemonThatStarts: however long one takes that says something new, it is
// followed, and what it says is told; one that says the same is given up.
func TestFollowADaemonThatStarts(t *testing.T) {
	dataDir := t.TempDir()
	path := config.Layout{Root: dataDir}.Lock()
	held, err := filelock.Take(path)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		ctx, cancel := (&Client{Err: &told}).Follow(t.Context(), dataDir)
		defer cancel()
		for percent := range 40 {
			if err := os.WriteFile(path, fmt.Appendf(nil, "reading the log, %d %%", percent), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(startPatience * 3 / 4)
			if ctx.Err() != nil {
				t.Fatalf("given up at %d %%", percent)
			}
		}
		time.Sleep(startPatience)
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Errorf("it is followed on: %v", context.Cause(ctx))
		}
		synctest.Wait()
		if !strings.Contains(told.String(), "starts: reading the log, 7 %") {
			t.Errorf("told %q", told.String())
		}
	})
	if got := Starting(dataDir); got != "reading the log, 39 %" {
		t.Errorf("it says %q", got)
	}
	held.Release()
	if got := Starting(dataDir); got != "" {
		t.Errorf("nobody has the data folder, and says %q", got)
	}
}
