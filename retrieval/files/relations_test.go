package files

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/writbus/writ/retrieval/artifact"
	"github.com/writbus/writ/retrieval/artifact/mention"
)

// Relations that were looked up bit by bit are those that are looked up at once.
func TestRelationsFollowChanges(t *testing.T) {
	var names []string
	for i := range 24 {
		names = append(names, path.Join([]string{"", "docs", "docs/x", "y"}[i%4], fmt.Sprintf("%c.%s", 'a'+i/3, []string{"md", "go", "txt"}[i%3])))
	}
	mentioned := rapid.SampledFrom(append([]string{"docs", "y", "x", "../docs/x", "a", "b.md", "none.md", "docs/none", "y/none.go"}, names...))
	document := rapid.Custom(func(rt *rapid.T) *Info {
		i := &Info{Document: artifact.Document{Size: int64(rapid.IntRange(0, 5).Draw(rt, "size"))}}
		for line, to := range rapid.SliceOfN(mentioned, 0, 3).Draw(rt, "mentions") {
			i.Mentions = append(i.Mentions, mention.Mention{Line: line, Text: "@" + to, Path: to, Sure: rapid.IntRange(0, 4).Draw(rt, "sure") == 0})
		}
		return i
	})
	say := func(r *relations) string {
		all := r.resolve()
		return fmt.Sprintf("%v %+v %+v %d %v", slices.Sorted(maps.Keys(all.of)), all.unresolved, all.ambiguous, all.mentions, all.graph())
	}
	rapid.Check(t, func(rt *rapid.T) {
		now := map[string]*Info{}
		for _, name := range names {
			if rapid.IntRange(0, 3).Draw(rt, "there") > 0 {
				now[name] = document.Draw(rt, "document")
				now[name].Path = name
			}
		}
		docs := documents{}.with(now)
		r := &relations{docs: docs}
		for range rapid.IntRange(1, 6).Draw(rt, "changes") {
			if rapid.Bool().Draw(rt, "asked") {
				say(r)
			}
			changes := map[string]*Info{}
			for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(rt, "changed") {
				if changes[name] = nil; rapid.Bool().Draw(rt, "stays") {
					changes[name] = document.Draw(rt, "document")
					changes[name].Path = name
				}
			}
			docs = docs.with(changes)
			r = r.after(docs, changes)
		}
		if got, want := say(r), say(&relations{docs: docs}); got != want {
			rt.Fatalf("looked up bit by bit: %s\nat once: %s", got, want)
		}
	})
}

// What is counted of files that came and left is what is counted of those that
// are there.
func TestKnownFilesAreCounted(t *testing.T) {
	name := rapid.SampledFrom([]string{"a.md", "x/a.md", "x/b.md", "x/y/a.md", "x/y/b.md", "x/y/z/w/a.md", "v/a.md", "v/x/a.md"})
	state := rapid.SampledFrom([]*file{{info: &Info{}}, {left: Binary}, {left: Unreadable, problem: "permission denied"}, {info: &Info{Replaced: 2}}, {info: &Info{}, problem: "it moves"}})
	rapid.Check(t, func(rt *rapid.T) {
		k := newKnown(0)
		for range rapid.IntRange(1, 20).Draw(rt, "changes") {
			if path := name.Draw(rt, "name"); rapid.IntRange(0, 2).Draw(rt, "gone") == 0 {
				k.remove(path)
			} else {
				k.put(path, state.Draw(rt, "state"))
			}
		}
		anew := newKnown(0)
		for path, f := range k.all {
			anew.put(path, f)
		}
		if got, want := fmt.Sprint(k.folders, k.left, k.list(nil)), fmt.Sprint(anew.folders, anew.left, anew.list(nil)); got != want {
			rt.Fatalf("%s, of the files that are there %s", got, want)
		}
	})
}
