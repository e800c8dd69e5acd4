package cli

import (
	"bytes"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/cmd/internal/launch"
	"github.com/writbus/writ/cmd/writ/cli/client"
)

// TestATourAfterTheStart: how long a daemon may take to start bounds no tour.
func TestATourAfterTheStart(t *testing.T) {
	writd, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, stop := signal.NotifyContext(t.Context(), os.Interrupt) // what it starts for all outlives the bubble
	stop()
	home, data := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var ended []error
		at := config.Endpoint{URL: "nats://x", PID: os.Getpid()}
		env := client.Env{
			Home: home, Dir: home, Executable: filepath.Join(home, "writ"), Now: time.Now,
			Vars:       []string{"WRIT_HOME=" + data, "WRITD=" + writd},
			Unattended: func([]string) string { return "" },
			Start: func(context.Context, launch.Options) (config.Endpoint, error) {
				return at, config.WriteEndpoint(data, at)
			},
			Connect: func(ctx context.Context, _ config.Endpoint, _, _ string) (client.Service, error) {
				ended = append(ended, ctx.Err())
				time.Sleep(9 * time.Second)
				return &services{}, nil
			},
		}
		var out, problems bytes.Buffer
		Run(t.Context(), []string{"up", "--detach", "--tour"}, strings.NewReader(""), &out, &problems, env)
		if len(ended) < 5 || ended[4] != nil {
			t.Errorf("%d calls in 9 s each, then %v: %s%s", len(ended), ended, out.String(), problems.String())
		}
	})
}
