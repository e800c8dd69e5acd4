package daemon

import (
	"strings"
	"testing"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/retrieval"
	"github.com/writbus/writ/schemas"
)

func TestEmbedderIsASetting(t *testing.T) {
	ask := func(w *world) retrieval.Answer {
		answer, err := call[retrieval.Answer](w, w.hook, schemas.SvcRetrieve, schemas.RetrieveRequest{Query: "an SQL query string is concatenated from user input, injection"})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	data, project := t.TempDir(), newProject(t, "")
	w := startWith(t, data, project, func(s *config.Settings) { s.Embedder = "none" })
	w.changed(schemas.RuleChangeRequest{Act: schemas.RuleAdd, Content: ruleText("ZOO-SQL-001", "Bind what users enter to the parameters of an SQL query.")})
	if a := ask(w); a.Embedder != "none" || a.Problem != "" {
		t.Errorf("%s %s", a.Embedder, a.Problem)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = startWith(t, data, project, func(s *config.Settings) { s.Embedder = "static" })
	if a := ask(w); !strings.HasPrefix(a.Embedder, "static") || a.Rules[0].Why.Vector == 0 {
		t.Errorf("after a change of the embedder: %s, %+v", a.Embedder, a.Rules)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = startWith(t, data, project, func(s *config.Settings) {
		s.Embedder, s.EmbedderModel = "http://127.0.0.1:1/v1", "m"
	})
	if a := ask(w); a.Embedder != "none" || a.Problem == "" || len(a.Rules) == 0 {
		t.Errorf("an endpoint that is not there: %s %q", a.Embedder, a.Problem)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = startWith(t, data, project, func(s *config.Settings) { s.Embedder = "crystal-ball" })
	if a := ask(w); a.Embedder != "none" || !strings.Contains(a.Problem, "crystal-ball") || len(a.Rules) == 0 {
		t.Errorf("an embedder that is not there: %s %q", a.Embedder, a.Problem)
	}
}
