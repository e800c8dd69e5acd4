package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/writbus/writ/retrieval/artifact/catalog"
	"github.com/writbus/writ/schemas"
)

// A first build that ended early begins again where it was: what was recorded and
// saved is not read again, and nobody saw any of it before.
func TestABuildThatEndedGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Project)
		read int // by the next process
	}{
		"it was ended":  {func(p *Project) { _ = p.Save(context.Background()) }, 20 - 9},
		"it was killed": {func(*Project) {}, 20 - 3}, // what was saved when there was thrice as much
		"nothing was saved": {func(p *Project) {
			if err := os.Remove(p.options.Saved); err != nil {
				t.Fatal(err)
			}
		}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			tr, j := newTree(t), &journal{}
			for n := range 20 {
				name := fmt.Sprintf("%02d.md", n)
				tr.write(name, fmt.Sprintf("# Title %d\n\nSee @%02d.md.\n", n, (n+3)%20))
				if err := os.Chtimes(tr.at(name), time.Now(), time.Now().Add(-time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			saved := filepath.Join(t.TempDir(), "saved")
			open := func() *Project {
				p, err := Open(Options{
					Root: tr.root, Record: j.record, Now: time.Now, Workers: 2, Catalog: j.fold("**"), Saved: saved,
				})
				if err != nil {
					t.Fatal(err)
				}
				p.stageFiles, p.savedFirst = 3, 1
				return p
			}
			p := open()
			ctx, end := context.WithCancel(t.Context())
			record := 0
			p.options.Record = func(ctx context.Context, events []schemas.Payload) error {
				if record++; record == 3 {
					defer end() // after this stage
				}
				return j.record(ctx, events)
			}
			if _, err := p.Update(ctx, Update{}); !errors.Is(err, context.Canceled) || p.Current() != nil || len(j.fold().Files) != 9 {
				t.Fatalf("%v, %d files are recorded; published: %v", err, len(j.fold().Files), p.Current())
			}
			c.end(p)
			p = open()
			if built := update(t, p, Update{}); built.Read != c.read || built.Added != 11 || built.Unchanged != 9 {
				t.Errorf("%+v, wanted %d read", built, c.read)
			}
			if last, is := j.events[len(j.events)-1].(schemas.IndexBuilt); !is || last.Documents != 20 {
				t.Errorf("the log ends with %+v", j.events[len(j.events)-1])
			}
			checkFresh(t, p, j)
			n := len(j.events)
			if built := update(t, open(), Update{}); len(j.events) != n || built.Added+built.Changed+built.Removed > 0 {
				t.Errorf("taken up once more: %+v, %d events", built, len(j.events)-n)
			}
		})
	}
}

// Of many files that change at once each stage can be found once it is done, and
// takes no more memory than one of a build; what moved is still known by its bytes.
func TestManyChangesComeInStages(t *testing.T) {
	tr, j := newTree(t), &journal{}
	for n := range 20 {
		name := fmt.Sprintf("%02d.md", n)
		tr.write(name, fmt.Sprintf("# Title %d\n", n))
		if err := os.Chtimes(tr.at(name), time.Now(), time.Now().Add(-time.Hour)); err != nil { // what is read settled
			t.Fatal(err)
		}
	}
	p := tr.open(j, "**")
	lean := 0
	p.stageFiles, p.options.Lean = 3, func() func() { lean++; return func() { lean += 10 } }
	update(t, p, Update{})
	before := p.Current().Revision
	for n := 5; n < 20; n++ {
		tr.write(fmt.Sprintf("%02d.md", n), fmt.Sprintf("# Changed %d\n", n))
	}
	for n := range 20 {
		tr.write(fmt.Sprintf("new/%02d.md", n), fmt.Sprintf("# New %d\n", n))
	}
	tr.rename("00.md", "99.md")
	tr.rename("01.md", "folder/98.md")
	tr.remove("02.md")
	built := update(t, p, Update{})
	want := catalog.Counts{Added: 20, Changed: 15, Renamed: 2, Removed: 1, Unchanged: 2}
	if built.Counts != want || built.Read != 37 || lean != 11 {
		t.Errorf("%+v, lean %d; wanted %+v", built, lean, want)
	}
	if stages := p.Current().Revision - before; stages != 12 {
		t.Errorf("%d snapshots, wanted one for each three files that nothing can have moved to", stages)
	}
	if last, is := j.events[len(j.events)-1].(schemas.IndexBuilt); !is || last.Documents != 39 {
		t.Errorf("the log ends with %+v", j.events[len(j.events)-1])
	}
	checkFresh(t, p, j)
}

// A build that ended after its last file was recorded has still to say what it
// covers.
func TestABuildThatEndedLastSaysWhatItCovers(t *testing.T) {
	tr, j := newTree(t), &journal{}
	tr.write("a.md", "# a\n")
	update(t, tr.open(j, "**"), Update{})
	j.events = j.events[:1]
	p, err := Open(Options{Root: tr.root, Record: j.record, Now: time.Now, Workers: 1, Catalog: j.fold("**")})
	if err != nil {
		t.Fatal(err)
	}
	update(t, p, Update{})
	update(t, p, Update{})
	if _, is := j.events[len(j.events)-1].(schemas.IndexBuilt); !is || len(j.events) != 2 {
		t.Errorf("%+v", j.events)
	}
}
