package projections_test

import (
	"slices"
	"testing"

	"github.com/writbus/writ/projections"
	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/schemas"
)

func TestArtifacts(t *testing.T) {
	l := newMemoryLog()
	s := &script{memoryLog: l}
	artifacts := projections.NewArtifacts(catalog.Effect)
	one, other := schemas.Artifact("/a b/p"), schemas.Artifact("/a b")
	at := func(path, hash string) schemas.ArtifactIndexed {
		return schemas.ArtifactIndexed{File: schemas.FileState{Path: path, SHA256: hash}, Kind: "code"}
	}
	moved := at("c.go", "2")
	moved.From = "b/b.go"
	s.add(one, at("a.go", "1"), at("b/b.go", "2"), at("d.go", "3"), schemas.IndexBuilt{Globs: []string{"**"}, Documents: 3})
	s.add(other, at("p/a.go", "9"))
	s.add(one, moved, schemas.ArtifactRemoved{Path: "d.go"}, schemas.ArtifactRemoved{Path: "none"})
	s.add(one, schemas.ArtifactShown{Session: "s", Shown: []schemas.ArtifactHit{{Path: "a.go", First: 1, Last: 4, SHA256: "1"}}})
	r := view(t, l, artifacts)
	var files []string
	for f, err := range artifacts.Files(r, one.ID) {
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f.File.Path+" "+f.File.SHA256)
	}
	if want := []string{"a.go 1", "c.go 2"}; !slices.Equal(files, want) {
		t.Errorf("the project has %q, want %q", files, want)
	}
	if p, found, err := artifacts.Project(r, one.ID); err != nil || !found || p.Built.Documents != 3 {
		t.Errorf("%+v %v %v", p, found, err)
	}
	if _, found, err := artifacts.Project(r, other.ID); err != nil || found {
		t.Errorf("a project that was never built is one: %v %v", found, err)
	}
	for hit, want := range map[schemas.ArtifactHit]bool{
		{Path: "a.go", First: 1, Last: 4, SHA256: "1"}: true,
		{Path: "a.go", First: 1, Last: 5, SHA256: "1"}: false,
		{Path: "a.go", First: 1, Last: 4, SHA256: "2"}: false, // it changed since
	} {
		if shown, err := artifacts.Shown(r, "s", one.ID, hit); err != nil || shown != want {
			t.Errorf("%+v was shown: %v %v", hit, shown, err)
		}
	}
}
