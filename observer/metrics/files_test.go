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

// everything is what is exported once all of it has happened.
func everything(t *testing.T) string {
	t.Helper()
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
	return scrape(t, m)
}

// TestFilesNameMetricsThatExist keeps the dashboard and the alerts in step
// with what is told.
func TestFilesNameMetricsThatExist(t *testing.T) {
	told := everything(t)
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

var (
	metricName = regexp.MustCompile(`\b(?:writ|process)_[a-z_]+`)
	grouped    = regexp.MustCompile(`\bby \(([a-z_, ]+)\)`)
	selected   = regexp.MustCompile(`[a-z_]\{([^{}]+)\}`)
)

// missing returns the metrics and labels of an expression that are not told.
func missing(told, expr string) (names []string) {
	lines := map[string]string{} // by metric
	for line := range strings.Lines(told) {
		if name := metricName.FindString(line); name != "" && strings.HasPrefix(line, name) {
			lines[name] += line
		}
	}
	all := ""
	for _, metric := range metricName.FindAllString(expr, -1) {
		if lines[metric] == "" {
			names = append(names, metric)
		}
		all += lines[metric]
	}
	var labels []string
	for _, list := range grouped.FindAllStringSubmatch(expr, -1) {
		labels = append(labels, strings.Split(list[1], ", ")...)
	}
	for _, list := range selected.FindAllStringSubmatch(expr, -1) {
		for matcher := range strings.SplitSeq(list[1], ",") {
			labels = append(labels, strings.TrimRight(matcher[:strings.IndexAny(matcher, "=!")], " "))
		}
	}
	for _, label := range labels {
		if !strings.Contains(all, "{"+label+"=") && !strings.Contains(all, ","+label+"=") {
			names = append(names, label)
		}
	}
	return names
}

func TestExpressionsNameLabelsThatExist(t *testing.T) {
	told := everything(t)
	for _, wrong := range []string{`sum by (hots) (writ_rules)`, `writ_nothing`, `writ_decisions_total{verdikt!="allow"}`} {
		if missing(told, wrong) == nil {
			t.Errorf("%s: nothing is found wrong", wrong)
		}
	}
	exprs := 0
	for _, name := range []string{"grafana.json", "alerts.yaml"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var anything any
		if err := yaml.Unmarshal(raw, &anything); err != nil { // JSON is YAML
			t.Fatal(err)
		}
		eachExpr(anything, func(expr string) {
			exprs++
			if names := missing(told, expr); names != nil {
				t.Errorf("%s: %s names %q, which are not told", name, expr, names)
			}
		})
	}
	if exprs < 20 {
		t.Errorf("only %d expressions were found", exprs)
	}
}

func eachExpr(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, is := value.(string); is && key == "expr" {
				visit(text)
			}
			eachExpr(value, visit)
		}
	case []any:
		for _, value := range v {
			eachExpr(value, visit)
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
