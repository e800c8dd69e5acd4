package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/schemas"
)

// build indexes a folder and waits until it is done.
func (w *world) build(r schemas.ArtifactBuildRequest) schemas.ArtifactStatus {
	w.t.Helper()
	r.Wait = 5 * time.Second
	status, err := call[schemas.ArtifactStatus](w, w.hook, schemas.SvcArtifactBuild, r)
	for err == nil && (status.State == "building" || status.State == "loading") {
		status, err = call[schemas.ArtifactStatus](w, w.hook, schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{Project: r.Project, After: status.Revision, Wait: time.Second})
	}
	if err != nil || status.State != "ready" {
		w.t.Fatalf("%+v %v", status, err)
	}
	return status
}

func (w *world) search(project, query string) schemas.ArtifactSearchReply {
	w.t.Helper()
	reply, err := call[schemas.ArtifactSearchReply](w, w.hook, schemas.SvcArtifact, schemas.ArtifactSearchRequest{Project: project, Query: query})
	if err != nil {
		w.t.Fatal(err)
	}
	return reply
}

func foundPaths(r schemas.ArtifactSearchReply) (paths []string) {
	for _, a := range r.Artifacts {
		paths = append(paths, a.Path)
	}
	return paths
}

func faultCode(err error) string {
	var f *bus.ServiceError
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// TestProjectsAreKeptApart: two projects with the same paths in one daemon, and
// what each has after a restart.
func TestProjectsAreKeptApart(t *testing.T) {
	data, one, other := t.TempDir(), newProject(t, "mode: conversation\n"), t.TempDir()
	w := start(t, data, one)
	if _, err := call[schemas.ArtifactSearchReply](w, w.hook, schemas.SvcArtifact, schemas.ArtifactSearchRequest{Project: one, Query: "x"}); faultCode(err) != schemas.CodeNotFound || !strings.Contains(err.Error(), "writ index build") {
		t.Errorf("a search without an index: %v", err)
	}
	put(t, filepath.Join(one, "docs/retry.md"), "# Retries\n\nA payment is retried after a timeout.\n")
	put(t, filepath.Join(other, "docs/retry.md"), "# Retries\n\nThe printer is retried after a paper jam.\n")
	for _, project := range []string{one, other} {
		if status := w.build(schemas.ArtifactBuildRequest{Project: project}); status.Documents != 1 || status.Last.Added != 1 {
			t.Errorf("%+v", status)
		}
	}
	if r := w.search(one, "retried after a timeout"); len(r.Artifacts) != 1 || !strings.Contains(r.Artifacts[0].Content, "payment") || r.Index.Stale {
		t.Errorf("%+v", r)
	}
	if r := w.search(other, "printer paper jam"); len(r.Artifacts) != 1 || !strings.Contains(r.Artifacts[0].Content, "printer") {
		t.Errorf("%+v", r)
	}
	if r := w.search(one, "printer paper jam"); strings.Contains(strings.Join(foundPaths(r), " "), "printer") {
		t.Errorf("%+v", r)
	}
	putWhole(t, filepath.Join(one, "docs/new.md"), "# Gnomes\n")
	w.await(one, 2)
	if r := w.search(one, "gnomes"); !slices.Equal(foundPaths(r), []string{"docs/new.md"}) || r.Index.Stale {
		t.Errorf("a new file: %+v", r)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	w = start(t, data, one)
	if r := w.search(other, "printer paper jam"); len(r.Artifacts) != 1 {
		t.Errorf("after a restart: %+v", r)
	}
	status := w.build(schemas.ArtifactBuildRequest{Project: one})
	if status.Documents != 2 || status.Last.Added > 1 {
		t.Errorf("after a restart: %+v %+v", status, status.Last)
	}
}

// putWhole puts a file that nobody who watches sees before all of it is there.
func putWhole(t *testing.T, path, content string) {
	t.Helper()
	whole := filepath.Join(t.TempDir(), "whole")
	put(t, whole, content)
	if err := os.Rename(whole, path); err != nil {
		t.Fatal(err)
	}
}

// await waits until the index of a project has so many documents.
func (w *world) await(project string, documents int) {
	w.t.Helper()
	var status schemas.ArtifactStatus
	for deadline := time.Now().Add(5 * time.Minute); status.Documents != documents; {
		var err error
		status, err = call[schemas.ArtifactStatus](w, w.hook, schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{Project: project, After: status.Revision, Wait: 5 * time.Second})
		if err != nil || time.Now().After(deadline) {
			w.t.Fatalf("%+v %v", status, err)
		}
	}
}

// TestAnIndexFollowsItsFilesByItself: nobody asks for that, neither after a build
// nor when a session begins under another daemon.
func TestAnIndexFollowsItsFilesByItself(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: conversation\n")
	w := start(t, data, project)
	put(t, filepath.Join(project, "docs/a.md"), "# Alpha\n")
	w.build(schemas.ArtifactBuildRequest{Project: project})
	putWhole(t, filepath.Join(project, "docs/b.md"), "# Gnomes in the garden\n")
	w.await(project, 2)
	if r := w.search(project, "gnomes in the garden"); !slices.Contains(foundPaths(r), "docs/b.md") || r.Index.Stale || r.Index.AgeSeconds != 0 {
		t.Errorf("%+v", r)
	}
	w.wrote("docs/c.md", "# Dwarves in the cellar\n")
	if r := w.search(project, "dwarves in the cellar"); !slices.Contains(foundPaths(r), "docs/c.md") {
		t.Errorf("an agent wrote it: %+v", r)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(project, "docs/d.md"), "# Trolls under the bridge\n")
	w = start(t, data, project)
	w.send("SessionStart", map[string]any{"source": "startup"})
	w.await(project, 4)
}

func TestArtifactRequestsThatCannotBe(t *testing.T) {
	w := newWorld(t)
	put(t, filepath.Join(w.project, "docs/a.md"), "# A\n")
	w.build(schemas.ArtifactBuildRequest{Project: w.project})
	for name, test := range map[string]struct {
		subject string
		request any
		code    string
	}{
		"a relative project": {schemas.SvcArtifactBuild, schemas.ArtifactBuildRequest{Project: "x"}, schemas.CodeBadRequest},
		"no project":         {schemas.SvcArtifactStatus, schemas.ArtifactStatusRequest{}, schemas.CodeBadRequest},
		"nowhere":            {schemas.SvcArtifactBuild, schemas.ArtifactBuildRequest{Project: filepath.Join(w.project, "none")}, schemas.CodeNotFound},
		"Writ's own data":    {schemas.SvcArtifactBuild, schemas.ArtifactBuildRequest{Project: w.data}, schemas.CodeRefused},
		"a bad glob":         {schemas.SvcArtifactBuild, schemas.ArtifactBuildRequest{Project: w.project, Globs: []string{"{a"}}, schemas.CodeBadRequest},
		"out of the project": {schemas.SvcArtifactExplain, schemas.ArtifactExplainRequest{Project: w.project, Path: "../x"}, schemas.CodeBadRequest},
		"not indexed":        {schemas.SvcArtifactDeps, schemas.ArtifactDepsRequest{Project: w.project, Path: "docs/none.md"}, schemas.CodeNotFound},
		"a method":           {schemas.SvcArtifact, schemas.ArtifactSearchRequest{Project: w.project, Query: "x", Method: "magic"}, schemas.CodeBadRequest},
		"a format":           {schemas.SvcArtifactContext, schemas.ArtifactContextRequest{ArtifactSearchRequest: schemas.ArtifactSearchRequest{Project: w.project, Query: "x"}, Format: "pdf"}, schemas.CodeBadRequest},
	} {
		if _, err := call[map[string]any](w, w.hook, test.subject, test.request); faultCode(err) != test.code || strings.Contains(err.Error(), "artifacts: ") || strings.Contains(err.Error(), "search: ") {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

// TestFilesComeWithTheFirstPrompt: a block of what the index has about it comes
// with the first prompt of a session that there is something for, and a chunk
// is never given twice.
func TestFilesComeWithTheFirstPrompt(t *testing.T) {
	data, project := t.TempDir(), newProject(t, "mode: conversation\n")
	w := start(t, data, project)
	put(t, filepath.Join(project, "docs/retry.md"), "# Retrying payments\n\nA payment is retried three times after a gateway timeout.\n")
	put(t, filepath.Join(project, "docs/other.md"), "# Gardens\n\nGnomes stand in the garden.\n")
	w.build(schemas.ArtifactBuildRequest{Project: project})
	const prompt = "see @docs/retry.md: how often is a payment retried after a gateway timeout?"
	if first := w.prompt(prompt); !strings.Contains(first.Stdout, "retried three times") {
		t.Errorf("first: %s", first.Stdout)
	}
	if second := w.prompt(prompt + " really?"); strings.Contains(second.Stdout, "retried three times") {
		t.Errorf("given twice: %s", second.Stdout)
	}
	request := schemas.ArtifactContextRequest{ArtifactSearchRequest: schemas.ArtifactSearchRequest{Project: project, Query: prompt}, Session: "s1"}
	for range 2 {
		reply, err := call[schemas.ArtifactContextReply](w, w.hook, schemas.SvcArtifactContext, request)
		if err != nil || strings.Contains(reply.Context, "retried three times") {
			t.Errorf("given twice: %+v %v", reply, err)
		}
	}
	request.Session = ""
	if reply, err := call[schemas.ArtifactContextReply](w, w.hook, schemas.SvcArtifactContext, request); err != nil || !strings.Contains(reply.Context, "retried three times") {
		t.Errorf("without a session: %+v %v", reply, err)
	}
}

func TestFilesCanBeLeftToTheAgent(t *testing.T) {
	project := newProject(t, "mode: conversation\nauto_retrieve_on_start: false\n")
	w := start(t, t.TempDir(), project)
	put(t, filepath.Join(project, "docs/retry.md"), "# Retrying payments\n\nA payment is retried three times after a gateway timeout.\n")
	w.build(schemas.ArtifactBuildRequest{Project: project})
	if first := w.prompt("see @docs/retry.md: how often is a payment retried?"); strings.Contains(first.Stdout, "three times") {
		t.Errorf("first: %s", first.Stdout)
	}
}
