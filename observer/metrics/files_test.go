package metrics

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/writbus/writ/schemas"
)

// TestFilesNameMetricsThatExist keeps the dashboard and the alerts in step
// with what is told.
func TestFilesNameMetricsThatExist(t *testing.T) {
	m := start(t, Options{Status: func(context.Context) (schemas.Status, error) {
		return schemas.Status{Streams: []schemas.StreamStatus{{Name: schemas.StreamRules}}, Views: []schemas.ViewStatus{{Name: "rules"}}}, nil
	}})
	ctx := t.Context()
	m.Hook(ctx, "claude", "Stop", time.Millisecond)
	m.Decided(ctx, "deny", "R")
	m.Retrieved(ctx, "static", 1, time.Millisecond)
	m.Appended(ctx, "WRIT_RULES", time.Millisecond)
	m.Observed(ctx, "allow", "missing_annotation")
	m.Stored(ctx, time.Millisecond)
	m.Recalled(ctx, time.Millisecond)
	told := scrape(t, m)
	for _, name := range []string{"grafana.json", "alerts.yaml"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\b(writ_[a-z_]+|process_[a-z_]+)\b`).FindAllString(string(raw), -1)
		if len(names) < 5 {
			t.Errorf("%s names %d metrics", name, len(names))
		}
		for _, metric := range names {
			if !strings.Contains(told, "\n"+metric+"{") && !strings.Contains(told, "\n"+metric+" ") {
				t.Errorf("%s names %s, which is not told", name, metric)
			}
		}
	}
}

func TestFilesAreWellFormed(t *testing.T) {
	raw, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &board); err != nil || board.Title != "Writ" {
		t.Fatalf("%v %+v", err, board)
	}
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %+v", p)
		}
	}
	raw, err = os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(raw, &alerts); err != nil {
		t.Fatal(err)
	}
	for _, r := range alerts.Groups[0].Rules {
		if r.Alert == "" || r.Expr == "" || r.Annotations["description"] == "" {
			t.Errorf("alert %+v", r)
		}
	}
}
