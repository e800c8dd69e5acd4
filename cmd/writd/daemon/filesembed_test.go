package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writbus/writ/cmd/internal/config"
	"github.com/writbus/writ/schemas"
)

// endpoint is an embedder on the network: vectors of letters.
type endpoint struct {
	*httptest.Server
	mu    sync.Mutex
	down  bool
	asked []string
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.down {
			http.Error(w, `{"error":{"message":"the model is gone"}}`, http.StatusBadRequest)
			return
		}
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type row struct {
			Index  int       `json:"index"`
			Vector []float32 `json:"embedding"`
		}
		var reply struct {
			Data []row `json:"data"`
		}
		for i, text := range asked.Input {
			v := make([]float32, 26)
			for _, b := range []byte(strings.ToLower(text)) {
				if 'a' <= b && b <= 'z' {
					v[b-'a']++
				}
			}
			reply.Data = append(reply.Data, row{i, v})
		}
		e.asked = append(e.asked, asked.Input...)
		_ = json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(e.Close)
	return e
}

// set makes the endpoint work or fail, and returns how often it was asked for a
// text of a file.
func (e *endpoint) set(down bool) (files int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = down
	for _, text := range e.asked {
		if strings.HasPrefix(text, "docs/") {
			files++
		}
	}
	return files
}

// TestFilesByTheMeaningOfAnEndpoint: vectors are made beside, kept over a
// restart, and an endpoint that fails is said wherever it is missed.
func TestFilesByTheMeaningOfAnEndpoint(t *testing.T) {
	e, data, project := newEndpoint(t), t.TempDir(), newProject(t, "")
	put(t, filepath.Join(project, "docs/zebra.md"), "# Zzz\n\nA zebra zigzags.\n")
	put(t, filepath.Join(project, "docs/moon.md"), "# Moon\n\nNo moon soon.\n")
	with := func(s *config.Settings) { s.Embedder, s.EmbedderModel = e.URL+"/v1", "letters" }
	w := startWith(t, data, project, with)
	complete := func() (s schemas.ArtifactStatus) {
		t.Helper()
		w.build(schemas.ArtifactBuildRequest{Project: project})
		deadline := time.Now().Add(5 * time.Minute)
		for again := true; again; again = (s.Lacking > 0 || s.EmbedderProblem != "") && time.Now().Before(deadline) {
			var err error
			s, err = call[schemas.ArtifactStatus](w, w.hook, schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{Project: project, After: s.Revision, Wait: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.Lacking > 0 || !strings.HasPrefix(s.Embedder, "http:letters@") || s.EmbedderProblem != "" {
			t.Fatalf("%+v", s)
		}
		return s
	}
	ask := func(method, text string) (schemas.ArtifactSearchReply, error) {
		return call[schemas.ArtifactSearchReply](w, w.hook, schemas.SvcArtifact, schemas.ArtifactSearchRequest{Project: project, Query: text, Method: method})
	}
	complete()
	if r, err := ask("semantic", "zzzz"); err != nil || len(r.Artifacts) == 0 || r.Artifacts[0].Path != "docs/zebra.md" || r.Problem != "" || r.Embedder == "" {
		t.Errorf("%+v %v", r, err)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	before := e.set(false)
	w = startWith(t, data, project, with)
	complete()
	if after := e.set(true); after != before {
		t.Errorf("after a restart %d texts were embedded again", after-before)
	}
	if r, err := ask("", "moon"); err != nil || !slices.Contains(foundPaths(r), "docs/moon.md") || !strings.Contains(r.Problem, "the model is gone") || r.Embedder != "" {
		t.Errorf("the endpoint fails: %+v %v", r, err)
	}
	if r, err := ask("semantic", "moonlight"); err == nil || !strings.Contains(err.Error(), "letters") {
		t.Errorf("the endpoint fails: %+v %v", r, err)
	}
	put(t, filepath.Join(project, "docs/new.md"), "# New\n")
	w.build(schemas.ArtifactBuildRequest{Project: project})
	if r, err := ask("", "new"); err != nil || len(r.Artifacts) == 0 || r.Problem == "" {
		t.Errorf("a file without vectors: %+v %v", r, err)
	}
}
