package daemon

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
)

// TestADaemonEndsWithItsDataDirectory takes the folder away in each way there
// is.
func TestADaemonEndsWithItsDataDirectory(t *testing.T) {
	for name, take := range map[string]func(root string) error{
		"deleted": os.RemoveAll,
		"moved":   func(root string) error { return os.Rename(root, root+"-moved") },
		"replaced": func(root string) error {
			return errors.Join(os.Rename(root, root+"-moved"), os.Mkdir(root, 0o700), os.WriteFile(filepath.Join(root, "daemon.lock"), nil, 0o600))
		},
		"kept": func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "data")
			if err := errors.Join(os.Mkdir(root, 0o700), os.WriteFile(filepath.Join(root, "daemon.lock"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				d := &Daemon{layout: config.Layout{Root: root}, logger: slog.New(slog.DiscardHandler), stop: func() { close(ended) }}
				gone, err := d.beat(t.Context(), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				select {
				case <-ended:
					t.Fatal("it ended with its folder in place")
				default:
				}
				if err := take(root); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				if name == "kept" {
					select {
					case <-ended:
						t.Fatal("it ended with its folder in place")
					default:
					}
					return // the context of the test ends, and with it the beat
				}
				<-ended
				if err := gone(); !errors.Is(err, ErrDataDir) || !strings.Contains(err.Error(), root) {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
}
