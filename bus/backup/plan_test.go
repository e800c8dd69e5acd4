package backup_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writbus/writ/bus/backup"
)

// TestPlannerGoesOn: though the clock goes back by years, and though the folder of
// the plan cannot be written.
func TestPlannerGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	synctest.Test(t, func(t *testing.T) {
		p, err := backup.OpenPlanner(filepath.Join(dir, "plan.json"))
		must(t, err)
		must(t, p.Set(backup.Plan{Place: "/mnt", Every: time.Hour, Last: time.Now()}))
		must(t, os.RemoveAll(dir))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour+time.Minute)
		defer cancel()
		wrote, failures := 0, 0
		p.Run(ctx, func() time.Time { return time.Now().AddDate(-3, 0, -wrote) }, func(context.Context, backup.Plan) error { wrote++; return nil }, func(error) { failures++ })
		if wrote != 3 || failures != 3 {
			t.Errorf("written %d times in three hours, told %d times that the plan cannot be kept", wrote, failures)
		}
	})
}

// TestPlanner: a backup is written when it is due, again soon after a failure, by
// the plan as it stands, and goes on with it after a restart.
func TestPlanner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var wrote []time.Duration
		broken, failures := errors.New("the place is full"), 0
		fail := true
		run := func(p *backup.Planner, life time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), life)
			defer cancel()
			p.Run(ctx, time.Now, func(context.Context, backup.Plan) error {
				wrote = append(wrote, time.Since(began))
				if fail {
					return broken
				}
				return nil
			}, func(error) { failures++ })
		}
		p, err := backup.OpenPlanner(file)
		must(t, err)
		run(p, 1000*time.Hour) // nothing is planned
		began = time.Now()
		must(t, p.Set(backup.Plan{Place: "/mnt", Every: time.Hour, Last: began}))
		run(p, time.Hour+time.Minute)
		if p.Plan().Problem != broken.Error() || failures != 1 {
			t.Errorf("after %d failures the plan is %+v", failures, p.Plan())
		}
		fail = false
		p, err = backup.OpenPlanner(file) // a restart
		must(t, err)
		run(p, 3*time.Hour)
		want := []time.Duration{time.Hour, 75 * time.Minute, 135 * time.Minute, 195 * time.Minute}
		if !slices.Equal(wrote, want) || p.Plan().Problem != "" {
			t.Errorf("written after %v, want %v; %+v", wrote, want, p.Plan())
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			p.Run(ctx, time.Now, func(context.Context, backup.Plan) error { t.Error("written though nothing is planned"); return nil }, func(error) {})
		}()
		must(t, p.Set(backup.Plan{}))
		time.Sleep(1000 * time.Hour)
		cancel()
		<-ended
	})
	p, err := backup.OpenPlanner(file)
	must(t, err)
	must(t, p.Set(backup.Plan{Place: "/mnt", Every: time.Hour}))
	raw, err := os.ReadFile(file)
	must(t, err)
	for i := range raw {
		raw[i] ^= 1
		must(t, os.WriteFile(file, raw, 0o600))
		if p, err = backup.OpenPlanner(file); err == nil || !strings.Contains(err.Error(), "--every off") || p.Plan() != (backup.Plan{}) {
			t.Errorf("with byte %d damaged: %+v, %v", i, p.Plan(), err)
		}
		raw[i] ^= 1
	}
}
