package mention

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Paths that files came to and left are those that would be made of what there is,
// and whatever a change makes of a mention, its names tell that it may.
func TestPathsFollowChanges(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "docs", "Docs", "a.md", "b.go", "A.MD", "x.y.md", ".env", "env"})
	one := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(rt, "parts"), "/")
	})
	written := rapid.Custom(func(rt *rapid.T) Mention {
		lead := rapid.SampledFrom([]string{"", "", "./", "../", "../../", "none/"}).Draw(rt, "lead")
		m := Mention{Path: lead + one.Draw(rt, "path"), Sure: rapid.Bool().Draw(rt, "sure"), Folder: rapid.IntRange(0, 4).Draw(rt, "folder") == 0}
		if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
			m.Path = rapid.SampledFrom([]string{".", "..", "a/..", "../.."}).Draw(rt, "of folders")
		}
		return m
	})
	rapid.Check(t, func(rt *rapid.T) {
		now := map[string]bool{}
		for _, path := range rapid.SliceOfN(one, 0, 8).Draw(rt, "first") {
			now[path] = true
		}
		mentions := rapid.SliceOfN(written, 1, 12).Draw(rt, "mentions")
		from := one.Draw(rt, "from")
		say := func(p *Paths) (all []string) {
			for _, m := range mentions {
				outcome, found := p.Resolve(from, m)
				all = append(all, fmt.Sprint(outcome, found))
			}
			return all
		}
		p := NewPaths(slices.Collect(maps.Keys(now)))
		before := say(p)
		for range rapid.IntRange(1, 5).Draw(rt, "changes") {
			came, left := rapid.SliceOfN(one, 0, 4).Draw(rt, "came"), rapid.SliceOfN(one, 0, 4).Draw(rt, "left")
			for _, path := range left {
				delete(now, path)
			}
			for _, path := range came {
				now[path] = true
			}
			next, names := p.With(came, left)
			after := say(next)
			if fresh := say(NewPaths(slices.Collect(maps.Keys(now)))); !slices.Equal(after, fresh) {
				rt.Fatalf("%+v of %v: %v, made anew %v", mentions, slices.Sorted(maps.Keys(now)), after, fresh)
			}
			if again := say(p); !slices.Equal(again, before) {
				rt.Fatalf("the paths before changed: %v, were %v", again, before)
			}
			for i, m := range mentions {
				asked, always := m.Names()
				if before[i] != after[i] && !always && !slices.ContainsFunc(asked, func(name string) bool { return names[name] }) {
					rt.Fatalf("%+v was %s and is %s; it asks for %q, changed are %v", m, before[i], after[i], asked, names)
				}
			}
			p, before = next, after
		}
	})
}

func TestManyChangesAreLookedAtAnew(t *testing.T) {
	p := NewPaths([]string{"a/b.md"})
	var came []string
	for i := range mostApart + 1 {
		came = append(came, fmt.Sprintf("c/%d.md", i))
	}
	next, _ := p.With(came, []string{"a/b.md"})
	if len(next.came)+len(next.left) > 0 || next.has("a/b.md") || next.hasFolder("a") || !next.has("c/7.md") || !next.hasFolder("c") {
		t.Errorf("%d came, %d left; %d in all", len(next.came), len(next.left), len(next.base.all))
	}
}
